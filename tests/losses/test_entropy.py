"""The log loss with entropies against enumeration and numerical derivatives, on every exact structure."""

import numpy as np
import pytest

from kernelfields.losses import LogLoss, LogWithEntropy, PartialLog
from kernelfields.structures import (
    BeliefPropagation,
    BeliefPropagationBatch,
    ChainBatch,
    ExactGraphBatch,
    SecondOrderChainBatch,
    TreeBatch,
)
from kernelfields.testing import Enumerated, check_loss
from tests._problems import small_scores

CYCLES = [[0, 1], [1, 2], [0, 2], [4, 5], [5, 6], [6, 7], [4, 7]]
STRUCTURES = {
    "chain": ChainBatch([0, 3, 4, 4, 8], 3),
    "chain, own edges": ChainBatch([0, 3, 4, 4, 8], 3, shared_edges=False),
    "second order": SecondOrderChainBatch([0, 3, 4, 4, 8], 2),
    "graph": ExactGraphBatch([0, 3, 4, 4, 8], CYCLES, 3),
    "tree": TreeBatch([0, 3, 4, 4, 8], [2, 2, -1, -1, -1, 4, 4, 4], 3),
}


def allowed_for(structure, rng):
    """Labels of the first and second instance, one of them missing; the fourth has none."""
    labels = rng.integers(structure.n_labels, size=8)
    labels[1], labels[4:] = -1, -1
    return (labels[:, None] < 0) | (labels[:, None] == np.arange(structure.n_labels))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", list(STRUCTURES))
def test_value_and_derivatives(name, weighted, rng):
    structure = STRUCTURES[name]
    weights = rng.random(4) + 0.1 if weighted else None
    share = np.array([0.0, 0.0, 0.7, 0.7])
    observed = PartialLog(structure, allowed_for(structure, rng), weights)
    loss = LogWithEntropy(observed, share)
    scores = small_scores(structure, rng)
    brute = Enumerated(structure, scores)
    wanted = observed.at(scores).values + share * brute.entropy()
    found = loss.at(scores)
    np.testing.assert_allclose(found.values, wanted, rtol=1e-10)
    np.testing.assert_allclose(
        found.value, np.dot(wanted, np.ones(4) if weights is None else weights), rtol=1e-10
    )
    assert not loss.convex
    check_loss(loss, scores, rng)


def test_weights_of_instances_count_for_entropies(rng):
    structure = STRUCTURES["chain"]
    loss = LogWithEntropy(LogLoss(structure, rng.integers(3, size=8), np.zeros(4)), np.ones(4))
    scores = small_scores(structure, rng)
    assert loss.at(scores).value == 0
    assert not any(parts.any() for parts in loss.at(scores).gradient.values())


def test_nothing_is_lost_at_forbidden_labels(rng):
    structure = STRUCTURES["chain"]
    scores = small_scores(structure, rng)
    scores["edge"][0, 2] = -np.inf
    scores["node"][5, 1] = -np.inf
    loss = LogWithEntropy(PartialLog(structure, np.ones((8, 3), dtype=bool)), np.ones(4))
    found = loss.at(scores)
    np.testing.assert_allclose(found.values, Enumerated(structure, scores).entropy(), rtol=1e-9)
    assert all(np.isfinite(parts).all() for parts in found.gradient.values())
    step = {clique: rng.normal(size=values.shape) for clique, values in scores.items()}
    up, down = (
        loss.at({clique: values + h * step[clique] for clique, values in scores.items()}).value
        for h in (1e-5, -1e-5)
    )
    slope = sum(float(np.vdot(parts, step[clique])) for clique, parts in found.gradient.items())
    np.testing.assert_allclose(slope, (up - down) / 2e-5, rtol=1e-6)


def test_in_single_precision(rng):
    structure = STRUCTURES["chain"]
    loss = LogWithEntropy(PartialLog(structure, np.ones((8, 3), dtype=bool)), np.ones(4))
    scores = small_scores(structure, rng)
    single = loss.at({clique: values.astype(np.float32) for clique, values in scores.items()})
    for clique, parts in loss.at(scores).gradient.items():
        assert single.gradient[clique].dtype == np.float32
        np.testing.assert_allclose(single.gradient[clique], parts, atol=1e-5)


def test_approximate_sums_are_refused():
    structure = BeliefPropagationBatch([0, 3, 4, 4, 8], CYCLES, 3, inference=BeliefPropagation())
    with pytest.raises(TypeError, match="Entropy regularisation needs exact sums"):
        LogWithEntropy(PartialLog(structure, np.ones((8, 3), dtype=bool)), np.ones(4))
