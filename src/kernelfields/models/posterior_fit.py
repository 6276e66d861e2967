"""The posterior of a model that has been fitted: drawn functions, as attributes it could have had."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import choose
from ..data.seeds import random_state
from ..memory import require_memory
from ..objective import Point, Problem
from ..posterior import Laplace, PosteriorMethod, UnitProblem
from ..tables import POSTERIORS
from .attributes import attributes_of
from .averaging import Averaging, stacked_draws
from .expansion import Expanded, gather
from .parts import BoundParts
from .selected import Chosen, gathered, pair_scores

Attributes = Callable[[Problem, Array], Mapping[str, Any]]
"""Reads the attributes of a model off an element."""


def posterior_of(
    setting: str | PosteriorMethod, problem: Problem, element: Array, attributes: Attributes, seed: Any
) -> Averaging:
    """Return functions drawn from the posterior around a mode.

    Parameters
    ----------
    setting : str or PosteriorMethod
        How it is approximated.
    problem : Problem
        The objective that was minimised.
    element : array
        Where.
    attributes : callable
        From an element, in orthonormal coordinates, to what the model would have learnt.
    seed : int, RandomState or None
        As for ``random_state``.
    """
    method = choose(POSTERIORS, setting, "posterior")
    unit = UnitProblem(problem)
    require_memory(f"posterior with n_samples={method.n_samples}", 8 * method.n_samples * unit.size)
    number = int(random_state(seed).randint(2**31 - 1))
    mode = unit.coordinates(element)
    found = method.of(unit, mode, np.random.default_rng(number))
    each = [attributes(unit.problem, unit.element(u)) for u in found.draws]
    share = method.scale if isinstance(method, Laplace) else 1.0
    gamma = {} if found.spectrum is None else found.spectrum.n_effective
    squares = {name: float(mode[place] @ mode[place]) for name, place in unit.slices.items()}
    return Averaging(
        stacked_draws(each),
        found.log_evidence,
        found.evidence_error,
        gamma,
        squares,
        float(share),
        number,
    )


def linear_attributes(parts: BoundParts, n_labels: int) -> Attributes:
    """Return how weights of a linear model are read."""
    return lambda problem, element: attributes_of(parts.scorers(problem, element), n_labels)


def kernel_attributes(expanded: Expanded, n_labels: int) -> Attributes:
    """Return how coefficients of a kernel model are read, on the whole basis."""
    others = expanded.others
    assert others is not None

    def read(problem: Problem, element: Array) -> Mapping[str, Any]:
        point = Point(problem, element, None)  # type: ignore[arg-type]  # nobody asks for the loss
        found = gather(point, expanded.bases, whole=True)
        learnt = attributes_of(others.scorers(problem, element), n_labels)
        return {"dual_coef_": found.coef, "edge_dual_coef_": found.edge_coef, **learnt}

    return read


def selected_attributes(chosen: Chosen, state: Any, n_labels: int) -> Attributes:
    """Return how coefficients of selected functions are read."""

    def read(problem: Problem, element: Array) -> Mapping[str, Any]:
        here = state._replace(parts={name: element[place] for name, place in problem.slices.items()})
        found = gathered(chosen, here)[0]
        free = attributes_of(chosen.others.scorers(problem, element), n_labels)
        pairs = pair_scores(here, n_labels)
        if pairs is not None:
            free["transitions_"] = pairs
        return {"dual_coef_": found.coef, "edge_dual_coef_": found.edge_coef, **free}

    return read
