"""Several files, and folders of them, in commands that read data."""

import json

import pytest
from typer.testing import CliRunner

from kernelfields import read
from kernelfields.cli.app import app

from ._files import write_columns, write_json, write_table


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    return [write_columns(folder / f"{name}.conll", n=20, seed=n) for n, name in enumerate("ab")]


def test_evaluations_and_calibrations_take_many(parts, tmp_path):
    model = tmp_path / "model.kf"
    assert run("train", *parts, "-o", model).exit_code == 0
    for given in (parts, [parts[0].parent]):
        done = run("evaluate", model, *given, "--json")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout.splitlines()[-1])["sequences"] == 40
    done = run("calibrate", model, *parts, "-o", tmp_path / "sure.kf", "--json")
    assert json.loads(done.stdout.splitlines()[-1])["sequences"] == 40
    assert run("compare", *parts, "--models", "crf,perceptron", "--folds", "2").exit_code == 0
    assert run("tag", model, parts[0].parent, "--labelled", "-o", tmp_path / "tagged").exit_code == 0
    assert sorted(one.name for one in (tmp_path / "tagged").iterdir()) == ["a.conll", "b.conll"]


def test_conversions_become_one_file_or_a_folder(parts, tmp_path):
    done = run("convert", *parts, "-o", tmp_path / "both.jsonl")
    assert done.exit_code == 0, done.output
    assert read(tmp_path / "both.jsonl") == read(parts)
    done = run("convert", *parts, "-o", tmp_path / "each", "--to", "jsonl")
    assert done.exit_code == 0, done.output
    assert sorted(one.name for one in (tmp_path / "each").iterdir()) == ["a.jsonl", "b.jsonl"]
    assert read(tmp_path / "each" / "b.jsonl") == read(parts[1])


@pytest.mark.parametrize(
    ("name", "content", "to", "message"),
    [
        ("bad.conll", b"Ana B-PER\n\xff O\n", "jsonl", "bad.conll, line 2"),
        ("bad.csv", b"sequence,label,x\ns,A,1.5\n", "conll", "has numbers"),
    ],
)
def test_a_conversion_of_several_files_changes_all_or_none(parts, tmp_path, name, content, to, message):
    bad, each = tmp_path / name, tmp_path / "each"
    bad.write_bytes(content)
    each.mkdir()
    (each / f"a.{to}").write_bytes(b"precious")
    done = run("convert", *parts, bad, "-o", each, "--to", to)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert [(one.name, one.read_bytes()) for one in each.iterdir()] == [(f"a.{to}", b"precious")]


def test_what_does_not_go_together_is_refused(parts, tmp_path):
    table = write_table(tmp_path / "a.csv")
    done = run("convert", parts[0], table, "-o", tmp_path / "both.jsonl")
    assert done.exit_code == 2
    assert "but" in done.output
    assert not (tmp_path / "both.jsonl").exists()
    assert "add --to" in run("convert", *parts, "-o", tmp_path / "each").output
    write_json(parts[0].parent / "c.jsonl")
    assert "several formats" in " ".join(
        run("train", parts[0].parent, "-o", tmp_path / "m.kf").output.split()
    )
