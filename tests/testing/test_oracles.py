"""The oracles themselves: against numbers worked out by hand, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from kernelfields.structures import ChainBatch
from kernelfields.testing import Enumerated, chain_reference
from kernelfields.testing.strategies import LabelledSequences, ScoredChain, chains, labelled_sequences

# score(00) = log 2, score(01) = log 3, score(10) = 0, score(11) forbidden
BY_HAND = {
    "node": np.log([[2.0, 1.0], [1.0, 1.0]]),
    "edge": np.array([[0.0, np.log(1.5)], [0.0, -np.inf]]),
}


@pytest.mark.parametrize("shared", [True, False])
def test_enumeration_by_hand(shared: bool) -> None:
    chain = ChainBatch([0, 2], 2, shared)
    scores = BY_HAND if shared else {**BY_HAND, "edge": BY_HAND["edge"][None]}
    every = Enumerated(chain, scores)
    assert every.outputs(0).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    np.testing.assert_allclose(np.exp(every.values(0)), [2, 3, 1, 0])
    np.testing.assert_allclose(every.probabilities(0), np.array([2, 3, 1, 0]) / 6)
    np.testing.assert_allclose(np.exp(every.log_partition()), [6])
    np.testing.assert_allclose(np.exp(every.best()), [3])
    np.testing.assert_allclose(np.exp(every.kbest(5)), [[3, 2, 1, 0, 0]])
    p = np.array([2, 3, 1]) / 6
    np.testing.assert_allclose(every.entropy(), [-(p * np.log(p)).sum()])
    parts = every.marginals(np.array([6.0])).parts
    np.testing.assert_allclose(parts["node"], [[5, 1], [3, 3]])
    np.testing.assert_allclose(parts["edge"].reshape(2, 2), [[2, 3], [1, 0]])


def test_covariance_by_hand() -> None:
    """Along the indicator of y_1 = 0 (probability 5/6): Cov([y_1 = 0], [y_2 = 0]) = 2/6 − 5/6 · 3/6."""
    direction = {"node": np.array([[1.0, 0.0], [0.0, 0.0]]), "edge": np.zeros((2, 2))}
    node = Enumerated(ChainBatch([0, 2], 2), BY_HAND).covariance(direction)["node"]
    np.testing.assert_allclose(node, [[5 / 36, -5 / 36], [2 / 6 - 15 / 36, -2 / 6 + 15 / 36]])


def test_reference_by_hand() -> None:
    found = chain_reference(BY_HAND["node"], BY_HAND["edge"])
    assert found.node.dtype == np.longdouble
    np.testing.assert_allclose(np.exp(float(found.log_partition)), 6)
    np.testing.assert_allclose(found.node.astype(float), np.array([[5, 1], [3, 3]]) / 6)
    np.testing.assert_allclose(found.edge.astype(float), np.array([[[2, 3], [1, 0]]]) / 6, atol=1e-18)


def test_too_many_labellings_are_refused() -> None:
    chain = ChainBatch([0, 30], 4)
    with pytest.raises(ValueError, match="too many to enumerate"):
        Enumerated(chain, {name: np.zeros(shape) for name, shape in chain.shapes.items()})


@settings(max_examples=60, deadline=None, derandomize=True)
@given(chains())
def test_reference_is_enumeration(chain: ScoredChain) -> None:
    structure, scores = chain
    wanted = Enumerated(structure, scores).marginals()
    found = [chain_reference(*structure.cut(scores, [s]).values()) for s in range(structure.n_instances)]
    values = np.array([one.log_partition for one in found], dtype=float)
    np.testing.assert_allclose(values, wanted.log_partition, atol=1e-14, rtol=1e-14)
    node = np.concatenate([one.node for one in found]).astype(float)
    edge = np.concatenate([one.edge for one in found]).astype(float)
    np.testing.assert_allclose(node, wanted.parts["node"], atol=1e-14)
    np.testing.assert_allclose(
        edge.sum(axis=0) if structure.shared_edges else edge, wanted.parts["edge"], atol=1e-14
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(chains(forbid=True, dtype=np.float32))
def test_strategy_keeps_its_promises(chain: ScoredChain) -> None:
    structure, scores = chain
    assert {name: array.shape for name, array in scores.items()} == structure.shapes
    assert all(array.dtype == np.float32 for array in scores.values())
    assert np.isfinite(structure.score(scores, np.zeros(structure.n_vertices, dtype=int))).all()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(labelled_sequences(max_labels=3, n_features=2))
def test_data_sets_keep_their_promises(data: LabelledSequences) -> None:
    assert len(data.X) == len(data.y) > 0
    for x, y in zip(data.X, data.y, strict=True):
        assert x.shape == (len(y), 2)
        assert len(y) >= 1
        assert set(y) <= {0, 1, 2}
