"""The loss of a kernel model on held-out sequences, while it is being fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from ..fitting.held_out import HeldOutSet
from ..structures import Scores
from .expansion import Expanded, coefficients_of
from .kernel_recipe import KernelRecipe, in_precision


def held_out_loss(
    recipe: KernelRecipe, expanded: Expanded, held_out: HeldOutSet, fixed: Scores | None
) -> Callable[[Array], float]:
    """Return the loss of an element; columns of the held-out observations are kept.

    Parameters
    ----------
    recipe, expanded : KernelRecipe, Expanded
        What is being minimised; values of kernels on cliques are computed for every element.
    held_out : HeldOutSet
        Sequences and labels.
    fixed : scores, optional
        What is not learnt: their log base measure, −inf for what is forbidden.
    """
    chain = held_out.chain
    observations = in_precision(held_out.inputs.features, recipe.dtype)
    problem, maps, cliques = expanded.problem, expanded.maps(), expanded.cliques
    kept = {one: one.columns(observations) for one in set(maps)}
    crosses = [kept[one] for one in maps]
    free = recipe.free_terms(chain)

    def loss(element: Array) -> float:
        theta = {clique: np.zeros(shape) for clique, shape in chain.shapes.items()}
        for clique, values in ({} if fixed is None else fixed).items():
            theta[clique] += values
        for term, cross in zip(problem.terms[: len(crosses)], crosses, strict=True):
            space: Any = term.space
            coefficients = coefficients_of(space, element[problem.slices[term.name]])
            scores = cross @ coefficients.astype(cross.dtype)
            seen = scores[chain.edge_tails] if term.space.clique == "edge" else scores
            theta[term.space.clique] += seen.reshape(theta[term.space.clique].shape)
        for one in [] if cliques is None else cliques.fitted(problem.at(element)):
            one.add_scores(chain, observations, theta)
        for term in free:
            term.space.add_scores(element[problem.slices[term.name]], theta[term.space.clique])
        return held_out.loss.at(theta).value

    return loss
