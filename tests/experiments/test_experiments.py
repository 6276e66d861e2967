"""The machinery of experiments: claims, settings, folds, files, and the command."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments import EXPERIMENTS, Claim, Outcome, claims_of, last_result
from experiments.__main__ import app
from experiments.lib.folds import folds_of, mean_of
from experiments.lib.plots import MISSING, write_figure
from experiments.lib.results import write
from experiments.lib.settings import FOLDER, load_settings
from kernelfields.errors import InputError
from tests.conftest import ROOT


def invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.mark.parametrize(
    ("value", "bound", "holds"),
    [
        (0.2, {"at_least": 0.17}, True),
        (0.17, {"at_least": 0.17}, True),
        (0.1, {"at_least": 0.17}, False),
        (12.8, {"at_most": 12.8}, True),
        (12.9, {"at_most": 12.8}, False),
        (0.0, {"at_least": 0.0}, True),
        (-0.1, {"at_least": 0.0}, False),
        (float("nan"), {"at_most": 1.0}, False),
        (float("nan"), {"at_least": 1.0}, False),
    ],
)
def test_claim_holds_where_its_bound_is_kept(value, bound, holds):
    claim = Claim("x", value, paper=3.0, **bound)
    assert claim.holds is holds
    written = json.loads(json.dumps(claim.as_json(), allow_nan=False))
    assert written == {"name": "x", "value": None if np.isnan(value) else value, "paper": 3.0, **bound}
    assert [read.holds for read in claims_of({"claims": [written]})] == [holds]


@pytest.mark.parametrize("bound", [{}, {"at_least": 1.0, "at_most": 2.0}])
def test_claim_needs_one_bound(bound):
    with pytest.raises(ValueError, match="either at_least or at_most"):
        Claim("x", 1.0, **bound)


def test_files_say_what_does_not_hold(tmp_path):
    claims = [Claim("good", 1.0, at_least=0.5), Claim("bad", 1.0, paper=0.25, at_most=0.5)]
    outcome = Outcome("some", claims, [{"model": "a", "error": 0.123456}, {"model": "b", "more": None}])
    write(outcome, tmp_path / "deep" / "down")
    found = last_result(tmp_path / "deep" / "down")
    assert found == outcome.as_json()
    assert [claim.holds for claim in claims_of(found)] == [True, False]
    table = (tmp_path / "deep" / "down" / "table.md").read_text()
    assert "| a | 0.1235 |  |" in table
    assert "| bad | 1 | 0.25 | ≤ 0.5 | **no** |" in table


@pytest.mark.parametrize("text", [None, "", "[1]", "{}"])
def test_no_last_result_where_there_is_none(tmp_path, text):
    if text is not None:
        (tmp_path / "result.json").write_text(text)
    assert last_result(tmp_path) is None


def test_figure_without_matplotlib_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    assert write_figure(Outcome("some", [], []), lambda *_: None, tmp_path) == MISSING
    assert not list(tmp_path.iterdir())


def test_folds_test_every_sequence_once_and_train_on_the_rest():
    folds = folds_of(11, 3, seed=1)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(11))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(11))
    inner = folds_of(folds[0].train, 2, seed=1)
    assert sorted(np.concatenate([fold.test for fold in inner])) == sorted(folds[0].train)
    assert folds_of(11, 3, seed=1)[0].test.tolist() == folds[0].test.tolist()
    assert any(a.test.tolist() != b.test.tolist() for a, b in zip(folds, folds_of(11, 3, 2), strict=True))


def test_standard_error_is_that_of_the_mean():
    values = [1.0, 2.0, 4.0, 5.0]
    found = mean_of(values)
    assert found.mean == 3.0
    assert found.standard_error == pytest.approx((10 / 3) ** 0.5 / 2)
    assert mean_of([7.0]) == (7.0, 0.0)


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_settings_are_complete(name):
    experiment = EXPERIMENTS[name]
    full = load_settings(experiment.settings, name)
    assert full != load_settings(experiment.settings, name, quick=True)


def test_settings_of_folds_are_those_of_letters_only():
    assert len(load_settings(EXPERIMENTS["letters"].settings, "letters", folds=True).train_folds) == 10


@pytest.mark.parametrize(
    ("text", "words"),
    [("[full]\n", "lack 'blur'"), ("[full", "cannot be read"), (None, "cannot be read")],
)
def test_bad_settings_are_refused_in_one_sentence(tmp_path, text, words):
    file = tmp_path / "settings.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=words):
        load_settings(EXPERIMENTS["letters"].settings, "letters", file=file)


def test_unknown_setting_is_refused(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text((FOLDER / "letters.toml").read_text() + "colour = 3\n")
    with pytest.raises(InputError, match="do not know 'colour'"):
        load_settings(EXPERIMENTS["letters"].settings, "letters", quick=True, file=file)


def test_listing_shows_data_and_last_results(tmp_path):
    bad = Claim("wrong_percent", 2.5, at_most=1.0)
    write(Outcome("letters", [bad], [], {"quick": True}), tmp_path / "letters")
    listing = json.loads(invoke("--out", tmp_path, "--json").output.splitlines()[-1])
    assert [entry["experiment"] for entry in listing] == list(EXPERIMENTS)
    assert all(entry["summary"] and entry["data"] for entry in listing)
    last = {entry["experiment"]: entry["last"] for entry in listing}
    assert last.pop("letters")["claims"] == [bad.as_json()]
    assert set(last.values()) <= {None}
    text = " ".join(invoke("--out", tmp_path).output.split())
    for words in (*EXPERIMENTS, "none yet", "wrong_percent", "quick", "[altun2004gp"):
        assert words in text


def test_unknown_experiment_is_one_sentence():
    result = invoke("lettres")
    assert result.exit_code == 2
    assert result.output.startswith("There is no experiment 'lettres'; choose one of letters")
    assert len(result.output.splitlines()) == 1


def test_help_has_examples():
    assert "python -m experiments letters" in " ".join(invoke("--help").output.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_standard_output_is_one_sentence():
    with Path("/dev/full").open("wb") as full:
        words = [sys.executable, "-m", "experiments"]
        done = subprocess.run(words, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.stderr.decode() == "The standard output: No space left on device.\n"
    assert done.returncode == 2
