"""The accuracy at changes of label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_unmasked
from ..errors import InputError
from .pairs import Pairs, read_pairs, read_runs


def transition_accuracy(y_true: Any, y_pred: Any, parents: Any = None) -> float:
    """Return the share of true boundaries at which both labels are predicted right.

    Over the boundaries B = {(s, t) : y_t ≠ y_{t+1} in sequence s},
    Σ_B [ŷ_t = y_t and ŷ_{t+1} = y_{t+1}] / #B.

    Where labels rarely change, as in segmentation, the token error says little about the positions that
    matter; this measure is about those.

    Parameters
    ----------
    y_true, y_pred : list of label sequences
        Of the same lengths. A boundary is between two observed labels: next to None or NaN there is none.
    parents : list of lists of int, optional
        For trees, the number of each position's parent within its tree, −1 for a root: boundaries are
        then between the labels of parents and children.

    Examples
    --------
    >>> transition_accuracy([["a", "a", "b", "b", "a"]], [["a", "a", "b", "a", "a"]])
    0.5
    >>> transition_accuracy([["a", "b", "b"]], [["a", "b", "a"]], parents=[[-1, 0, 0]])
    0.5
    """
    tails, heads, pairs = (
        _by_order(y_true, y_pred) if parents is None else _by_parents(y_true, y_pred, parents)
    )
    boundary = pairs.true[tails] != pairs.true[heads]
    if not np.any(boundary):
        raise InputError("There are no boundaries to score: no sequence of y_true changes its label.")
    right = pairs.right
    return float((right[tails] & right[heads])[boundary].mean())


class Neighbours(NamedTuple):
    """Pairs of positions between which a boundary may lie."""

    tails: Array
    heads: Array
    pairs: Pairs


def _by_order(y_true: Any, y_pred: Any) -> Neighbours:
    """Neighbours of a sequence, none of which is of the next sequence."""
    pairs = read_runs(y_true, y_pred)
    inside = np.ones(max(len(pairs.true) - 1, 0), dtype=bool)
    last = pairs.offsets[1:-1] - 1
    inside[last[(last >= 0) & (last < len(inside))]] = False
    tails = np.flatnonzero(inside)
    return Neighbours(tails, tails + 1, pairs)


def _by_parents(y_true: Any, y_pred: Any, parents: Any) -> Neighbours:
    """Parents and children whose labels were both observed."""
    pairs = read_pairs(y_true, y_pred)
    lengths = np.diff(pairs.offsets)
    if len(parents) != len(lengths):
        raise InputError(f"parents has {len(parents)} trees, but y_true has {len(lengths)}.")
    above = np.full(len(pairs.true), -1, dtype=np.int64)
    for s, (start, length) in enumerate(zip(pairs.offsets[:-1], lengths, strict=True)):
        own = _parents_of(s, parents[s], int(length))
        above[start : start + length] = np.where(own >= 0, own + start, -1)
    known = pairs.observed
    heads = np.flatnonzero((above >= 0) & known)
    heads = heads[known[above[heads]]]
    return Neighbours(above[heads], heads, pairs)


def _parents_of(s: int, given: Any, length: int) -> Array:
    require_unmasked(given, f"The list of parents of tree {s}", "write −1 for the parent of a root")
    try:
        own = np.asarray(given) if length else np.zeros(len(given), dtype=np.int64)
        right = own.shape == (length,) and own.dtype.kind in "iu"
    except (TypeError, ValueError):
        right = False
    if not right or (own < -1).any() or (own >= length).any():
        raise InputError(f"Tree {s} needs a parent for each of its {length} labels, from −1 to {length - 1}.")
    return own
