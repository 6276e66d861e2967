"""Features that are never negative, counted: for iterative scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import UnsupportedError
from ..losses import LogLoss
from ..spaces import Counted
from ..structures import MaxOracle

if TYPE_CHECKING:
    from .problem import Problem


class Counts(NamedTuple):
    """What is counted of features that are never negative."""

    observed: Array
    """Of each feature, in the training set."""
    most: float
    """What all features of one instance add up to at most, over its labellings."""
    penalty: Array
    """λ of each coordinate."""


def counts_of(problem: Problem) -> Counts:
    """Count the features of a problem; a refusal if some are negative."""
    if not isinstance(problem.loss, LogLoss) or problem.loss.cost is not None:
        raise UnsupportedError("Iterative scaling is for the log loss without a cost.")
    for term in problem.terms:
        if not isinstance(term.space, Counted) or term.space.least < 0 or term.penalty == 0:
            raise UnsupportedError(
                "Iterative scaling needs features that are not negative and penalties above 0, "
                f"which {term.name!r} has not."
            )
    parts = problem.structure.parts(problem.loss.outputs, problem.loss.weights)
    observed = [term.space.adjoint(parts[term.space.clique]) for term in problem.terms]
    penalty = np.repeat([term.penalty for term in problem.terms], [term.space.size for term in problem.terms])
    if not isinstance(problem.structure, MaxOracle):
        raise UnsupportedError(
            f"{type(problem.structure).__name__} does not find the labelling with most features."
        )
    most = problem.structure.argmax(problem.arrays.scores(np.ones(problem.size, problem.element_dtype))).value
    return Counts(np.concatenate(observed), float(most.max(initial=0.0)), penalty)
