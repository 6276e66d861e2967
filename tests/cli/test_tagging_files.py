"""``kf tag`` with several files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kernelfields.cli.app import app
from tests._clusters import local_cluster

TEXT = "the DT B-NP\ndog NN I-NP\nbarks VBZ O\n\ndogs NNS B-NP\nbark VBP O\n\n"
NAMES = ("first.conll", "second.conll", "third.conll")


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    """A model, and three files without labels."""
    here: Path = tmp_path_factory.mktemp("files")
    (here / "train.conll").write_text(TEXT * 3)
    assert run("train", here / "train.conll", "-o", here / "model.kf", "--penalty", 0.1).exit_code == 0
    for n, name in enumerate(NAMES):
        (here / name).write_text("the DT\ndog NN\n\n" * (n + 1))
    return here


@pytest.mark.parametrize("options", [[], ["--jobs", 2], ["--marginals"], ["--to", "jsonl"]])
def test_answers_are_those_of_one_file_at_a_time(folder: Path, tmp_path: Path, options: list[Any]) -> None:
    files = [folder / name for name in NAMES]
    done = run("tag", folder / "model.kf", *files, "-o", tmp_path / "answers", *options)
    assert done.exit_code == 0, done.output
    alone = [option for option in options if option not in ("--jobs", 2)]
    for file in files:
        assert run("tag", folder / "model.kf", file, "-o", tmp_path / "one", *alone).exit_code == 0
        answer = tmp_path / "answers" / (f"{file.stem}.jsonl" if "--to" in options else file.name)
        assert answer.read_bytes() == (tmp_path / "one").read_bytes()
    assert "I-NP" in (tmp_path / "one").read_text()


def test_a_cluster_shares_them(folder: Path, tmp_path: Path) -> None:
    files = [folder / name for name in NAMES]
    with local_cluster(n_workers=1, processes=False, protocol="tcp://") as cluster:
        address = cluster.scheduler_address
        done = run("tag", folder / "model.kf", *files, "-o", tmp_path, "--dask", address)
        assert done.exit_code == 0, done.output
    assert [(tmp_path / name).read_text().count("I-NP") for name in NAMES] == [1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["first.conll", "second.conll"], "-o FOLDER"),
        (["first.conll", "-", "-o", "answers"], "standard input"),
        (["first.conll", "nowhere.conll", "-o", "answers"], "There is no file nowhere.conll"),
        (["first.conll", "second.conll", "-o", "."], "would overwrite first.conll"),
        (["first.conll", "other/first.conll", "-o", "answers"], "would have the same answers"),
        (["first.conll", "second.conll", "-o", "train.conll"], "train.conll"),
        (["first.conll", "broken.conll", "-o", "answers"], "broken.conll"),
        (["first.conll", "--jobs", "2"], "--jobs is for several files"),
        (["first.conll", "second.conll", "-o", "answers", "--jobs", "2", "--dask", "x:1"], "exclude"),
        (["first.conll", "second.conll", "-o", "answers", "--dask", "127.0.0.1:1"], "no scheduler answers"),
    ],
)
def test_what_cannot_be(folder: Path, monkeypatch: Any, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(folder)
    Path("other").mkdir(exist_ok=True)
    Path("other/first.conll").write_text("the DT\n")
    Path("broken.conll").write_text("the DT\ndog\n")
    done = run("tag", "model.kf", *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
