"""Sums of shards: the tree of sums that workers find, and the one that is kept here."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernelfields.objective import BRANCHES, Partial, TreeSum, sum_of

RNG = np.random.default_rng(0)


def parts_of(count: int) -> list[Partial]:
    scale = 10.0 ** RNG.integers(-8, 8, count)
    return [Partial(s, s * RNG.normal(size=5), 2 * s, k) for k, s in enumerate(scale)]


def by_levels(parts: list[Partial]) -> Partial:
    """Sum up groups, then groups of their sums, until one is left."""
    while len(parts) > 1:
        parts = [sum_of(parts[k : k + BRANCHES]) for k in range(0, len(parts), BRANCHES)]
    return parts[0]


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 16, 63, 64, 65, 200, 513])
def test_the_tree_is_the_same_for_all(count: int) -> None:
    parts = parts_of(count)
    tree = TreeSum(5)
    for part in parts:
        tree.add(part)
    found, expected = tree.total(), by_levels(parts)
    assert found.value == expected.value
    assert found.slack == expected.slack
    np.testing.assert_array_equal(found.array, expected.array)
    assert found.unsettled == count * (count - 1) // 2
    assert math.isclose(found.value, math.fsum(part.value for part in parts), rel_tol=1e-12)


def test_parts_have_places_and_may_have_no_array() -> None:
    tree = TreeSum(4)
    for k in range(9):
        tree.add(Partial(1.0, np.array([1.0, 2.0])), np.array([k % 4, 3]) if k % 4 < 3 else np.array([0, 3]))
    np.testing.assert_array_equal(tree.total().array, [5.0, 2.0, 2.0, 18.0])
    tree.add(Partial(1.0, None))
    assert tree.total().array is None
