"""``kf calibrate``, and what other commands make of a calibrated model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import load
from kernelfields.cli.app import app
from tests.cli._files import WORDS, write_table


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def write(path: Path, n: int, seed: int) -> Path:
    """Sentences whose words are sometimes those of another label."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        labels: list[str] = []
        while len(labels) < 5:
            labels += ["B-PER", "I-PER"] if rng.random() < 0.3 else ["O"]
        for label in labels:
            shown = str(rng.choice(list(WORDS))) if rng.random() < 0.1 else label
            lines.append(f"{rng.choice(WORDS[shown])} {label}")
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    here: Path = tmp_path_factory.mktemp("calibrate")
    for name, n in (("train", 60), ("held", 400), ("test", 60)):
        write(here / f"{name}.conll", n, len(name))
    for model in ("crf", "ssvm"):
        done = run("train", here / "train.conll", "-o", here / f"{model}.kf", "--model", model)
        assert done.exit_code == 0, done.output
    done = run("calibrate", here / "crf.kf", here / "held.conll", "-o", here / "sure.kf", "--json")
    assert done.exit_code == 0, done.output
    return here


def test_the_file_keeps_what_was_said(folder: Path, tmp_path: Path) -> None:
    options = ["--error-at-most", 0.1, "--confidence", 0.9, "--json"]
    done = run("calibrate", folder / "crf.kf", folder / "held.conll", "-o", tmp_path / "m.kf", *options)
    said = json.loads(done.stdout.splitlines()[-1])
    found = load(tmp_path / "m.kf").guarantees(0.1, 0.9)[None]
    assert said["sequences"] == 400
    assert said["guarantees"]["all"]["threshold"] == found.threshold.least
    assert said["guarantees"]["all"]["answered"] == found.answered
    assert "errs on at most 10 %" in done.stderr


def test_support_vector_machines_are_recalibrated_on_a_part(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "svm.kf"
    options = ["--recalibrate", "temperature", "--share", 0.25, "--json"]
    done = run("calibrate", folder / "ssvm.kf", folder / "held.conll", "-o", out, *options)
    assert done.exit_code == 0, done.output
    model = load(out)
    assert (model.scaling_.n_sequences, model.calibration_.answers.n_sequences) == (100, 300)
    assert "learns no probabilities" in run("evaluate", folder / "ssvm.kf", folder / "test.conll").output
    assert "learns no probabilities" not in run("evaluate", out, folder / "test.conll").output
    assert "temperature" in run("inspect", out).output


@pytest.mark.parametrize("more", [[], ["--units", "entities"], ["--per-label"]])
def test_tags_are_left_open_and_judged(folder: Path, tmp_path: Path, more: list[Any]) -> None:
    model = tmp_path / "m.kf"
    assert run("calibrate", folder / "crf.kf", folder / "held.conll", "-o", model, *more).exit_code == 0
    asked = ["--error-at-most", 0.1, "--confidence", 0.8]
    done = run("tag", model, folder / "test.conll", "--labelled", *asked, "--to", "jsonl")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    expected = load(model).predict([row["tokens"] for row in rows], error_at_most=0.1, confidence=0.8)
    assert [row["predicted"] for row in rows] == expected
    judged = run("evaluate", model, folder / "test.conll", *asked, "--json", "--report", tmp_path / "r.html")
    found = json.loads(judged.stdout.splitlines()[-1])["guaranteed"]
    assert found["error_at_most"] == 0.1
    assert 0 < found["answered"] <= 1
    if not more:
        labels = [label for row in rows for label in row["predicted"]]
        assert found["answered"] == pytest.approx(1 - labels.count(None) / len(labels))
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'class="guaranteed"' in page
    assert "errs on at most 10" in page


def test_without_a_calibration_pages_say_nothing_of_it(folder: Path, tmp_path: Path) -> None:
    found = run(
        "evaluate", folder / "crf.kf", folder / "test.conll", "--json", "--report", tmp_path / "r.html"
    )
    assert json.loads(found.stdout.splitlines()[-1])["guaranteed"] is None
    assert 'class="guaranteed"' not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_calibrated_models_are_judged_by_five_percent_and_described(folder: Path) -> None:
    found = run("evaluate", folder / "sure.kf", folder / "test.conll", "--json")
    assert json.loads(found.stdout.splitlines()[-1])["guaranteed"]["error_at_most"] == 0.05
    shown = json.loads(run("inspect", folder / "sure.kf", "--json").stdout)["trust"]
    assert shown["calibrated_by"] == "400 sequences, positions"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tag", "crf.kf", "test.conll", "--labelled", "--error-at-most", 0.1], "see kf calibrate"),
        (["evaluate", "crf.kf", "test.conll", "--error-at-most", 0.1], "see kf calibrate"),
        (["tag", "sure.kf", "test.conll", "--labelled", "--confidence", 0.9], "--error-at-most"),
        (
            ["tag", "sure.kf", "test.conll", "--labelled", "--error-at-most", 0.1, "--abstain", 0.5],
            "--abstain",
        ),
        (["tag", "sure.kf", "test.conll", "--error-at-most", 0.1, "--allowed"], "--allowed"),
        (["tag", "sure.kf", "test.conll", "--labelled", "--error-at-most", 0], "error_at_most is 0"),
        (["calibrate", "crf.kf", "held.conll", "--recalibrate", "magic"], "magic"),
        (["calibrate", "crf.kf", "held.conll", "--share", 0.5], "--share is for --recalibrate"),
        (["calibrate", "crf.kf", "held.conll", "--recalibrate", "vector", "--share", 0], "leaves nothing"),
        (["calibrate", "crf.kf", "held.conll", "--method", "magic"], "method='magic'"),
        (["calibrate", "crf.kf", "held.conll", "--units", "words"], "units"),
        (["calibrate", "none.kf", "held.conll"], "none.kf"),
    ],
)
def test_odd_options_are_refused(folder: Path, arguments: list[Any], said: str) -> None:
    before = (folder / "crf.kf").read_bytes()
    named = [folder / one if str(one).endswith((".kf", ".conll")) else one for one in arguments]
    done = run(*named)
    assert done.exit_code == 2
    assert said in done.output
    assert (folder / "crf.kf").read_bytes() == before


def test_training_rescales_by_folds(tmp_path):
    data, model = write_table(tmp_path / "a.csv", 12), tmp_path / "m.kf"
    done = run("train", data, "-o", model, "--recalibrate", "temperature", "--scale", "columns")
    assert done.exit_code == 0, done.output
    assert "by 5 folds: log-likelihood of a label" in " ".join(done.stderr.split())
    assert load(model).scaling_.n_sequences == 12
    for how, said in (
        ("nonsense", "must be one of temperature, sequences, vector"),
        ("vector", "see kf calibrate"),
    ):
        refused = run("train", data, "-o", tmp_path / "n.kf", "--recalibrate", how)
        assert refused.exit_code == 2
        assert said in " ".join(refused.output.split())
    assert not (tmp_path / "n.kf").exists()
