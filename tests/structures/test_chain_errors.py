"""Chains refuse what they cannot answer, and name the sequence."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError, ScoreError
from kernelfields.structures import ChainBatch


def zeros(offsets: list[int], shared: bool = True, dtype: type = np.float64):
    chain = ChainBatch(offsets, 3, shared)
    return chain, {name: np.zeros(shape, dtype) for name, shape in chain.shapes.items()}


ORACLES = {
    "log_partition": lambda chain, scores: chain.log_partition(scores),
    "marginals": lambda chain, scores: chain.marginals(scores),
    "entropy": lambda chain, scores: chain.entropy(scores),
    "argmax": lambda chain, scores: chain.argmax(scores),
    "kbest": lambda chain, scores: chain.kbest(scores, 2),
    "sample": lambda chain, scores: chain.sample(scores, 2, seed=0),
    "covariance": lambda chain, scores: chain.covariance(
        scores, {name: np.ones(shape) for name, shape in chain.shapes.items()}
    ),
}


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
def test_bad_sequences_are_named(oracle, shared: bool, dtype: type) -> None:
    chain, scores = zeros([0, 4, 4, 7, 9], shared, dtype)
    for value, error in ((np.nan, ScoreError), (np.inf, ScoreError), (-np.inf, InfeasibleError)):
        for name, place in (("node", 5), ("edge", 3)):
            if name == "edge" and shared:
                continue
            spoilt = {key: array.copy() for key, array in scores.items()}
            spoilt[name][place] = value  # the second position, the first edge, of sequence 2
            with pytest.raises(error, match="Sequence 2 "):
                oracle(chain, spoilt)


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("place", [0, 2, 3])
def test_every_nan_is_noticed(oracle, shared: bool, place: int) -> None:
    """Arithmetic on bits turns some NaN into numbers: those whose payload is not zero, as R's NA."""
    chain, scores = zeros([0, 3, 4], shared)
    for payload in (0x7A2, 0x001, 0x800, 0xFFF):
        scores["node"][place, 1] = np.array(0x7FF8_0000_0000_0000 + payload, dtype=np.uint64).view(np.float64)
        with pytest.raises(ScoreError, match=f"Sequence {place // 3} "):
            oracle(chain, scores)


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
def test_bad_shared_edges_spoil_sequences_with_edges(oracle) -> None:
    chain, scores = zeros([0, 1, 1, 4, 6])
    for value, error in ((np.nan, ScoreError), (np.inf, ScoreError), (-np.inf, InfeasibleError)):
        with pytest.raises(error, match="Sequence 2 "):
            oracle(chain, {**scores, "edge": np.full((3, 3), value)})
        short, own = chain.take([0, 1]), chain.cut(scores, [0, 1])
        oracle(short, {**own, "edge": np.full((3, 3), value)})  # no edge, no harm


def test_wrong_shapes_are_named() -> None:
    chain = ChainBatch([0, 3], 2)
    with pytest.raises(ValueError, match=r"node scores have shape \(2, 2\), expected \(3, 2\)"):
        chain.log_partition({"node": np.zeros((2, 2)), "edge": np.zeros((2, 2))})
    with pytest.raises(ValueError, match=r"edge scores have shape \(2, 2, 2\), expected \(2, 2\)"):
        chain.log_partition({"node": np.zeros((3, 2)), "edge": np.zeros((2, 2, 2))})
    for offsets in ([[0, 1]], [0.0, 1.0], ["0", "1"], None, 3, np.array([0, 2**63], dtype=np.uint64)):
        with pytest.raises(ValueError, match=r"^offsets (are|have) "):
            ChainBatch(offsets, 2)
    for offsets in ([1, 2], [0, 2, 1], []):
        with pytest.raises(ValueError, match="offsets must start with 0 and never fall"):
            ChainBatch(offsets, 2)
