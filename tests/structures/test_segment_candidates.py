"""Candidate segments against labellings written out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from kernelfields import InputError
from kernelfields.errors import InfeasibleError, ScoreError
from kernelfields.structures import SegmentBatch
from kernelfields.structures.segment_candidates import every_run


def written_out(batch: SegmentBatch, scores: Any, labels: Any) -> float:
    """The score of a labelling of one sequence, position by position and run by run."""
    total = sum(scores["node"][t, k] for t, k in enumerate(labels))
    for t, pair in enumerate(itertools.pairwise(labels)):
        total += (scores["edge"] if scores["edge"].ndim == 2 else scores["edge"][t])[pair]
    begin = 0
    for k, run in itertools.groupby(labels):
        end = begin + len(list(run))
        total += scores["duration"][np.flatnonzero(end - begin >= batch.lower_ends)[-1], k]
        given = zip(*batch.candidates[1:], strict=True)
        mine = [c for c, (b, e, j) in enumerate(given) if (b, e) == (begin, end) and j in (-1, k)]
        total += scores["segment"][mine[0], k] if mine else -np.inf if batch.bound[k] else 0.0
        begin = end
    return float(total)


def drawn(rng: Any, T: int, L: int, shared: bool) -> SegmentBatch:
    """Some candidates, of all labels or of one, and labels that are bound to them."""
    places = [(b, e) for b in range(T) for e in range(b + 1, T + 1)]
    some = [places[k] for k in rng.choice(len(places), rng.integers(0, len(places) + 1), replace=False)]
    candidates = [(b, e, int(rng.integers(-1, L))) for b, e in some]
    doubled = [(b, e, (j + 1) % L) for b, e, j in candidates if j >= 0 and L > 1 and rng.random() < 0.3]
    ends = [1, *sorted(rng.choice(np.arange(2, 7), rng.integers(0, 4), replace=False).tolist())]
    given = np.array([*candidates, *doubled]).reshape(-1, 3)
    return SegmentBatch([0, T], L, ends, shared, given, rng.random(L) < 0.3)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("forbid", [0.0, 0.15])
@pytest.mark.parametrize("shared", [True, False])
def test_sums_over_all_labellings(scale: float, forbid: float, shared: bool, rng: Any) -> None:
    checked = 0
    for _ in range(25):
        L, T = int(rng.integers(1, 4)), int(rng.integers(1, 6))
        batch = drawn(rng, T, L, shared)
        scores = {name: scale * rng.normal(size=shape) for name, shape in batch.shapes.items()}
        for values in scores.values():
            values[rng.random(values.shape) < forbid] = -np.inf
        every = list(itertools.product(range(L), repeat=T))
        values = np.array([written_out(batch, scores, y) for y in every])
        found = [batch.score(scores, np.array(y))[0] for y in every]
        np.testing.assert_allclose(found, values, rtol=1e-12, atol=1e-10)
        if not np.isfinite(values).any():
            with pytest.raises(InfeasibleError):
                batch.log_partition(scores)
            continue
        total, checked = logsumexp(values), checked + 1
        assert batch.log_partition(scores)[0] == pytest.approx(total, rel=1e-11, abs=1e-9)
        expected = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
        for y, p in zip(every, np.exp(values - total), strict=True):
            for name, part in batch.parts(np.array(y)).items():
                expected[name] += p * part
        for name, part in batch.marginals(scores).parts.items():
            np.testing.assert_allclose(part, expected[name], atol=1e-9)
        assert batch.argmax(scores).value[0] == pytest.approx(values.max(), rel=1e-12)
        best = np.sort(values[values > -np.inf])[::-1][:4]
        np.testing.assert_allclose(batch.kbest(scores, 4).value[0, : len(best)], best, rtol=1e-12)
    assert checked > 8


def test_parts_have_the_score(rng: Any) -> None:
    """⟨θ, parts(y)⟩, where no run is bound: parts know nothing of what is forbidden."""
    batch = SegmentBatch([0, 6, 6, 9], 3, [1, 2], candidates=[[0, 3, -1], [7, 9, 1], [4, 6, 2], [1, 2, 0]])
    scores = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    y, weights = np.array([0, 0, 0, 2, 2, 2, 1, 1, 1]), np.array([2.0, 1.0, 0.5])
    parts = batch.parts(y, weights)
    dots = sum((parts[name] * scores[name]).sum() for name in parts)
    assert dots == pytest.approx(weights @ batch.score(scores, y))
    assert batch.parts(y)["segment"].sum() == 1.0
    half = batch.take([2, 0])
    cut = half.score(batch.cut(scores, [2, 0]), batch.cut_outputs(y, [2, 0]))
    np.testing.assert_allclose(cut, batch.score(scores, y)[[2, 0]])


def test_covariance_is_a_derivative(rng: Any) -> None:
    batch = SegmentBatch(
        [0, 30, 45], 3, [1, 2, 4], candidates=every_run(np.array([0, 30, 45]), 5), bound=[False, False, False]
    )
    scores = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    scores["node"][10:12, 1] = scores["segment"][::7, 0] = -np.inf
    direction = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    step, weights = 1e-5, np.array([1.0, 2.0])
    ahead, back = (
        batch.marginals({n: scores[n] + s * direction[n] for n in scores}, weights).parts
        for s in (step, -step)
    )
    for name, found in batch.covariance(scores, direction, weights).items():
        size = max(1.0, np.abs(found).max())
        np.testing.assert_allclose(found, (ahead[name] - back[name]) / (2 * step), atol=2e-6 * size)


@pytest.mark.parametrize("longest", [1, 2, 6])
def test_candidates_that_score_nothing_change_nothing(longest: int, rng: Any) -> None:
    """Sums by exponentials and sums by logarithms, which share few lines."""
    offsets = np.array([0, 40, 40, 41, 100])
    plain = SegmentBatch(offsets, 5, [1, 2, 8])
    with_candidates = SegmentBatch(offsets, 5, [1, 2, 8], candidates=every_run(offsets, longest))
    scores = {name: 3 * rng.normal(size=shape) for name, shape in plain.shapes.items()}
    scores["node"][20:24, 2] = -np.inf
    more = {**scores, "segment": np.zeros(with_candidates.shapes["segment"])}
    found, expected = with_candidates.marginals(more), plain.marginals(scores)
    np.testing.assert_allclose(found.log_partition, expected.log_partition, rtol=1e-12)
    for name, part in expected.parts.items():
        np.testing.assert_allclose(found.parts[name], part, atol=1e-9)
    assert (with_candidates.argmax(more).labels == plain.argmax(scores).labels).all()
    np.testing.assert_allclose(with_candidates.entropy(more), plain.entropy(scores), atol=1e-8)


def test_long_runs_of_a_bound_label(rng: Any) -> None:
    """A candidate of any length costs nothing more, and nothing else of its label is possible."""
    batch = SegmentBatch([0, 500], 2, candidates=[[100, 400, 1], [390, 395, 1]], bound=[False, True])
    scores = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    assert float(np.exp(batch.log_partition(scores)[0])) == pytest.approx(3.0)
    scores["segment"][:] = [[0.0, 1.0], [0.0, 2.0]]  # by their ends
    labels = batch.argmax(scores).labels
    assert np.flatnonzero(labels).tolist() == list(range(100, 400))
    drawn = batch.sample(scores, 3000, 0)
    shares = np.bincount(drawn.sum(axis=1), minlength=301)[[0, 5, 300]] / 3000
    np.testing.assert_allclose(shares, np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum(), atol=0.03)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([[0, 3], [0, 3]], "twice"),
        ([[0, 3, -1], [0, 3, 1]], "twice"),
        ([[2, 5]], "within one sequence"),
        ([[1, 1]], "within one sequence"),
        ([[-1, 1]], "within one sequence"),
        ([[0, 1, 2]], "label"),
        ([[0, 1, 2, 3]], "shape"),
        ([[0.5, 1]], "candidates"),
    ],
)
def test_bad_candidates(given: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        SegmentBatch([0, 4, 6], 2, candidates=given)


def test_bad_bounds() -> None:
    with pytest.raises(InputError, match="2 booleans"):
        SegmentBatch([0, 4], 2, candidates=[[0, 1]], bound=[True])
    with pytest.raises(InputError, match="there are no candidates"):
        SegmentBatch([0, 4], 2, bound=[True, False])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers(bad: float) -> None:
    batch = SegmentBatch([0, 3], 2, candidates=[[0, 2], [1, 2]])
    scores = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    scores["segment"][1, 1] = bad
    for ask in (batch.log_partition, batch.marginals, batch.argmax, batch.entropy):
        with pytest.raises(ScoreError, match="NaN or \\+inf"):
            ask(scores)


def test_as_many_candidates_may_begin_together_as_end_together(rng: Any) -> None:
    """Read from behind, candidates that begin at one place end there, more than at any place from ahead."""
    T, L = 3000, 2
    ahead = SegmentBatch([0, T], L, [1, 2], True, [(0, e) for e in range(1, T + 1)], [False, True])
    behind = SegmentBatch([0, T], L, [1, 2], True, [(b, T) for b in range(T)], [False, True])
    node, segment = rng.normal(size=(T, L)), rng.normal(size=(T, L))
    edge, duration = np.array([[0.2, -0.5], [-0.5, 0.1]]), rng.normal(size=(2, L))
    common = {"edge": edge, "duration": duration}
    # candidates are kept by their ends, the shortest first: (0, 1), (0, 2), … and (T − 1, T), (T − 2, T), …
    one = ahead.marginals({**common, "node": node, "segment": segment})
    other = behind.marginals({**common, "node": node[::-1], "segment": segment})
    np.testing.assert_allclose(one.log_partition, other.log_partition, rtol=1e-12)
    np.testing.assert_allclose(one.parts["node"], other.parts["node"][::-1], atol=1e-9)
    np.testing.assert_allclose(one.parts["segment"], other.parts["segment"], atol=1e-9)
