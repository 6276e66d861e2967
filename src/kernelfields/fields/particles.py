"""Labellings that walk: Gibbs sampling of many graphs at once, which goes on from where it was."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..errors import InputError
from ..structures import GraphBatch, LabelledBatch, Scores


class ColourSide(NamedTuple):
    """The cliques of one type that have a vertex of one colour at one place."""

    name: str
    place: int
    cliques: Array
    """Their numbers."""
    vertices: Array
    """Which of the vertices of the colour they have there, counted among these."""


class Particles:
    """A labelling of every graph of a batch, drawn again vertex by vertex given all others.

    Vertices that no clique joins have the same colour, and are drawn at once [gonzalez2011]; a sweep goes
    through all colours. The distribution p(y) ∝ exp⟨θ, parts(y)⟩ stays as it is, whatever θ is from one sweep
    to the next, so that labellings follow scores that change slowly. `structures.Gibbs` draws anew instead,
    and jumps further in each sweep.

    Parameters
    ----------
    batch : LabelledBatch
        Graphs whose cliques have a score for every labelling of their vertices.
    labels : (N,) integers
        Where to begin; −1 where a label is to be drawn, from the scores of its vertex alone.
    free : (N,) booleans, optional
        Which vertices are drawn again; all if not given.
    """

    def __init__(self, batch: LabelledBatch, labels: Array, free: Array | None = None) -> None:
        odd = [name for name, c in batch.cliques.items() if len(c.values) != c.members.shape[1]]
        if odd:
            raise InputError(f"{type(batch).__name__} has {odd[0]} scores that are no tables over labels.")
        self.batch = batch
        self.labels = np.array(labels, dtype=np.int64)
        self.free = np.ones(batch.n_vertices, dtype=bool) if free is None else np.asarray(free, dtype=bool)
        colours = colours_of(batch)
        self._classes = [
            np.flatnonzero((colours == c) & self.free) for c in range(colours.max(initial=-1) + 1)
        ]
        self._sides = [list(_sides(batch, vertices)) for vertices in self._classes]
        self._sets = batch.label_sets if isinstance(batch, GraphBatch) else None

    def begin(self, scores: Scores, random: np.random.RandomState) -> None:
        """Draw the labels that there are not yet, each by the scores of its vertex."""
        new = np.flatnonzero(self.labels < 0)
        node = np.array(scores["node"][new], dtype=np.float64)
        self.labels[new] = _drawn(self._allowed(node, new), random)

    def sweep(self, scores: Scores, random: np.random.RandomState) -> None:
        """Draw every free label again, given those around it."""
        for vertices, sides in zip(self._classes, self._sides, strict=True):
            lines = np.zeros((len(vertices), self.batch.n_labels))
            for side in sides:
                np.add.at(lines, side.vertices, self._lines(side, scores[side.name]))
            self.labels[vertices] = _drawn(self._allowed(lines, vertices), random)

    def _lines(self, side: ColourSide, table: Array) -> Array:
        """Return the scores of cliques for every label of one vertex, those of the others as they are."""
        cliques = self.batch.cliques[side.name]
        members = cliques.members[side.cliques]
        others = [self.labels[members[:, k]] for k in range(members.shape[1]) if k != side.place]
        if cliques.shared:
            found = np.moveaxis(table, side.place, -1)[tuple(others)]
            return np.broadcast_to(found, (len(members), self.batch.n_labels))
        return np.moveaxis(table[side.cliques], side.place + 1, -1)[(np.arange(len(members)), *others)]

    def _allowed(self, lines: Array, vertices: Array) -> Array:
        if self._sets is not None:
            lines[~self._sets[vertices]] = -np.inf
        return lines


def _drawn(lines: Array, random: np.random.RandomState) -> Array:
    """Draw from the softmax of every row, by Gumbel's trick."""
    return np.asarray((lines + random.gumbel(size=lines.shape)).argmax(axis=1))


def _sides(batch: LabelledBatch, vertices: Array) -> Iterator[ColourSide]:
    place_of = np.full(batch.n_vertices, -1)
    place_of[vertices] = np.arange(len(vertices))
    for name, cliques in batch.cliques.items():
        for place in range(cliques.members.shape[1]):
            found = place_of[cliques.members[:, place]]
            chosen = np.flatnonzero(found >= 0)
            if len(chosen):
                yield ColourSide(name, place, chosen, found[chosen])


def colours_of(batch: LabelledBatch) -> Array:
    """Return colours, (N,), different where a clique joins two vertices: each the first that is free."""
    count = batch.n_vertices
    pairs = [
        cliques.members[:, [a, b]]
        for cliques in batch.cliques.values()
        for a, b in combinations(range(cliques.members.shape[1]), 2)
    ]
    ends = np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])
    both = np.concatenate([ends, ends[:, ::-1]])
    near = sparse.csr_matrix((np.ones(len(both), dtype=np.int8), both.T), (count, count))
    first, others = near.indptr.tolist(), near.indices.tolist()
    colours = [-1] * count
    for v in range(count):
        taken = {colours[u] for u in others[first[v] : first[v + 1]]}
        colours[v] = next(c for c in range(len(taken) + 1) if c not in taken)
    return np.array(colours, dtype=np.int64)
