"""Alignments against chains, and what they refuse."""

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError, InputError, ScoreError
from kernelfields.structures import AlignmentBatch, ChainBatch


def test_one_item_is_a_chain_of_rows_and_none(rng):
    """Written down by hand: label 2 is no row, jumps beyond ±1 score as ±1."""
    batch = AlignmentBatch([[2, 3]], max_jump=1)
    pair, jump = rng.normal(size=(2, 3)), rng.normal(size=5)
    node = np.concatenate([pair.T, np.zeros((3, 1))], axis=1)
    edge = np.array([[jump[1], jump[2], jump[3]], [jump[0], jump[1], jump[3]], [jump[4], jump[4], jump[3]]])
    chain = ChainBatch([0, 3], 3)
    ours, theirs = (
        batch.marginals({"pair": pair.ravel(), "jump": jump}),
        chain.marginals({"node": node, "edge": edge}),
    )
    np.testing.assert_allclose(ours.log_partition, theirs.log_partition, rtol=1e-14)
    np.testing.assert_allclose(ours.parts["pair"].reshape(2, 3), theirs.parts["node"][:, :2].T, atol=1e-14)
    np.testing.assert_allclose(ours.parts["jump"][3], theirs.parts["edge"][:, 2].sum(), atol=1e-14)


def test_what_cannot_be_is_refused_by_the_number_of_the_item():
    batch = AlignmentBatch([[1, 1], [2, 1], [1, 2]], max_jump=0)
    scores = {"pair": np.zeros(5), "jump": np.array([-np.inf] * 3)}
    with pytest.raises(InfeasibleError, match="Item 2 has no allowed alignment"):
        batch.log_partition(scores)
    with pytest.raises(ScoreError, match="Item 1 has scores that are NaN"):
        batch.argmax({"pair": np.array([0.0, np.nan, 0.0, 0.0, 0.0]), "jump": np.zeros(3)})
    for bad in (-1, 1.5, True, "a"):
        with pytest.raises(InputError, match="max_jump"):
            AlignmentBatch([[1, 1]], bad)
    with pytest.raises(InputError, match="jump scores have shape"):
        batch.argmax({"pair": np.zeros(5), "jump": np.zeros(4)})
