"""Every structure at scores of ±1, ±30, ±300 and ±1,000, with gaps, compared with oracles."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from kernelfields.structures import (
    ChainBatch,
    ConstituencyBatch,
    DependencyBatch,
    ExactGraphBatch,
    Factors,
    SecondOrderChainBatch,
    SegmentBatch,
    TreeBatch,
)
from tests._listed_pairs import ListedAlignments, ListedMatchings
from tests._listed_parses import ListedDerivations, ListedParses
from tests._listed_trees import ListedSiblingTrees, ListedTrees
from tests._log_recursions import all_trees, phrases
from tests._wide_scores import ListedOracle, LogOracle, check_batch, wide_vector
from tests.test_identities import SMALL_GRAMMAR

BATCHES = int(os.environ.get("KERNELFIELDS_WIDE_SCORES", "40"))

Pair = tuple[Any, Any]


def listed(structures: list[Any]) -> list[Pair]:
    """Batches of one instance with all their outputs."""
    return [(structure, ListedOracle(structure)) for structure in structures]


def chains() -> list[Pair]:
    return listed(
        [
            ChainBatch([0, n], L, shared)
            for n, L, shared in [(1, 3, True), (4, 3, True), (5, 2, False), (3, 4, False)]
        ]
    )


def second_order_chains() -> list[Pair]:
    given = [(2, 3, True), (4, 3, True), (5, 2, False), (3, 3, False)]
    return listed([SecondOrderChainBatch([0, n], L, shared) for n, L, shared in given])


def segments() -> list[Pair]:
    plain = [
        SegmentBatch([0, n], L, [1, 2, 3], shared)
        for n, L, shared in [(4, 3, True), (5, 2, False), (3, 3, False)]
    ]
    return listed([*plain, SegmentBatch([0, 4], 2, [1, 2], candidates=[[0, 3, -1], [1, 3, 0]])])


def trees() -> list[Pair]:
    return listed(
        [TreeBatch([0, 5], [1, -1, 1, 2, 1], 3), TreeBatch([0, 4], [3, 3, 1, -1], 3, shared_edges=False)]
    )


def grids() -> list[Pair]:
    edges = [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]]
    return listed([ExactGraphBatch([0, 6], edges, 2), ExactGraphBatch([0, 6], edges, 2, shared_edges=False)])


def graphs() -> list[Pair]:
    edges = [[0, 1], [1, 2], [2, 0], [1, 0], [3, 0]]
    factors = {"three": Factors(np.array([[0, 2, 3]])), "one": Factors(np.array([[1]]))}
    return listed([ExactGraphBatch([0, 5], edges, 3), ExactGraphBatch([0, 4], edges, 3, factors=factors)])


def label_graphs() -> list[Pair]:
    """Labels that are there or not, as sets of labels and hierarchies have them: a star, all pairs."""
    star, every = [[0, k] for k in range(1, 5)], [[i, j] for i in range(5) for j in range(i)]
    return listed([ExactGraphBatch([0, 5], edges, 2, shared_edges=False) for edges in (star, every)])


def projective_trees() -> list[Pair]:
    given = [(4, None, True), (5, None, True), (4, None, False), (3, 2, True), (1, None, True)]
    return listed([ListedTrees([n], L, single_root=single) for n, L, single in given])


def sibling_trees() -> list[Pair]:
    return listed(
        [
            ListedSiblingTrees([n], L, single_root=single)
            for n, L, single in [(4, None, True), (4, None, False), (3, 2, True)]
        ]
    )


def all_trees_one_root() -> list[Pair]:
    return _all_trees(True)


def all_trees_many_roots() -> list[Pair]:
    return _all_trees(False)


def _all_trees(single: bool) -> list[Pair]:
    small = [
        ListedTrees([n], L, projective=False, single_root=single) for n, L in [(3, None), (4, None), (3, 2)]
    ]
    large = [(DependencyBatch([n], None, False, single), LogOracle(all_trees(n, single))) for n in (4, 6, 9)]
    return [*listed(small), *large]


def constituency() -> list[Pair]:
    small = [
        ListedParses([n], L, empty)
        for n, L, empty in [(4, 2, False), (5, 1, False), (3, 3, True), (6, 1, False)]
    ]
    shapes = [(4, 1, False), (8, 1, False), (8, 2, True), (11, 1, False)]
    return [
        *listed(small),
        *((ConstituencyBatch([n], L, e), LogOracle(phrases(n, L, e))) for n, L, e in shapes),
    ]


def grammars() -> list[Pair]:
    return listed([ListedDerivations([n], SMALL_GRAMMAR) for n in (1, 3, 4, 5)])


def matchings() -> list[Pair]:
    return listed(
        [
            ListedMatchings([shape], complete=c)
            for shape, c in [([3, 4], False), ([3, 3], True), ([2, 4], True)]
        ]
    )


def alignments() -> list[Pair]:
    return listed([ListedAlignments([shape], max_jump=1) for shape in ([3, 3], [2, 4], [3, 1])])


TABLE: list[Callable[[], list[Pair]]] = [
    chains,
    second_order_chains,
    segments,
    trees,
    grids,
    graphs,
    label_graphs,
    projective_trees,
    sibling_trees,
    all_trees_one_root,
    all_trees_many_roots,
    constituency,
    grammars,
    matchings,
    alignments,
]


@cache
def pairs_of(row: Callable[[], list[Pair]]) -> list[Pair]:
    return row()


@pytest.mark.parametrize("row", TABLE, ids=lambda f: f.__name__)
def test_wide_scores(row: Callable[[], list[Pair]]) -> None:
    pairs = pairs_of(row)
    wrong = []
    for k in range(BATCHES):
        rng = np.random.default_rng([k, TABLE.index(row)])
        structure, oracle = pairs[k % len(pairs)]
        theta = wide_vector(rng, sum(int(np.prod(shape)) for shape in structure.shapes.values()))
        try:
            check_batch(structure, oracle, theta, rng)
        except Exception as error:  # every batch is tried, and errors are told together
            wrong.append(f"batch {k}, {structure.shapes}: {type(error).__name__}: {error}")
    assert not wrong, f"{len(wrong)} of {BATCHES} batches are wrong:\n" + "\n".join(wrong[:5])
    print(f"\n{row.__name__}: {BATCHES} batches, 0 wrong")


def check_all(structure: Any, oracle: Any, thetas: list[Any]) -> None:
    for k, theta in enumerate(thetas):
        check_batch(structure, oracle, theta, np.random.default_rng(k))


def test_weights_of_words_underflow() -> None:
    """Weights of spans would raise again what is lost with words."""
    theta = np.array([0, 745, 0, 745, -745, -745, 745, 745, -745, 0.0])
    check_all(ConstituencyBatch([4], 1), LogOracle(phrases(4, 1, False)), [theta])


@pytest.mark.parametrize(("n", "size", "count"), [(8, 300.0, 120), (11, 500.0, 40)])
def test_weights_of_spans_raise_what_is_lost(n: int, size: float, count: int) -> None:
    rng = np.random.default_rng(0)
    thetas = [size * rng.choice([-1.0, 0.0, 1.0], size=n * (n + 1) // 2) for _ in range(count)]
    check_all(ConstituencyBatch([n], 1), LogOracle(phrases(n, 1, False)), thetas)


def test_small_divisors() -> None:
    """The second word has hardly any head but the root, so that root arcs grow beyond all doubles."""
    theta = np.array(
        [
            [1172, -237, -1171, -110, 1004],
            [-1021, -546, -123, -1819, -358],
            [-1347, -929, -121, -1672, -274],
            [58, -1381, -555, -643, -745.0],
        ]
    )
    rng = np.random.default_rng(0)
    thetas = [theta.ravel(), *(300 * rng.normal(size=20) for _ in range(30))]
    check_all(ListedTrees([4], projective=False), ListedOracle(ListedTrees([4], projective=False)), thetas)


def test_forbidden_staying_has_no_mass() -> None:
    """A label that is all but sure to end leaves rounding behind, not a probability of staying."""
    structure = SegmentBatch([0, 3], 3, [1, 2, 3], False)
    thetas = [wide_vector(np.random.default_rng([k, 2]), 36) for k in range(60)]
    check_all(structure, ListedOracle(structure), thetas)


@pytest.mark.parametrize("seed", [5630, 10635, 16289])
def test_rules_far_from_spans(seed: int) -> None:
    """Weights of spans overflow alone, and not together with those of rules."""
    structure, oracle = grammars()[seed % 4]
    rng = np.random.default_rng([seed, 12])
    count = sum(int(np.prod(shape)) for shape in structure.shapes.values())
    check_batch(structure, oracle, wide_vector(rng, count), rng)
