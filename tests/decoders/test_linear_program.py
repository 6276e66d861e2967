"""The local polytope: Viterbi's labelling on chains and trees, a bound on nothing else."""

import numpy as np
import pytest

from kernelfields import InfeasibleError
from kernelfields.decoders import LinearProgram, Viterbi
from kernelfields.structures import ChainBatch, SecondOrderChainBatch, TreeBatch
from tests._problems import small_scores

PARENTS = [1, -1, 1, 1, -1, 6, -1, 6, 5, 5, 8]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", ["chain", "tree"])
def test_the_program_finds_what_viterbi_finds(kind, shared, rng):
    for _ in range(5):
        structure = (
            ChainBatch([0, 4, 4, 5, 11], 3, shared)
            if kind == "chain"
            else TreeBatch([0, 4, 5, 11], PARENTS, 3, shared)
        )
        scores = small_scores(structure, rng, 2.0)
        scores["node"][2, 1] = -np.inf
        scores["edge"][..., 0, 2] = -np.inf
        found = LinearProgram().relax(structure, scores)
        assert found.whole
        np.testing.assert_allclose(found.value, structure.argmax(scores).value.sum())
        np.testing.assert_array_equal(
            LinearProgram().decode(structure, scores), Viterbi().decode(structure, scores)
        )
        np.testing.assert_allclose(found.edge.sum(axis=2), found.node[structure.edge_tails], atol=1e-9)


def test_what_is_impossible_is_refused(rng):
    chain = ChainBatch([0, 2], 2)
    barred = {"node": np.zeros((2, 2)), "edge": np.full((2, 2), -np.inf)}
    with pytest.raises(InfeasibleError, match="no solution"):
        LinearProgram().decode(chain, barred)
    second = SecondOrderChainBatch([0, 3], 2)
    with pytest.raises(TypeError, match="needs vertices and edges, which SecondOrderChainBatch has not"):
        LinearProgram().decode(second, small_scores(second, rng))
