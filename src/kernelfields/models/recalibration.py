"""Temperature and vector scaling: the scaling under which held-out labels are most probable."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..data.groups import fold_numbers, pick
from ..data.labels import UNKNOWN, look_up_outputs
from ..errors import InfeasibleError, InputError, warn_user
from ..fitting.copies import silent_copy
from .model import fitted_structure
from .scaling import Scaling

COLDEST, HOTTEST = 1e-2, 1e2
"""Between these temperatures are searched."""


class HeldOutBatch(NamedTuple):
    """A batch that was held out, with what is known of its labels."""

    batch: Any
    scores: dict[str, Array]
    """In double."""
    labels: Array
    """Outputs; negative where a label is not observed."""

    @property
    def observed(self) -> Array:
        """Which places have a label."""
        seen: Array = self.labels >= 0
        return seen

    def within(self, scores: dict[str, Array]) -> dict[str, Array]:
        """Return scores that allow nothing but what was observed."""
        node = scores["node"]
        possible = ~self.observed[:, None] | (self.labels[:, None] == np.arange(node.shape[1]))
        return {**scores, "node": np.where(possible, node, -np.inf)}

    def log_likelihoods(self, scores: dict[str, Array]) -> Array:
        """Return log p(y|x) for every instance; of what is not observed, the sum over all labels."""
        if self.observed.all():
            found = self.batch.score(scores, self.labels)
        else:
            found = self.batch.log_partition(self.within(scores))
        result: Array = found - self.batch.log_partition(scores)
        return result

    def marginal_log_likelihood(self, scores: dict[str, Array]) -> float:
        """Return Σ_t log p(y_t|x) over observed positions."""
        rows = np.flatnonzero(self.observed)
        marginals = self.batch.marginals(scores).parts[self.batch.answer]
        return float(np.log(np.maximum(marginals[rows, self.labels[rows]], 1e-300)).sum())


def held_out(batch: Any, scores: dict[str, Array], labels: Array, unknown: int) -> HeldOutBatch:
    """Return the instances whose labels the model can have; the others are left out, with a warning.

    An instance without any label does not count either, and needs no warning.
    """
    exact = {clique: values.astype(np.float64) for clique, values in scores.items()}
    ends = batch.output_offsets
    owner = np.repeat(np.arange(batch.n_instances), np.diff(ends))
    strange = np.isin(np.arange(batch.n_instances), owner[labels == unknown])
    told = np.isin(np.arange(batch.n_instances), owner[(labels >= 0) | (labels == unknown)])
    possible = np.flatnonzero(told & ~strange)
    kept = possible[_feasible(_some(batch, exact, labels, possible))]
    lost = int(told.sum()) - len(kept)
    if lost:
        warn_user(
            f"{lost} of {batch.n_instances} {batch.words.items} have labels that the model cannot give: "
            "they are left out.",
            UserWarning,
        )
    if len(kept) == 0:
        raise InputError(f"There is nothing to recalibrate with: no {batch.words.item} has a possible label.")
    return _some(batch, exact, labels, kept)


def _some(batch: Any, scores: dict[str, Array], labels: Array, ids: Array) -> HeldOutBatch:
    return HeldOutBatch(batch.take(ids), batch.cut(scores, ids), batch.cut_outputs(labels, ids))


def _feasible(held: HeldOutBatch) -> Array:
    """Return which instances have labels that rules allow."""
    n = held.batch.n_instances
    try:
        return np.isfinite(held.log_likelihoods(held.scores)) if n else np.zeros(0, dtype=bool)
    except InfeasibleError:
        if n == 1:
            return np.zeros(1, dtype=bool)
        each = [_feasible(_some(*held, np.array([s]))) for s in range(n)]
        return np.concatenate(each)


def fit_temperature(batches: Sequence[HeldOutBatch], *, marginal: bool) -> Scaling:
    """Return the temperature T with the largest Σ_i log p(y_i|x_i) at scores θ/T [guo2017].

    It is concave in 1/T where labels are all observed. With ``marginal``, the sum is over positions,
    Σ_t log p(y_t|x), of models whose scores were not made for whole sequences.
    """

    def likelihood(inverse: float) -> float:
        return sum(_log_likelihood(held, inverse, marginal) for held in batches)

    bounds = (-np.log(HOTTEST), -np.log(COLDEST))
    found = scipy.optimize.minimize_scalar(
        lambda x: -likelihood(np.exp(x)), bounds=bounds, method="bounded", options={"xatol": 1e-6}
    )
    for bound in bounds:
        if likelihood(np.exp(bound)) >= -found.fun - 1e-9 * (1 + abs(found.fun)):
            _warn_of_bound(float(np.exp(-bound)))
    n_sequences = sum(held.batch.n_instances for held in batches)
    count = sum(int(held.observed.sum()) for held in batches) if marginal else n_sequences
    before, after = likelihood(1.0) / count, -float(found.fun) / count
    return Scaling(float(np.exp(-found.x)), None, before, after, int(n_sequences))


def _log_likelihood(held: HeldOutBatch, inverse: float, marginal: bool) -> float:
    scores = {clique: inverse * values for clique, values in held.scores.items()}
    if marginal:
        return held.marginal_log_likelihood(scores)
    return float(held.log_likelihoods(scores).sum())


def fit_vector(held: HeldOutBatch) -> Scaling:
    """Return temperature and biases with the largest Σ_i log p(y_i|x_i) − ½‖b‖², which is concave.

    Scores are θ/T, and b_y more for the label of each vertex. The prior of the biases keeps those of labels
    finite that the held-out data lack.
    """
    finite = {clique: np.where(np.isfinite(values), values, 0.0) for clique, values in held.scores.items()}
    answer = held.batch.answer

    def loss(x: Array) -> tuple[float, Array]:
        scores = {clique: x[0] * values for clique, values in held.scores.items()}
        scores[answer] = scores[answer] + x[1:]
        value, expected = _sums(held.batch, scores)
        told, observed = _observed(held, scores)
        differences = {clique: expected[clique] - observed[clique] for clique in scores}
        slope = sum(float((finite[clique] * differences[clique]).sum()) for clique in scores)
        gradient = np.concatenate([[slope], differences[answer].sum(axis=0) + x[1:]])
        return value - told + 0.5 * float(x[1:] @ x[1:]), gradient

    start = np.concatenate([[1.0], np.zeros(held.scores[answer].shape[1])])
    bounds = [(1 / HOTTEST, 1 / COLDEST), *[(None, None)] * (len(start) - 1)]
    found = scipy.optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}
    )
    if found.x[0] in bounds[0]:
        _warn_of_bound(1 / float(found.x[0]))
    after = -float(found.fun) + 0.5 * float(found.x[1:] @ found.x[1:])
    before = float(held.log_likelihoods(held.scores).sum())
    count = int(held.batch.n_instances)
    return Scaling(1 / float(found.x[0]), found.x[1:], before / count, after / count, count)


def _sums(batch: Any, scores: dict[str, Array]) -> tuple[float, dict[str, Array]]:
    """Return Σ g(θ) and its gradient."""
    found = batch.marginals(scores)
    return float(found.log_partition.sum()), found.parts


def _observed(held: HeldOutBatch, scores: dict[str, Array]) -> tuple[float, dict[str, Array]]:
    """Return the score of the observed labels, summed over the others, and its gradient."""
    if held.observed.all():
        return float(held.batch.score(scores, held.labels).sum()), held.batch.parts(held.labels)
    return _sums(held.batch, held.within(scores))


def _warn_of_bound(temperature: float) -> None:
    warn_user(
        f"The temperature reached the bound {temperature:g}: the held-out labels are all right by far, or "
        "have nothing to do with the scores.",
        UserWarning,
    )


SEED = 0


def fold_batches(model: Any, X: Any, y: Any, folds: int, groups: Any) -> list[HeldOutBatch]:
    """Return every fold as a batch, with the scores of a copy of the model that was fitted to the others.

    Parameters
    ----------
    model : estimator
        Whose settings the copies have.
    X, y : list of sequences and list of label sequences
        What the model was fitted to.
    folds : int
        Number of folds.
    groups : (S,) sequence or None
        Groups that stay together.
    """
    words = fitted_structure(model).words
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} {words.items}, but y has {len(y)}.")
    fold = fold_numbers(len(X), folds, groups, SEED, words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of the model itself has warned
        return [_batch(model, X, y, fold == number) for number in range(folds)]


def _batch(model: Any, X: Any, y: Any, held: Array) -> HeldOutBatch:
    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    copy = silent_copy(model).fit(pick(X, train), pick(y, train))
    scored = copy.unscaled(pick(X, test), None)
    labels = look_up_outputs(fitted_structure(copy), pick(y, test), scored.inputs, copy.classes_)
    return held_out(scored.batch, scored.scores, labels, UNKNOWN)
