"""Labels at some vertices of a graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import shown, whole_numbers
from ..errors import InputError

UNLABELLED = -1


class Sources(NamedTuple):
    """Amounts of labels at vertices, by vertex."""

    vertex: Array
    """(S,) int64, never falling."""
    label: Array
    """(S,) int32."""
    amount: Array
    """(S,) float64."""

    def add_to(self, values: Array) -> None:
        """Add all amounts to an (N, L) array."""
        np.add.at(values, (self.vertex, self.label), self.amount)

    def times(self, factors: Array) -> Sources:
        """Return the same with amounts multiplied by a factor of each vertex, (N,)."""
        return self._replace(amount=self.amount * factors[self.vertex])


def sources_of(labels: Array, vertices: Array | None = None) -> Sources:
    """Return the shares of labels at each vertex that has some; observations may share a vertex.

    Parameters
    ----------
    labels : (n,) array of int
        Label of every observation, −1 for none.
    vertices : (n,) array of int, optional
        Its vertex; observation i is vertex i if this is not given.
    """
    known = np.flatnonzero(labels >= 0)
    places = known if vertices is None else vertices[known]
    n_labels = int(labels.max(initial=-1)) + 1
    pairs, counts = np.unique(places.astype(np.int64) * n_labels + labels[known], return_counts=True)
    vertex, label = np.divmod(pairs, max(n_labels, 1))
    _, where = np.unique(vertex, return_inverse=True)
    share = counts / np.bincount(where, counts)[where] if len(where) else np.zeros(0)
    return Sources(vertex, label.astype(np.int32), share)


def read_vertex_labels(labels: Any, n_vertices: int) -> Array:
    """Return one label per vertex: whole numbers from 0 on, −1 where there is none."""
    found = whole_numbers("labels", labels)
    if len(found) != n_vertices:
        raise InputError(f"The graph has {n_vertices} vertices, but there are {len(found)} labels.")
    wrong = np.flatnonzero((found < UNLABELLED) | (found >= 2**31 - 1))
    if wrong.size:
        raise InputError(
            f"Vertex {wrong[0]} has the label {shown(int(found[wrong[0]]))}; "
            "labels are numbers from 0 on, −1 for none."
        )
    if not (found >= 0).any():
        raise InputError(f"None of the {n_vertices} vertices has a label.")
    return found
