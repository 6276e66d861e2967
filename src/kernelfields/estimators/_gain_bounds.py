"""How much a model can gain at most by a further space of functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..data.rules import offset_of
from ..models.clique_types import CliqueType
from ..models.kernel_recipe import in_precision
from .kernel_crf import KernelCRF


def gain_bound(model: KernelCRF, candidate: CliqueType, X: Any, y: Any, **given: Any) -> float:
    """‖∇_τ R(f)‖² / (2λ_τ) of a space τ that the model does not have yet, on its training set.

    If f is optimal in its own space, min R over the sum of both is at most so much below R(f)
    [altun2004exp, Cor. 10 and Remark 11]; otherwise add the gap of f. The gradient in τ is that of the
    loss alone, expected minus observed features, since f has no part in τ.
    """
    extended = extension(model, candidate)
    recipe = extended._recipe()
    training = recipe.read(X, y, given.get("lengths"), given.get("sample_weight"))
    batch = model._model().scores(training.inputs)
    theta = {
        clique: _spread(batch.scores.get(clique), shape) for clique, shape in training.chain.shapes.items()
    }
    if training.forbidden is not None:
        offset = offset_of(training.forbidden, training.chain, np.float64)
        theta = {clique: values + offset[clique] for clique, values in theta.items()}
    observations = in_precision(training.inputs.features, recipe.dtype)
    term = candidate.term(recipe, training.chain, observations)
    mismatch = term.space.representer(training.loss.at(theta).gradient[term.space.clique])
    return term.space.inner(mismatch, mismatch) / (2 * term.penalty)


def extension(model: KernelCRF, candidate: CliqueType) -> KernelCRF:
    """Return the unfitted model with one clique type more."""
    settings = model.get_params(deep=False)
    return type(model)(**{**settings, **candidate.settings(settings)})


def _spread(scores: Array | None, shape: tuple[int, ...]) -> Array:
    """Scores of a smaller model, where the larger one has a score for each clique, or more cliques."""
    return np.zeros(shape) + (0.0 if scores is None else scores)
