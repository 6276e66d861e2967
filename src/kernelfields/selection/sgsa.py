"""Sparse greedy subspace approximation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..structures._base import Array
from ._growing_base import Proposal, SequenceSelection, fresh, positions_of, rivals
from .atoms import Atoms
from .orders import steepest
from .task import View

NAME = "kernel"


@dataclass(frozen=True)
class SGSA(SequenceSelection):
    """Clique configurations, from one sequence at a time [altun2006, Algorithm 1.1].

    Those of vertices are k(x_t, ·) [y = σ]; those of edges κ [(y, y⁺) = (σ, τ)], the same for all edges.
    The d steepest of a sequence are added. Finer than `SGPS`, whose coordinates tie the two.

    Parameters
    ----------
    size, step, threshold, gap, refit
        As in `Selection`.
    order : Order
        Which sequences are looked at: `AtRandom`, `InTurn` or `LargestGradient`.
    """

    labels_pairs = True

    def propose(self, view: View, visit: int, random: np.random.RandomState) -> list[Proposal]:
        """The steepest clique configurations of a sequence."""
        ids = self.picked(view, visit, random, _slopes)
        L = view.task.structure.n_labels
        keys = _keys(view, ids)[0]
        keys = keys[fresh(view, NAME, keys)]
        if not len(keys):
            return []
        slopes = _slopes_of(view, keys)
        slopes[np.abs(slopes) <= self.threshold] = 0
        groups = np.where(keys < 0, keys, rivals(keys // L, keys % L, L))
        chosen = steepest(slopes, self.step, groups)
        return [Proposal(NAME, keys[chosen], _functions(keys[chosen], L))]


def _slopes_of(view: View, keys: Array) -> Array:
    """⟨∇R, h⟩ of vertices, key o L + σ, and of pairs, key −1 − (σ L + τ)."""
    result = np.zeros(len(keys))
    vertex = keys >= 0
    observations, labels = np.divmod(keys[vertex], view.task.structure.n_labels)
    distinct, at = np.unique(observations, return_inverse=True)
    if len(distinct):
        result[vertex] = view.slopes(NAME, distinct)[at, labels]
    result[~vertex] = view.pair_slopes(NAME).ravel()[-1 - keys[~vertex]]
    return result


def _functions(keys: Array, n_labels: int) -> Atoms:
    vertex = np.flatnonzero(keys >= 0)
    pair = np.flatnonzero(keys < 0)
    observations, labels = np.divmod(keys[vertex], n_labels)
    return Atoms(observations, labels, vertex, -1 - keys[pair], pair, len(keys))


def _keys(view: View, ids: Array) -> tuple[Array, Array]:
    """Keys of all clique configurations of some sequences; whose each is."""
    L = view.task.structure.n_labels
    seen = positions_of(view.task, ids)
    vertices = (seen.observations[:, None] * L + np.arange(L)).ravel()
    with_edges = np.unique(seen.places[~seen.last])
    pairs = np.tile(-1 - np.arange(L * L), len(with_edges))
    places = [np.repeat(seen.places, L), np.repeat(with_edges, L * L)]
    return np.concatenate([vertices, pairs]), np.concatenate(places)


def _slopes(view: View, ids: Array) -> tuple[Array, Array]:
    """Slopes of all configurations not yet dealt with, and the sequence of each."""
    keys, places = _keys(view, ids)
    left = ~np.isin(keys, view.state.spent[NAME])
    return _slopes_of(view, keys[left]), places[left]
