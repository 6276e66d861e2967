"""Every identity on every structure. A new structure is one more row of the table."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from kernelfields.structures import (
    AlphaExpansion,
    ChainBatch,
    ExactGraphBatch,
    Factors,
    Grammar,
    Marginals,
    SearchedGraphBatch,
    SecondOrderChainBatch,
    SegmentBatch,
    StructureBatch,
    TreeBatch,
)
from kernelfields.testing import STRUCTURE_IDENTITIES, check_structure
from kernelfields.testing.strategies import ScoredChain, chains
from tests._dependency import DependencyBatch
from tests._listed_pairs import ListedAlignments, ListedLinks, ListedMatchings
from tests._listed_parses import ListedDerivations, ListedParses
from tests._listed_trees import ListedSiblingTrees, ListedTrees

Row = tuple[StructureBatch, dict[str, np.ndarray]]


def normal(rng: np.random.Generator, structure: StructureBatch, scale: float = 1.0) -> dict[str, np.ndarray]:
    return {name: scale * rng.normal(size=shape) for name, shape in structure.shapes.items()}


def lengths(*values: int) -> list[int]:
    return np.cumsum([0, *values]).tolist()


def chain_shared(rng: np.random.Generator) -> Row:
    structure = ChainBatch(lengths(4, 0, 1, 5, 2, 3, 1), 3)
    return structure, normal(rng, structure)


def chain_per_edge(rng: np.random.Generator) -> Row:
    structure = ChainBatch(lengths(3, 1, 0, 4, 2), 3, shared_edges=False)
    return structure, normal(rng, structure)


def chain_one_label(rng: np.random.Generator) -> Row:
    structure = ChainBatch(lengths(3, 1, 0), 1)
    return structure, normal(rng, structure)


def chain_float32(rng: np.random.Generator) -> Row:
    structure, scores = chain_shared(rng)
    return structure, {name: array.astype(np.float32) for name, array in scores.items()}


def chain_float32_per_edge(rng: np.random.Generator) -> Row:
    structure, scores = chain_per_edge(rng)
    return structure, {name: array.astype(np.float32) for name, array in scores.items()}


def chain_forbidden(rng: np.random.Generator) -> Row:
    structure, scores = chain_shared(rng)
    scores["edge"][1, 2] = scores["edge"][2, 0] = scores["node"][::3, 1] = -np.inf
    return structure, scores


def chain_per_edge_forbidden(rng: np.random.Generator) -> Row:
    structure, scores = chain_per_edge(rng)
    scores["edge"][::2, 1, 2] = scores["edge"][1::2, 0, 0] = scores["node"][1::3, 2] = -np.inf
    return structure, scores


def chain_large_scores(rng: np.random.Generator) -> Row:
    """Too large for the scaled recursions, so that logarithms answer."""
    structure = ChainBatch(lengths(4, 3, 0, 1), 3)
    return structure, normal(rng, structure, scale=300.0)


def tree_shared(rng: np.random.Generator) -> Row:
    """Two forests and an empty one: branches, several roots, children before parents."""
    structure = TreeBatch(lengths(5, 0, 4), [1, -1, 1, 1, -1, -1, 5, 8, 5], 3)
    return structure, normal(rng, structure)


def tree_per_edge(rng: np.random.Generator) -> Row:
    structure = TreeBatch(lengths(4, 1, 3), [3, 3, 1, -1, -1, -1, 5, 5], 3, shared_edges=False)
    return structure, normal(rng, structure)


def tree_forbidden(rng: np.random.Generator) -> Row:
    structure, scores = tree_shared(rng)
    scores["edge"][1, 2] = scores["edge"][2, 0] = scores["node"][::3, 1] = -np.inf
    return structure, scores


def second_order_shared(rng: np.random.Generator) -> Row:
    structure = SecondOrderChainBatch(lengths(4, 0, 1, 5, 2, 3), 3)
    return structure, normal(rng, structure)


def second_order_per_edge(rng: np.random.Generator) -> Row:
    structure = SecondOrderChainBatch(lengths(3, 1, 0, 4, 2), 3, shared_edges=False)
    return structure, normal(rng, structure)


def second_order_one_label(rng: np.random.Generator) -> Row:
    structure = SecondOrderChainBatch(lengths(4, 2, 1, 0), 1)
    return structure, normal(rng, structure)


def second_order_float32(rng: np.random.Generator) -> Row:
    structure, scores = second_order_shared(rng)
    return structure, {name: array.astype(np.float32) for name, array in scores.items()}


def second_order_forbidden(rng: np.random.Generator) -> Row:
    structure, scores = second_order_shared(rng)
    scores["edge"][1, 2] = scores["node"][::3, 1] = -np.inf
    scores["triple"][0, 0, 0] = scores["triple"][2, 0] = -np.inf
    return structure, scores


def second_order_large_scores(rng: np.random.Generator) -> Row:
    """Products of exponentials underflow, so that logarithms answer."""
    structure = SecondOrderChainBatch(lengths(4, 3, 0, 1), 3)
    return structure, normal(rng, structure, scale=300.0)


def segments_shared(rng: np.random.Generator) -> Row:
    structure = SegmentBatch(lengths(4, 0, 1, 5, 2, 3), 3, [1, 2, 4])
    return structure, normal(rng, structure)


def segments_per_edge(rng: np.random.Generator) -> Row:
    structure = SegmentBatch(lengths(3, 1, 0, 4, 2), 3, [1, 3], shared_edges=False)
    return structure, normal(rng, structure)


def segments_one_label(rng: np.random.Generator) -> Row:
    structure = SegmentBatch(lengths(3, 1, 0), 1, [1, 2])
    return structure, normal(rng, structure)


def segments_with_candidates(rng: np.random.Generator) -> Row:
    """Candidates of all labels and of one, short and long."""
    given = [[0, 4, 0], [1, 3, 0], [5, 6, -1], [7, 9, -1], [6, 10, 0], [12, 14, 2], [4, 5, 0], [10, 11, 0]]
    structure = SegmentBatch(lengths(4, 0, 1, 5, 2, 3), 3, [1, 2], candidates=given)
    return structure, normal(rng, structure)


def segments_with_candidates_float32(rng: np.random.Generator) -> Row:
    structure = SegmentBatch(lengths(3, 1, 0, 4), 3, [1, 2], False, [[0, 2, -1], [4, 7, 1], [3, 4, 2]])
    return structure, {name: array.astype(np.float32) for name, array in normal(rng, structure).items()}


def segments_one_length(rng: np.random.Generator) -> Row:
    """All runs score alike, however long."""
    structure = SegmentBatch(lengths(4, 1, 0, 3), 3)
    return structure, normal(rng, structure)


def segments_float32(rng: np.random.Generator) -> Row:
    structure, scores = segments_shared(rng)
    return structure, {name: array.astype(np.float32) for name, array in scores.items()}


def segments_forbidden(rng: np.random.Generator) -> Row:
    """Labels, changes, staying, and lengths that cannot be."""
    structure, scores = segments_shared(rng)
    scores["edge"][1, 2] = scores["edge"][2, 2] = scores["node"][::3, 1] = -np.inf
    scores["duration"][1, 0] = -np.inf
    return structure, scores


def segments_large_scores(rng: np.random.Generator) -> Row:
    """Products of exponentials underflow, so that logarithms answer."""
    structure = SegmentBatch(lengths(4, 3, 0, 1), 3, [1, 2, 3])
    return structure, normal(rng, structure, scale=300.0)


def graph_small(rng: np.random.Generator) -> Row:
    """Cycles, an edge given in both directions, an isolated vertex, an empty instance, a lone one."""
    edges = [[0, 1], [1, 2], [2, 0], [1, 0], [3, 0], [6, 5], [6, 7], [7, 5]]
    structure = ExactGraphBatch(lengths(5, 0, 4, 1), edges, 3)
    return structure, normal(rng, structure)


def graph_factors(rng: np.random.Generator) -> Row:
    """Edges of two kinds, triangles of their own and shared, factors over four vertices, over one."""
    structure = ExactGraphBatch(
        lengths(6, 4, 2),
        [[0, 1], [4, 5], [6, 7], [10, 11]],
        2,
        shared_edges=False,
        factors={
            "other": Factors(np.array([[1, 0], [3, 5], [8, 9]])),
            "triangle": Factors(np.array([[0, 2, 3], [9, 6, 8]]), shared=False),
            "four": Factors(np.array([[5, 1, 3, 2]])),
            "one": Factors(np.array([[4], [7]])),
        },
    )
    return structure, normal(rng, structure)


def graph_label_sets(rng: np.random.Generator) -> Row:
    """Vertices with one, some and all labels; scores outside are not looked at."""
    sets = rng.random((9, 4)) < 0.6
    sets[[0, 3]], sets[4] = [False, False, True, False], True
    sets[np.arange(9), rng.integers(0, 4, 9)] |= ~sets.any(axis=1)
    structure = ExactGraphBatch(
        lengths(5, 4),
        [[0, 1], [1, 2], [3, 0], [4, 2], [5, 6], [6, 8], [8, 5]],
        4,
        factors={"triangle": Factors(np.array([[0, 2, 4], [3, 0, 1], [7, 6, 5]]))},
        label_sets=sets,
    )
    return structure, normal(rng, structure)


def graph_float32(rng: np.random.Generator) -> Row:
    structure, scores = graph_factors(rng)
    return structure, {name: array.astype(np.float32) for name, array in scores.items()}


def graph_forbidden(rng: np.random.Generator) -> Row:
    structure, scores = graph_small(rng)
    scores["edge"][1, 2] = scores["edge"][2, 0] = scores["node"][::3, 1] = -np.inf
    return structure, scores


def graph_large_scores(rng: np.random.Generator) -> Row:
    """Products of exponentials underflow, so that logarithms answer."""
    structure, scores = graph_factors(rng)
    return structure, {name: 300.0 * array for name, array in scores.items()}


def graph_searched(rng: np.random.Generator) -> Row:
    """The same questions to a search as to exact inference, where it has answers."""
    exact, scores = graph_label_sets(rng)
    assert isinstance(exact, ExactGraphBatch)
    shape = {"factors": exact.factors, "label_sets": exact.label_sets}
    return SearchedGraphBatch(exact.offsets, exact.edges, exact.n_labels, **shape), scores  # type: ignore[arg-type]


def graph_searched_by_cuts(rng: np.random.Generator) -> Row:
    edges = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 3], [5, 4]]
    structure = SearchedGraphBatch(lengths(4, 0, 2), edges, 3, search=AlphaExpansion(truncate=True))
    return structure, normal(rng, structure)


def dependency_trees(rng: np.random.Generator) -> Row:
    structure = DependencyBatch([3, 0, 1, 4, 2])
    return structure, normal(rng, structure)


def dependency_trees_forbidden(rng: np.random.Generator) -> Row:
    structure, scores = dependency_trees(rng)
    scores["arc"][[1, 7, 20]] = -np.inf
    return structure, scores


def projective_trees(rng: np.random.Generator) -> Row:
    structure = ListedTrees([3, 0, 1, 5, 2, 4])
    return structure, normal(rng, structure)


def projective_trees_many_roots(rng: np.random.Generator) -> Row:
    structure = ListedTrees([4, 1, 2, 0, 3], single_root=False)
    return structure, normal(rng, structure, scale=2.0)


def projective_trees_float32(rng: np.random.Generator) -> Row:
    structure, scores = projective_trees(rng)
    return structure, {"arc": scores["arc"].astype(np.float32)}


def projective_trees_forbidden(rng: np.random.Generator) -> Row:
    structure, scores = projective_trees(rng)
    scores["arc"][[1, 7, 20, 23, 31]] = -np.inf
    return structure, scores


def projective_trees_large_scores(rng: np.random.Generator) -> Row:
    """Products of exponentials underflow, so that wider numbers answer."""
    structure = ListedTrees([4, 3, 2], single_root=False)
    return structure, normal(rng, structure, scale=500.0)


def projective_trees_labelled(rng: np.random.Generator) -> Row:
    structure = ListedTrees([3, 0, 1, 2], 3)
    scores = normal(rng, structure)
    scores["arc"][[2, 5], 1] = -np.inf
    return structure, scores


def sibling_trees(rng: np.random.Generator) -> Row:
    structure = ListedSiblingTrees([3, 0, 1, 4, 2])
    return structure, normal(rng, structure)


def sibling_trees_many_roots(rng: np.random.Generator) -> Row:
    structure = ListedSiblingTrees([4, 1, 0, 3], single_root=False)
    return structure, normal(rng, structure, scale=2.0)


def sibling_trees_labelled(rng: np.random.Generator) -> Row:
    structure = ListedSiblingTrees([3, 0, 1, 2], 2)
    scores = normal(rng, structure)
    scores["arc"][[2, 5], 1] = scores["sibling"][3] = -np.inf
    return structure, scores


def sibling_trees_few_rows(rng: np.random.Generator) -> Row:
    """What is not among the rows scores 0."""
    every = ListedSiblingTrees([4, 3], single_root=False)
    kept = np.arange(len(every.siblings)) % 3 != 1
    offsets = np.append(0, np.cumsum([kept[a:b].sum() for a, b in itertools.pairwise(every.sibling_offsets)]))
    structure = ListedSiblingTrees(
        [4, 3], single_root=False, siblings=every.siblings[kept], sibling_offsets=offsets
    )
    return structure, normal(rng, structure)


def sibling_trees_large_scores(rng: np.random.Generator) -> Row:
    structure = ListedSiblingTrees([4, 3, 2], single_root=False)
    return structure, normal(rng, structure, scale=500.0)


def sibling_trees_float32(rng: np.random.Generator) -> Row:
    structure, scores = sibling_trees(rng)
    return structure, {name: array.astype(np.float32) for name, array in scores.items()}


def all_trees(rng: np.random.Generator) -> Row:
    structure = ListedTrees([3, 0, 1, 4, 2], projective=False)
    return structure, normal(rng, structure)


def all_trees_many_roots(rng: np.random.Generator) -> Row:
    structure = ListedTrees([4, 1, 2, 0, 3], projective=False, single_root=False)
    return structure, normal(rng, structure, scale=2.0)


def all_trees_float32(rng: np.random.Generator) -> Row:
    structure, scores = all_trees(rng)
    return structure, {"arc": scores["arc"].astype(np.float32)}


def all_trees_forbidden(rng: np.random.Generator) -> Row:
    """In the sentence of four words, the third and fourth have no heads but each other and the root."""
    structure, scores = all_trees(rng)
    scores["arc"][[1, 7]] = -np.inf
    start = structure.offsets[3] + 5 * np.array([2, 2, 3, 3]) + [1, 2, 1, 2]
    scores["arc"][start] = -np.inf
    return structure, scores


def all_trees_large_scores(rng: np.random.Generator) -> Row:
    """Products of exponentials underflow, so that wider numbers answer."""
    structure = ListedTrees([4, 3, 2], projective=False)
    return structure, normal(rng, structure, scale=500.0)


def all_trees_strong_cycles(rng: np.random.Generator) -> Row:
    """Words that all but choose each other: a determinant would cancel, walks would not end."""
    structure = ListedTrees([4, 3], projective=False, single_root=False)
    scores = normal(rng, structure)
    scores["arc"][[2, 6, 14, 18]] += 40.0
    return structure, scores


def all_trees_labelled(rng: np.random.Generator) -> Row:
    structure = ListedTrees([3, 0, 1, 2], 3, projective=False)
    scores = normal(rng, structure)
    scores["arc"][[2, 5], 1] = -np.inf
    return structure, scores


def phrases(rng: np.random.Generator) -> Row:
    structure = ListedParses([4, 0, 1, 2], 2)
    return structure, normal(rng, structure)


def phrases_one_label(rng: np.random.Generator) -> Row:
    structure = ListedParses([5, 1, 0, 4], 1)
    return structure, normal(rng, structure, scale=2.0)


def phrases_empty_label(rng: np.random.Generator) -> Row:
    structure = ListedParses([3, 0, 1, 2], 3, empty=True)
    return structure, normal(rng, structure)


def phrases_float32(rng: np.random.Generator) -> Row:
    structure = ListedParses([4, 0, 1, 3], 2, empty=True)
    return structure, {"span": rng.normal(size=structure.shapes["span"]).astype(np.float32)}


def phrases_forbidden(rng: np.random.Generator) -> Row:
    """Labels of spans, a span that may only be empty, one that may not be at all."""
    structure = ListedParses([4, 3, 2], 2, empty=True)
    scores = normal(rng, structure)
    scores["span"][[1, 4, 14], 1] = scores["span"][[0, 7], 0] = -np.inf
    scores["span"][5, 1:] = scores["span"][8] = -np.inf
    return structure, scores


def phrases_large_scores(rng: np.random.Generator) -> Row:
    """Products of exponentials underflow, so that wider numbers answer."""
    structure = ListedParses([4, 3], 2, empty=True)
    return structure, normal(rng, structure, scale=500.0)


SMALL_GRAMMAR = Grammar(
    ("A", "B", "C"),
    (("A", "A", "B"), ("A", "B", "B"), ("B", "A", "A"), ("B", "B", "C"), ("A", "B", "C"), ("B", "C", "A")),
    roots=("A", "B"),
    words=("A", "B", "C"),
)
"""C is a word and never more; A and B are anything."""


def derivations(rng: np.random.Generator) -> Row:
    structure = ListedDerivations([4, 0, 1, 3, 2], SMALL_GRAMMAR)
    return structure, normal(rng, structure)


def derivations_float32(rng: np.random.Generator) -> Row:
    structure, scores = derivations(rng)
    return structure, {name: array.astype(np.float32) for name, array in scores.items()}


def derivations_forbidden(rng: np.random.Generator) -> Row:
    """A rule, a symbol of a word, and one of a span."""
    structure, scores = derivations(rng)
    scores["rule"][1] = scores["span"][2, 0] = scores["span"][4, 1] = -np.inf
    return structure, scores


def derivations_large_scores(rng: np.random.Generator) -> Row:
    """Products of exponentials underflow, so that wider numbers answer."""
    structure = ListedDerivations([4, 3], SMALL_GRAMMAR)
    return structure, normal(rng, structure, scale=500.0)


def matchings(rng: np.random.Generator) -> Row:
    structure = ListedMatchings([[3, 4], [0, 2], [1, 1], [3, 3], [4, 2], [2, 0]])
    return structure, normal(rng, structure)


def matchings_complete(rng: np.random.Generator) -> Row:
    structure = ListedMatchings([[3, 3], [2, 4], [0, 0], [4, 3], [1, 2], [3, 0]], complete=True)
    return structure, normal(rng, structure)


def matchings_float32(rng: np.random.Generator) -> Row:
    structure, scores = matchings(rng)
    return structure, {"pair": scores["pair"].astype(np.float32)}


def matchings_forbidden(rng: np.random.Generator) -> Row:
    structure, scores = matchings(rng)
    scores["pair"][::3] = -np.inf
    return structure, scores


def matchings_complete_forbidden(rng: np.random.Generator) -> Row:
    """One pair of the square item is the only one of its row."""
    structure, scores = matchings_complete(rng)
    scores["pair"][[0, 2, 10, 20]] = -np.inf
    return structure, scores


def matchings_large_scores(rng: np.random.Generator) -> Row:
    structure = ListedMatchings([[3, 3], [2, 3]], complete=True)
    return structure, normal(rng, structure, scale=500.0)


def matchings_tied(rng: np.random.Generator) -> Row:
    """Scores of few values, so that bids raise nothing."""
    structure = ListedMatchings([[3, 3], [3, 4], [4, 3]])
    return structure, {"pair": rng.integers(0, 2, structure.shapes["pair"]).astype(float)}


def alignments(rng: np.random.Generator) -> Row:
    structure = ListedAlignments([[3, 3], [0, 2], [1, 1], [2, 4], [3, 2], [4, 0], [3, 1]], max_jump=1)
    return structure, normal(rng, structure)


def alignments_float32(rng: np.random.Generator) -> Row:
    structure, scores = alignments(rng)
    return structure, {name: array.astype(np.float32) for name, array in scores.items()}


def alignments_forbidden(rng: np.random.Generator) -> Row:
    """Columns without a row are the last ones, some pairs cannot be."""
    structure = ListedAlignments([[3, 3], [2, 4]], max_jump=2)
    scores = normal(rng, structure)
    scores["jump"][6], scores["pair"][::4] = -np.inf, -np.inf
    return structure, scores


def links(rng: np.random.Generator) -> Row:
    structure = ListedLinks([[3, 3], [0, 2], [1, 1], [2, 4], [3, 2]], [0.5])
    return structure, {"pair": rng.normal(size=structure.shapes["pair"]), **structure.known_scores()}


def links_forbidden(rng: np.random.Generator) -> Row:
    """Every row and column has prices of its own, and some have no second link."""
    structure = ListedLinks([[3, 3], [2, 4], [4, 2]], [0.5, 1.0])
    steps = -np.sort(-rng.normal(size=(len(structure.known_scores()["fertility"]), 3)), axis=1)
    fertility = np.pad(np.cumsum(steps, axis=1), ((0, 0), (1, 0))) + rng.normal(size=(len(steps), 1))
    fertility[::4, 2:] = -np.inf
    scores = {"pair": rng.normal(size=structure.shapes["pair"]) + 0.5, "fertility": fertility}
    scores["pair"][::5] = -np.inf
    return structure, scores


def links_float32(rng: np.random.Generator) -> Row:
    structure, scores = links(rng)
    return structure, {name: array.astype(np.float32) for name, array in scores.items()}


TABLE: list[Callable[[np.random.Generator], Row]] = [
    chain_shared,
    chain_per_edge,
    chain_one_label,
    chain_float32,
    chain_float32_per_edge,
    chain_forbidden,
    chain_per_edge_forbidden,
    chain_large_scores,
    tree_shared,
    tree_per_edge,
    tree_forbidden,
    second_order_shared,
    second_order_per_edge,
    second_order_one_label,
    second_order_float32,
    second_order_forbidden,
    second_order_large_scores,
    segments_shared,
    segments_per_edge,
    segments_one_label,
    segments_one_length,
    segments_with_candidates,
    segments_with_candidates_float32,
    segments_float32,
    segments_forbidden,
    segments_large_scores,
    graph_small,
    graph_factors,
    graph_label_sets,
    graph_float32,
    graph_forbidden,
    graph_large_scores,
    graph_searched,
    graph_searched_by_cuts,
    dependency_trees,
    dependency_trees_forbidden,
    projective_trees,
    projective_trees_many_roots,
    projective_trees_float32,
    projective_trees_forbidden,
    projective_trees_large_scores,
    projective_trees_labelled,
    sibling_trees,
    sibling_trees_many_roots,
    sibling_trees_labelled,
    sibling_trees_few_rows,
    sibling_trees_large_scores,
    sibling_trees_float32,
    all_trees,
    all_trees_many_roots,
    all_trees_float32,
    all_trees_forbidden,
    all_trees_large_scores,
    all_trees_strong_cycles,
    all_trees_labelled,
    phrases,
    phrases_one_label,
    phrases_empty_label,
    phrases_float32,
    phrases_forbidden,
    phrases_large_scores,
    derivations,
    derivations_float32,
    derivations_forbidden,
    derivations_large_scores,
    matchings,
    matchings_complete,
    matchings_float32,
    matchings_forbidden,
    matchings_complete_forbidden,
    matchings_large_scores,
    matchings_tied,
    alignments,
    alignments_float32,
    alignments_forbidden,
    links,
    links_forbidden,
    links_float32,
]


@pytest.mark.parametrize("identity", STRUCTURE_IDENTITIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("row", TABLE, ids=lambda f: f.__name__)
def test_identity(
    row: Callable[[np.random.Generator], Row],
    identity: Callable[[StructureBatch, dict[str, np.ndarray]], None],
    rng: np.random.Generator,
) -> None:
    structure, scores = row(rng)
    identity(structure, scores)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(chains(max_length=3, max_labels=3))
def test_any_small_chain(chain: ScoredChain) -> None:
    check_structure(chain.structure, chain.scores)


class WrongMarginals(ChainBatch):
    def marginals(self, scores, weights=None):
        log_partition, parts = ChainBatch.marginals(self, scores, weights)
        return Marginals(log_partition, {**parts, "edge": parts["edge"] * 1.0001})


class WrongCovariance(ChainBatch):
    def covariance(self, scores, direction, weights=None):
        return {k: v + 1e-5 for k, v in ChainBatch.covariance(self, scores, direction, weights).items()}


class WrongArgmax(ChainBatch):
    def argmax(self, scores):
        best = ChainBatch.argmax(self, scores)
        return best._replace(labels=1 - best.labels)


class WrongSecond(ChainBatch):
    def kbest(self, scores, k):
        labels, values = ChainBatch.kbest(self, scores, k)
        return (
            ChainBatch.kbest(self, scores, 1)
            if k == 1
            else type(ChainBatch.kbest(self, scores, 1))(labels[[0] * k], values)
        )


class WrongSamples(ChainBatch):
    def sample(self, scores, count, seed):
        return ChainBatch.sample(self, {**scores, "edge": 0.7 * scores["edge"]}, count, seed)


class WrongEntropy(ChainBatch):
    def entropy(self, scores):
        return ChainBatch.entropy(self, scores) + 1e-6


class WrongParts(ChainBatch):
    def parts(self, labels, weights=None):
        return {**ChainBatch.parts(self, labels), "node": ChainBatch.parts(self, labels, weights)["node"]}


class WrongCut(ChainBatch):
    def cut(self, scores, ids):
        return ChainBatch.cut(self, scores, np.sort(ids))


@pytest.mark.parametrize(
    "wrong",
    [
        WrongMarginals,
        WrongCovariance,
        WrongArgmax,
        WrongSecond,
        WrongSamples,
        WrongEntropy,
        WrongParts,
        WrongCut,
    ],
)
def test_conformance_notices(wrong: type[ChainBatch], rng: np.random.Generator) -> None:
    structure = wrong(lengths(3, 2, 4), 2)
    with pytest.raises(AssertionError):
        check_structure(structure, normal(rng, structure, scale=2.0))
