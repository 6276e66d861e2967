"""The loss of a kernel model on held-out data, while it is being fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays import Array
from ..data.training import Training
from ..fitting.held_out import HeldOutSet
from ..observations import in_precision
from .expansion import Expanded, coefficients_of
from .kernel_recipe import KernelRecipe, fixed_scores
from .kernel_scorers import ColumnScorer
from .model import KnownScores, Model, Scorer
from .parts import BoundKernel, BoundParts, PartData
from .scorers import fuse_scorers


def held_out_loss(
    recipe: KernelRecipe, expanded: Expanded, training: Training, held_out: HeldOutSet
) -> Callable[[Array], float]:
    """Return the loss of an element: that of the model it would be.

    Kernel values between held-out observations and the basis are kept, and so is what is not learnt.
    """
    observations = in_precision(held_out.inputs.features, recipe.dtype)
    problem, maps, others = expanded.problem, expanded.maps(), expanded.others
    assert others is not None
    data = PartData(held_out.chain, observations)
    readers = {name: one.held_out(data) for name, one in others.bound.items() if isinstance(one, BoundKernel)}
    alone = BoundParts(
        others.parts, {n: one for n, one in others.bound.items() if n not in readers}, others.data
    )
    kept = {one: one.columns(observations) for one in set(maps)}
    crosses = [kept[one] for one in maps]
    classes, fixed = training.encoded.classes, held_out_fixed(recipe, training, held_out)

    def loss(element: Array) -> float:
        scorers: list[Scorer] = [*fixed]
        for term, cross in zip(problem.terms[: len(crosses)], crosses, strict=True):
            space: Any = term.space
            coefficients = coefficients_of(space, element[problem.slices[term.name]])
            scorers.append(ColumnScorer(space.clique, cross, coefficients))
        for term in problem.terms:
            if term.name in readers:
                values = readers[term.name](term.space, element[problem.slices[term.name]])
                scorers.append(KnownScores({term.space.clique: values}))
        labels = fuse_scorers(alone.scorers(problem, element), held_out.chain.n_answers)
        return held_out.loss_of(Model(training.structure, classes, (*scorers, *labels)))

    return loss


def held_out_fixed(recipe: KernelRecipe, training: Training, held_out: HeldOutSet) -> tuple[KnownScores, ...]:
    """Return the scores of held-out data that are not learnt, if there are some."""
    fixed = fixed_scores(recipe, training._replace(inputs=held_out.inputs, chain=held_out.chain))
    return () if fixed is None else (KnownScores(fixed),)
