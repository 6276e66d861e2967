"""Draws of a chain by masses, where edges share their scores, and by logarithms: the same labellings."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError
from kernelfields.structures import ChainBatch

OFFSETS = [0, 3, 3, 10, 11, 60]


@pytest.mark.parametrize("scale", [0.1, 3.0, 100.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("forbid", [False, True])
def test_masses_and_logarithms_draw_the_same(
    rng: np.random.Generator, scale: float, dtype: type, forbid: bool
) -> None:
    """Edges of their own are scored by logarithms; scores of any size, the largest only that way."""
    node, edge = (scale * rng.normal(size=shape).astype(dtype) for shape in ((60, 5), (5, 5)))
    if forbid:
        node[::7, :2] = -np.inf
        edge[1, 2] = edge[3, 3] = -np.inf
    shared, untied = ChainBatch(OFFSETS, 5), ChainBatch(OFFSETS, 5, shared_edges=False)
    edges = np.tile(edge, (untied.cliques["edge"].count, 1, 1))
    expected = untied.sample({"node": node, "edge": edges}, 40, 3)
    found = shared.sample({"node": node, "edge": edge}, 40, 3)
    np.testing.assert_array_equal(found, expected)
    assert not forbid or np.isfinite(shared.score({"node": node, "edge": edge}, found[0])).all()


def test_what_masses_would_lose_is_drawn(rng: np.random.Generator) -> None:
    """The second label begins with a mass that doubles round to zero, and is the only one that can go on."""
    node, edge = np.zeros((2, 2)), np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    node[0] = [1000.0, 0.0]
    drawn = ChainBatch([0, 2], 2).sample({"node": node, "edge": edge}, 50, 0)
    assert (drawn[:, 0] == 1).all()
    assert set(drawn[:, 1]) == {0, 1}


def test_chains_without_a_labelling_are_refused() -> None:
    scores = {"node": np.zeros((2, 2)), "edge": np.full((2, 2), -np.inf)}
    with pytest.raises(InfeasibleError):
        ChainBatch([0, 2], 2).sample(scores, 2, 0)
