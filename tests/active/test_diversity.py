"""Batches that are spread out, against searches that share nothing with them."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.active import Determinantal, KCenter
from kernelfields.active.similarity import PositionSimilarity, SequenceSimilarity
from kernelfields.kernels import RBF, Linear

rng = np.random.default_rng(3)
POINTS = rng.normal(size=(12, 2))
SCORES = rng.random(12)
NOTHING = np.array([], dtype=int)


def test_similarities_are_cosines_of_mean_maps():
    offsets = np.array([0, 3, 3, 7, 12])
    found = SequenceSimilarity(Linear(), POINTS, offsets).block(np.arange(4), np.arange(4))
    means = np.array([POINTS[a:b].mean(axis=0) if b > a else [0.0, 0.0] for a, b in pairwise(offsets)])
    norms = np.linalg.norm(means, axis=1)
    norms[1] = 1.0  # of nothing
    expected = means @ means.T / np.outer(norms, norms)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    positions = PositionSimilarity(RBF(0.7), POINTS).block(np.arange(5), np.arange(12))
    np.testing.assert_allclose(positions, RBF(0.7)(POINTS[:5], POINTS))


def test_each_step_of_a_determinantal_batch_raises_the_determinant_most():
    similarity = PositionSimilarity(RBF(0.7), POINTS)
    chosen = Determinantal(candidates=12).choose(SCORES, 4, similarity, NOTHING).tolist()
    unit = (SCORES - SCORES.min()) / (SCORES.max() - SCORES.min())
    quality = np.maximum(unit, 1e-3)
    L = quality[:, None] * RBF(0.7)(POINTS) * quality
    taken = []
    for _ in range(4):
        rest = [i for i in range(12) if i not in taken]
        taken.append(max(rest, key=lambda i: np.linalg.det(L[np.ix_([*taken, i], [*taken, i])])))
    assert chosen == taken


def test_k_centre_covers_within_twice_the_best_radius():
    similarity = PositionSimilarity(RBF(0.7), POINTS)
    distance = np.sqrt(np.maximum(2 - 2 * RBF(0.7)(POINTS), 0))
    for labelled in (NOTHING, np.array([2])):
        scores = SCORES.copy()
        scores[labelled] = -np.inf
        chosen = KCenter(candidates=12).choose(scores, 3, similarity, labelled).tolist()
        radius = distance[[*labelled, *chosen]].min(axis=0).max()
        best = min(distance[[*labelled, *c]].min(axis=0).max() for c in combinations(range(12), 3))
        assert radius <= 2 * best
        assert len(set(chosen)) == 3
        assert not set(chosen) & set(labelled.tolist())
    assert KCenter(candidates=12).choose(SCORES, 1, similarity, NOTHING).tolist() == [int(SCORES.argmax())]


@pytest.mark.parametrize("kind", [Determinantal, KCenter])
def test_twins_are_not_asked_together(kind):
    twins = np.repeat(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), 3, axis=0)
    scores = np.linspace(1.0, 0.9, 9)
    chosen = kind(candidates=9).choose(scores, 3, PositionSimilarity(RBF(5.0), twins), NOTHING)
    assert sorted((chosen // 3).tolist()) == [0, 1, 2]


@pytest.mark.parametrize("kind", [Determinantal, KCenter])
def test_batches_of_equal_things_are_filled(kind):
    same = np.ones((6, 2))
    chosen = kind(candidates=6).choose(np.arange(6.0), 4, PositionSimilarity(RBF(), same), NOTHING)
    assert len(set(chosen.tolist())) == 4


@pytest.mark.parametrize("kind", [Determinantal, KCenter])
def test_only_candidates_are_chosen(kind):
    similarity = PositionSimilarity(RBF(0.7), POINTS)
    chosen = kind(candidates=2.0).choose(SCORES, 3, similarity, NOTHING)
    assert set(chosen.tolist()) <= set(np.argsort(-SCORES)[:6].tolist())
    few = np.full(12, -np.inf)
    few[[3, 5]] = 1.0, 2.0
    assert kind().choose(few, 4, similarity, NOTHING).tolist() == [5, 3]
    with pytest.raises(InputError, match=r"candidates is 0\.5; it must be at least 1"):
        kind(candidates=0.5)
