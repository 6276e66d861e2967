"""Losses: gradients, curvature, limits, what they need."""

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError
from kernelfields.losses import Log, PartialLog
from kernelfields.structures import ChainBatch, StructureBatch
from kernelfields.testing import Enumerated, check_loss
from tests._problems import small_chain, small_labels, small_scores


def losses(rng, shared=True):
    chain = small_chain(shared_edges=shared)
    labels = small_labels(chain, rng)
    weights = rng.random(chain.n_instances) + 0.1
    seen = rng.random(chain.n_vertices) < 0.5
    allowed = ~seen[:, None] | (labels[:, None] == np.arange(3))
    cost = np.where(labels[:, None] == np.arange(3), 0.0, rng.random((chain.n_vertices, 3)))
    return {
        "log": Log(chain, labels),
        "weighted": Log(chain, labels, weights),
        "softmax-margin": Log(chain, labels, weights, cost),
        "partial": PartialLog(chain, allowed),
        "partial, weighted": PartialLog(chain, allowed, weights),
    }


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", list(losses(np.random.default_rng(0))))
def test_loss_passes_all_checks(name, shared, rng):
    loss = losses(rng, shared)[name]
    check_loss(loss, small_scores(loss.structure, rng), rng)


def test_log_loss_is_minus_log_probability_by_enumeration(rng):
    loss = losses(rng)["log"]
    scores = small_scores(loss.structure, rng)
    expected = Enumerated(loss.structure, scores).log_partition() - loss.structure.score(scores, loss.labels)
    np.testing.assert_allclose(loss.at(scores).values, expected, atol=1e-10)


def test_softmax_margin_is_at_least_the_log_loss(rng):
    table = losses(rng)
    scores = small_scores(table["log"].structure, rng)
    margin = Log(table["log"].structure, table["softmax-margin"].labels, None, table["softmax-margin"].cost)
    assert (margin.at(scores).values >= table["log"].at(scores).values - 1e-12).all()


def test_everything_observed_makes_partial_log_the_log_loss(rng):
    log = losses(rng)["log"]
    scores = small_scores(log.structure, rng)
    partial = PartialLog(log.structure, log.labels[:, None] == np.arange(3)).at(scores)
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
        Log(chain, np.array([1, 0, 0, 1])).at(scores)


def test_structure_without_sums_is_refused_at_construction():
    class Blind(StructureBatch):
        offsets = output_offsets = np.zeros(1, dtype=np.int64)
        cliques = {}  # noqa: RUF012
        take = subtract_parts = score = None

    with pytest.raises(TypeError, match="which Blind cannot do"):
        Log(Blind(), np.zeros(0))


def test_blocks_of_unobserved_labels_are_those_of_the_free_part(rng):
    table = losses(rng)
    scores = small_scores(table["log"].structure, rng)
    free, partial = table["weighted"].blocks(scores), table["partial, weighted"].blocks(scores)
    for clique, block in free.items():
        np.testing.assert_allclose(partial[clique].times(scores[clique]), block.times(scores[clique]))
