"""Labels that break the rules of entities: named by file and line, and repaired on demand."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from kernelfields import CRF, InputError, load
from kernelfields.cli.app import app
from kernelfields.constraints import IOB2, IOBES

from ._files import write_columns, write_json


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def said(done):
    return " ".join(done.output.split())


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Return a file whose line 4 is the only one to break IOB2, and one that breaks it at a beginning."""
    monkeypatch.chdir(tmp_path)  # short names, which no terminal breaks in two
    path = write_columns(Path("train.conll"), n=40)
    rest = path.read_text(encoding="utf-8")
    path.write_text("# id = 0\nthe O\nof O\nDiaz I-PER\nLopez I-PER\n\n" + rest, encoding="utf-8")
    dev = write_columns(Path("dev.conll"), n=10, seed=1)
    dev.write_text("Diaz I-PER\n\n" + dev.read_text(encoding="utf-8"), encoding="utf-8")
    return path, dev


def test_the_line_that_drops_constraints_is_named(broken, tmp_path):
    path, _ = broken
    done = run("train", path, "-o", tmp_path / "model.kf")
    assert done.exit_code == 0, done.output
    assert f"{path}, line 4: I-PER after O, which iob2 forbids: the model is trained without" in said(done)
    assert "--constraints repair" in said(done)
    assert load(tmp_path / "model.kf").constraints is None


def test_repair_makes_them_begin_an_entity(broken, tmp_path):
    path, dev = broken
    done = run("train", path, "--dev", dev, "--constraints", "repair", "-o", tmp_path / "model.kf")
    assert done.exit_code == 0, done.output
    assert "Repaired 1 of " in said(done)
    assert f"{path}, line 4: I-PER after O is B-PER now" in said(done)
    assert f"{dev}, line 1: I-PER at the beginning of a sequence is B-PER now" in said(done)
    model = load(tmp_path / "model.kf")
    assert model.constraints == "iob2"
    assert IOB2.obeyed_by(model.predict([["the", "Diaz", "Lopez"], ["Diaz"]]))


def test_a_refusal_names_the_line_too(broken, tmp_path):
    path, dev = broken
    done = run("train", dev, path, "--constraints", "iob2", "-o", tmp_path / "model.kf")
    assert done.exit_code == 2
    assert f"{dev}, line 1: I-PER at the beginning of a sequence, which iob2 forbids" in said(done)
    done = run("train", path, "--dev", dev, "--constraints", "none", "-o", tmp_path / "model.kf")
    assert done.exit_code == 0
    assert "forbids" not in said(done)


def test_formats_without_lines_name_sequence_and_position(tmp_path):
    path = write_json(tmp_path / "a.jsonl")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"tokens": ["the", "Diaz"], "labels": ["O", "I-PER"]}\n')
    done = run("compare", path, "--models", "crf,perceptron", "--folds", "2")
    assert done.exit_code == 0, done.output
    # lines are wrapped within long paths
    assert f"{path}, sequence 30, position 1: I-PER after O".replace(" ", "") in said(done).replace(" ", "")


def test_what_cannot_be_repaired_is_refused(tmp_path):
    path = tmp_path / "pos.conll"
    path.write_text("a NN\nb VB\n\n" * 5, encoding="utf-8")
    done = run("train", path, "--constraints", "repair", "-o", tmp_path / "model.kf")
    assert done.exit_code == 2
    assert "Label 'NN' is not a tag of IOB2" in said(done)


def test_python_names_sequence_and_position():
    X, y = [["a", "b"], ["a", "b"]], [["B-X", "I-X"], ["O", "I-X"]]
    with pytest.raises(InputError, match=r"Sequence 1 .*'O' → 'I-X' at position 1"):
        CRF(features="pos", constraints="iob2").fit(X, y)


def test_rules_tell_all_places():
    found = IOBES.broken_by([["B-X", "O"], ["O", None, "I-X"], ["B-X"]])
    assert [str(one) for one in found] == [
        "O after B-X",
        "I-X at the end of a sequence",
        "B-X at the end of a sequence",
    ]
    assert [(one.sequence, one.position) for one in found] == [(0, 1), (1, 2), (2, 0)]
