"""``kf convert``."""

import pytest
from typer.testing import CliRunner

from kernelfields import load
from kernelfields.cli.app import app

pycrfsuite = pytest.importorskip("pycrfsuite")


def test_a_model_of_crfsuite_becomes_one_of_ours(tmp_path):
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([{"w": "a"}, {"w": "b"}], ["A", "B"])
    trainer.train(str(tmp_path / "model.crfsuite"))
    result = CliRunner().invoke(
        app, ["convert", str(tmp_path / "model.crfsuite"), "-o", str(tmp_path / "model.kf")]
    )
    assert result.exit_code == 0
    assert "2 labels, 2 attributes" in result.output
    assert load(tmp_path / "model.kf").predict([[{"w": "a"}, {"w": "b"}, {"w": "b"}]]) == [["A", "B", "B"]]


@pytest.mark.parametrize("content", [None, b"lCRF and nothing else"])
def test_what_is_no_model_is_refused(tmp_path, content):
    source = tmp_path / "model.crfsuite"
    if content is not None:
        source.write_bytes(content)
    result = CliRunner().invoke(app, ["convert", str(source), "-o", str(tmp_path / "model.kf")])
    assert result.exit_code == 2
    assert "model.crfsuite" in result.output
    assert not (tmp_path / "model.kf").exists()
