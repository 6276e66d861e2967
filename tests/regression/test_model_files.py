"""Files of every released version are read, and predict what they predicted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kernelfields
from kernelfields import KernelScores, Parts
from kernelfields.estimators.registry import REGISTRY
from tests.regression.write import marginals, models

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*/*.kf"))


def test_there_are_files_of_this_version() -> None:
    written = {path.stem for path in FILES if path.parent.name == kernelfields.__version__}
    assert written == set(models())


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_predictions_stay(path: Path) -> None:
    known = json.loads((path.parent / "marginals.json").read_text())[path.stem]
    X = models()[path.stem][1]
    found = marginals(kernelfields.load(path), X)
    assert len(found) == len(known)
    for left, right in zip(found, known, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-6)


SETTINGS = {
    "stochastic-crf": {"max_iter": 2, "learning_rate": None, "parts": Parts()},
    "boosted-crf": {"max_iter": 2, "learning_rate": 0.3, "parts": Parts()},
    "kernel-crf": {
        "parts": Parts(bias=None, edge_kernel=KernelScores("linear")),
        "decoder": "posterior",
        "structure": "chain",
    },
    "kernel-perceptron": {"max_iter": 2},
    "hmm": {"n_init": 1},
    "crf-order-2": {"structure": "chain2"},
    "cascade": {"first__parts": Parts(), "second__structure": "chain"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_the_first_files_are_read_by_their_present_names(name: str) -> None:
    """Also in models within models; what was a default then is what the model was fitted with."""
    settings = kernelfields.load(FOLDER / "0.1.0" / f"{name}.kf").get_params()
    assert {key: settings[key] for key in SETTINGS[name]} == SETTINGS[name]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/classes.txt")), ids=lambda path: path.parent.name)
def test_names_in_files_stay(path: Path) -> None:
    """A class that gets another name keeps its own in files; few of them are in the files above."""
    known = {*REGISTRY.recipes, *(row.name for row in REGISTRY.stored)}
    assert set(path.read_text().split()) - known == set()


def test_files_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.kf")) < 320_000


def test_guarantees_stay() -> None:
    X = models()["crf-calibrated"][1]
    kept = kernelfields.load(FOLDER / "0.1.0" / "crf-calibrated.kf")
    assert kept.scaling_.temperature == pytest.approx(0.69, abs=0.005)
    assert kept.predict(X, error_at_most=0.3) == kept.predict(X)
    with pytest.warns(UserWarning, match="nothing is answered"):
        assert kept.predict(X[:1], error_at_most=0.01) == [[None, None, None]]


@pytest.mark.parametrize("name", ["crf-posterior", "kernel-crf-posterior"])
def test_posteriors_stay(name: str) -> None:
    """The second file says that its posterior is linearised, which none is any more."""
    kept = kernelfields.load(FOLDER / "0.1.0" / f"{name}.kf").posterior_
    assert kept.n_draws == 2
