"""What commands show: entities, sizes, times, remedies."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from kernelfields import load
from kernelfields.cli import _progress
from kernelfields.cli._baseline import baseline_warning
from kernelfields.cli._summary import size_of
from kernelfields.cli.app import app
from kernelfields.files.items import FileData
from kernelfields.files.reading import read_data

from ._files import write_columns, write_table


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (812, "812 bytes"),
        (13_240, "13 kB"),
        (99_400, "99 kB"),
        (400_000, "0.4 MB"),
        (2_100_000_000, "2.1 GB"),
    ],
)
def test_sizes(count, words):
    assert size_of(count) == words


def test_entities_are_shown_by_type(tmp_path):
    data, model = write_columns(tmp_path / "a.conll"), tmp_path / "model.kf"
    done = run("train", data, "-o", model)
    assert "kB)." in done.output or "bytes)." in done.output
    shown = run("evaluate", model, data, data).output
    assert " PER " in shown
    assert "B-PER" not in shown
    assert "B-PER" in run("evaluate", model, data, "--by-label").output


def test_only_numbers_are_scaled(tmp_path):
    tokens, numbers = (
        read_data(write_columns(tmp_path / "a.conll")),
        read_data(write_table(tmp_path / "a.csv")),
    )
    assert "--scale" not in baseline_warning(tokens, 1.0, "Here,")
    assert "--scale, --window" in baseline_warning(numbers, 1.0, "Here,")
    assert baseline_warning(FileData([], "csv"), 1.0, "Here,") is None


def test_time_does_not_go_back(monkeypatch):
    now = iter(range(100, 200))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: float(next(now)))
    line = _progress.LiveLine(Console(file=io.StringIO()), None)
    said = []
    line._line = said.append
    for seconds in (8.1, 0.1):  # a second search begins
        line(
            SimpleNamespace(
                iteration=1, value=1.0, lower_bound=float("-inf"), relative_gap=1.0, seconds=seconds
            )
        )
    first, second = (float(text.split()[-2]) for text in said)
    assert first < second


def test_letters_in_long_runs_have_a_larger_penalty(tmp_path):
    rng = np.random.default_rng(0)
    bases = ["".join(rng.choice(list("ACGT"), size=900)) for _ in range(3)]
    (tmp_path / "a.fa").write_text(
        "".join(f">s{n}\n{one}\n" for n, one in enumerate(bases)), encoding="utf-8"
    )
    labels = "N" * 300 + "C" * 300 + "N" * 300
    (tmp_path / "y.fa").write_text("".join(f">s{n}\n{labels}\n" for n in range(3)), encoding="utf-8")
    model = tmp_path / "model.kf"
    done = run("train", tmp_path / "a.fa", "--labels", tmp_path / "y.fa", "-o", model, "--max-iter", "50")
    assert done.exit_code == 0, done.output
    assert "300 times the usual penalty" in " ".join(done.output.split())
    assert load(model).penalty == 300.0
    objective = load(model).objective_
    for other in ("a.jsonl", "a.conll"):  # the same letters in other files
        done = run("convert", tmp_path / "a.fa", "--labels", tmp_path / "y.fa", "-o", tmp_path / other)
        assert done.exit_code == 0, done.output
        run("train", tmp_path / other, "-o", tmp_path / "other.kf", "--max-iter", "50")
        assert load(tmp_path / "other.kf").penalty == 300.0
        assert load(tmp_path / "other.kf").objective_ == pytest.approx(objective)
    run(
        "train",
        tmp_path / "a.fa",
        "--labels",
        tmp_path / "y.fa",
        "-o",
        model,
        "--penalty",
        2,
        "--max-iter",
        "5",
    )
    assert load(model).penalty == 2.0
