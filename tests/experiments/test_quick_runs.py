"""Every experiment from the command line, in its short version."""

import json

import pytest
from typer.testing import CliRunner

from experiments import EXPERIMENTS, claims_of
from experiments.__main__ import app

WITHOUT_DATA = [name for name, experiment in EXPERIMENTS.items() if experiment.data.startswith("none")]
WITH_DATA = [name for name in EXPERIMENTS if name not in WITHOUT_DATA]

ALWAYS = {
    "letters": "largest_relative_gap",
    "letters-svm": "largest_gap_over_tolerance",
    "margin-length": "largest_relative_gap",
    "ner-table1": "degree1_objective_is_that_of_crf",
    "pitch-accent": "largest_relative_gap_20",
    "explicit": "optimum_relative_difference",
    "gene": "genes_of_viterbi_in_frame_percent",
    "sparsity": "largest_relative_gap",
    "ner-300": "largest_relative_gap",
    "two-by-two": "largest_relative_gap",
    "pos-table": "largest_crf_gap",
    "loss-curves": "largest_relative_gap",
    "protein": "largest_relative_gap",
    "collective": "largest_relative_gap",
    "gaussian-hmm": "largest_rise_of_risk_percent",
    "horses": "single_pixels_relative_gap",
    "snakes": "largest_relative_gap",
    "scene": "largest_relative_gap",
    "active": "labels_asked_twice",
    "align": "largest_relative_gap",
    "galaxy": "largest_relative_gap",
    "letters-semi": "largest_relative_gap",
    "protein-semi": "largest_relative_gap",
    "cb513": "largest_relative_gap",
    "chunking": "largest_relative_gap",
    "gestures": "largest_relative_gap",
    "ner": "largest_relative_gap",
    "gestures-semi": "largest_relative_gap",
    "penn": "largest_error_of_expected_spans",
    "parse": "outputs_that_are_no_projective_trees",
    "segments": "largest_relative_gap",
    "hidden": "largest_relative_gap",
    "missing": "largest_relative_gap",
    "guarantee": "violated_share",
    "posterior": "largest_relative_gap",
    "evidence": "largest_relative_gap",
}
"""Claims that do not depend on how much data there are: two ways to one optimum."""


def run(name, folder, *more):
    return CliRunner().invoke(app, [name, "--quick", "--json", "--out", str(folder), *more])


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_quick_run_prints_and_writes_what_it_promises(name, tmp_path):
    result = run(name, tmp_path)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout.splitlines()[-1])
    assert list(found) == ["experiment", "claims", "details"]
    assert found["experiment"] == name
    assert found["claims"]
    for claim in found["claims"]:
        assert set(claim) in ({"name", "value", "paper", bound} for bound in ("at_least", "at_most"))
    assert next(claim.holds for claim in claims_of(found) if claim.name == ALWAYS[name])
    assert found == json.loads((tmp_path / "result.json").read_text())
    table = (tmp_path / "table.md").read_text()
    for claim in found["claims"]:
        assert f"| {claim['name']} |" in table
    pytest.importorskip("matplotlib")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", WITH_DATA)
def test_missing_data_is_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELFIELDS_DATA", str(tmp_path))
    result = run(name, tmp_path / "out")
    assert result.exit_code == 2
    lines = [line for line in result.stderr.splitlines() if line]
    assert len(lines) == 1
    assert "is missing" in lines[0]
    assert any(data in lines[0] for data in EXPERIMENTS[name].data.split(" and "))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "letters"])
def test_only_letters_have_more_folds(name, tmp_path):
    result = run(name, tmp_path, "--folds")
    assert result.exit_code == 2
    assert f"{name} has no --folds." in result.stderr
