"""The marginal log loss against enumeration, where labels are likely and where they hardly are."""

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError
from kernelfields.losses import LogLoss, MarginalLogLoss
from kernelfields.structures import ChainBatch, SecondOrderChainBatch, SumOracle, TreeBatch
from kernelfields.testing import Enumerated, check_loss
from tests._problems import small_scores

LENGTHS = [3, 1, 0, 4]
STRUCTURES = {
    "chain": ChainBatch([0, 3, 4, 4, 8], 3),
    "chain, own edges": ChainBatch([0, 3, 4, 4, 8], 3, shared_edges=False),
    "second order": SecondOrderChainBatch([0, 3, 4, 4, 8], 2),
    "forest": TreeBatch([0, 3, 4, 4, 8], [1, -1, 1, -1, 6, 4, -1, 4], 3),
    "tree": TreeBatch([0, 3, 4, 4, 8], [2, 2, -1, -1, -1, 4, 4, 4], 3),
    "tree, own edges": TreeBatch([0, 3, 4, 4, 8], [2, 2, -1, -1, -1, 4, 4, 4], 3, shared_edges=False),
}


def loss_on(structure, rng):
    """Some labels unobserved, weights on instances and on vertices."""
    labels = rng.integers(structure.n_labels, size=8)
    labels[[1, 6]] = -1
    return MarginalLogLoss(structure, labels, rng.random(4) + 0.1, rng.random(8) + 0.1)


class Brute:
    """Everything by listing labellings, with one vertex after another clamped."""

    def __init__(self, loss, scores):
        self.loss, self.structure = loss, loss.structure
        self.free = Enumerated(self.structure, scores)
        self.given = {v: Enumerated(self.structure, self.clamped(scores, v)) for v in self.seen}

    @property
    def seen(self):
        return np.flatnonzero(self.loss.labels >= 0)

    def clamped(self, scores, v):
        others = np.arange(self.structure.n_labels) != self.loss.labels[v]
        node = scores["node"].copy()
        node[v, others] = -np.inf
        return {**scores, "node": node}

    def counted(self, v):
        s = np.searchsorted(self.structure.offsets, v, side="right") - 1
        return s, self.loss.vertex_weights[v], np.where(np.arange(4) == s, self.loss.weights, 0)

    def values(self):
        result = np.zeros(4)
        for v in self.seen:
            s, kappa, _ = self.counted(v)
            result[s] += kappa * (self.free.log_partition()[s] - self.given[v].log_partition()[s])
        return result

    def total(self, of):
        """Σ_v κ_v (of free − of given y_v), over the instance of v."""
        result = {clique: np.zeros(shape) for clique, shape in self.structure.shapes.items()}
        for v in self.seen:
            _, kappa, only = self.counted(v)
            free, given = of(self.free, kappa * only), of(self.given[v], kappa * only)
            for clique in result:
                result[clique] += free[clique] - given[clique]
        return result


def assert_same(found, expected, **tolerance):
    for clique, values in expected.items():
        np.testing.assert_allclose(found[clique], values, **tolerance)


@pytest.mark.parametrize("name", list(STRUCTURES))
def test_value_gradient_and_curvature_equal_enumeration(name, rng):
    loss = loss_on(STRUCTURES[name], rng)
    scores = small_scores(loss.structure, rng)
    direction = small_scores(loss.structure, rng)
    brute, here = Brute(loss, scores), loss.at(scores)
    np.testing.assert_allclose(here.values, brute.values(), atol=1e-12)
    np.testing.assert_allclose(here.value, np.dot(loss.weights, brute.values()), atol=1e-12)
    assert_same(here.gradient, brute.total(lambda e, w: e.marginals(w).parts), atol=1e-12)
    assert_same(
        loss.curvature(scores, direction), brute.total(lambda e, w: e.covariance(direction, w)), atol=1e-6
    )


@pytest.mark.parametrize("name", list(STRUCTURES))
def test_loss_passes_all_checks(name, rng):
    loss = loss_on(STRUCTURES[name], rng)
    check_loss(loss, small_scores(loss.structure, rng), rng)


@pytest.mark.parametrize("name", list(STRUCTURES))
@pytest.mark.parametrize("scale", [30.0, 300.0, 3000.0])
def test_labels_that_are_hardly_possible(name, scale, rng):
    """Marginals down to exp(−3000) and below: enumerated in logarithms of long doubles."""
    loss = loss_on(STRUCTURES[name], rng)
    scores = small_scores(loss.structure, rng, scale)
    brute, here = Brute(loss, scores), loss.at(scores)
    assert here.value > 0.1 * scale
    np.testing.assert_allclose(here.values, brute.values(), rtol=1e-9, atol=1e-9)
    assert_same(here.gradient, brute.total(lambda e, w: e.marginals(w).parts), atol=1e-8)


@pytest.mark.parametrize("name", ["tree", "tree, own edges"])
def test_digits_are_not_lost_to_reciprocals(name):
    """Scores at which the covariance product loses a whole term beside reciprocals of 10³² and more."""
    rng = np.random.default_rng(3)
    loss = loss_on(STRUCTURES[name], rng)
    scores = small_scores(loss.structure, rng, 300.0)
    expected = Brute(loss, scores).total(lambda e, w: e.marginals(w).parts)
    assert_same(loss.at(scores).gradient, expected, atol=1e-8)


def test_both_forms_agree_where_either_can_be_had(rng, monkeypatch):
    loss = loss_on(STRUCTURES["chain, own edges"], rng)
    scores = small_scores(loss.structure, rng, 3.0)
    by_product = loss.at(scores)
    monkeypatch.setattr("kernelfields.losses.marginal_log.RARE", 2.0)
    monkeypatch.setattr("kernelfields.losses.marginal_log.CHUNK", 2)
    clamped = loss.at(scores)
    np.testing.assert_allclose(clamped.values, by_product.values, rtol=1e-9, atol=1e-9)
    assert_same(clamped.gradient, by_product.gradient, atol=1e-9)


def test_single_precision_is_the_same_up_to_its_rounding(rng):
    loss = loss_on(STRUCTURES["chain"], rng)
    for scale in (1.0, 20.0, 60.0):
        scores = small_scores(loss.structure, rng, scale)
        single = {clique: values.astype(np.float32) for clique, values in scores.items()}
        rounded = {clique: values.astype(np.float64) for clique, values in single.items()}
        np.testing.assert_allclose(loss.at(single).values, loss.at(rounded).values, rtol=1e-4, atol=1e-4)
        assert_same(loss.at(single).gradient, loss.at(rounded).gradient, atol=1e-3)


def test_without_edges_it_is_the_log_loss(rng):
    chain = STRUCTURES["chain"]
    labels = rng.integers(3, size=8)
    scores = {"node": rng.normal(size=(8, 3)), "edge": np.zeros((3, 3))}
    marginal, log = MarginalLogLoss(chain, labels).at(scores), LogLoss(chain, labels).at(scores)
    np.testing.assert_allclose(marginal.values, log.values, atol=1e-12)
    np.testing.assert_allclose(marginal.gradient["node"], log.gradient["node"], atol=1e-12)


def test_curvature_along_nothing_is_nothing(rng):
    loss = loss_on(STRUCTURES["chain"], rng)
    scores = small_scores(loss.structure, rng)
    zero = {clique: np.zeros_like(values) for clique, values in scores.items()}
    assert all((values == 0).all() for values in loss.curvature(scores, zero).values())


def test_curvature_can_be_negative(rng):
    """A label that only its neighbour's vote makes rare: the loss bends down along the edge."""
    chain = ChainBatch([0, 2], 2)
    loss = MarginalLogLoss(chain, np.array([0, -1]))
    scores = {"node": np.array([[0.0, 0.0], [0.0, 3.0]]), "edge": np.array([[0.0, -4.0], [-4.0, 0.0]])}
    along = {"node": np.array([[0.0, 0.0], [1.0, 0.0]]), "edge": np.zeros((2, 2))}
    bend = loss.curvature(scores, along)
    assert np.vdot(bend["node"], along["node"]) < -0.01
    assert not loss.convex


def test_forbidden_label_is_refused_by_name():
    chain = ChainBatch([0, 2, 4], 2)
    scores = {"node": np.zeros((4, 2)), "edge": np.zeros((2, 2))}
    scores["node"][3, 1] = -np.inf
    with pytest.raises(InfeasibleError, match="position 1 of sequence 1 is forbidden"):
        MarginalLogLoss(chain, np.array([1, 0, 0, 1])).at(scores)


def test_structure_without_covariances_is_refused_at_construction():
    class Sums(SumOracle):
        offsets = output_offsets = np.zeros(1, dtype=np.int64)
        cliques = {}  # noqa: RUF012
        take = subtract_parts = score = log_partition = marginals = entropy = None

    with pytest.raises(TypeError, match="which Sums does not give"):
        MarginalLogLoss(Sums(), np.zeros(0))
