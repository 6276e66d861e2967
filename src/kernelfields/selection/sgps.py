"""Sparse Gaussian process sequence classification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ._configurations import ConfigurationSelection
from ._growing_base import positions_of, rivals
from .atoms import Atoms
from .task import View


@dataclass(frozen=True)
class SGPS(ConfigurationSelection):
    """Coordinates (position t, label σ, next label τ), of one sequence at a time [altun2004gp, Algorithm 2].

    A coordinate is the function k(x_t, ·) [y = σ] + κ [(y, y⁺) = (σ, τ)], which acts on scores of vertices
    and of edges. At the last position there is no τ. The d best of a sequence are added, but at most one for
    each position and label, since those that differ only in τ are good at the same time; positions and labels
    that have none yet come first, which the paper does not ask for. With all coordinates this is the dense
    problem, whose solution is a combination of them (Proposition 1).

    Parameters
    ----------
    size, step, threshold, gap, refit
        As in `Selection`.
    order : Order
        Which sequences are visited: `AtRandom`, `InTurn` (the paper's) or `LargestGradient`.
    by : Criterion
        How coordinates are judged: `GapShare`, `FunctionalGradient` (the paper's), `GainBound` or
        `ExactGain`.

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

    def keys(self, view: View, ids: Array) -> tuple[Array, Array]:
        """Return (o L + σ)(L + 1) + τ, with τ = L where there is no next label."""
        L = view.task.structure.n_answers
        seen = positions_of(view.task, ids)
        inner = (seen.observations[~seen.last, None] * L + np.arange(L)) * (L + 1)
        ends = (seen.observations[seen.last, None] * L + np.arange(L)) * (L + 1) + L
        keys = np.concatenate([(inner[..., None] + np.arange(L)).ravel(), ends.ravel()])
        places = [np.repeat(seen.places[~seen.last], L * L), np.repeat(seen.places[seen.last], L)]
        return keys, np.concatenate(places)

    def functions(self, keys: Array, n_labels: int) -> Atoms:
        """Return an atom, and a pair where there is a next label."""
        observations, labels, following = decoded(keys, n_labels)
        paired = np.flatnonzero(following < n_labels)
        pairs = labels[paired] * n_labels + following[paired]
        return Atoms.single(observations, labels)._replace(pairs=pairs, pair_owners=paired)

    def groups(self, keys: Array, n_labels: int) -> Array:
        """Return group numbers: candidates of one position and label are a group."""
        observations, labels, _ = decoded(keys, n_labels)
        return rivals(observations, labels, n_labels)


def decoded(keys: Array, n_labels: int) -> tuple[Array, Array, Array]:
    """Return observations, labels and next labels."""
    rest, following = np.divmod(keys, n_labels + 1)
    observations, labels = np.divmod(rest, n_labels)
    return observations, labels, following
