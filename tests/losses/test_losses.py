"""Losses: gradients, curvature, limits, what they need."""

import numpy as np
import pytest
from scipy.special import logsumexp

from kernelfields.errors import InfeasibleError, InputError
from kernelfields.losses import LogLoss, PartialLog
from kernelfields.structures import ChainBatch, StructureBatch
from kernelfields.testing import Enumerated, check_loss
from tests._problems import small_chain, small_forest, small_labels, small_scores, small_second_order

STRUCTURES = {
    "chain": small_chain,
    "second order": small_second_order,
    "forest": small_forest,
}


def edge_costs(structure, labels, rng):
    """A cost of label pairs that is different at every edge, and 0 for the pair observed there."""
    cost = rng.random((structure.n_edges, 3, 3))
    cost[np.arange(structure.n_edges), labels[structure.edge_tails], labels[structure.edge_heads]] = 0.0
    return cost


def losses(rng, shared=True, make=small_chain):
    structure = make(shared_edges=shared)
    labels = small_labels(structure, rng)
    weights = rng.random(structure.n_instances) + 0.1
    seen = rng.random(structure.n_vertices) < 0.5
    allowed = ~seen[:, None] | (labels[:, None] == np.arange(3))
    node = np.where(labels[:, None] == np.arange(3), 0.0, rng.random((structure.n_vertices, 3)))
    edge = edge_costs(structure, labels, rng)
    return {
        "log": LogLoss(structure, labels),
        "weighted": LogLoss(structure, labels, weights),
        "softmax-margin": LogLoss(structure, labels, weights, {"node": node}),
        "softmax-margin, pairs": LogLoss(structure, labels, weights, {"node": node, "edge": edge}),
        "partial": PartialLog(structure, allowed),
        "partial, weighted": PartialLog(structure, allowed, weights),
    }


CASES = [(kind, name) for kind in STRUCTURES for name in losses(np.random.default_rng(0))]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_loss_passes_all_checks(kind, name, shared, rng):
    loss = losses(rng, shared, STRUCTURES[kind])[name]
    check_loss(loss, small_scores(loss.structure, rng), rng)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", STRUCTURES)
def test_softmax_margin_adds_the_cost_of_every_output_inside(kind, shared, rng):
    loss = losses(rng, shared, STRUCTURES[kind])["softmax-margin, pairs"]
    structure, scores = loss.structure, small_scores(loss.structure, rng)
    every, observed = Enumerated(structure, scores), structure.score(scores, loss.outputs)
    for s in range(structure.n_instances):
        vertices = slice(*structure.offsets[s : s + 2])
        edges = slice(*structure.edge_offsets[s : s + 2])
        node, edge = loss.cost["node"][vertices], loss.cost["edge"][edges]
        tails, heads = (end[edges] - vertices.start for end in (structure.edge_tails, structure.edge_heads))
        costs = [
            node[np.arange(len(y)), y].sum() + edge[np.arange(len(edge)), y[tails], y[heads]].sum()
            for y in every.outputs(s)
        ]
        wanted = logsumexp(every.values(s) + costs) - observed[s]
        np.testing.assert_allclose(loss.at(scores).values[s], wanted, atol=1e-10)


@pytest.mark.parametrize("make", [small_chain, small_forest])
def test_blocks_with_a_cost_are_those_of_untied_scores(make, rng):
    loss = losses(rng, True, make)["softmax-margin, pairs"]
    scores, direction = small_scores(loss.structure, rng), rng.normal(size=(3, 3))
    each = loss.structure.untied(["edge"])
    untied = LogLoss(each, loss.outputs, loss.weights, loss.cost).blocks(each.spread(scores))["edge"]
    along = np.broadcast_to(direction, each.shapes["edge"])
    np.testing.assert_allclose(
        loss.blocks(scores)["edge"].times(direction), untied.times(along).sum(axis=0), atol=1e-12
    )


def test_costs_of_another_shape_or_clique_are_refused(rng):
    chain = small_chain()
    labels = small_labels(chain, rng)
    with pytest.raises(InputError, match=r"cost of 'node' has shape \(3, 3\), expected \(16, 3\)"):
        LogLoss(chain, labels, cost={"node": np.zeros((3, 3))})
    with pytest.raises(InputError, match="must be a mapping from clique types to arrays"):
        LogLoss(chain, labels, cost=np.zeros((16, 3)))
    with pytest.raises(InputError, match="cost has 'triple', which ChainBatch does not have"):
        LogLoss(chain, labels, cost={"triple": np.zeros((3, 3, 3))})


def test_log_loss_is_minus_log_probability_by_enumeration(rng):
    loss = losses(rng)["log"]
    scores = small_scores(loss.structure, rng)
    expected = Enumerated(loss.structure, scores).log_partition() - loss.structure.score(scores, loss.outputs)
    np.testing.assert_allclose(loss.at(scores).values, expected, atol=1e-10)


def test_softmax_margin_is_at_least_the_log_loss(rng):
    table = losses(rng)
    scores = small_scores(table["log"].structure, rng)
    margin = LogLoss(
        table["log"].structure, table["softmax-margin"].outputs, None, table["softmax-margin"].cost
    )
    assert (margin.at(scores).values >= table["log"].at(scores).values - 1e-12).all()


def test_everything_observed_makes_partial_log_the_log_loss(rng):
    log = losses(rng)["log"]
    scores = small_scores(log.structure, rng)
    partial = PartialLog(log.structure, log.outputs[:, None] == np.arange(3)).at(scores)
    np.testing.assert_allclose(partial.values, log.at(scores).values, atol=1e-10)
    for clique, values in log.at(scores).gradient.items():
        np.testing.assert_allclose(partial.gradient[clique], values, atol=1e-10)


def test_nothing_observed_costs_nothing(rng):
    chain = small_chain()
    loss = PartialLog(chain, np.ones((chain.n_vertices, 3), dtype=bool)).at(small_scores(chain, rng))
    assert loss.value == 0
    assert all((values == 0).all() for values in loss.gradient.values())


def test_forbidden_observation_is_refused_by_name(rng):
    chain = ChainBatch([0, 2, 4], 2)
    scores = {"node": np.zeros((4, 2)), "edge": np.array([[0.0, -np.inf], [0.0, 0.0]])}
    with pytest.raises(InfeasibleError, match="sequence 1 are forbidden"):
        LogLoss(chain, np.array([1, 0, 0, 1])).at(scores)


def test_structure_without_sums_is_refused_at_construction():
    class Blind(StructureBatch):
        offsets = output_offsets = np.zeros(1, dtype=np.int64)
        cliques = {}  # noqa: RUF012
        take = subtract_parts = score = None

    with pytest.raises(TypeError, match="which Blind cannot do"):
        LogLoss(Blind(), np.zeros(0))


def test_blocks_of_unobserved_labels_are_those_of_the_free_part(rng):
    table = losses(rng)
    scores = small_scores(table["log"].structure, rng)
    free, partial = table["weighted"].blocks(scores), table["partial, weighted"].blocks(scores)
    for clique, block in free.items():
        np.testing.assert_allclose(partial[clique].times(scores[clique]), block.times(scores[clique]))
