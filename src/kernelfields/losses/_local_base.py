"""Losses that look at a few labels at a time: no sum over labellings, hence any labelled structure."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..arrays import Array
from ..errors import InfeasibleError, InputError, UnsupportedError
from ..structures import GraphBatch, LabelledBatch, Scores, StructureBatch
from ._base import BlockLoss


class LocalLoss(BlockLoss):
    """A convex loss that is a sum over vertices or cliques, each with the labels around it as observed."""

    convex = True
    sums = False
    structure: LabelledBatch
    weights: Array | None
    vertex_weights: Array | None

    @abstractmethod
    def expected(self, scores: Scores) -> dict[str, Array]:
        """Return the parts that the loss expects: its gradient plus the observed ones."""

    def _summed(self, values: Array, offsets: Array) -> tuple[Array, float]:
        """Return the sums over what each instance owns, and the weighted sum of these."""
        before = np.concatenate([[0.0], np.cumsum(values)])
        each = np.diff(before[offsets])
        return each, float(each.sum() if self.weights is None else np.dot(each, self.weights))


def require_labelled(structure: StructureBatch, loss: str) -> LabelledBatch:
    """Return a structure that labels vertices; a plain refusal if it does not."""
    if not isinstance(structure, LabelledBatch):
        raise UnsupportedError(
            f"The {loss} needs labelled vertices, which {type(structure).__name__} has not."
        )
    for name, cliques in structure.cliques.items():
        if len(cliques.values) != cliques.members.shape[1]:
            raise InputError(f"The {loss} needs scores of the labels of cliques, and a {name} has others.")
    return structure


def label_sets_of(structure: LabelledBatch) -> Array | None:
    """Return which labels each vertex can have, where these differ."""
    return structure.label_sets if isinstance(structure, GraphBatch) else None


def log_sum(scores: Array) -> Array:
    """Return log Σ_k exp(scores[r, k]) of every row; −inf where all are."""
    most = scores.max(axis=1, initial=-np.inf)
    finite = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(finite + np.log(np.exp(scores - finite[:, None]).sum(axis=1)))


def refusal(structure: LabelledBatch, vertex: int) -> InfeasibleError:
    """Say which vertex has a label that rules forbid."""
    s = int(np.searchsorted(structure.offsets, vertex, side="right")) - 1
    place = vertex - int(structure.offsets[s])
    words = structure.words
    return InfeasibleError(
        f"The label of {words.place} {place} of {words.item} {s} is forbidden by the constraints."
    )


def softmax_of(scores: Array) -> Array:
    """Return exp(scores) over its sum, row by row; a row of zeros where all are −inf."""
    total = log_sum(scores)
    return np.exp(scores - np.where(np.isfinite(total), total, 0.0)[:, None])


def rounded(parts: dict[str, Array], scores: Scores) -> dict[str, Array]:
    """Return parts in the precision of scores."""
    return {name: values.astype(scores[name].dtype, copy=False) for name, values in parts.items()}
