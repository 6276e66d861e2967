"""The posterior of a fitted model: how wide it is, by folds, and functions drawn from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..data.groups import fold_numbers, pick
from ..data.labels import look_up_outputs
from ..data.seeds import random_state
from ..data.training import require_labelling
from ..errors import InputError
from ..fitting.copies import silent_copy
from ..memory import require_memory
from ..objective import Problem
from ..posterior import Laplace, PosteriorMethod, UnitProblem
from ..structures import MixedScores, Scores
from ..tables import POSTERIORS, choose
from .averaging import Averaging, stacked_draws
from .model import fitted_structure
from .scaling import Scaling

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
        stacked_draws(each), found.log_evidence, found.evidence_error, gamma, squares, float(share), number
    )


FOLD_SAMPLES = 8
"""Functions drawn in every fold, at most: enough to tell a wide posterior from a narrow one."""


def posterior_method(
    model: Any, setting: Any, X: Any, y: Any, lengths: Any, sample_weight: Any
) -> PosteriorMethod:
    """Return how the posterior of a fitted model is approximated, once folds have said how wide it is."""
    method = choose(POSTERIORS, setting, "posterior")
    if isinstance(method, Laplace) and method.folds is not None:
        return settle_scale(model, method, X, y, lengths, sample_weight)
    return method


def settle_scale(model: Any, method: Laplace, X: Any, y: Any, lengths: Any, sample_weight: Any) -> Laplace:
    """Return the approximation with a scale, and give the model the temperature that goes with it.

    Parameters
    ----------
    model : estimator
        Fitted to X and y; copies are fitted to all folds but one.
    method : Laplace
        With a number of folds.
    X, y, lengths, sample_weight
        The training set, as `fit` had it.
    """
    require_labelling(fitted_structure(model), "Laplace(folds=…)")
    if lengths is not None:
        ends = np.cumsum(np.asarray(lengths, dtype=np.int64))
        X = [X[end - size : end] for end, size in zip(ends.tolist(), lengths, strict=True)]
    seed = model.random_state if isinstance(model.random_state, int) else 0
    fold = fold_numbers(len(X), method.folds, None, seed, fitted_structure(model).words)
    weights = None if sample_weight is None else np.asarray(sample_weight)
    found = [_fold(model, method, X, y, weights, fold == number) for number in range(int(fold.max()) + 1)]
    chosen = choose_scale(found)
    model.scaling_ = _scaling(chosen, len(X))
    return replace(method, scale=chosen.scale, folds=None)


def _fold(model: Any, method: Laplace, X: Any, y: Any, weights: Any, held: Any) -> FoldScores:
    """Return a fold as a model of the others sees it."""
    known, unknown = np.flatnonzero(~held), np.flatnonzero(held)
    count = min(method.n_samples, FOLD_SAMPLES)
    whole = replace(method, n_samples=count, scale=1.0, folds=None, evidence=False)
    if "classes" not in model.get_params(deep=False):
        raise InputError(f"Laplace(folds=…) needs estimators with classes; {type(model).__name__} has none.")
    extra = {} if weights is None else {"sample_weight": weights[known]}
    other = silent_copy(model, posterior=whole, classes=model.classes_.tolist())
    other.fit(pick(X, known), pick(y, known), **extra)
    scored = other._batch(pick(X, unknown), None, None)
    labels = look_up_outputs(fitted_structure(model), pick(y, unknown), scored.inputs, model.classes_)
    return FoldScores(scored.batch, scored.scores, labels)


def _scaling(chosen: ChosenScale, count: int) -> Scaling:
    return Scaling(chosen.temperature, None, float(chosen.before), float(chosen.after), count)


SCALES = (0.0, 0.03, 0.1, 0.3, 1.0)
"""Shares of the covariance that are tried."""
BOUNDS = (np.log(0.2), np.log(5.0))
"""Logarithms of temperatures between which is searched."""


class FoldScores(NamedTuple):
    """Sequences of a fold, scored by functions that were fitted to the other folds."""

    batch: Any
    scores: MixedScores
    labels: Array
    """Outputs; negative ones do not count."""

    def log_likelihood(self, scale: float, temperature: float) -> float:
        """Return Σ_t log p(y_t|x), p the mean over functions of which a share of the variance is taken."""
        seen = np.flatnonzero(self.labels >= 0)
        mean = np.zeros(len(seen))
        several = scaled_components(self.scores, scale, temperature)
        for one in several:
            parts = self.batch.marginals(one).parts[self.batch.answer]
            mean += parts[seen, self.labels[seen]] / len(several)
        return float(np.log(np.maximum(mean, 1e-300)).sum())


def scaled_components(scores: MixedScores, scale: float, temperature: float) -> list[Scores]:
    """Return θ̂ + √scale (θ_s − θ̂) over the temperature, for every function drawn; θ̂ alone for none of it."""
    if scale == 0.0:
        return [{clique: values / temperature for clique, values in scores.items()}]
    share, inverse = np.sqrt(scale), 1.0 / temperature
    return [
        {clique: inverse * _between(values, one[clique], share) for clique, values in scores.items()}
        for one in scores.components
    ]


def _between(mode: Array, other: Array, share: float) -> Array:
    # What is forbidden is so in all functions; the difference of two −inf is none.
    allowed = np.isfinite(mode)
    return np.where(allowed, mode + share * (other - np.where(allowed, mode, 0.0)), mode)


class ChosenScale(NamedTuple):
    """What was chosen, and what it is worth out of fold."""

    scale: float
    temperature: float
    before: float
    """Mean log p(y_t|x) of the mode alone."""
    after: float
    """The same with scale and temperature."""


def choose_scale(folds: Sequence[FoldScores]) -> ChosenScale:
    """Return the share of the variance, and the temperature, with the highest out-of-fold likelihood."""
    count = max(sum(int((fold.labels >= 0).sum()) for fold in folds), 1)

    def likelihood(scale: float, temperature: float) -> float:
        return sum(fold.log_likelihood(scale, temperature) for fold in folds) / count

    best: ChosenScale | None = None
    before = likelihood(0.0, 1.0)
    for scale in SCALES:
        found = scipy.optimize.minimize_scalar(
            lambda x, scale=scale: -likelihood(scale, float(np.exp(x))),
            bounds=BOUNDS,
            method="bounded",
            options={"xatol": 0.02},
        )
        if best is None or -found.fun > best.after:
            best = ChosenScale(scale, float(np.exp(found.x)), before, -float(found.fun))
        elif -found.fun < best.after - 0.05:
            break  # with more of it, what this much already costs would only grow
    assert best is not None
    return best
