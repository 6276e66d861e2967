"""Every estimator fits every structure, or refuses it in a sentence of its own."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from kernelfields.errors import InputError

from .every_structure import APPROXIMATIONS, MODELS, SELECTIONS, TASKS, Task

UNLABELLED = ("dependency", "constituency", "matching", "bethe", "alignment")
"""What has no labels of vertices; these go with all models that boost or select."""
STEP = 3
"""One of so many other pairs is tried; another third with every further model."""


def pairs(model: str) -> list[str]:
    """The structures that a model is tried on."""
    number = list(MODELS).index(model)
    chosen = [name for k, name in enumerate(TASKS) if (number + k) % STEP == 0]
    picky = "boosted" in model or model.split(" ", 1)[-1] in {*SELECTIONS, *APPROXIMATIONS}
    return [*chosen, *(name for name in UNLABELLED if picky and name not in chosen)]


def outcome(model: Any, task: Task) -> str | None:
    """Fit and predict; what the package says instead."""
    settings = {"structure": task.structure, "features": task.features}
    accepted = {name: value for name, value in settings.items() if name in model.get_params()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.set_params(**accepted).fit(task.X, task.y).predict(task.X)
        except InputError as refusal:
            return str(refusal)
    return None


@pytest.mark.parametrize("name", MODELS)
def test_fits_or_refuses(name: str) -> None:
    for structure in pairs(name):
        said = outcome(MODELS[name](), TASKS[structure])
        assert said is None or (said.endswith(".") and "\n" not in said), (structure, said)


@pytest.mark.parametrize("structure", TASKS)
def test_every_structure_has_an_estimator(structure: str) -> None:
    assert (
        outcome(MODELS["SVM"](), TASKS[structure]) is None
        or outcome(MODELS["CRF"](), TASKS[structure]) is None
    )


@pytest.mark.parametrize(
    ("model", "structure", "words"),
    [
        ("boosted", "dependency", "BoostedCRF is about labels of vertices, which Dependency has not."),
        ("boosted", "propagated", "BeliefPropagationBatch does not differentiate its marginals"),
        (
            "KernelCRF sgps",
            "constituency",
            "SGPS as basis is about labels of vertices, which Constituency has not.",
        ),
        ("stochastic", "searched", "The log loss sums over outputs, which SearchedGraphBatch cannot do."),
    ],
)
def test_refusals_say_why(model: str, structure: str, words: str) -> None:
    assert words in str(outcome(MODELS[model](), TASKS[structure]))
