"""Semi-Markov chains against labellings written out, a chain, and sequences that are long or forbid much."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from kernelfields import CRF, InputError
from kernelfields.errors import ScoreError
from kernelfields.structures import ChainBatch, SegmentBatch, Segments


def written_out(scores: Any, ends: Any, labels: Any) -> float:
    """The score of a labelling, position by position and run by run."""
    total = sum(scores["node"][t, k] for t, k in enumerate(labels))
    for t, pair in enumerate(itertools.pairwise(labels)):
        total += (scores["edge"] if scores["edge"].ndim == 2 else scores["edge"][t])[pair]
    for k, run in itertools.groupby(labels):
        total += scores["duration"][np.flatnonzero(len(list(run)) >= np.asarray(ends))[-1], k]
    return float(total)


def random_scores(rng: Any, batch: SegmentBatch, scale: float, forbid: float) -> Any:
    scores = {name: scale * rng.normal(size=shape) for name, shape in batch.shapes.items()}
    for values in scores.values():
        values[rng.random(values.shape) < forbid] = -np.inf
    return scores


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("forbid", [0.0, 0.2])
@pytest.mark.parametrize("shared", [True, False])
def test_sums_over_all_labellings(scale: float, forbid: float, shared: bool, rng: Any) -> None:
    checked = 0
    for _ in range(12):
        L, T = int(rng.integers(1, 4)), int(rng.integers(1, 6))
        ends = [1, *sorted(rng.choice(np.arange(2, 7), rng.integers(0, 4), replace=False).tolist())]
        batch = SegmentBatch([0, T], L, ends, shared)
        scores = random_scores(rng, batch, scale, forbid)
        every = list(itertools.product(range(L), repeat=T))
        values = np.array([written_out(scores, ends, y) for y in every])
        np.testing.assert_allclose(
            [batch.score(scores, np.array(y))[0] for y in every], values, rtol=1e-12, atol=1e-10
        )
        if not np.isfinite(values).any():
            continue
        total, checked = logsumexp(values), checked + 1
        assert batch.log_partition(scores)[0] == pytest.approx(total, rel=1e-11, abs=1e-9)
        expected = np.zeros((T, L))
        for y, p in zip(every, np.exp(values - total), strict=True):
            expected[range(T), y] += p
        np.testing.assert_allclose(batch.marginals(scores).parts["node"], expected, atol=1e-9)
        assert batch.argmax(scores).value[0] == pytest.approx(values.max(), rel=1e-12)
    assert checked > 3


@pytest.mark.parametrize("longest", [1, 3, 7, 40])
def test_long_sequences_agree_with_their_dual_numbers(longest: int, rng: Any) -> None:
    """Sums by exponentials and, beside them, sums by logarithms with derivatives, which share no line."""
    batch = SegmentBatch([0, 150, 153, 400], 4, np.arange(1, longest + 1))
    scores = random_scores(rng, batch, 1.0, 0.0)
    scores["node"][60:70, 1] = scores["node"][200:210, 0] = -np.inf
    flat = {name: np.ones(shape) for name, shape in batch.shapes.items()}
    sums, weights = batch.marginals(scores), np.array([1.0, 0.5, 2.0])
    step = 1e-4
    moved = [{n: scores[n] + s * flat[n] * (n == "duration") for n in scores} for s in (step, -step)]
    slope = (batch.log_partition(moved[0]) - batch.log_partition(moved[1])).sum() / (2 * step)
    assert sums.parts["duration"].sum() == pytest.approx(slope, rel=1e-6)
    direction = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    ahead, back = (
        batch.marginals({n: scores[n] + s * direction[n] for n in scores}, weights).parts
        for s in (step, -step)
    )
    for name, found in batch.covariance(scores, direction, weights).items():
        size = max(1.0, np.abs(found).max())  # of sums over all positions
        np.testing.assert_allclose(found, (ahead[name] - back[name]) / (2 * step), atol=2e-6 * size)
    np.testing.assert_allclose(sums.parts["node"].sum(axis=1), 1.0, atol=1e-10)


def test_without_scores_of_lengths_it_is_a_chain(rng: Any) -> None:
    offsets = [0, 30, 30, 31, 90]
    segments, chain = SegmentBatch(offsets, 5, [1, 2, 8]), ChainBatch(offsets, 5)
    scores = {name: rng.normal(size=shape) for name, shape in chain.shapes.items()}
    with_lengths = {**scores, "duration": np.zeros((3, 5))}
    found, expected = segments.marginals(with_lengths), chain.marginals(scores)
    np.testing.assert_allclose(found.log_partition, expected.log_partition, rtol=1e-12)
    for name in ("node", "edge"):
        np.testing.assert_allclose(found.parts[name], expected.parts[name], atol=1e-10)
    np.testing.assert_allclose(segments.entropy(with_lengths), chain.entropy(scores), atol=1e-9)
    assert (segments.argmax(with_lengths).labels == chain.argmax(scores).labels).all()
    np.testing.assert_allclose(
        segments.kbest(with_lengths, 5).value[[0, 3]], chain.kbest(scores, 5).value[[0, 3]], rtol=1e-12
    )


@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_first_of_equally_good_labellings(length: int, rng: Any) -> None:
    for _ in range(60):
        batch = SegmentBatch([0, length], 3, [1, 2, 4])
        scores = {name: rng.integers(0, 2, size=shape).astype(float) for name, shape in batch.shapes.items()}
        every = np.array(list(itertools.product(range(3), repeat=length)))
        values = [batch.score(scores, y)[0] for y in every]
        assert batch.argmax(scores).labels.tolist() == every[int(np.argmax(values))].tolist()


def test_threads_and_batches_do_not_matter(rng: Any) -> None:
    batch = SegmentBatch(np.cumsum([0, *rng.integers(0, 40, size=100)]), 3, [1, 2, 5, 9])
    scores = random_scores(rng, batch, 2.0, 0.0)
    whole = batch.marginals(scores)
    for s in (0, 17, 99):
        alone = batch.take([s])
        part = alone.marginals(batch.cut(scores, [s]))
        rows = slice(int(batch.offsets[s]), int(batch.offsets[s + 1]))
        assert (part.parts["node"] == whole.parts["node"][rows]).all()
        assert part.log_partition[0] == whole.log_partition[s]


def test_samples_have_the_frequencies_of_marginals(rng: Any) -> None:
    batch = SegmentBatch([0, 6, 9], 3, [1, 2, 4])
    scores = random_scores(rng, batch, 1.0, 0.0)
    scores["edge"][1, 1] = scores["node"][2, 0] = -np.inf
    drawn = batch.sample(scores, 20_000, 3)
    found = np.stack([(drawn == k).mean(axis=0) for k in range(3)], axis=1)
    np.testing.assert_allclose(found, batch.marginals(scores).parts["node"], atol=0.02)


@pytest.mark.parametrize("given", [[2, 3], [], [1, 1], [1, 3, 2], [[1]], [1.5], "no"])
def test_bad_lower_ends(given: Any) -> None:
    with pytest.raises(InputError, match="lower_ends"):
        SegmentBatch([0, 2], 2, given)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("clique", ["node", "edge", "duration"])
def test_scores_that_are_no_numbers(clique: str, bad: float) -> None:
    batch = SegmentBatch([0, 3], 2, [1, 2])
    scores = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    scores[clique][0, 1] = bad
    for ask in (batch.log_partition, batch.marginals, batch.argmax, batch.entropy):
        with pytest.raises(ScoreError, match="NaN or \\+inf"):
            ask(scores)


def test_bins() -> None:
    assert Segments(12).lower_ends.tolist() == [1, 2, 3, 4, 6, 8, 11, 12]
    assert Segments(1).lower_ends.tolist() == [1]
    assert Segments(4, bins="each").lower_ends.tolist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match="bins='all' is not known"):
        Segments(bins="all")


@pytest.mark.parametrize("loss", ["pseudo", "piecewise"])
def test_losses_of_cliques_are_refused(loss: str) -> None:
    with pytest.raises(InputError, match="a duration has others"):
        CRF(structure="segments", loss=loss).fit([[[1.0], [0.0]]], [["a", "b"]])
