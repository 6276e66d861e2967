"""From a labelled file to a model, to labels, to figures: the commands as a user runs them."""

import io
import json
import os

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from kernelfields import load
from kernelfields.cli._progress import LiveLine
from kernelfields.cli.app import app
from kernelfields.solvers import Progress

from ._files import write_arrays, write_columns, write_json, write_table

WRITERS = {"a.conll": write_columns, "a.jsonl": write_json, "a.csv": write_table, "a.npz": write_arrays}


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_trains_tags_and_evaluates(tmp_path, name):
    data, model = WRITERS[name](tmp_path / name), tmp_path / "m.kf"
    trained = run("train", data, "-o", model, "--holdout", "0.2", "--json")
    assert trained.exit_code == 0, trained.output
    summary = json.loads(trained.stdout.splitlines()[-1])
    assert summary["relative_gap"] <= 1e-3
    assert summary["held_out_token_error"] < 0.05
    judged = run("evaluate", model, data, "--json", "--report", tmp_path / "r.html")
    found = json.loads(judged.stdout.splitlines()[-1])
    assert found["token_error"] < 0.05
    assert {"entity_f1", "nll", "ece"} <= set(found)
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    tagged = run("tag", model, data, "--labelled")
    assert tagged.exit_code == 0, tagged.output
    assert tagged.stdout.strip()


def test_tagging_keeps_columns_and_adds_label_and_probability(tmp_path):
    data, model = write_columns(tmp_path / "a.conll"), tmp_path / "m.kf"
    run("train", data, "-o", model)
    bare = tmp_path / "bare.conll"
    bare.write_text("the\nAna\nDiaz\n\nof\n", encoding="utf-8")
    lines = run("tag", model, bare).stdout.splitlines()
    fields = [line.split(" ") for line in lines if line]
    assert [row[:2] for row in fields] == [["the", "O"], ["Ana", "B-PER"], ["Diaz", "I-PER"], ["of", "O"]]
    estimator = load(model)
    marginals = estimator.predict_marginals([["the", "Ana", "Diaz"], ["of"]])
    shown = [float(row[2]) for row in fields]
    np.testing.assert_allclose(shown, np.concatenate(marginals).max(axis=1), atol=6e-5)


def test_tagging_reads_a_stream_and_abstains(tmp_path):
    model = tmp_path / "m.kf"
    run("train", write_columns(tmp_path / "a.conll"), "-o", model)
    result = CliRunner().invoke(app, ["tag", str(model), "-", "--abstain", "1.0"], input="the\nAna\n")
    assert [line.split(" ")[1] for line in result.stdout.splitlines() if line] == ["_", "_"]


def test_kbest_marginals_and_known_labels_as_json(tmp_path):
    model, data = tmp_path / "m.kf", tmp_path / "b.jsonl"
    run("train", write_columns(tmp_path / "a.conll"), "-o", model)
    data.write_text('{"tokens": ["the", "Ana"], "labels": ["B-PER", null], "id": 7}\n', encoding="utf-8")
    result = run("tag", model, data, "--kbest", 3, "--marginals", "--allowed")
    [row] = [json.loads(line) for line in result.stdout.splitlines()]
    assert row["id"] == 7
    assert row["predicted"][0] == "B-PER"
    assert row["kbest"][0]["labels"] == row["predicted"]
    assert [len(p) for p in row["marginals"]] == [3, 3]
    assert row["marginals"][0][row["classes"].index("B-PER")] == pytest.approx(1.0)


def test_auto_and_tune_say_what_they_chose(tmp_path):
    data, model = write_table(tmp_path / "a.csv"), tmp_path / "m.kf"
    automatic = run("train", data, "-o", model, "--model", "auto")
    assert "Chosen: " in automatic.output
    tuned = run("train", data, "-o", model, "--model", "kernel-crf", "--tune")
    assert tuned.exit_code == 0, tuned.output
    assert "held-out log-likelihood" in tuned.output
    assert load(model).score([[[1.0, 0.0], [-1.0, 0.0]]], [["B", "A"]]) == 1.0


def test_compare_gives_errors_and_paired_tests(tmp_path):
    result = run(
        "compare", write_table(tmp_path / "a.csv"), "--folds", 3, "--json", "--models", "crf,perceptron"
    )
    rows = json.loads(result.stdout.splitlines()[-1])["models"]
    assert set(rows) == {"crf", "perceptron"}
    assert min(row["above_best"] for row in rows.values()) == 0
    assert all(0 <= row["p_value"] <= 1 for row in rows.values())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "missing.conll"], "No such file"),
        (["train", "a.conll", "--model", "oracle"], "There is no model 'oracle'"),
        (["train", "a.conll", "--features", "nothing"], "neither a file of templates"),
        (["train", "a.conll", "--format", "pdf"], "There is no format 'pdf'"),
        (["train", "bad.conll"], "line 3"),
        (["train", "a.conll", "-o", "no/such/m.kf"], "no folder"),
        (["train", "a.conll", "--resume"], "--checkpoint"),
        (["tag", "a.conll"], "a.conll"),
        (["evaluate", "missing.kf", "a.conll"], "missing.kf"),
        (["compare", "a.conll", "--folds", "999"], "too few"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    write_columns(tmp_path / "a.conll")
    (tmp_path / "bad.conll").write_text("a O\nb O\nc\n")
    before = sorted(os.listdir(tmp_path))
    result = run(*words)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("model", ["crf", "kernel-crf", "ssvm", "perceptron", "boosted"])
def test_held_out_errors_are_those_of_the_model_so_far(tmp_path, monkeypatch, model):
    """The last draft of a search that ends at once is the model that is written."""
    seen = []

    def look(line, progress, draft):
        line.error = line.judge(draft())
        seen.append((line.error, draft()))

    monkeypatch.setattr(LiveLine, "look", look)
    data, dev = write_table(tmp_path / "a.csv"), write_table(tmp_path / "b.csv", n=5, seed=3)
    summary = json.loads(
        run(
            "train", data, "-o", tmp_path / "m.kf", "--model", model, "--dev", dev, "--json", "--max-iter", 3
        ).stdout.splitlines()[-1]
    )
    assert len(seen) >= 2
    assert seen[-1][0] == pytest.approx(summary["held_out_token_error"], abs=1e-9)
    assert len(set(map(id, (draft for _, draft in seen)))) == len(seen)


def test_held_out_data_take_a_tenth_of_the_time(monkeypatch):
    """Against a clock of our own: looks that take a second, iterations that take a quarter of one."""
    now = [0.0]
    monkeypatch.setattr("kernelfields.cli._progress.time.monotonic", lambda: now[0])
    looks = []

    def judge(model):
        now[0] += 1.0
        looks.append(now[0])
        return 0.25

    line = LiveLine(Console(file=io.StringIO()), None, judge)
    for n in range(400):
        now[0] += 0.25
        line.look(Progress(n, 1.0, 0.0, -np.inf, now[0]), lambda: None)
    assert 5 <= len(looks) <= 1 + now[0] / 10
    assert line.error == 0.25


def test_an_interrupted_training_keeps_the_best_model(tmp_path, monkeypatch):
    """Ctrl-C in the middle of a search that would go on for long."""

    def interrupt(line, progress):
        if progress.iteration == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(LiveLine, "__call__", interrupt)
    data, model = write_columns(tmp_path / "a.conll"), tmp_path / "m.kf"
    result = run("train", data, "-o", model, "--tol", "1e-12", "--penalty", "1e-6")
    assert result.exit_code == 0
    assert "Interrupted; the best point so far was kept." in result.output
    assert load(model).n_iter_ == 5
