"""Trees with scores of siblings against trees without; all trees are listed in test_identities."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError, InputError, ScoreError
from kernelfields.structures import DependencyBatch, SiblingDependencyBatch
from kernelfields.structures.sibling_rows import every_sibling

ROOTS = pytest.mark.parametrize("single_root", [False, True])


def scored(batch, rng, sibling=0.0):
    shapes = batch.shapes
    return {"arc": rng.normal(size=shapes["arc"]), "sibling": sibling * rng.normal(size=shapes["sibling"])}


@ROOTS
@pytest.mark.parametrize("labels", [None, 3])
def test_without_scores_of_siblings_they_are_trees_of_first_order(single_root, labels, rng) -> None:
    words = [12, 0, 25, 1]
    batch, plain = (
        SiblingDependencyBatch(words, labels, single_root),
        DependencyBatch(words, labels, True, single_root),
    )
    scores = scored(batch, rng)
    found, expected = batch.marginals(scores), plain.marginals(scores)
    np.testing.assert_allclose(found.log_partition, expected.log_partition, rtol=1e-12)
    np.testing.assert_allclose(found.parts["arc"], expected.parts["arc"], atol=1e-11)
    np.testing.assert_array_equal(batch.argmax(scores).labels, plain.argmax(scores).labels)
    np.testing.assert_allclose(batch.entropy(scores), plain.entropy(scores), rtol=1e-9)
    # every word is the outer one of one row
    assert found.parts["sibling"].sum() == pytest.approx(sum(words), rel=1e-11)


@ROOTS
def test_heads_of_a_sentence_say_who_its_siblings_are(single_root, rng) -> None:
    """2 has 1 on its left, and 4 and 5 on its right; 3 is left of 4."""
    batch = SiblingDependencyBatch([5], single_root=single_root)
    scores = scored(batch, rng, sibling=1.0)
    row = {tuple(r): k for k, r in enumerate(batch.siblings.tolist())}
    rows = [row[r] for r in [(0, 0, 2), (2, 2, 1), (2, 2, 4), (2, 4, 5), (4, 4, 3)]]
    tree = np.array([2, 0, 4, 2, 2])
    arcs = scores["arc"][np.arange(5) * 6 + tree].sum()
    assert batch.score(scores, tree)[0] == pytest.approx(arcs + scores["sibling"][rows].sum())
    parts = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    batch.subtract_parts(parts, tree)
    assert np.flatnonzero(parts["sibling"]).tolist() == sorted(rows)


def test_long_sentences_with_scores_far_apart(rng) -> None:
    batch = SiblingDependencyBatch([30])
    scores = {name: 1000 * part for name, part in scored(batch, rng, sibling=1.0).items()}
    value, parts = batch.marginals(scores)
    best = batch.argmax(scores)
    assert value[0] >= best.value[0] - 1e-9
    assert batch.score(scores, best.labels)[0] == pytest.approx(best.value[0])
    np.testing.assert_allclose(parts["arc"].reshape(30, 31).sum(axis=1), 1.0, atol=1e-9)
    assert batch.entropy(scores)[0] < 1


def test_draws_have_the_marginals(rng) -> None:
    batch = SiblingDependencyBatch([6], 2)
    scores = scored(batch, rng, sibling=1.0)
    draws = batch.sample(scores, 4000, 3)
    counts = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    for tree in draws:
        batch.subtract_parts(counts, tree)
    for name, expected in batch.marginals(scores).parts.items():
        np.testing.assert_allclose(-counts[name] / 4000, expected, atol=0.04)


def test_what_cannot_be_is_refused(rng) -> None:
    batch = SiblingDependencyBatch([3])
    scores = scored(batch, rng)
    with pytest.raises(InfeasibleError, match="Sentence 0"):
        batch.argmax({**scores, "arc": np.full(12, -np.inf)})
    with pytest.raises(ScoreError, match="NaN"):
        batch.log_partition({**scores, "sibling": np.full_like(scores["sibling"], np.nan)})
    with pytest.raises(InputError, match="together"):
        SiblingDependencyBatch([3], siblings=every_sibling(np.array([3]))[0])
    rows = every_sibling(np.array([3]))[0]
    for bad in (
        rows[::-1],
        rows[[0, 0]],
        np.array([[1, 3, 2]]),
        np.array([[0, 0, 4]]),
        np.array([[2, 2, 2]]),
    ):
        with pytest.raises(InputError, match=r"Row \d of siblings"):
            SiblingDependencyBatch([3], siblings=bad, sibling_offsets=[0, len(bad)])
    for bad, offsets in (
        (rows[:, :2], [0, len(rows)]),
        (rows * 1.0, [0, len(rows)]),
        (rows, [0, 1]),
        (rows, [0]),
    ):
        with pytest.raises(InputError, match=r"siblings are|sibling_offsets must"):
            SiblingDependencyBatch([3], siblings=bad, sibling_offsets=offsets)


@pytest.mark.parametrize(("words", "relations"), [([], None), ([0], 2), ([0, 1], None), ([0, 0], 2)])
def test_entropy_without_words(words: list[int], relations: int | None) -> None:
    batch = SiblingDependencyBatch(words, relations)
    zeros = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    np.testing.assert_array_equal(batch.entropy(zeros), np.zeros(len(words)))
