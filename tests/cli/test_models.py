"""Every model that ``kf train`` knows, trained, asked and tested."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import KernelLogisticRegression, load
from kernelfields.cli._models import MODELS, Choice, build
from kernelfields.cli._panel import PANEL, panel
from kernelfields.cli.app import app
from kernelfields.errors import InputError
from kernelfields.files.reading import read_data
from kernelfields.kernels import as_kernel

from ._files import frames, write_columns, write_json, write_table

NOT_PROBABILISTIC = ("ssvm", "perceptron")


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def trained(data, model, *words):
    result = run("train", data, "-o", model, "--json", *words)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("writer", [write_columns, write_table])
def test_every_model_on_text_and_numbers(tmp_path, name, writer):
    data, model = writer(tmp_path / ("a.csv" if writer is write_table else "a.conll")), tmp_path / "m.kf"
    if (name, writer) == ("boosted", write_columns):
        refused = run("train", data, "-o", model, "--model", name)
        assert refused.exit_code == 2
        assert refused.output == "boosted takes numbers, not tokens; choose crf, say.\n"
        return
    summary = trained(data, model, "--model", name, "--holdout", "0.2")
    assert summary["held_out_token_error"] < 0.1
    judged = run("evaluate", model, data, "--json")
    found = json.loads(judged.stdout.splitlines()[-1])
    assert found["token_error"] < 0.05
    assert found["probabilistic"] is (name not in NOT_PROBABILISTIC)
    tagged = run("tag", model, data, "--labelled")
    assert tagged.exit_code == 0, tagged.output
    assert ("softmax" in tagged.stderr) is (name in NOT_PROBABILISTIC)


@pytest.mark.parametrize(
    ("tags", "rule"),
    [
        ("B-PER I-PER O B-LOC", "iob2"),
        ("S-PER B-LOC I-LOC E-LOC O", "iobes"),
        ("B I O", "iob2"),
        ("B-PER O I-PER O", None),
        ("B E B E", None),
        ("NN VB", None),
    ],
)
def test_rules_of_entities_are_those_that_labels_obey(tmp_path, tags, rule):
    path = tmp_path / "a.conll"
    path.write_text("\n".join(f"word {tag}" for tag in tags.split()) + "\n")
    data = read_data(path)
    assert build("crf", data, Choice()).constraints == rule
    assert build("crf", data, Choice(constraints="none")).constraints is None


def test_hidden_markov_models_take_the_first_column(tmp_path):
    data, model = tmp_path / "a.conll", tmp_path / "m.kf"
    rows = write_columns(tmp_path / "plain.conll").read_text().splitlines()
    fields = [row.split() for row in rows]
    data.write_text("\n".join(f"{f[0]} X{n} {f[1]}" if f else "" for n, f in enumerate(fields)) + "\n")
    trained(data, model, "--model", "hmm")
    assert "the" in load(model).emissions_.vocabulary.symbols
    bare = tmp_path / "bare.conll"
    bare.write_text("the Y\nAna Z\nDiaz Z\nGonzalez-42 Z\n")
    lines = run("tag", model, bare).stdout.splitlines()
    assert [line.split()[2] for line in lines if line][:3] == ["O", "B-PER", "I-PER"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--model", "hmm", "--features", "ner"], "--features is not for hmm"),
        (["--model", "hmm", "--checkpoint", "state"], "hmm keeps no checkpoints; crf and kernel-crf do."),
        (["--model", "svm"], "There is no model 'svm'; choose one of crf, kernel-crf, gp, ssvm"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, words, reason):
    result = run("train", write_columns(tmp_path / "a.conll"), "-o", tmp_path / "m.kf", *words)
    assert result.exit_code == 2
    assert reason in result.output


def test_a_kernel_model_goes_on_from_its_checkpoint(tmp_path):
    data, model, state = write_table(tmp_path / "a.csv"), tmp_path / "m.kf", tmp_path / "state"
    words = ["--model", "kernel-crf", "--checkpoint", state, "--tol", "1e-5"]
    whole = trained(data, model, "--model", "kernel-crf", "--tol", "1e-5")
    trained(data, model, *words, "--max-iter", whole["iterations"] // 2)
    assert (state / "kernel-crf.checkpoint").exists()
    refused = run("train", data, "-o", model, *words)
    assert "add --resume to go on" in refused.output
    resumed = trained(data, model, *words, "--resume")
    assert resumed["iterations"] < whole["iterations"]
    assert resumed["objective"] == pytest.approx(whole["objective"], rel=1e-4)
    assert load(model).run.checkpoint is None


def test_dictionaries_are_no_words(tmp_path):
    data = tmp_path / "a.jsonl"
    data.write_text('{"tokens": [{"w": "a"}, {"w": "b"}], "labels": ["A", "B"]}\n' * 3)
    result = run("train", data, "-o", tmp_path / "m.kf", "--model", "hmm")
    assert "hmm takes words or numbers, not dictionaries" in result.output


def test_the_panel_is_what_help_says(tmp_path):
    tokens = read_data(write_json(tmp_path / "a.jsonl"))
    numbers = read_data(write_table(tmp_path / "a.csv"))
    assert panel(tokens) == ["crf", "perceptron", "hmm"]
    assert panel(numbers) == ["crf", "hmm", "boosted", "kernel-crf"]
    numbers.items[3].x[0, 0] = np.nan
    assert panel(numbers) == ["hmm", "boosted"]
    for name in panel(numbers):
        build(name, numbers, Choice()).fit(numbers.inputs, numbers.labels)
    for command in ("train", "compare"):
        shown = " ".join(run(command, "--help").output.replace("│", " ").split())
        assert PANEL in shown


def test_auto_leaves_out_what_refuses_the_data(tmp_path, monkeypatch):
    def refuse(data, choice):
        raise InputError("These data are too good.")

    data = write_table(tmp_path / "a.csv")
    monkeypatch.setattr("kernelfields.cli._panel.panel", lambda data: ["crf", "boosted"])
    monkeypatch.setitem(MODELS, "boosted", refuse)
    result = run("train", data, "-o", tmp_path / "m.kf", "--model", "auto")
    assert "boosted was left out: These data are too good." in " ".join(result.output.split())
    assert "Chosen: crf" in result.output
    monkeypatch.setattr("kernelfields.cli._panel.panel", lambda data: ["boosted"])
    refused = run("train", data, "-o", tmp_path / "n.kf", "--model", "auto")
    assert refused.exit_code == 2
    assert "No model of the panel takes these data." in refused.output


def test_tuning_without_probabilities_counts_errors(tmp_path):
    result = run(
        "train", write_table(tmp_path / "a.csv"), "-o", tmp_path / "m.kf", "--model", "ssvm", "--tune"
    )
    assert result.exit_code == 0, result.output
    assert "wrong held-out labels" in " ".join(result.output.split())


def test_classifiers_of_rows_label_sequences(tmp_path):
    _, X, y = zip(*frames(20), strict=True)
    letters = [np.array(["A", "B"])[labels].tolist() for labels in y]
    model = KernelLogisticRegression().fit(list(X), letters)
    model.save(tmp_path / "m.kf")
    data = write_table(tmp_path / "a.csv")
    assert (
        json.loads(run("evaluate", tmp_path / "m.kf", data, "--json").stdout.splitlines()[-1])["token_error"]
        < 0.05
    )
    assert run("tag", tmp_path / "m.kf", data).exit_code == 0


def test_shells_complete_commands():
    """What typer's completion calls, as bash does."""
    environment = {"_KF_COMPLETE": "complete_bash", "COMP_WORDS": "kf tr", "COMP_CWORD": "1"}
    result = CliRunner().invoke(app, [], env=environment, prog_name="kf")
    assert result.output.split() == ["train"]


def test_kernel_models_have_the_width_of_the_library(tmp_path):
    """Without --gamma, it follows the observations that the kernel sees, as KernelCRF() does."""
    data = write_table(tmp_path / "a.csv")
    for model in ("kernel-crf", "gp"):
        result = run(
            "train", data, "--model", model, "--max-iter", 2, "--scale", "none", "-o", tmp_path / "a.kf"
        )
        assert result.exit_code == 0, result.output
        kernel = load(tmp_path / "a.kf").kernel_
        kernel = kernel.kernel if model == "gp" else kernel
        X = np.concatenate([item.x for item in read_data(data).items])
        assert kernel.gamma == pytest.approx(as_kernel("rbf").on(X).gamma)
