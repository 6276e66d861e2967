"""Hypothesis strategies: small structures with scores, small data sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ..arrays import Array
from ..structures import ChainBatch


class ScoredChain(NamedTuple):
    """A batch of chains and scores for it."""

    structure: ChainBatch
    scores: dict[str, Array]


class LabelledSequences(NamedTuple):
    """A data set for sequence labelling."""

    X: list[Array]
    """(T, D) inputs."""
    y: list[list[int]]
    """T labels each."""


def _numbers(bound: float, width: Any, forbid: bool) -> st.SearchStrategy[float]:
    finite = st.floats(-bound, bound, width=width, allow_subnormal=False)
    # One in five: enough to forbid often, few enough to leave something allowed.
    return st.one_of(*([finite] * 4), st.just(-np.inf)) if forbid else finite


@st.composite
def chains(
    draw: st.DrawFn,
    *,
    max_length: int = 4,
    max_labels: int = 4,
    forbid: bool | None = None,
    dtype: npt.DTypeLike | None = None,
    bound: float = 4.0,
) -> ScoredChain:
    """Ragged batches of up to four chains, lengths from 0 on, 1 to ``max_labels`` labels.

    Parameters
    ----------
    forbid : bool, optional
        Whether some scores are −inf; drawn if not given. Label 0 all along stays allowed, so that
        every sequence has a labelling.
    dtype : float32 or float64, optional
        Drawn if not given.
    bound : float
        Finite scores lie between −bound and bound.
    """
    lengths = draw(st.lists(st.integers(0, max_length), min_size=1, max_size=4))
    L = draw(st.integers(1, max_labels))
    structure = ChainBatch(np.cumsum([0, *lengths]), L, shared_edges=draw(st.booleans()))
    chosen = np.dtype(draw(st.sampled_from([np.float32, np.float64])) if dtype is None else dtype)
    forbidding = draw(st.booleans()) if forbid is None else forbid
    numbers = _numbers(bound, 8 * chosen.itemsize, forbidding)
    shapes = structure.shapes
    scores: dict[str, Array] = {
        name: draw(arrays(chosen, shape, elements=numbers)) for name, shape in shapes.items()
    }
    for free in (scores["node"][:, 0], scores["edge"][..., 0, 0]):
        free[np.isneginf(free)] = 0
    return ScoredChain(structure, scores)


@st.composite
def labelled_sequences(
    draw: st.DrawFn,
    *,
    max_sequences: int = 5,
    max_length: int = 6,
    n_features: int = 3,
    max_labels: int = 3,
    min_length: int = 1,
) -> LabelledSequences:
    """Return lists of (T, D) inputs with labels 0 … L−1 (some of which may not occur)."""
    L = draw(st.integers(1, max_labels))
    lengths = draw(st.lists(st.integers(min_length, max_length), min_size=1, max_size=max_sequences))
    inputs = st.floats(-3, 3, allow_subnormal=False)
    X = [draw(arrays(np.float64, (T, n_features), elements=inputs)) for T in lengths]
    y = [draw(st.lists(st.integers(0, L - 1), min_size=T, max_size=T)) for T in lengths]
    return LabelledSequences(X, y)
