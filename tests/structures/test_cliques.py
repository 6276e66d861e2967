"""What follows from the cliques of a structure, for all structures alike."""

from itertools import pairwise

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.structures import ChainBatch, SecondOrderChainBatch, TreeBatch

OFFSETS = [0, 4, 4, 5, 8]
PARENTS = [1, -1, 1, 0, -1, 6, -1, 6]


def batches(shared):
    return {
        "chain": ChainBatch(OFFSETS, 3, shared),
        "second order": SecondOrderChainBatch(OFFSETS, 3, shared),
        "tree": TreeBatch(OFFSETS, PARENTS, 3, shared),
    }


CASES = [(name, shared) for name in batches(True) for shared in (True, False)]


@pytest.fixture(params=CASES, ids=str)
def batch(request):
    name, shared = request.param
    return batches(shared)[name]


def test_members_of_cliques_by_hand():
    chain, tree = batches(True)["second order"], batches(True)["tree"]
    assert chain.cliques["node"].members.ravel().tolist() == list(range(8))
    assert chain.cliques["edge"].members.tolist() == [[0, 1], [1, 2], [2, 3], [5, 6], [6, 7]]
    assert chain.cliques["triple"].members.tolist() == [[0, 1, 2], [1, 2, 3], [5, 6, 7]]
    assert chain.cliques["triple"].offsets.tolist() == [0, 2, 2, 2, 3]
    assert tree.cliques["edge"].members.tolist() == [[1, 0], [1, 2], [0, 3], [6, 5], [6, 7]]
    assert tree.cliques["edge"].offsets.tolist() == [0, 3, 3, 3, 5]


def test_shapes_are_those_of_the_cliques(batch):
    assert batch.shapes == {name: cliques.shape for name, cliques in batch.cliques.items()}


def test_parts_count_the_labels_of_every_clique(batch, rng):
    labels = rng.integers(3, size=8)
    weights = rng.random(4)
    for name, part in batch.parts(labels, weights).items():
        cliques = batch.cliques[name]
        wanted = np.zeros(cliques.shape)
        for s in range(4):
            for c in range(cliques.offsets[s], cliques.offsets[s + 1]):
                place = tuple(labels[cliques.members[c]])
                wanted[place if cliques.shared else (c, *place)] += weights[s]
        np.testing.assert_allclose(part, wanted, atol=1e-15)


def test_hamming_counts_wrong_labels(batch, rng):
    labels, guess = rng.integers(3, size=(2, 8))
    blank = {name: np.zeros(shape) for name, shape in batch.shapes.items()}
    cost = batch.score({**blank, **batch.hamming(labels)}, guess)
    wrong = [(labels[a:b] != guess[a:b]).sum() for a, b in pairwise(OFFSETS)]
    np.testing.assert_array_equal(cost, wrong)
    np.testing.assert_array_equal(batch.differ(labels, guess), np.array(wrong) > 0)


def test_outputs_are_cut_like_structures(batch, rng):
    labels = rng.integers(3, size=8)
    scores = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    ids = [3, 1, 0, 3]
    part, own = batch.take(ids), batch.cut(scores, ids)
    assert {name: values.shape for name, values in own.items()} == part.shapes
    found = part.score(own, batch.cut_outputs(labels, ids))
    np.testing.assert_allclose(found, batch.score(scores, labels)[ids], rtol=1e-14)


def test_untied_edges_score_the_same_and_their_parts_add_up(batch, rng):
    scores = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    each = batch.untied(["node", "edge"])
    assert each is batch if not batch.shared_edges else not each.shared_edges
    found, wanted = each.marginals(each.spread(scores)), batch.marginals(scores)
    np.testing.assert_allclose(found.log_partition, wanted.log_partition, rtol=1e-13)
    for name, part in batch.gathered(found.parts).items():
        np.testing.assert_allclose(part, wanted.parts[name], atol=1e-12)


def test_triples_cannot_be_untied():
    with pytest.raises(InputError, match=r"^These chains share the scores of triples"):
        batches(True)["second order"].untied(["triple"])
