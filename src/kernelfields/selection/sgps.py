"""Sparse Gaussian process sequence classification."""

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
class SGPS(SequenceSelection):
    """Coordinates (position t, label σ, next label τ), of one sequence at a time [altun2004gp, Algorithm 2].

    Each is the function k(x_t, ·) [y = σ] + κ [(y, y⁺) = (σ, τ)]: it acts on the scores of vertices and of
    edges. At the last position there is no τ. The d steepest of a sequence are added, of each position and
    label no more than one at once: those that differ in τ alone are steep together. With all coordinates
    this is the dense problem: its solution is among their combinations (Proposition 1).

    Parameters
    ----------
    size, step, threshold, gap, refit
        As in `Selection`.
    order : Order
        Which sequences are looked at: `AtRandom`, `InTurn` (the paper's) or `LargestGradient`.

    Examples
    --------
    >>> from kernelfields import GPSequenceClassifier
    >>> from kernelfields.selection import SGPS
    >>> X = [[[0.0], [1.0], [2.0]], [[1.0], [0.0]]]
    >>> y = [["A", "B", "A"], ["B", "A"]]
    >>> model = GPSequenceClassifier("rbf", sparse=SGPS(size=4), random_state=0).fit(X, y)
    >>> model.path_[-1].functions
    4
    """

    labels_pairs = True

    def propose(self, view: View, visit: int, random: np.random.RandomState) -> list[Proposal]:
        """The steepest coordinates of a sequence."""
        ids = self.picked(view, visit, random, _slopes)
        keys = coordinate_keys(view, ids)[0]
        keys = keys[fresh(view, NAME, keys)]
        if not len(keys):
            return []
        slopes = coordinate_slopes(view, keys)
        slopes[np.abs(slopes) <= self.threshold] = 0
        L = view.task.structure.n_labels
        observations, labels, _ = decoded(keys, L)
        chosen = steepest(slopes, self.step, rivals(observations, labels, L))
        return [Proposal(NAME, keys[chosen], coordinates(keys[chosen], L))]


def coordinate_keys(view: View, ids: Array) -> tuple[Array, Array]:
    """(o L + σ)(L + 1) + τ of all coordinates of some sequences, τ = L where there is none; whose each is."""
    L = view.task.structure.n_labels
    seen = positions_of(view.task, ids)
    inner = (seen.observations[~seen.last, None] * L + np.arange(L)) * (L + 1)
    ends = (seen.observations[seen.last, None] * L + np.arange(L)) * (L + 1) + L
    keys = np.concatenate([(inner[..., None] + np.arange(L)).ravel(), ends.ravel()])
    places = [np.repeat(seen.places[~seen.last], L * L), np.repeat(seen.places[seen.last], L)]
    return keys, np.concatenate(places)


def decoded(keys: Array, n_labels: int) -> tuple[Array, Array, Array]:
    """Observations, labels and next labels."""
    rest, following = np.divmod(keys, n_labels + 1)
    observations, labels = np.divmod(rest, n_labels)
    return observations, labels, following


def coordinates(keys: Array, n_labels: int) -> Atoms:
    """The functions of coordinates."""
    observations, labels, following = decoded(keys, n_labels)
    paired = np.flatnonzero(following < n_labels)
    pairs = labels[paired] * n_labels + following[paired]
    return Atoms.single(observations, labels)._replace(pairs=pairs, pair_owners=paired)


def coordinate_slopes(view: View, keys: Array) -> Array:
    """⟨∇R, h⟩: slopes of vertices, and where there is a next label, of pairs."""
    observations, labels, following = decoded(keys, view.task.structure.n_labels)
    distinct, at = np.unique(observations, return_inverse=True)
    pairs = view.pair_slopes(NAME)
    padded = np.concatenate([pairs, np.zeros((len(pairs), 1))], axis=1)
    return np.asarray(view.slopes(NAME, distinct)[at, labels] + padded[labels, following])


def _slopes(view: View, ids: Array) -> tuple[Array, Array]:
    """Slopes of all coordinates not yet dealt with, and the sequence of each."""
    keys, places = coordinate_keys(view, ids)
    left = ~np.isin(keys, view.state.spent[NAME])
    return coordinate_slopes(view, keys[left]), places[left]
