"""The scores of a fitted kernel model, by what it learnt alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..data.base_measure import add_base_measure
from ..data.inputs import Inputs
from .kernel_recipe import in_precision
from .scores import ScoredBatch
from .terms import add_free_scores, fitted_batch
from .vertex_kernels import used_times


def kernel_scores(model: Any, inputs: Inputs) -> ScoredBatch:
    """Return the scores of a batch, whatever the settings of the model say by now."""
    edge_coef, features = getattr(model, "edge_dual_coef_", None), inputs.features
    cliques = getattr(model, "clique_kernels_", ())
    untied = edge_coef is not None or any(one.clique == "edge" for one in cliques)
    chain = fitted_batch(model, inputs, untied=untied)
    theta = {clique: np.zeros(shape) for clique, shape in chain.shapes.items()}
    observations = in_precision(features, _precision(model))
    answers = theta[chain.answer]
    answers += _node_scores(model, observations).reshape(answers.shape)
    if edge_coef is not None:
        theta["edge"] += _edge_scores(model, observations[chain.edge_tails]).reshape(theta["edge"].shape)
    for one in cliques:
        one.add_scores(chain, observations, theta)
    add_free_scores(model, chain, theta)
    measure = getattr(model, "base_measure_", None)
    if measure is not None:
        add_base_measure(measure, chain, features, model.classes_, theta)
    return ScoredBatch(chain, theta)


def _precision(model: Any) -> Any:
    """Return the precision that observations had in the fit: that of what was kept of them."""
    fourier = getattr(model, "fourier_", None)
    return model.basis_.dtype if fourier is None else fourier.frequencies.dtype


def _node_scores(model: Any, observations: Any) -> Array:
    """f(x_v, y), (N, L)."""
    fourier = getattr(model, "fourier_", None)
    if fourier is not None:
        return np.asarray(fourier.times(observations, model.dual_coef_))
    return np.asarray(model._kernels.scores(observations, model.basis_, model.dual_coef_))


def _edge_scores(model: Any, observations: Any) -> Array:
    """g(x_v, y, y⁺), (E, L²)."""
    flat = model.edge_dual_coef_.reshape(-1, len(model.classes_) ** 2)
    if model.fourier_ is not None:
        return np.asarray(model.fourier_.times(observations, flat))
    assert model.edge_kernel_ is not None  # files may say anything
    return used_times(model.edge_kernel_, observations, model.basis_, flat)
