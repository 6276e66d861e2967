"""Covariances inside cliques against listing every labelling."""

import numpy as np
import pytest

from kernelfields.structures import BlockOracle, ChainBatch, SecondOrderChainBatch, TreeBatch
from kernelfields.testing import Enumerated
from tests._problems import small_scores

OFFSETS = [0, 3, 4, 4, 8]
PARENTS = [2, 2, -1, -1, -1, 4, 4, 4]
STRUCTURES = {
    "chain": ChainBatch(OFFSETS, 3),
    "chain, own edges": ChainBatch(OFFSETS, 3, shared_edges=False),
    "tree": TreeBatch(OFFSETS, PARENTS, 3),
    "tree, own edges": TreeBatch(OFFSETS, PARENTS, 3, shared_edges=False),
    "nothing but vertices": ChainBatch([0, 1, 2], 3),
}


def by_enumeration(structure, scores, direction, weights):
    """Σ_c w_c Cov of the indicator of clique c, clique by clique from all labellings."""
    result = {clique: np.zeros(shape) for clique, shape in structure.shapes.items()}
    every = Enumerated(structure, scores)
    L = structure.n_labels
    for s in range(structure.n_instances):
        y, p = every.outputs(s), every.probabilities(s)
        first = structure.offsets[s]
        cliques = [("node", v, (v,)) for v in range(first, structure.offsets[s + 1])]
        for e in range(structure.edge_offsets[s], structure.edge_offsets[s + 1]):
            cliques.append(("edge", e, (structure.edge_tails[e], structure.edge_heads[e])))
        for clique, c, members in cliques:
            code = np.ravel_multi_index([y[:, v - first] for v in members], (L,) * len(members))
            indicator = np.eye(L ** len(members))[code]
            mean = p @ indicator
            covariance = (indicator - mean).T @ (p[:, None] * (indicator - mean))
            shared = clique == "edge" and structure.shared_edges
            place = ... if shared else c
            along = direction[clique][place]
            result[clique][place] += weights[s] * (covariance @ along.ravel()).reshape(along.shape)
    return result


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", list(STRUCTURES))
def test_blocks_equal_enumeration(name, weighted, rng):
    structure = STRUCTURES[name]
    scores, direction = small_scores(structure, rng), small_scores(structure, rng)
    weights = rng.random(structure.n_instances) + 0.1 if weighted else None
    blocks = structure.blocks(scores, weights)
    counted = np.ones(structure.n_instances) if weights is None else weights
    expected = by_enumeration(structure, scores, direction, counted)
    assert set(blocks) == set(structure.shapes)
    for clique, values in expected.items():
        np.testing.assert_allclose(blocks[clique].times(direction[clique]), values, atol=1e-12)


def test_without_edges_the_vertices_are_all_there_is(rng):
    chain = STRUCTURES["chain"]
    scores = {"node": rng.normal(size=(8, 3)), "edge": np.zeros((3, 3))}
    direction = {"node": rng.normal(size=(8, 3)), "edge": np.zeros((3, 3))}
    product = chain.blocks(scores)["node"].times(direction["node"])
    np.testing.assert_allclose(product, chain.covariance(scores, direction)["node"], atol=1e-12)


def test_forbidden_labels_have_no_variance(rng):
    chain = STRUCTURES["chain"]
    scores = small_scores(chain, rng)
    scores["edge"][0, 1] = -np.inf
    scores["node"][2, 0] = -np.inf
    blocks = chain.blocks(scores)
    assert blocks["edge"].times(np.ones((3, 3)) + np.eye(3))[0, 1] == 0
    assert blocks["node"].times(rng.normal(size=(8, 3)))[2, 0] == 0


def test_second_order_chains_do_not_offer_blocks():
    assert not issubclass(SecondOrderChainBatch, BlockOracle)
