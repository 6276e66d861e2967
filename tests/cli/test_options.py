"""Options of ``kf train``: each has its effect, or is refused in one sentence."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import load
from kernelfields.cli._models import MODELS, OPTIONS, Choice, build
from kernelfields.cli.app import app
from kernelfields.files.reading import read_data

from ._files import write_columns, write_table

VALUES = {
    "penalty": 0.5,
    "kernel": "linear",
    "gamma": 0.5,
    "basis": 5,
    "features": "ner",
    "clusters": "paths",
    "constraints": "iob2",
    "scale": "columns",
    "window": "3",
    "decoder": "posterior",
    "tol": 0.1,
    "max_iter": 3,
}


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("name", ["crf", "kernel-crf", "boosted"])
def test_a_penalty_of_zero_is_zero(tmp_path, name):
    data = read_data(write_table(tmp_path / "a.csv"))
    assert build(name, data, Choice(penalty=0.0)).penalty == 0.0


@pytest.mark.parametrize("name", ["gp", "ssvm"])
def test_a_penalty_of_zero_is_refused_where_it_cannot_be(tmp_path, name):
    words = ["--model", name, "--penalty", 0, "-o", tmp_path / "m.kf"]
    refused = run("train", write_table(tmp_path / "a.csv"), *words)
    assert (refused.exit_code, refused.output) == (
        2,
        f"--penalty 0 is not for {name}, whose penalty must be positive.\n",
    )


@pytest.mark.parametrize("name", MODELS)
def test_options_of_other_models_are_refused(tmp_path, name):
    data = write_table(tmp_path / "a.csv")
    for option, value in VALUES.items():
        if option not in OPTIONS[name]:
            said = f"--{option.replace('_', '-')}"
            refused = run("train", data, "--model", name, said, value, "-o", tmp_path / "m.kf")
            assert refused.exit_code == 2, option
            assert refused.output.startswith(f"{said} is not for {name}; it is for ")
    assert not (tmp_path / "m.kf").exists()


@pytest.mark.parametrize("name", MODELS)
def test_options_of_a_model_reach_it(tmp_path, name):
    """What `build` makes of every option differs from what it makes of none."""
    text = name != "boosted"
    data = read_data(write_columns(tmp_path / "a.conll") if text else write_table(tmp_path / "a.csv"))
    usual = repr(build(name, data, Choice(constraints=None if name == "gp" else "none")))
    (tmp_path / "paths").write_text("01\tthe\t3\n")
    for option in OPTIONS[name]:
        if text and option in ("scale", "window"):  # which are for numbers
            continue
        if name == "gp" and option == "decoder":
            continue
        given = {"constraints": "none"} if name != "gp" else {}
        given |= {"features": "pos"} if option == "features" else {option: VALUES[option]}
        given |= {"kernel": "rbf"} if option == "gamma" else {}
        given |= {"clusters": str(tmp_path / "paths")} if option == "clusters" else {}
        assert repr(build(name, data, Choice(**given))) != usual, option


def test_perceptrons_obey_constraints(tmp_path):
    data, model = write_columns(tmp_path / "a.conll"), tmp_path / "m.kf"
    refused = run("train", data, "--model", "perceptron", "--constraints", "nonsense", "-o", model)
    assert refused.exit_code == 2
    assert "constraints='nonsense' is not known" in refused.output
    assert run("train", data, "--model", "perceptron", "--constraints", "iob2", "-o", model).exit_code == 0
    assert load(model).constraints == "iob2"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--jobs", "2"], "--jobs is for --tune and --model auto"),
        (["--budget", "2m"], "--budget is for --tune and --model auto"),
        (["--tune", "--penalty", "1"], "--tune chooses the penalty"),
        (["--model", "auto", "--checkpoint", "state"], "--checkpoint needs a model with a name"),
        (["--model", "auto", "--features", "ner"], "--features is for tokens"),
        (["--dev", "a.csv", "--holdout", "0.5"], "--dev and --holdout exclude each other"),
        (["--model", "kernel-crf", "--kernel", "linear", "--gamma", "1"], "--gamma is for the rbf kernel"),
        (["--columns", "1,2"], "--columns is for columns of text, not for csv"),
        (["--columns", "0"], "--columns '0' must be a list"),
        (["--holdout", "0.01"], "--holdout 0.01 holds out none of 20 sequences"),
        (["-o", "."], ". cannot be written: it is a folder"),
        (["--model", "kernel-crf", "--basis", "0"], "0"),
    ],
)
def test_what_would_have_no_effect_is_refused(tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    refused = run("train", write_table(tmp_path / "a.csv"), *words)
    assert refused.exit_code == 2
    assert reason in refused.output
    assert len(refused.output.splitlines()) == 1


def test_tuning_looks_at_the_dev_set(tmp_path):
    """All labels of it exchanged: the largest penalty, the least confident model, is best."""
    data, dev = write_table(tmp_path / "a.csv"), tmp_path / "dev.csv"
    dev.write_text(data.read_text().translate(str.maketrans("AB", "BA")))
    result = run("train", data, "--dev", dev, "--tune", "-o", tmp_path / "m.kf", "--json")
    assert result.exit_code == 0, result.output
    assert "on the data of --dev" in " ".join(result.output.split())
    assert load(tmp_path / "m.kf").penalty == 10.0
    assert json.loads(result.stdout.splitlines()[-1])["held_out_token_error"] > 0.9


def test_columns_are_taken_by_number(tmp_path):
    rows = write_columns(tmp_path / "plain.conll").read_text().splitlines()
    data = tmp_path / "a.conll"
    data.write_text(
        "\n".join(f"{n} {r.replace(' ', f' X {n} ')} end" if r else "" for n, r in enumerate(rows))
    )
    result = run("train", data, "--columns", "2,5", "-o", tmp_path / "m.kf", "--features", "ner")
    assert result.exit_code == 0, result.output
    assert load(tmp_path / "m.kf").classes_.tolist() == ["B-PER", "I-PER", "O"]
    tagged = run("tag", tmp_path / "m.kf", data, "--columns", "2")
    lines = [line.split() for line in tagged.stdout.splitlines() if line]
    assert len(lines[0]) == 8
    assert np.mean([fields[4] == fields[6] for fields in lines]) > 0.95
    assert "there are 6" in run("tag", tmp_path / "m.kf", data, "--columns", "7").output


def test_columns_that_nobody_looks_at_are_named(tmp_path):
    rows = write_columns(tmp_path / "plain.conll").read_text()
    data = tmp_path / "a.conll"
    data.write_text(rows.replace(" ", " T "))
    result = run("train", data, "--features", "pos", "-o", tmp_path / "m.kf", "--json")
    assert json.loads(result.stdout.splitlines()[-1])["warnings"] == [
        "No feature uses column 2 (column1) of tokens; --features FILE can."
    ]
    assert "No feature uses" not in run("train", data, "--features", "ner", "-o", tmp_path / "m.kf").output


def test_columns_of_tables_are_found_by_name(tmp_path):
    """In another order they are the same numbers; with other names they are others."""
    data, model = write_table(tmp_path / "a.csv"), tmp_path / "m.kf"
    run("train", data, "-o", model)
    assert "noise" in run("inspect", model).output
    rows = [line.split(",") for line in data.read_text().splitlines()]
    (tmp_path / "b.csv").write_text("\n".join(",".join([r[0], r[1], r[3], r[2]]) for r in rows))
    errors = [
        json.loads(run("evaluate", model, tmp_path / name, "--json").stdout.splitlines()[-1])["token_error"]
        for name in ("a.csv", "b.csv")
    ]
    assert errors[0] == errors[1]
    (tmp_path / "c.csv").write_text(data.read_text().replace("noise", "other"))
    refused = run("tag", model, tmp_path / "c.csv")
    assert refused.exit_code == 2
    assert "has other columns than those the model knows" in refused.stderr


def test_held_out_data_are_of_the_same_form(tmp_path):
    """Nothing is trained, and nothing written, before that is known."""
    data, model = write_columns(tmp_path / "a.conll"), tmp_path / "m.kf"
    wide, table = tmp_path / "b.conll", write_table(tmp_path / "b.csv")
    wide.write_text(data.read_text().replace(" ", " T "))
    for training, dev, forms in (
        (data, wide, ("tokens of one column", "tokens of 2 columns")),
        (wide, data, ("tokens of 2 columns", "tokens of one column")),
        (data, table, ("tokens of one column", "2 numbers")),
    ):
        refused = run("train", training, "--dev", dev, "-o", model)
        assert refused.exit_code == 2
        assert refused.output == f"{training} has {forms[0]}, but {dev} has {forms[1]}.\n"
    assert not model.exists()


def test_settings_by_evidence_and_averages_over_the_posterior(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = ["sequence,a,label"]
    for number in range(12):
        for value in rng.normal(size=4):
            rows.append(f"{number},{value:.3f},{'x' if value > 0 else 'y'}")
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    options = ["--model", "kernel-crf", "--tune-by", "evidence", "--posterior", "folds", "-o", "m.kf"]
    shown = run("train", "data.csv", *options)
    assert shown.exit_code == 0, shown.output
    assert "log-evidence" in shown.output
    model = load("m.kf")
    assert model.posterior_ is not None
    assert model.scaling_ is not None
    for option, message in (
        (["--tune-by", "chance"], "must be folds or evidence"),
        (["--posterior", "wide"], "must be one of laplace, folds, variational"),
        (["--model", "perceptron", "--posterior", "laplace"], "perceptron has no posterior"),
        (["--model", "hmm", "--tune-by", "evidence"], "has no posterior, hence no evidence"),
    ):
        refused = run("train", "data.csv", *option)
        assert refused.exit_code != 0
        assert message in " ".join(refused.output.split())
