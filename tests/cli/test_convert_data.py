"""``kf convert`` from one format of data to another."""

import json
from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields.cli.app import app
from kernelfields.files.reading import read_data

from ._files import write_arrays, write_columns, write_json, write_table


def converted(source, out, *words):
    return CliRunner().invoke(app, ["convert", str(source), "-o", str(out), *words])


def same(left, right):
    assert [list(map(str, y)) for y in left.labels] == [list(map(str, y)) for y in right.labels]
    for x, z in zip(left.inputs, right.inputs, strict=True):
        if isinstance(x, np.ndarray):
            np.testing.assert_array_equal(x, z)
        else:
            assert x == z


@pytest.mark.parametrize(
    ("writer", "path"),
    [
        (write_columns, ["a.conll", "b.jsonl", "c.conll", "d.jsonl.gz", "e.conll"]),
        (write_json, ["a.jsonl", "b.conll", "c.jsonl"]),
        (write_table, ["a.csv", "b.npz", "c.csv", "d.jsonl", "e.csv", "f.jsonl", "g.npz"]),
        (write_arrays, ["a.npz", "b.csv", "c.npz", "d.jsonl", "e.npz"]),
    ],
)
def test_sequences_come_through(tmp_path, writer, path):
    """Whatever way round, and back again."""
    writer(tmp_path / path[0])
    first = read_data(tmp_path / path[0])
    for before, after in pairwise(path):
        result = converted(tmp_path / before, tmp_path / after)
        assert result.exit_code == 0, result.output
    same(first, read_data(tmp_path / path[-1]))


def test_columns_names_documents_and_what_is_missing_stay(tmp_path):
    source = tmp_path / "a.conll"
    source.write_text("-DOCSTART- X O\n\nAna NP B\nsaw V O\n\nof P O\n")
    converted(source, tmp_path / "b.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert rows[0]["tokens"] == [["Ana", "NP"], ["saw", "V"]]
    converted(tmp_path / "b.jsonl", tmp_path / "c.conll")
    assert (tmp_path / "c.conll").read_text().split() == source.read_text().split()[3:]
    converted(source, tmp_path / "d.conll")
    assert (tmp_path / "d.conll").read_text() == source.read_text() + "\n"
    table = tmp_path / "a.csv"
    table.write_text("sequence,height,width\none,1.5,\none,2.0,0.1\ntwo,,3.0\n")
    converted(table, tmp_path / "e.jsonl")
    assert json.loads((tmp_path / "e.jsonl").read_text().splitlines()[1]) == {"tokens": [{"width": 3.0}]}
    converted(table, tmp_path / "g.csv")
    assert (tmp_path / "g.csv").read_text() == table.read_text()


@pytest.mark.parametrize(
    ("text", "name", "out", "reason"),
    [
        ("a A\nb B\n", "a.conll", "b.csv", "has tokens, which csv has no place for; choose conll or jsonl."),
        ("a A\nb B\n", "a.conll", "b.npz", "has tokens, which npz has no place for"),
        ("a A\nb B\n", "a.conll", "b.txt", "b.txt does not say the format to write; add --to"),
        ("sequence,x\na,1\n", "a.csv", "b.conll", "has numbers, which conll has no place for"),
        (
            '{"tokens": [{"a": 1}]}\n',
            "a.jsonl",
            "b.conll",
            "objects of features, but columns of text are needed",
        ),
        ('{"tokens": [{"a": 1}, {"b": 2}]}\n', "a.jsonl", "b.csv", "other names than the first one"),
        ('{"tokens": [{"label": 1}], "labels": ["A"]}\n', "a.jsonl", "b.csv", "called 'label'"),
        ('{"tokens": ["a"], "labels": ["_"]}\n', "a.jsonl", "b.conll", "stands for a missing one in conll"),
        ("", "a.conll", "b.jsonl", "has no sequences"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, text, name, out, reason):
    (tmp_path / name).write_text(text)
    result = converted(tmp_path / name, tmp_path / out)
    assert result.exit_code == 2, result.output
    assert reason in result.output
    assert not (tmp_path / out).exists()


def test_tokens_without_labels(tmp_path):
    (tmp_path / "a.conll").write_text("a\nb\n")
    assert converted(tmp_path / "a.conll", tmp_path / "b.jsonl", "--unlabelled").exit_code == 0
    assert json.loads((tmp_path / "b.jsonl").read_text()) == {"tokens": ["a", "b"]}
