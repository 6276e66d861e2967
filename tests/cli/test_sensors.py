"""Measured numbers out of the box: scaling, windows and decoders, said in a line and kept in the file."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import SequencePipeline, load
from kernelfields.cli._sensors import mean_run, read_window
from kernelfields.cli.app import app
from kernelfields.errors import InputError

from ._files import write_arrays, write_columns, write_json, write_table


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def recordings(n=8, size=120, seed=0):
    """Recordings of three states in runs; every recording has its own level and spread."""
    rng = np.random.default_rng(seed)
    for s in range(n):
        labels = np.repeat(rng.integers(3, size=size // 10), 10)
        level, spread = 100 * rng.standard_normal(2), np.exp(2 * rng.standard_normal(2))
        means = np.array([[-1.0, 0.0], [0.5, 1.5], [1.0, -1.5]])[labels]
        yield f"r{s}", level + spread * (means + rng.standard_normal((size, 2))), labels


def write_recordings(path, n=8, seed=0, person=False):
    lines = ["sequence,label,x,y" + (",person" if person else "")]
    for s, (name, numbers, labels) in enumerate(recordings(n, seed=seed)):
        more = f",p{s // 2}" if person else ""
        lines += [f"{name},s{y},{a:.5f},{b:.5f}{more}" for (a, b), y in zip(numbers, labels, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def accuracy(model, path, *more):
    result = run("evaluate", model, path, "--json", *more)
    assert result.exit_code == 0, result.output
    return 1 - json.loads(result.stdout.splitlines()[-1])["token_error"]


def test_recordings_are_scaled_and_seen_in_windows(tmp_path):
    data, test = write_recordings(tmp_path / "a.csv"), write_recordings(tmp_path / "b.csv", seed=1)
    result = run("train", data, "-o", tmp_path / "m.kf")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stderr.split())
    for words in (
        "every sequence by itself scaled (--scale sequence)",
        "windows of 7 rows",
        "--decoder posterior",
    ):
        assert words in said
    plain = ["--scale", "none", "--window", "none", "--decoder", "viterbi", "--penalty", "1"]
    bare = run("train", data, "-o", tmp_path / "n.kf", *plain)
    assert "As the numbers" not in bare.stderr
    assert accuracy(tmp_path / "m.kf", test) > accuracy(tmp_path / "n.kf", test) + 0.2
    fitted = load(tmp_path / "m.kf")
    assert isinstance(fitted, SequencePipeline)
    assert not isinstance(load(tmp_path / "n.kf"), SequencePipeline)
    assert fitted.estimator_.decoder == "posterior"


def test_the_file_has_all_that_tagging_needs(tmp_path):
    """Labels of the command line are those of the pipeline in Python; columns are matched by name."""
    data, model = write_recordings(tmp_path / "a.csv"), tmp_path / "m.kf"
    run("train", data, "-o", model)
    result = run("tag", model, data, "--json")
    assert result.exit_code == 0, result.output
    answers = [json.loads(line)["predicted"] for line in result.stdout.splitlines()]
    numbers = [numbers for _, numbers, _ in recordings()]
    assert answers == load(model).predict([np.round(x, 5) for x in numbers])
    swapped = tmp_path / "swapped.csv"
    rows = [line.split(",") for line in data.read_text().splitlines()]
    swapped.write_text("\n".join(",".join([a, b, d, c]) for a, b, c, d in rows) + "\n")
    again = run("tag", model, swapped, "--json")
    assert again.exit_code == 0, again.output
    assert [json.loads(line)["predicted"] for line in again.stdout.splitlines()] == answers
    for command in (["inspect", model], ["calibrate", model, data, "-o", tmp_path / "c.kf"]):
        done = run(*command)
        assert done.exit_code == 0, done.output
    done = run("tag", tmp_path / "c.kf", data, "--error-at-most", "0.9", "--confidence", "0.5", "--json")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("name", ["crf", "kernel-crf", "gp", "ssvm", "perceptron", "hmm", "boosted"])
def test_every_model_takes_the_options(tmp_path, name):
    words = ["--scale", "columns", "--window", "3", "--model", name]
    more = [] if name in ("gp",) else ["--decoder", "posterior"]
    result = run("train", write_table(tmp_path / "a.csv"), "-o", tmp_path / "m.kf", *words, *more)
    assert result.exit_code == 0, result.output
    fitted = load(tmp_path / "m.kf")
    assert [type(one).__name__ for one in fitted.transformers_] == ["Each", "Windows"]
    assert fitted.estimator_.n_features_in_ == 6


def test_arrays_take_the_options(tmp_path):
    data = write_arrays(tmp_path / "a.npz")
    result = run("train", data, "-o", tmp_path / "m.kf", "--scale", "sequence", "--window", "3:2")
    assert result.exit_code == 0, result.output
    assert load(tmp_path / "m.kf").transformers_[1].stride == 2
    assert run("tag", tmp_path / "m.kf", data).exit_code == 0


@pytest.mark.parametrize("writer", [write_columns, write_json])
def test_tokens_are_not_scaled(tmp_path, writer):
    data = writer(tmp_path / ("a.conll" if writer is write_columns else "a.jsonl"))
    for option, value in (("scale", "sequence"), ("window", "3")):
        refused = run("train", data, f"--{option}", value, "-o", tmp_path / "m.kf")
        assert refused.exit_code == 2
        assert f"--{option} is for numbers; these data have tokens" in refused.output
    done = run("train", data, "--decoder", "posterior", "--scale", "none", "-o", tmp_path / "m.kf")
    assert done.exit_code == 0, done.output
    assert load(tmp_path / "m.kf").decoder == "posterior"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--scale", "much"], "it must be one of sequence, columns, none"),
        (["--window", "4"], "an odd number of rows"),
        (["--window", "3:0"], "a stride of 1 or more"),
        (["--window", "wide"], "as in 31 or 7:5"),
        (["--window", "1:2:3"], "as in 31 or 7:5"),
        (["--window", "99999999999"], "as in 31 or 7:5"),
        (["--decoder", "nonsense"], "decoder"),
        (["--group", "person"], "there is no column 'person'"),
    ],
)
def test_bad_options_are_refused(tmp_path, options, said):
    refused = run("train", write_table(tmp_path / "a.csv"), *options, "-o", tmp_path / "m.kf")
    assert refused.exit_code == 2
    assert said in refused.output
    assert not (tmp_path / "m.kf").exists()


def test_windows_and_runs():
    assert read_window("7:5") == (7, 5)
    assert read_window("none") == (1, 1)
    assert mean_run([["a", "a", "b"], ["b"]]) == pytest.approx(4 / 3)
    with pytest.raises(InputError):
        read_window("")


def test_groups_are_no_features_and_stay_together(tmp_path):
    data = write_recordings(tmp_path / "a.csv", person=True)
    refused = run("train", data, "-o", tmp_path / "m.kf")
    assert "in column 'person' is not a number" in refused.output
    words = ["--group", "person", "--holdout", "0.25", "--json"]
    done = run("train", data, "-o", tmp_path / "m.kf", *words)
    assert done.exit_code == 0, done.output
    assert load(tmp_path / "m.kf").n_features_in_ == 2
    refused = run("train", data, "-o", tmp_path / "n.kf", "--group", "person", "--tune")
    assert "--tune needs at least 5 groups; there are 4" in refused.output
    assert run("compare", data, "--group", "person", "--folds", "2", "--models", "crf,hmm").exit_code == 0
    assert accuracy(tmp_path / "m.kf", data, "--group", "person") > 0.5
    assert run("tag", tmp_path / "m.kf", data, "--group", "person").exit_code == 0


def test_groups_of_sentences(tmp_path):
    lines = write_json(tmp_path / "a.jsonl", 12).read_text().splitlines()
    rows = [json.loads(line) | {"document": n // 2} for n, line in enumerate(lines)]
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--tune", "--budget", "20s", "-o", tmp_path / "m.kf", "--group", "document"]
    assert run("train", tmp_path / "b.jsonl", *words).exit_code == 0
    refused = run("train", tmp_path / "a.jsonl", *words)
    assert "Sequence 0 has no 'document', which --group asks for." in refused.output
    parts = write_columns(tmp_path / "a.conll", 12).read_text().split("\n\n")
    told = [f"# document = d{n // 2}\n{part}" for n, part in enumerate(parts)]
    (tmp_path / "b.conll").write_text("\n\n".join(told))
    assert run("train", tmp_path / "b.conll", *words).exit_code == 0
    refused = run("train", write_arrays(tmp_path / "a.npz"), *words)
    assert "--group is for conll, jsonl, csv, not for npz." in refused.output


def test_a_model_no_better_than_one_label_says_so(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["sequence,label,x"]
    for s in range(6):
        lines += [f"{s},{'AAAB'[k]},{rng.standard_normal():.3f}" for k in rng.integers(4, size=20)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    words = ["train", tmp_path / "a.csv", "-o", tmp_path / "m.kf", "--penalty", "100"]
    for more in ([], ["--holdout", "0.4"]):
        said = " ".join(run(*words, *more).stderr.split())
        assert "always answering A gets" in said
    result = run("evaluate", tmp_path / "m.kf", tmp_path / "a.csv", "--json")
    assert "always answering A" in json.loads(result.stdout.splitlines()[-1])["baseline_warning"]
    run("train", write_table(tmp_path / "good.csv"), "-o", tmp_path / "m.kf")
    assert "always answering" not in run("evaluate", tmp_path / "m.kf", tmp_path / "good.csv").output


def test_recordings_are_tuned_inside_the_pipeline(tmp_path):
    data = write_recordings(tmp_path / "a.csv")
    result = run("train", data, "-o", tmp_path / "m.kf", "--tune", "--budget", "20s")
    assert result.exit_code == 0, result.output
    assert isinstance(load(tmp_path / "m.kf"), SequencePipeline)
    auto = run("train", data, "-o", tmp_path / "n.kf", "--model", "auto", "--budget", "20s")
    assert auto.exit_code == 0, auto.output
