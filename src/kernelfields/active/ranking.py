"""Scores and ranks of what could be asked next, by a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import choose
from ..models.model import fitted_structure
from ._base import Strategy
from .names import STRATEGIES
from .pool import LabelPool
from .view import PoolView


def sequence_scores(
    model: Any, X: Any, strategy: str | Strategy = "token-entropy", *, known: Any = None
) -> Array:
    """Return how much the labels of every sequence would tell, (S,); −inf where all are known.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : list
        Sequences, trees or graphs, as the model takes them.
    strategy : name or Strategy
        "token-entropy", "sequence-entropy", "log-probability", "margin", "expected-error", "disagreement",
        "sample-disagreement", "random", or an object.
    known : list, optional
        Labels that are known already: None for a sequence or position without one.

    Examples
    --------
    >>> from kernelfields import CRF
    >>> model = CRF().fit([[[0.0], [1.0]], [[1.0], [0.0]]], [["A", "B"], ["B", "A"]])
    >>> sequence_scores(model, [[[0.5]], [[1.0]], [[0.0]]], known=[None, None, ["A"]]).round(2).tolist()
    [0.69, 0.64, -inf]
    """
    return scored_sequences(PoolView(model, _pool(model, X, known)), choose(STRATEGIES, strategy, "strategy"))


def position_scores(
    model: Any, X: Any, strategy: str | Strategy = "token-entropy", *, known: Any = None
) -> list[Array]:
    """Return how much the label of every position would tell, a (T,) array per sequence; −inf if known.

    Parameters
    ----------
    model, X, strategy, known
        As in `sequence_scores`. Positions of grids are counted row by row.
    """
    pool = _pool(model, X, known)
    scores = scored_positions(PoolView(model, pool), choose(STRATEGIES, strategy, "strategy"))
    return pool.pieces(scores)


def rank_sequences(
    model: Any, X: Any, strategy: str | Strategy = "token-entropy", *, known: Any = None
) -> Array:
    """Return the numbers of all sequences with a label to ask for, the most telling first."""
    scores = sequence_scores(model, X, strategy, known=known)
    return _ranked(scores, scores > -np.inf)


def rank_positions(
    model: Any, X: Any, strategy: str | Strategy = "token-entropy", *, known: Any = None
) -> Array:
    """Return (sequence, position) of all labels to ask for, (M, 2), the most telling first."""
    pool = _pool(model, X, known)
    scores = scored_positions(PoolView(model, pool), choose(STRATEGIES, strategy, "strategy"))
    order = _ranked(scores, pool.open)
    items = np.repeat(np.arange(len(pool.X)), np.diff(pool.offsets))
    return np.stack([items[order], order - pool.offsets[items[order]]], axis=1)


def scored_sequences(view: PoolView, strategy: Strategy) -> Array:
    """Return the scores of a strategy, −inf for items that are wholly labelled."""
    is_open = view.pool.per_item(np.ones(len(view.pool.open))) > 0
    return _masked(strategy.sequence_scores(view), is_open)


def scored_positions(view: PoolView, strategy: Strategy) -> Array:
    """Return the scores of a strategy, −inf for positions that have a label."""
    return _masked(strategy.position_scores(view), view.pool.open)


def _masked(scores: Array, is_open: Array) -> Array:
    """A score of −inf, as of sequences with one labelling only, still comes before what is known."""
    lowest = np.finfo(np.float64).min
    return np.where(is_open, np.maximum(np.nan_to_num(scores, nan=lowest, neginf=lowest), lowest), -np.inf)


def _ranked(scores: Array, is_open: Array) -> Array:
    order = np.argsort(-scores, kind="stable")
    return order[is_open[order]]


def _pool(model: Any, X: Any, known: Any) -> LabelPool:
    return LabelPool(fitted_structure(getattr(model, "model_", model)), X, known)
