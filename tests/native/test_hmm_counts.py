"""Counts of labelled sequences against counting one position at a time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from kernelfields import native

BLOCK = 1024  # positions whose cells are computed together
STRETCH = 2**15  # positions counted before 16 bits are emptied


def _one_by_one(labels: Any, L: int, offsets: Any, symbols: Any, V: int) -> tuple[Any, Any, Any]:
    start, pairs, emissions = np.zeros(L), np.zeros((L, L)), np.zeros((L, V))
    for a, b in itertools.pairwise(offsets):
        here = labels[a:b]
        if b > a and here[0] >= 0:
            start[here[0]] += 1
        seen = (here[:-1] >= 0) & (here[1:] >= 0)
        np.add.at(pairs, (here[:-1][seen], here[1:][seen]), 1)
    both = (labels >= 0) & (symbols >= 0)
    np.add.at(emissions, (labels[both], symbols[both]), 1)
    return start, pairs, emissions


@pytest.mark.parametrize(("L", "V"), [(8, 64), (1, 1), (8, 2000), (90, 3), (2, 1300)])
@pytest.mark.parametrize(
    "lengths",
    [[1], [5, 0, 0, 1, 3], [BLOCK, BLOCK, 1], [BLOCK - 1, 2, 0, 3 * BLOCK], [STRETCH - 1, 1, 2, STRETCH, 0]],
    ids=str,
)
@pytest.mark.parametrize("missing", [False, True])
def test_counts_are_those_of_single_positions(
    L: int, V: int, lengths: list[int], missing: bool, rng: np.random.Generator
) -> None:
    """Small tables and large ones, sequences that begin and end at the borders of blocks."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    N, least = int(offsets[-1]), -1 if missing else 0
    labels = rng.integers(least, L, size=N, dtype=np.int32)
    symbols = rng.integers(least, V, size=N, dtype=np.int32)
    expected = _one_by_one(labels, L, offsets, symbols, V)
    for found, wanted in zip(native.hmm_counts(labels, L, offsets, symbols, V), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    for found, wanted in zip(native.hmm_counts(labels, L, offsets)[:2], expected[:2], strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_the_same_triple_many_times_does_not_overflow() -> None:
    N = 3 * 2**16 + 5
    same = np.zeros(N, np.int32)
    start, pairs, emissions = native.hmm_counts(same, 2, np.array([0, N]), same, 2)
    assert (start[0], pairs[0, 0], emissions[0, 0]) == (1, N - 1, N)


@pytest.mark.parametrize("wrong", [-2, 8])
@pytest.mark.parametrize("where", [0, BLOCK, STRETCH + 3])
def test_labels_and_symbols_out_of_range_are_refused(wrong: int, where: int) -> None:
    fine, bad = np.zeros(STRETCH + 9, np.int32), np.zeros(STRETCH + 9, np.int32)
    bad[where] = wrong
    offsets = np.array([0, len(fine)])
    with pytest.raises(ValueError, match="labels must be"):
        native.hmm_counts(bad, 8, offsets, fine, 8)
    with pytest.raises(ValueError, match="symbols must be"):
        native.hmm_counts(fine, 8, offsets, bad, 8)
