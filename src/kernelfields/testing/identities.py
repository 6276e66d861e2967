"""The identities that every structure satisfies.

Each identity is a function of a structure and scores that raises ``AssertionError``; those about an
oracle that the structure does not offer pass over it in silence. Instances must be small enough to
enumerate; a structure whose outputs are not labels of vertices lists them itself (`Enumerable`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import chi2

from ..arrays import Array
from ..structures import (
    ApproximateMax,
    CovarianceOracle,
    KBestOracle,
    LabelledBatch,
    MaxOracle,
    SampleOracle,
    Scores,
    StructureBatch,
    SumOracle,
)
from .brute import Enumerated, every_output
from .gradients import check_derivative, check_gradient

DRAWS = 4000
FALSE_ALARM = 1e-7
"""Probability that right samples fail ``sample_frequencies``, over all instances of a batch."""


def parts_pair_with_scores(structure: StructureBatch, scores: Scores) -> None:
    """⟨θ, parts(y)⟩ = score(y), instance by instance and summed with weights."""
    outputs = _any_outputs(structure)
    finite = {name: np.where(np.isneginf(array), -3, array) for name, array in scores.items()}
    by_score = structure.score(finite, outputs)
    for s in range(structure.n_instances):
        mine = structure.take([s]).parts(structure.cut_outputs(outputs, [s]))
        _close("⟨θ, parts(y)⟩", _inner(structure.cut(finite, [s]), mine), by_score[s], scores)
    weights = _weights(structure)
    total = _inner(finite, structure.parts(outputs, weights))
    _close("⟨θ, weighted parts⟩", total, weights @ by_score, scores)


def arrays_are_as_promised(structure: StructureBatch, scores: Scores) -> None:
    """Check shapes and types on which estimators rely, for scores in single and in double precision.

    Values are float64, one per instance; marginals and covariances have the shapes and the precision of the
    scores; outputs are integers.
    """
    for dtype in (np.float32, np.float64):
        theta = {name: np.asarray(array, dtype=dtype) for name, array in scores.items()}
        if isinstance(structure, SumOracle):
            found = structure.marginals(theta, _weights(structure))
            _promised("log_partition", structure.log_partition(theta), (structure.n_instances,), np.float64)
            _promised("entropy", structure.entropy(theta), (structure.n_instances,), np.float64)
            _promised("log_partition of marginals", found.log_partition, (structure.n_instances,), np.float64)
            _promised_parts("marginals", structure, found.parts, dtype)
        if isinstance(structure, CovarianceOracle):
            along = {name: array.astype(dtype) for name, array in _direction(structure).items()}
            _promised_parts("covariances", structure, structure.covariance(theta, along), dtype)
        if isinstance(structure, MaxOracle):
            best = structure.argmax(theta)
            _promised("values of argmax", best.value, (structure.n_instances,), np.float64)
            _promised("outputs of argmax", best.labels, (int(structure.output_offsets[-1]),), np.integer)


def _promised_parts(what: str, structure: StructureBatch, parts: Scores, dtype: type) -> None:
    assert parts.keys() == structure.shapes.keys(), f"{what} have other clique types than the scores"
    for name, shape in structure.shapes.items():
        _promised(f"{name} {what}", parts[name], shape, dtype)


def _promised(what: str, found: Any, shape: tuple[int, ...], dtype: type) -> None:
    assert isinstance(found, np.ndarray), f"{what}: {type(found).__name__}, expected an array"
    assert found.shape == shape, f"{what}: shape {found.shape}, expected {shape}"
    assert np.issubdtype(found.dtype, dtype), f"{what}: {found.dtype}, expected {dtype.__name__}"


def max_is_enumerated(structure: StructureBatch, scores: Scores) -> None:
    """Compare argmax with the enumeration: its value is the largest score, and that of its output."""
    if isinstance(structure, MaxOracle):
        outputs, value = structure.argmax(scores)
        _close("argmax value", value, Enumerated(structure, scores).best(), scores)
        _close("score of the argmax", structure.score(scores, outputs), value, scores)


def max_is_bounded(structure: StructureBatch, scores: Scores) -> None:
    """A search finds no more than the largest score, and bounds it; what it certifies is the largest."""
    if not isinstance(structure, ApproximateMax):
        return
    found, best = structure.approximate_argmax(scores), Enumerated(structure, scores).best()
    slack = _tolerance(scores) * np.maximum(1, np.abs(best))
    _close("score of what was found", structure.score(scores, found.labels), found.value, scores)
    assert (found.value <= best + slack).all(), "a search found more than there is"
    assert (best <= found.bound + slack).all(), "the bound of a search is below the largest score"
    short = np.where(found.certified, best - found.value, 0.0)
    assert (short <= 1e-8 * np.maximum(1, np.abs(best))).all(), "a search certified less than the largest"


def kbest_is_enumerated(structure: StructureBatch, scores: Scores) -> None:
    """Compare the k best scores with the enumeration; they belong to different outputs."""
    if not isinstance(structure, KBestOracle):
        return
    for k in (1, 5):
        outputs, values = structure.kbest(scores, k)
        _close(f"{k} best values", values, Enumerated(structure, scores).kbest(k), scores)
        for n in range(k):
            there = np.isfinite(values[:, n])
            some = np.where(structure.per_output(there), outputs[n], _any_outputs(structure))
            found = structure.score(scores, some)[there]
            _close("score of a k-best output", found, values[there, n], scores)
        for s in range(structure.n_instances):
            own = outputs[np.isfinite(values[s])][:, _place(structure, s)]
            assert len({tuple(y) for y in own}) == len(own), f"instance {s} repeats an output"


def sums_are_enumerated(structure: StructureBatch, scores: Scores) -> None:
    """Log-partition, marginals (with and without weights) and entropy are those of the enumeration."""
    if not isinstance(structure, SumOracle):
        return
    brute = Enumerated(structure, scores)
    _close("log-partition", structure.log_partition(scores), brute.log_partition(), scores)
    _close("entropy", structure.entropy(scores), brute.entropy(), scores)
    for weights in (None, _weights(structure)):
        found, wanted = structure.marginals(scores, weights), brute.marginals(weights)
        _close("log-partition with marginals", found.log_partition, wanted.log_partition, scores)
        for name, part in wanted.parts.items():
            _close(f"{name} marginals", found.parts[name], part, scores)


def max_bounds_log_partition(structure: StructureBatch, scores: Scores) -> None:
    """Check max ≤ log Z ≤ max + log(number of outputs)."""
    if isinstance(structure, MaxOracle) and isinstance(structure, SumOracle):
        value, log_partition = structure.argmax(scores).value, structure.log_partition(scores)
        slack = _tolerance(scores) * np.maximum(1, np.abs(value))
        assert (value <= log_partition + slack).all(), "max exceeds log Z"
        count = Enumerated(structure, scores).counts
        assert (log_partition <= value + np.log(count) + slack).all(), "log Z exceeds max + log(count)"


def zero_scores_count(structure: StructureBatch, scores: Scores) -> None:
    """Zero scores: exp(log Z) is the number of outputs, the entropy its logarithm."""
    if isinstance(structure, SumOracle):
        zeros = {name: np.zeros_like(array) for name, array in scores.items()}
        log_count = np.log(Enumerated(structure, zeros).counts)
        _close("log Z of zero scores", structure.log_partition(zeros), log_count, scores)
        _close("entropy of zero scores", structure.entropy(zeros), log_count, scores)


def constants_shift(structure: StructureBatch, scores: Scores) -> None:
    """Add a constant to all labels of one vertex: log Z shifts by it, the marginals stay."""
    labelled = isinstance(structure, LabelledBatch) and structure.n_vertices > 0
    if not isinstance(structure, SumOracle) or not labelled:
        return
    before = structure.marginals(scores)
    for vertex in {0, structure.n_vertices // 2, structure.n_vertices - 1}:
        owner = int(np.searchsorted(structure.offsets, vertex, side="right")) - 1
        node = scores["node"].copy()
        node[vertex] += 2.5
        after = structure.marginals({**scores, "node": node})
        shift = 2.5 * (np.arange(structure.n_instances) == owner)
        _close("log Z after a shift", after.log_partition, before.log_partition + shift, scores)
        for name, part in before.parts.items():
            _close(f"{name} marginals after a shift", after.parts[name], part, scores)


def marginals_are_gradient(structure: StructureBatch, scores: Scores) -> None:
    """Compare marginals with the derivative of the (weighted) log-partition, in double precision."""
    if isinstance(structure, SumOracle):
        weights = _weights(structure)
        check_gradient(
            lambda theta: weights @ structure.log_partition(theta),
            lambda theta: structure.marginals(theta, weights).parts,
            _double(scores),
            _direction(structure),
        )


def covariance_is_derivative(structure: StructureBatch, scores: Scores) -> None:
    """Compare the covariance product with the derivative of the marginals and the enumeration."""
    if not isinstance(structure, CovarianceOracle):
        return
    direction = _direction(structure)
    for weights in (None, _weights(structure)):

        def marginals(theta: Scores, weights: Array | None = weights) -> dict[str, Array]:
            return structure.marginals(theta, weights).parts

        def product(theta: Scores, along: Scores, weights: Array | None = weights) -> dict[str, Array]:
            return structure.covariance(theta, along, weights)

        check_derivative(marginals, product, _double(scores), direction)
        found = structure.covariance(scores, direction, weights)
        for name, part in Enumerated(structure, scores).covariance(direction, weights).items():
            _close(f"{name} covariance product", found[name], part, scores, scale=10)


def sample_frequencies(structure: StructureBatch, scores: Scores) -> None:
    """Compare samples with p(y): χ² over all outputs, false alarms with ``FALSE_ALARM``."""
    if not isinstance(structure, SampleOracle):
        return
    samples = structure.sample(scores, DRAWS, seed=7)
    brute = Enumerated(structure, scores)
    for s in range(structure.n_instances):
        number = {tuple(y): k for k, y in enumerate(brute.outputs(s).tolist())}
        counts = np.zeros(len(number), dtype=np.int64)
        own, times = np.unique(samples[:, _place(structure, s)], axis=0, return_counts=True)
        counts[[number[tuple(y)] for y in own.tolist()]] = times
        p_value = _chi_squared(counts, brute.probabilities(s))
        assert p_value > FALSE_ALARM / structure.n_instances, (
            f"samples of instance {s}: p-value {p_value:.1g}"
        )


def instances_are_independent(structure: StructureBatch, scores: Scores) -> None:
    """Oracles give for ``take`` and ``cut`` what they give for the whole batch."""
    ids = np.arange(structure.n_instances)[::-1][: max(1, structure.n_instances - 1)]
    some, cut = structure.take(ids), structure.cut(scores, ids)
    assert {name: array.shape for name, array in cut.items()} == some.shapes, "cut and take disagree"
    if isinstance(structure, SumOracle) and isinstance(some, SumOracle):
        whole, part = structure.marginals(scores), some.marginals(cut)
        _close("log Z after take", part.log_partition, whole.log_partition[ids], scores)
        answers = structure.cut(whole.parts, ids)[structure.answer]
        _close("marginals after take", part.parts[structure.answer], answers, scores)
    if isinstance(structure, MaxOracle) and isinstance(some, MaxOracle):
        _close("max after take", some.argmax(cut).value, structure.argmax(scores).value[ids], scores)


STRUCTURE_IDENTITIES: tuple[Callable[[StructureBatch, Scores], None], ...] = (
    arrays_are_as_promised,
    parts_pair_with_scores,
    max_is_enumerated,
    max_is_bounded,
    kbest_is_enumerated,
    sums_are_enumerated,
    max_bounds_log_partition,
    zero_scores_count,
    constants_shift,
    marginals_are_gradient,
    covariance_is_derivative,
    sample_frequencies,
    instances_are_independent,
)


def _chi_squared(counts: Array, probabilities: Array) -> float:
    """p-value of counts; cells with fewer than five expected are pooled, impossible ones forbidden."""
    expected = counts.sum() * probabilities
    if counts[probabilities == 0].any():
        return 0.0
    rare = expected < 5
    if 0 < expected[rare].sum() < 5:  # the pool itself must not be rare: take the next cell in
        rare |= expected == expected[~rare].min(initial=np.inf)
    found = np.append(counts[~rare], counts[rare].sum())
    wanted = np.append(expected[~rare], expected[rare].sum())
    found, wanted = found[wanted > 0], wanted[wanted > 0]
    if len(wanted) < 2:
        return 1.0
    return float(chi2.sf(((found - wanted) ** 2 / wanted).sum(), len(wanted) - 1))


def _tolerance(scores: Scores) -> float:
    return 1e-10 if all(np.asarray(a).dtype == np.float64 for a in scores.values()) else 2e-5


def _close(what: str, found: Any, wanted: Any, scores: Scores, scale: float = 1) -> None:
    tolerance = scale * _tolerance(scores)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=what)


def _inner(a: Scores, b: Scores) -> float:
    return float(sum(np.sum(a[name].astype(float) * b[name]) for name in a))


def _any_outputs(structure: StructureBatch) -> Array:
    """Some output of every instance."""
    rng = np.random.default_rng(1)
    every = [every_output(structure.take([s])) for s in range(structure.n_instances)]
    return np.concatenate([np.zeros(0, np.int64), *(rng.choice(outputs) for outputs in every)])


def _place(structure: StructureBatch, instance: int) -> slice:
    return slice(*structure.output_offsets[instance : instance + 2].tolist())


def _weights(structure: StructureBatch) -> Array:
    return 0.5 + np.arange(structure.n_instances) % 3


def _direction(structure: StructureBatch) -> dict[str, Array]:
    rng = np.random.default_rng(2)
    return {name: rng.normal(size=shape) for name, shape in structure.shapes.items()}


def _double(scores: Scores) -> dict[str, Array]:
    return {name: np.asarray(array, dtype=np.float64) for name, array in scores.items()}
