"""The loss of a kernel model on held-out data, while it is being fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays import Array
from ..data.training import Training
from ..fitting.held_out import HeldOutSet
from .expansion import Expanded, coefficients_of
from .kernel_recipe import KernelRecipe, fixed_scores, in_precision
from .kernel_scorers import CliqueScorer, ColumnScorer
from .model import KnownScores, LabelScorer, Model, Scorer
from .terms import free_weights


def held_out_loss(
    recipe: KernelRecipe, expanded: Expanded, training: Training, held_out: HeldOutSet
) -> Callable[[Array], float]:
    """Return the loss of an element: that of the model it would be.

    Kernel values between held-out observations and the basis are kept, and so is what is not learnt; values
    of kernels on cliques are computed for every element.
    """
    observations = in_precision(held_out.inputs.features, recipe.dtype)
    problem, maps, cliques = expanded.problem, expanded.maps(), expanded.cliques
    kept = {one: one.columns(observations) for one in set(maps)}
    crosses = [kept[one] for one in maps]
    classes, fixed = training.encoded.classes, held_out_fixed(recipe, training, held_out)

    def loss(element: Array) -> float:
        scorers: list[Scorer] = [*fixed]
        for term, cross in zip(problem.terms[: len(crosses)], crosses, strict=True):
            space: Any = term.space
            coefficients = coefficients_of(space, element[problem.slices[term.name]])
            scorers.append(ColumnScorer(space.clique, cross, coefficients))
        for one in [] if cliques is None else cliques.fitted(problem.at(element)):
            scorers.append(CliqueScorer(one, observations.dtype))
        labels = LabelScorer.of(free_weights(element, problem.slices, held_out.chain.n_answers), "")
        return held_out.loss_of(Model(training.structure, classes, (*scorers, labels)))

    return loss


def held_out_fixed(recipe: KernelRecipe, training: Training, held_out: HeldOutSet) -> tuple[KnownScores, ...]:
    """Return the scores of held-out data that are not learnt, if there are some."""
    fixed = fixed_scores(recipe, training._replace(inputs=held_out.inputs, chain=held_out.chain))
    return () if fixed is None else (KnownScores(fixed),)
