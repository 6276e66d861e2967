"""Every input is read once: a pipe gives what the file gives, in every format and command."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments.lib.settings import load_settings
from kernelfields.cli._parse_tasks import TASKS
from kernelfields.cli.app import COMMANDS, app
from kernelfields.files.kinds import FORMATS
from kernelfields.files.read import read
from kernelfields.io import write_brackets, write_parallel
from kernelfields.io.container import Container

from ._pipes import fifo_of
from .test_constituencies import trees
from .test_dependencies import sentences, write
from .test_matchings import pairs
from .test_outputs import NO_FILES, paths_of_commands

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


OPENING = "{ A\nword B\n\n"
"""Columns of text that begin as objects do."""


@pytest.mark.parametrize("kind", ["jsonl", "doccano", "prodigy", "conll", "opening"])
def test_the_name_of_a_pipe_need_not_say_the_format(kind: str, tmp_path: Path) -> None:
    if kind == "opening":
        path = tmp_path / "a.conll"
        path.write_text(OPENING)
    else:
        path = _file(kind, tmp_path)
    nameless = tmp_path / "63"
    nameless.write_bytes(path.read_bytes())
    with fifo_of(nameless, tmp_path / "pipe") as pipe:
        assert read(pipe) == read(path)


def test_the_name_of_a_pipe_need_not_say_that_labels_are_features(tmp_path: Path) -> None:
    (tmp_path / "a.fasta").write_text(">s\nACGTACGT\n")
    for name in ("63", "a.gff3"):
        (tmp_path / name).write_text("##gff-version 3\ns\t.\tCDS\t2\t4\t.\t+\t0\t.\n")
    with fifo_of(tmp_path / "63", tmp_path / "pipe") as pipe:
        found = read(tmp_path / "a.fasta", labels=pipe)
    assert found == read(tmp_path / "a.fasta", labels=tmp_path / "a.gff3")
    assert found[1] == [["O", *["CDS+"] * 3, *["O"] * 4]]


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
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files to read, and models of them."""
    folder = tmp_path_factory.mktemp("files")
    found = {kind: _file(kind, folder) for kind in ("conll", "fasta", "jsonl", "doccano")}
    found["columns"] = _file("columns", folder)
    found |= {name.partition(".")[0]: folder / name for name in NAMES}
    found["fasta"].write_text("".join(f">s{n}\n{'ACGT' * 15}\n" for n in range(200)))
    found["answers"].write_text("".join(f">s{n}\n{'HEEH' * 15}\n" for n in range(200)))
    np.save(found["dense"], np.random.default_rng(0).standard_normal((6 * N, 2)))
    found["templates"].write_text("columns: w\nw[-2..2]\n" + "# …\n" * 3000)
    words = sorted({word for sentence in WORDS for word in sentence})
    found["clusters"].write_text("".join(f"{n % 4:02b}\t{word}\t9\n" for n, word in enumerate(words)))
    write(found["heads"], sentences(200))
    write_brackets(trees(200), found["phrases"])
    write_parallel(pairs(200), found["links"])
    for name, line in MODELS.items():
        found[name] = folder / f"{name}.kf"
        _run(*line.format(**found).split(), "--max-iter", "2", "-o", found[name])
    return found


NAMES = ("answers.fa", "dense.npy", "templates", "clusters", "heads.conllu", "phrases.mrg", "links.txt")
MODELS = {
    "model": "train {conll}",
    "letters": "train {fasta} --labels {answers}",
    "numbers": "train {conll} --dense {dense}",
    "parser": "train {heads} --structure dependency",
    "phraser": "train {phrases} --structure constituency",
    "linker": "train {links} --structure matching",
}
PARSES = {"parser": "heads", "phraser": "phrases", "linker": "links"}
FASTA = "{fasta} --format fasta --labels <answers>"
LINES = {
    ("train", "data"): [
        *(f"train <{kind}>" for kind in ("conll", "jsonl", "columns", "doccano")),
        "train <conll> --memory-limit 2G",
        *(f"train <{file}> --structure {task}" for file, task in zip(PARSES.values(), TASKS, strict=True)),
    ],
    ("train", "dev"): [
        "train {conll} --dev <jsonl>",
        *(
            f"train {{{file}}} --structure {task} --dev <{file}>"
            for file, task in zip(PARSES.values(), TASKS, strict=True)
        ),
    ],
    ("train", "clusters"): ["train {conll} --features ner --clusters <clusters>"],
    ("train", "labels"): [f"train {FASTA}"],
    ("train", "features"): ["train {conll} --features <templates>"],
    ("train", "dense"): ["train {conll} --dense <dense>"],
    ("calibrate", "model"): ["calibrate <model> {conll} -o {out}"],
    ("calibrate", "data"): ["calibrate {model} <conll> -o {out}", "calibrate {model} <doccano> -o {out}"],
    ("calibrate", "labels"): [f"calibrate {{letters}} {FASTA} -o {{out}}"],
    ("calibrate", "dense"): ["calibrate {numbers} {conll} --dense <dense> -o {out}"],
    ("tag", "model"): ["tag <model> {conll} --labelled"],
    ("tag", "data"): [
        *(f"tag {{model}} <{kind}> --labelled" for kind in ("conll", "jsonl", "columns", "doccano")),
        *(f"tag {{{model}}} <{file}>" for model, file in PARSES.items()),
    ],
    ("tag", "dense"): ["tag {numbers} {conll} --labelled --dense <dense>"],
    ("evaluate", "model"): ["evaluate <model> {conll} --json"],
    ("evaluate", "data"): [
        *(f"evaluate {{model}} <{kind}> --json" for kind in ("conll", "jsonl", "columns", "doccano")),
        *(f"evaluate {{{model}}} <{file}> --json" for model, file in PARSES.items()),
    ],
    ("evaluate", "labels"): [f"evaluate {{letters}} {FASTA} --json"],
    ("evaluate", "dense"): ["evaluate {numbers} {conll} --dense <dense> --json"],
    ("compare", "data"): ["compare <conll> --models hmm,perceptron --folds 2 --json"],
    ("compare", "labels"): [f"compare {FASTA} --models hmm --folds 2 --json"],
    ("compare", "features"): ["compare {conll} --features <templates> --models perceptron --folds 2 --json"],
    ("convert", "source"): ["convert <conll> --to jsonl -o {out}"],
    ("convert", "labels"): [f"convert {FASTA} --to jsonl -o {{out}}"],
    ("clusters", "data"): ["clusters <conll> -n 4 -o {out}"],
    ("inspect", "model"): ["inspect <model> --json"],
    ("label", "data"): ["label <jsonl> --labels X --journal {out}"],
    ("label", "features"): ["label {jsonl} --labels X --features <templates> --journal {out}"],
}
"""For every option that names files to read: commands, whose pipes are in angle brackets."""
ELSEWHERE = {
    ("serve", "models"): "regular files alone, which are read again when they change: tests/serving",
}
IN_TEXTS = {"features", "dense", "models", "data"}
"""Options that name files, but are not of the type Path."""
LABELS_OF_MODELS = {("compare", "models")}
TIMES = ("seconds", "out", "model", "date", "file", "timings", "slowest")
"""What differs between two runs."""


def test_every_input_of_every_command_is_tested() -> None:
    inputs = {key for key in paths_of_commands() if NO_FILES.get(key) == "input"}
    for name in COMMANDS:
        function = getattr(import_module(f"kernelfields.cli.{name}"), name)
        inputs |= {(name, option) for option in IN_TEXTS & function.__annotations__.keys()}
    assert {*LINES, *ELSEWHERE} == inputs - LABELS_OF_MODELS


def _gist(line: str, said: str, out: Path) -> Any:
    """Return what a command gave, but for times."""
    if "--json" in line:
        return json.loads(
            said.splitlines()[-1], object_hook=lambda one: {k: one[k] for k in one if k not in TIMES}
        )
    if not out.exists():
        return said
    if line.startswith(("train", "calibrate")):
        found = Container(out)
        return {name: found.array(name).tolist() for name in found.tensors}
    return said if line.startswith("label") else out.read_bytes()


@pytest.mark.parametrize("line", [line for lines in LINES.values() for line in lines])
def test_a_pipe_gives_what_the_file_gives(
    line: str, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(desk: Any, *_: Any) -> None:
        print(desk.material.digest, repr(desk.material.inputs(range(9))))

    monkeypatch.setattr("kernelfields.cli.label._serve", shown)
    # Whatever ran before in this process.
    monkeypatch.setattr("kernelfields.models.stream_chunks.peak_memory", lambda: 2**28)
    name = line.partition("<")[2].partition(">")[0]
    more = " --max-iter 2 -o {out}" if line.startswith("train") else ""
    words = f"{line.replace(f'<{name}>', '{pipe}')}{more}".split()
    found = []
    with fifo_of(files[name], tmp_path / "pipe") as pipe:
        for n, source in enumerate((files[name], pipe)):
            out = tmp_path / f"out{n}"
            said = _run(*(word.format(**files, pipe=source, out=out) for word in words))
            found.append(_gist(line, said, out))
    assert found[0] == found[1]


def test_settings_of_experiments_from_a_pipe(tmp_path: Path) -> None:
    @dataclass
    class Few:
        a: int

    (tmp_path / "few.toml").write_text("[full]\na = 3\n")
    with fifo_of(tmp_path / "few.toml", tmp_path / "pipe") as pipe:
        assert load_settings(Few, "few", file=pipe) == Few(3)
