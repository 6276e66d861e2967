"""Coordinates over complete label sequences: a sparse method that ignores the structure of the kernel."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..structures import KBestOracle
from ._growing_base import NAME, Proposal, SequenceSelection, fresh, positions_of
from .atoms import Atoms
from .orders import steepest
from .task import View

MOST = 4096
"""Number of labellings of a sequence that are searched for new ones."""
LOOKED_AT = 8
"""Number of labellings, up and down, by which the steepness of a sequence is judged."""


@dataclass(frozen=True)
class WholeSequences(SequenceSelection):
    """Coordinates (sequence i, labelling y): Σ_t k(x_t, ·) [y_t] + κ Σ_t [(y_t, y_{t+1})] [altun2004gp, (8)].

    A baseline: labellings share nothing, every function needs the kernel at all positions of its sequence,
    and with equally many functions the error is clearly higher than with those of `SGPS`. The steepest
    labellings are the best ones with the gradient, or minus the gradient, as scores; k-best dynamic
    programming finds them.

    Parameters
    ----------
    size, step, threshold, gap, refit
        As in `Selection`.
    order : Order
        Which sequences are visited: `AtRandom`, `InTurn` or `LargestGradient`.
    """

    labels_pairs = True

    def propose(self, view: View, visit: int, random: np.random.RandomState) -> list[Proposal]:
        """Return the steepest labellings of some sequences."""
        ids = self.picked(view, visit, random, _steepest_labellings)
        found = [_fresh_labellings(view, int(s), 2 * self.step) for s in ids]
        keys = np.concatenate([keys for keys, _, _ in found])
        slopes = np.concatenate([slopes for _, slopes, _ in found])
        slopes[np.abs(slopes) <= self.threshold] = 0
        slopes[~fresh(view, NAME, keys)] = 0
        chosen = steepest(slopes, self.steps(view) * self.step)
        owners = np.repeat(ids, [len(keys) for keys, _, _ in found])
        rows = [labels for _, _, every in found for labels in every]
        functions = Atoms.empty()
        for j in chosen:
            functions = functions.then(_function(view, int(owners[j]), rows[j]))
        return [Proposal(NAME, keys[chosen], functions)] if len(chosen) else []


def _fresh_labellings(view: View, s: int, count: int) -> tuple[Array, Array, list[Array]]:
    """Return the same for as many labellings as it takes to find one not yet dealt with."""
    found = _labellings(view, s, count)
    while count < MOST and len(found[0]) >= count and not fresh(view, NAME, found[0]).any():
        count *= 4
        found = _labellings(view, s, count)
    return found


def _labellings(view: View, s: int, count: int) -> tuple[Array, Array, list[Array]]:
    """Return keys, slopes and labels of the steepest labellings of a sequence, up and down."""
    observations = positions_of(view.task, np.array([s])).observations
    if not len(observations):
        return np.zeros(0, dtype=np.int64), np.zeros(0), []
    node, edge = view.slopes(NAME, observations), view.pair_slopes(NAME)
    batch = view.task.structure.take([s])
    if not isinstance(batch, KBestOracle):
        raise InputError(
            f"WholeSequences needs the k best labellings, which {type(batch).__name__} does not give."
        )
    found: dict[bytes, tuple[float, Array]] = {}
    for sign in (1.0, -1.0):
        labels, value = batch.kbest({"node": sign * node, "edge": sign * edge}, count)
        for row, score in zip(labels, value[0], strict=True):
            if np.isfinite(score):
                found[row.tobytes()] = (sign * float(score), row)
    keys = [_key(s, name) for name in found]
    return (
        np.array(keys, dtype=np.int64),
        np.array([v for v, _ in found.values()]),
        [y for _, y in found.values()],
    )


def _key(s: int, labels: bytes) -> int:
    digest = hashlib.blake2b(labels, digest_size=8, salt=s.to_bytes(8, "little")).digest()
    return int.from_bytes(digest, "little") >> 1


def _function(view: View, s: int, labels: Array) -> Atoms:
    """Return one labelling of one sequence as a function."""
    L = view.task.structure.n_answers
    observations = positions_of(view.task, np.array([s])).observations
    labels = labels.astype(np.int64)
    batch: Any = view.task.structure.take([s])
    pairs = labels[batch.edge_tails] * L + labels[batch.edge_heads]
    return Atoms(observations, labels, np.zeros_like(labels), pairs, np.zeros_like(pairs), 1)


def _steepest_labellings(view: View, ids: Array) -> tuple[Array, Array]:
    """Return the slopes of some labellings not yet dealt with, and the sequence of each."""
    found = []
    for s in ids:
        keys, slopes, _ = _labellings(view, int(s), LOOKED_AT)
        found.append(slopes[~np.isin(keys, view.state.spent[NAME])])
    return np.concatenate(found), np.repeat(np.arange(len(ids)), [len(slopes) for slopes in found])
