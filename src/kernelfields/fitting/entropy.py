"""Searches that begin with the labels that there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..arrays import Array
from ..losses import LogWithEntropy
from ..objective import Problem
from .em import Change, with_loss

if TYPE_CHECKING:
    from .run import Found


def begin_with_labels(
    problem: Problem,
    start: Array,
    loss: LogWithEntropy,
    minimise: Callable[[Problem, Array, Change], Found],
) -> Found:
    """Minimise the loss of what was observed first, then, from there, that with entropies.

    At zero all labellings are equally likely, and the entropy is as flat as a maximum is: from there a
    search could go to any labels.

    Parameters
    ----------
    problem : Problem
        With the whole loss.
    start : element
        Where the first search starts.
    loss : LogWithEntropy
        The whole loss.
    minimise : callable
        A search, from a problem, a start, and how to change the exact problem to the same loss.
    """
    change = with_loss(loss.observed)
    first = minimise(change(problem), start, change)
    found = minimise(problem, first.element, lambda exact: exact)
    return found._replace(iterations=first.iterations + found.iterations)
