"""Functions of labelled cliques, as sums of atoms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array

NONE: Array = np.zeros(0, dtype=np.int64)


class Atoms(NamedTuple):
    """Functions h_j(x, y) = Σ k(x_o, ·) [label] + κ Σ [pair], each a sum over the atoms it owns.

    A clique configuration is one atom; a coordinate of `SGPS` is an atom and a pair; a whole labelling
    has an atom for every position and a pair for every two neighbours.
    """

    observations: Array
    """o of each atom, (a,)."""
    labels: Array
    """Label of each atom, or label pair as one number for atoms of edges, (a,)."""
    owners: Array
    """The function that owns each atom, (a,), ascending."""
    pairs: Array
    """Label pairs without input, as one number σL + τ, (b,)."""
    pair_owners: Array
    """The function that owns each pair, (b,), ascending."""
    size: int
    """Number of functions."""

    @classmethod
    def empty(cls) -> Atoms:
        """Return no functions."""
        return cls(NONE, NONE, NONE, NONE, NONE, 0)

    @classmethod
    def single(cls, observations: Array, labels: Array) -> Atoms:
        """Return functions of one atom each."""
        return cls(observations, labels, np.arange(len(labels)), NONE, NONE, len(labels))

    def summed(self, values: Array, pair_values: Array) -> Array:
        """Return the sums of atom and pair values over the functions that own them, (size,)."""
        of_atoms = np.bincount(self.owners, values, minlength=self.size)
        return np.asarray(of_atoms + np.bincount(self.pair_owners, pair_values, minlength=self.size))

    def take(self, functions: Array) -> Atoms:
        """Return some of the functions, in ascending order."""
        functions = np.asarray(functions, dtype=np.int64)
        renamed = np.full(self.size, -1, dtype=np.int64)
        renamed[functions] = np.arange(len(functions))
        mine, pairs = renamed[self.owners] >= 0, renamed[self.pair_owners] >= 0
        return Atoms(
            self.observations[mine],
            self.labels[mine],
            renamed[self.owners[mine]],
            self.pairs[pairs],
            renamed[self.pair_owners[pairs]],
            len(functions),
        )

    def then(self, other: Atoms) -> Atoms:
        """Return these functions followed by others."""
        shifted = other._replace(owners=other.owners + self.size, pair_owners=other.pair_owners + self.size)
        return Atoms(
            np.concatenate([self.observations, shifted.observations]),
            np.concatenate([self.labels, shifted.labels]),
            np.concatenate([self.owners, shifted.owners]),
            np.concatenate([self.pairs, shifted.pairs]),
            np.concatenate([self.pair_owners, shifted.pair_owners]),
            self.size + other.size,
        )
