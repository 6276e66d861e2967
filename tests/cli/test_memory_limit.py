"""``kf train --memory-limit``: files that are larger than memory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import CRF, load
from kernelfields.cli.app import app
from kernelfields.errors import DistributedError
from kernelfields.models import stream_chunks
from tests._clusters import local_cluster

TEXT = "the DT B-NP\ndog NN I-NP\nbarks VBZ O\n\ndogs NNS B-NP\nbark VBP O\n\n" * 5


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def file(tmp_path: Any, monkeypatch: Any) -> Any:
    monkeypatch.setattr(stream_chunks, "COLUMNS", 2**10)
    monkeypatch.setattr(stream_chunks, "peak_memory", lambda: 2**28)  # whatever ran before in this process
    (tmp_path / "some.conll").write_text(TEXT)
    return tmp_path / "some.conll"


def test_trains_and_keeps_checkpoints(file: Any, tmp_path: Any) -> None:
    options = ("--penalty", 0.1, "--tol", 1e-3, "--constraints", "iob2", "--memory-limit", "4G", "--json")
    kept = ("--checkpoint", tmp_path / "state")
    done = run("train", file, "-o", tmp_path / "model.kf", *options, *kept)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout.splitlines()[-1])["kind"] == "CRF"
    model = load(tmp_path / "model.kf")
    assert model.predict([[("the", "DT"), ("dog", "NN")]]) == [["B-NP", "I-NP"]]
    assert model.n_features_in_ == 2**10
    plain = run("train", file, "-o", tmp_path / "other.kf", *options[:6])
    assert plain.exit_code == 0
    assert load(tmp_path / "other.kf").predict([[("dogs", "NNS")]]) == model.predict([[("dogs", "NNS")]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory-limit", "2Q"], "no size"),
        (["--memory-limit", "90M"], "weights and what the process"),
        (["--memory-limit", "4G", "--kernel", "rbf"], "does not go with --kernel"),
        (["--memory-limit", "4G", "--columns", "1,3"], "does not go with --columns"),
        (["--memory-limit", "4G", "--model", "hmm"], "--model crf"),
        (["--memory-limit", "4G", "--tune"], "without --tune"),
        (["--memory-limit", "4G", "--format", "csv"], "CoNLL columns"),
        (["--memory-limit", "4G", "--structure", "dependency"], "--memory-limit is not for"),
    ],
)
def test_what_does_not_go_together(file: Any, tmp_path: Any, options: list[str], message: str) -> None:
    done = run("train", file, "-o", tmp_path / "model.kf", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert not (tmp_path / "model.kf").exists()


def test_labels_that_are_missing(file: Any, tmp_path: Any) -> None:
    file.write_text(TEXT + "a DT _\n")
    done = run("train", file, "-o", tmp_path / "model.kf", "--memory-limit", "4G")
    assert done.exit_code == 2
    assert "Sentence 10 has no label at position 0" in " ".join(done.output.split())
    file.write_text("\n")
    assert run("train", file, "--memory-limit", "4G").exit_code == 2


def test_several_files_are_one_training_set(file: Any, tmp_path: Any) -> None:
    halves = [tmp_path / "first.conll", tmp_path / "second.conll"]
    sentences = TEXT.strip().split("\n\n")
    for half, part in zip(halves, (sentences[:4], sentences[4:]), strict=True):
        half.write_text("\n\n".join(part) + "\n\n")
    for options in ([], ["--memory-limit", "4G"]):
        for name, paths in (("whole.kf", [file]), ("parts.kf", halves)):
            done = run("train", *paths, "-o", tmp_path / name, "--penalty", 0.1, *options)
            assert done.exit_code == 0, done.output
        whole, parts = load(tmp_path / "whole.kf"), load(tmp_path / "parts.kf")
        np.testing.assert_array_equal(parts.transitions_, whole.transitions_)
    other = tmp_path / "other.conll"
    other.write_text("dogs B-NP\n")
    done = run("train", file, other, "-o", tmp_path / "none.kf")
    assert done.exit_code == 2
    assert "other.conll has tokens of one column" in " ".join(done.output.split())


def test_a_cluster_that_goes_away_is_one_sentence(file: Any, tmp_path: Any, monkeypatch: Any) -> None:
    def lost(*_: Any, **__: Any) -> None:
        raise DistributedError(
            "The cluster lost its work 5 times (KilledWorker); with checkpoint= it goes on."
        )

    monkeypatch.setattr(CRF, "fit", lost)
    done = run("train", file, "-o", tmp_path / "model.kf")
    assert done.exit_code == 3
    assert "5 times (KilledWorker); with --checkpoint FOLDER, --resume goes on" in " ".join(
        done.output.split()
    )
    assert not (tmp_path / "model.kf").exists()


def test_a_cluster_shares_the_fit(file: Any, tmp_path: Any) -> None:
    with local_cluster(n_workers=1, processes=False, protocol="tcp://") as cluster:
        for more in (["--penalty", 0.1], ["--penalty", 0.1, "--memory-limit", "4G"], ["--tune"]):
            address = cluster.scheduler_address
            done = run("train", file, "-o", tmp_path / "model.kf", "--dask", address, *more)
            assert done.exit_code == 0, done.output
            assert load(tmp_path / "model.kf").predict([[("the", "DT"), ("dog", "NN")]]) == [["B-NP", "I-NP"]]
    for options, message in (
        (["--dask", "127.0.0.1:1"], "no scheduler answers"),
        (["--dask", "127.0.0.1:1", "--tune"], "no scheduler answers"),
        (["--dask", "127.0.0.1:1", "--model", "auto"], "not of auto"),
        (["--dask", "127.0.0.1:1", "--structure", "dependency"], "--dask"),
    ):
        done = run("train", file, "-o", tmp_path / "other.kf", *options)
        assert done.exit_code == 2
        assert message in " ".join(done.output.split())


@pytest.fixture
def table(tmp_path: Any) -> Any:
    """The same sentences in a Parquet file."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [[line.split() for line in one.splitlines()] for one in TEXT.strip().split("\n\n")]
    names = ("tokens", "pos", "labels")
    columns = {name: [[row[c] for row in one] for one in rows] for c, name in enumerate(names)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "some.parquet")
    parquet.write_table(pyarrow.table({"tokens": columns["tokens"]}), tmp_path / "bare.parquet")
    return tmp_path / "some.parquet"


def test_files_of_parquet(file: Any, table: Any, tmp_path: Any) -> None:
    for options in ([], ["--memory-limit", "4G"]):
        for name, given in (("columns.kf", file), ("lists.kf", table)):
            done = run("train", given, "-o", tmp_path / name, "--penalty", 0.1, *options)
            assert done.exit_code == 0, done.output
        columns, lists = load(tmp_path / "columns.kf"), load(tmp_path / "lists.kf")
        np.testing.assert_array_equal(lists.transitions_, columns.transitions_)
        assert (lists.coef_ != columns.coef_).sum() == 0
        assert lists.features.templates == columns.features.templates
    done = run("tag", tmp_path / "lists.kf", table)
    assert json.loads(done.stdout.splitlines()[0])["predicted"] == ["B-NP", "I-NP", "O"]
    (tmp_path / "out").mkdir()
    assert run("tag", tmp_path / "lists.kf", table, "-o", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "some.jsonl").read_text() == done.stdout
    assert run("evaluate", tmp_path / "lists.kf", table).exit_code == 0
    assert run("convert", table, "-o", tmp_path / "again.conll").exit_code == 0
    assert (tmp_path / "again.conll").read_text() == TEXT


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["train", "some.parquet", "some.conll", "--memory-limit", "4G"], "or for Parquet"),
        (["train", "bare.parquet", "--memory-limit", "4G"], "no column labels; its columns are tokens"),
        (["train", "bare.parquet"], "sequence 0 has no labels"),
        (["train", "some.parquet", "--columns", "1,3"], "--columns is for columns of text, not for parquet"),
        (["train", "some.conll", "--format", "parquet"], "neither a Parquet nor an Arrow file"),
        (["convert", "some.conll", "-o", "b.parquet"], "parquet are only read"),
        (["convert", "some.conll", "-o", "b.parquet", "--to", "parquet"], "parquet are only read"),
    ],
)
@pytest.mark.usefixtures("file", "table")
def test_parquet_that_is_refused(tmp_path: Any, monkeypatch: Any, command: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*command)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
