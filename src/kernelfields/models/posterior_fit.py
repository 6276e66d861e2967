"""The posterior of a model that has been fitted: drawn functions, as attributes it could have had."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import choose
from ..data.seeds import random_state
from ..memory import require_memory
from ..objective import Problem
from ..posterior import Laplace, PosteriorMethod, UnitProblem
from ..tables import POSTERIORS
from .averaging import Averaging, stacked_draws

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
