"""Columns of tables by name, remembered in model files."""

import csv
import json

import pytest
from typer.testing import CliRunner

from kernelfields import InputError, load, read
from kernelfields.cli.app import app
from kernelfields.errors import ModelFormatError
from kernelfields.io.table_columns import TableColumns
from kernelfields.persistence.table_columns import decoded_columns, remembered_columns

from ._files import frames, write_columns

NAMED = ("--sequence-column", "video", "--label-column", "phase", "--drop", "time,note")


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def said(done):
    return " ".join(done.output.split())


def write_raw(path, n=20, seed=0, separator=","):
    rows = [["time", "video", "x", "noise", "note", "phase"]]
    for name, numbers, labels in frames(n, seed):
        for t, ((a, b), y) in enumerate(zip(numbers, labels, strict=True)):
            rows.append([f"0:{t:02d}", name, f"{a:.4f}", f"{b:.4f}", "free text", "AB"[y]])
    path.write_text("".join(separator.join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    data = write_raw(folder / "raw.csv")
    done = run("train", data, *NAMED, "-o", folder / "model.kf")
    assert done.exit_code == 0, done.output
    return folder, data, folder / "model.kf"


def test_a_model_remembers_the_columns(trained):
    folder, data, model = trained
    assert remembered_columns(load(model)) == TableColumns("video", "phase", ("time", "note"))
    out = folder / "tagged.csv"
    done = run("tag", model, data, "-o", out)
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert list(rows[0])[:6] == ["video", "phase", "x", "noise", "time", "note"]
    assert {row["note"] for row in rows} == {"free text"}
    assert sum(row["predicted"] == row["phase"] for row in rows) > 0.9 * len(rows)
    for command in ("evaluate", "calibrate"):
        more = ["--json"] if command == "evaluate" else ["-o", folder / "sure.kf"]
        assert run(command, model, data, *more).exit_code == 0
    assert remembered_columns(load(folder / "sure.kf")) == remembered_columns(load(model))


def test_a_table_need_not_have_what_is_only_remembered(trained):
    folder, _, model = trained
    bare = folder / "bare.csv"
    bare.write_text("video,noise,x\na,0.1,1.0\na,0.2,-1.0\n", encoding="utf-8")
    done = run("tag", model, bare, "--to", "csv")
    assert done.exit_code == 0, done.output
    assert [line.split(",")[3] for line in done.stdout.splitlines()] == ["predicted", "B", "A"]


def test_groups_are_no_features_later(tmp_path):
    data = write_raw(tmp_path / "raw.csv")
    drop = ("--drop", "time", "--group", "note")
    done = run("train", data, *NAMED[:4], *drop, "-o", tmp_path / "model.kf")
    assert done.exit_code == 0, done.output
    assert run("tag", tmp_path / "model.kf", data, "-o", tmp_path / "out.csv").exit_code == 0


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_every_command_takes_them(tmp_path, separator):
    name = "raw.tsv" if separator == "\t" else "raw.csv"
    data = write_raw(tmp_path / name, separator=separator)
    done = run("convert", data, *NAMED, "-o", tmp_path / "plain.csv")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "plain.csv").read_text(encoding="utf-8").startswith("sequence,label,x,noise\n")
    done = run("compare", data, *NAMED, "--models", "crf,hmm", "--folds", "2", "--json")
    assert done.exit_code == 0, done.output
    X, y = read(data, sequence_column="video", label_column="phase", drop=["time", "note"])
    assert (len(X), X[0].shape) == (20, (6, 2))
    assert set(y[0]) <= {"A", "B"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            (),
            "no column 'sequence' that names the sequence; there are time, video, x, noise, note, phase",
        ),
        (NAMED[:2], "--label-column names the column of labels, and --drop those that are no features"),
        (
            (*NAMED[:2], "--drop", "time,note,phase"),
            "--label-column names the column of labels, one of x, noise",
        ),
        ((*NAMED, "--drop", "clock"), "no column 'clock'; there are time, video, x, noise, note, phase"),
        ((*NAMED[:2], "--label-column", "state", "--drop", "time,note"), "no column 'state'"),
        (("--sequence-column", "x", "--label-column", "x"), "both name 'x'"),
        (("--label-column", "x", "--drop", "x"), "--drop leaves out 'x', which --label-column names"),
    ],
)
def test_mistakes_list_the_columns(tmp_path, options, words):
    done = run("train", write_raw(tmp_path / "raw.csv"), *options, "-o", tmp_path / "model.kf")
    assert done.exit_code == 2
    assert words in said(done)


def test_other_formats_have_no_named_columns(tmp_path):
    done = run("train", write_columns(tmp_path / "a.conll"), "--drop", "x", "-o", tmp_path / "model.kf")
    assert done.exit_code == 2
    assert "--drop is for tables, not for conll" in said(done)


def test_lists_of_parquet_files_have_names(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"words": [["a", "b"]] * 3, "tags": [["A", "B"]] * 3, "ids": [["1", "2"]] * 3}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet", label_column="tags", drop=["ids"]) == (
        [["a", "b"]] * 3,
        [["A", "B"]] * 3,
    )
    with pytest.raises(InputError, match="has no column 'tag'; its columns are words, tags, ids"):
        read(tmp_path / "a.parquet", label_column="tag")


@pytest.mark.parametrize(
    "told",
    [
        [],
        {"sequence": None},
        {"sequence": 1, "label": None, "drop": []},
        {"sequence": "a", "label": "b", "drop": "c"},
    ],
)
def test_odd_headers_are_refused(told):
    with pytest.raises(ModelFormatError):
        decoded_columns({"table": told})


def test_json_says_what_was_converted(tmp_path):
    done = run("convert", write_raw(tmp_path / "raw.csv"), *NAMED, "-o", tmp_path / "a.jsonl", "--json")
    assert json.loads(done.stdout) == {"out": str(tmp_path / "a.jsonl"), "sequences": 20, "positions": 120}
