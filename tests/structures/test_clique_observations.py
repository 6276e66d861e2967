"""What structures bring along besides the features of answers stays with its cliques."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields.structures import CandidateSegments, Chain, Graph, SiblingDependency


def rows(count, rng):
    return rng.normal(size=(count, 2))


def graphs(rng):
    items = [(np.zeros((n, 1)), [(v, v + 1) for v in range(n - 1)], rows(n - 1, rng)) for n in (3, 4, 1, 2)]
    return Graph(directed=True), items, "edge"


def candidates(rng):
    items = [(np.zeros((n, 1)), [(v, v + 1) for v in range(n)], rows(n, rng)) for n in (3, 4, 2)]
    return CandidateSegments(), items, "segment"


def siblings(rng):
    words = [(0, 0, 1), (0, 1, 2)]
    items = [(np.zeros((6, 1)), words, sparse.csr_matrix(rows(2, rng))) for _ in range(3)]
    return SiblingDependency(siblings=None), items, "sibling"


def batch_of(structure, items):
    features, parts = structure.split(items)
    offsets = np.cumsum([0, *(len(x) for x in features)])
    links = structure.links(parts, offsets)
    return structure.with_labels(["a", "b"], links).on(offsets, links, 2)


def dense(array):
    return array.toarray() if sparse.issparse(array) else array


@pytest.mark.parametrize("make", [graphs, candidates, siblings])
def test_they_stay_with_their_cliques(make, rng):
    """Those of a part of a batch are those of a batch of these items alone."""
    structure, items, clique = make(rng)
    batch, ids = batch_of(structure, items), [2, 0, 2]
    assert list(batch.observations) == [clique]
    assert batch.observations[clique].shape[0] == batch.cliques[clique].count
    alone = batch_of(structure, [items[i] for i in ids])
    for part in (batch.take(ids), batch.untied([clique]).take(ids)):
        np.testing.assert_array_equal(dense(part.observations[clique]), dense(alone.observations[clique]))


def test_most_bring_nothing():
    assert Chain().on(np.array([0, 3]), None, 2).observations == {}
    assert "segment" not in batch_of(CandidateSegments(), [(np.zeros((2, 1)), [(0, 1)])]).observations
