"""Every input is read once: a pipe gives what the file gives, in every format and command."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields.cli.app import app
from kernelfields.files.kinds import FORMATS
from kernelfields.files.read import read

from ._pipes import fifo_of

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="FIFOs are of Unix")

N = 1500
"""Sequences: more than 64 KB, what a pipe holds, in every format of text."""
WORDS = [[f"word{(7 * n + t) % 211}" for t in range(6)] for n in range(N)]
LABELS = [["B-X" if w.endswith("1") else "O" for w in words] for words in WORDS]


def _marked(n: int, key: str) -> dict[str, object]:
    text, spans, place = " ".join(WORDS[n]), [], 0
    for word, label in zip(WORDS[n], LABELS[n], strict=True):
        if label != "O":
            spans.append((place, place + len(word)))
        place += len(word) + 1
    if key == "spans":
        return {"text": text, key: [{"start": a, "end": b, "label": "X"} for a, b in spans]}
    return {"text": text, key: [[a, b, "X"] for a, b in spans]}


def _lines(values: list[object]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def _conll() -> str:
    sentences = zip(WORDS, LABELS, strict=True)
    return "\n".join("".join(f"{w}\t{y}\n" for w, y in zip(*one, strict=True)) for one in sentences)


def _labelstudio() -> str:
    tasks = []
    for n in range(N):
        one = _marked(n, "label")
        regions = [
            {"type": "labels", "value": {"start": a, "end": b, "labels": ["X"]}} for a, b, _ in one["label"]
        ]
        tasks.append({"id": n, "data": {"text": one["text"]}, "annotations": [{"result": regions}]})
    return json.dumps(tasks, indent=1)


def _csv(separator: str = ",") -> str:
    rows = [f"s{n}{separator}{'ab'[t % 2]}{separator}{n + t}" for n in range(N) for t in range(6)]
    return "\n".join([separator.join(("sequence", "label", "x")), *rows]) + "\n"


def _hhm() -> str:
    letters = list("ACDEFGHIKLMNPQRSTVWY")
    head = "HMM    " + "\t".join(letters) + "\n       M->M\tM->I\n       " + "0\t" * 9 + "*\n"
    rows = [
        f"A {n + 1}   " + "\t".join(["4322"] * 20) + f"\t{n + 1}\n       " + "0\t" * 9 + "*\n\n"
        for n in range(700)
    ]
    return f"HHsearch 1.5\nNAME  one\n#\n{head}{''.join(rows)}//\n"


def _pssm() -> str:
    letters = list("ARNDCQEGHILKMFPSTWYV")
    rows = [f"{n + 1} A " + " ".join(["-1"] * 20) + " " + " ".join(["5"] * 20) + "\n" for n in range(900)]
    return (
        "\nLast position-specific scoring matrix computed\n " + " ".join(letters * 2) + "\n" + "".join(rows)
    )


TEXTS = {
    "conll": ("a.conll", _conll),
    "jsonl": (
        "a.jsonl",
        lambda: _lines([{"tokens": w, "labels": y} for w, y in zip(WORDS, LABELS, strict=True)]),
    ),
    "csv": ("a.csv", _csv),
    "tsv": ("b.tsv", lambda: _csv("\t")),
    "columns": ("a.tsv", _conll),
    "doccano": ("doccano.jsonl", lambda: _lines([_marked(n, "label") for n in range(N)])),
    "prodigy": ("prodigy.jsonl", lambda: _lines([_marked(n, "spans") for n in range(N)])),
    "labelstudio": ("tasks.json", _labelstudio),
    "text": ("a.text", lambda: "".join(" ".join(words) + "\n" for words in WORDS)),
    "fasta": ("a.fasta", lambda: "".join(f">s{n}\n{'ACGT' * 15}\n" for n in range(N))),
    "stockholm": ("a.sto", lambda: f"# STOCKHOLM 1.0\none {'ACDE' * 9000}\ntwo {'ACDE' * 9000}\n//\n"),
    "hhm": ("a.hhm", _hhm),
    "pssm": ("a.pssm", _pssm),
}
FOLDERS = ("brat",)
"""Formats of folders, which are no pipes."""


def _file(kind: str, folder: Path) -> Path:
    if kind == "npz":
        path = folder / "a.npz"
        np.savez(path, X=np.arange(18000.0).reshape(-1, 2), lengths=np.full(N, 6), y=np.tile([0, 1], 4500))
        return path
    if kind == "parquet":
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        path = folder / "a.parquet"
        words = [[f"{word}-{n}" for word in words] for n, words in enumerate(WORDS)]
        parquet.write_table(pyarrow.table({"tokens": words, "labels": LABELS}), path)
        return path
    name, text = TEXTS[kind]
    path = folder / name
    path.write_text(text(), encoding="utf-8")
    return path


EVERY = (*TEXTS, "npz", "parquet")


def test_every_format_is_tested() -> None:
    assert set(FORMATS) <= {*EVERY, *FOLDERS}


@pytest.mark.parametrize("kind", EVERY)
def test_a_pipe_is_read_as_the_file_is(kind: str, tmp_path: Path) -> None:
    path = _file(kind, tmp_path)
    assert path.stat().st_size > 2**16 or kind == "parquet"
    told = {"format": kind} if kind in ("text", "fasta", "hhm", "pssm", "stockholm") else {}
    X, y = read(path, **told)
    with fifo_of(path, tmp_path / "pipe") as pipe:
        Z, w = read(pipe, **told)
    assert len(X) == len(Z)
    assert y == w
    for a, b in zip(X, Z, strict=True):
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


def _run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("kind", [k for k in EVERY if k not in ("text", "fasta", "hhm", "pssm", "stockholm")])
def test_convert_from_a_pipe(kind: str, tmp_path: Path) -> None:
    path = _file(kind, tmp_path)
    _run("convert", path, "-o", tmp_path / "file.jsonl", "--to", "jsonl")
    with fifo_of(path, tmp_path / "pipe") as pipe:
        _run("convert", pipe, "-o", tmp_path / "piped.jsonl", "--to", "jsonl")
    assert (tmp_path / "file.jsonl").read_bytes() == (tmp_path / "piped.jsonl").read_bytes()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    path = _file("conll", folder)
    _run("train", path, "-o", folder / "a.kf", "--max-iter", "3")
    return folder / "a.kf"


@pytest.mark.parametrize("kind", ["conll", "jsonl", "columns", "doccano"])
def test_tag_evaluate_calibrate_and_train_from_a_pipe(kind: str, model: Path, tmp_path: Path) -> None:
    path = _file(kind, tmp_path)
    for command, *more in (
        ("tag", "--labelled"),
        ("evaluate", "--json"),
        ("calibrate", "--json", "-o", tmp_path / "sure.kf"),
    ):
        said = _run(command, model, path, *more)
        with fifo_of(path, tmp_path / "pipe") as pipe:
            piped = _run(command, model, pipe, *more)
        if command == "evaluate":
            assert json.loads(said)["token_error"] == json.loads(piped)["token_error"]
        else:
            assert said == piped
    with fifo_of(path, tmp_path / "pipe") as pipe:
        _run("train", pipe, "-o", tmp_path / "piped.kf", "--max-iter", "3")
    _run("train", path, "-o", tmp_path / "file.kf", "--max-iter", "3")
    assert (tmp_path / "piped.kf").stat().st_size == pytest.approx(
        (tmp_path / "file.kf").stat().st_size, abs=64
    )


def test_a_model_from_a_pipe(model: Path, tmp_path: Path) -> None:
    with fifo_of(model, tmp_path / "pipe") as pipe:
        assert json.loads(_run("inspect", pipe, "--json"))["labels"] == ["B-X", "O"]


def test_a_file_that_is_read_twice(tmp_path: Path) -> None:
    path = _file("conll", tmp_path)
    with fifo_of(path, tmp_path / "pipe") as pipe:
        _run("train", pipe, "--memory-limit", "2G", "--max-iter", "2", "-o", tmp_path / "a.kf")
