"""Sparse greedy subspace approximation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ._configurations import ConfigurationSelection
from ._growing_base import positions_of, rivals
from .atoms import Atoms
from .task import View


@dataclass(frozen=True)
class SGSA(ConfigurationSelection):
    """Clique configurations, from one sequence at a time [altun2006, Algorithm 1.1].

    Those of vertices are k(x_t, ·) [y = σ]; those of edges κ [(y, y⁺) = (σ, τ)], the same for all edges.
    The d best of a sequence are added. This is finer than `SGPS`, whose coordinates tie the two.

    Parameters
    ----------
    size, step, threshold, gap, refit
        As in `Selection`.
    order : Order
        Which sequences are visited: `AtRandom`, `InTurn` or `LargestGradient`.
    by : Criterion
        How configurations are judged: `GapShare`, `FunctionalGradient` (the paper's), `GainBound` or
        `ExactGain`.
    """

    labels_pairs = True

    def keys(self, view: View, ids: Array) -> tuple[Array, Array]:
        """Return O L + σ for vertices, −1 − (σ L + τ) for pairs."""
        L = view.task.structure.n_answers
        seen = positions_of(view.task, ids)
        vertices = (seen.observations[:, None] * L + np.arange(L)).ravel()
        with_edges = np.unique(seen.places[~seen.last])
        pairs = np.tile(-1 - np.arange(L * L), len(with_edges))
        places = [np.repeat(seen.places, L), np.repeat(with_edges, L * L)]
        return np.concatenate([vertices, pairs]), np.concatenate(places)

    def functions(self, keys: Array, n_labels: int) -> Atoms:
        """Return an atom, or a pair."""
        vertex, pair = np.flatnonzero(keys >= 0), np.flatnonzero(keys < 0)
        observations, labels = np.divmod(keys[vertex], n_labels)
        return Atoms(observations, labels, vertex, -1 - keys[pair], pair, len(keys))

    def groups(self, keys: Array, n_labels: int) -> Array:
        """Return groups of which, with two labels, one candidate at a time is enough."""
        return np.where(keys < 0, keys, rivals(keys // n_labels, keys % n_labels, n_labels))
