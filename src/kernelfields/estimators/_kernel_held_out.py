"""The loss of a kernel model on held-out sequences, while it is being fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..losses import Log
from ..objective import Problem
from ..selection import ObservationMap
from ..structures import SequenceStructure
from ..structures._base import Array
from ._kernel_recipe import KernelRecipe


def held_out_loss(
    recipe: KernelRecipe,
    problem: Problem,
    maps: tuple[ObservationMap, ...],
    observations: Any,
    chain: SequenceStructure,
    labels: Array,
    offset: Array | float,
) -> Callable[[Array], float]:
    """Give the loss of an element; columns of the held-out observations are kept.

    Parameters
    ----------
    recipe, problem : KernelRecipe, Problem
        What is being minimised.
    maps : tuple of ObservationMap
        Those of the first terms of the problem, the kernels'.
    observations : observations
        Those held out.
    chain, labels : SequenceStructure, (N,) array
        The shape and the labels of the held-out sequences.
    offset : (N, L) array
        Their log base measure.
    """
    kept = {one: one.columns(observations) for one in set(maps)}
    crosses = [kept[one] for one in maps]
    free = recipe.free_terms(chain)
    loss = Log(chain, labels)

    def held_out(element: Array) -> float:
        theta = {clique: np.zeros(shape) for clique, shape in chain.shapes.items()}
        theta["node"] += offset
        for term, cross in zip(problem.terms[: len(crosses)], crosses, strict=True):
            space: Any = term.space
            scores = cross @ space.coefficients(element[problem.slices[term.name]]).astype(cross.dtype)
            seen = scores if term.space.clique == "node" else scores[chain.edge_tails]
            theta[term.space.clique] += seen.reshape(theta[term.space.clique].shape)
        for term in free:
            term.space.add_scores(element[problem.slices[term.name]], theta[term.space.clique])
        return loss.at(theta).value

    return held_out
