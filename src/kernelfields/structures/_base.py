"""What a structure is: the shape of one batch of outputs, and their parts.

Scores θ are one array per clique type, ``{"node": ..., "edge": ...}``, over a whole batch without
padding; everything with one number per clique (marginals, gradients, indicators) has the same form. An
output is a flat array of whole numbers; one label for every vertex is the commonest, not the only kind.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ..arrays import Array, rows_of
from ..checks import all_finite, require_ids
from ..errors import InfeasibleError, InputError, ScoreError
from .words import SEQUENCES, Words

Scores = Mapping[str, Array]


Lazy = Array | Callable[[], Array]
"""An array, or how to make it when it is first asked for."""


class Cliques:
    """All cliques of one type in a batch.

    Short sequences come by the thousand, one batch each, and to list their cliques takes longer than to
    sum over all their labellings: what is given as a function is made when it is first asked for.

    Parameters
    ----------
    offsets : (S + 1,) integers, or a function that returns them
        Instance s owns the cliques ``offsets[s]`` up to ``offsets[s + 1]``.
    members : (C, a) integers, or a function that returns them
        The vertices (rows of X) that each clique joins; −1 for none, such as above a root.
    values : tuple of int
        Shape of the scores of one clique: (L,), (L, L), …; () where it is there or not.
    shared : bool
        Whether all cliques have one array of scores, in the shape ``values``.
    """

    def __init__(self, offsets: Lazy, members: Lazy, values: tuple[int, ...], shared: bool = False) -> None:
        self._offsets = offsets
        self._members = members
        self.values = values
        self.shared = shared

    @cached_property
    def offsets(self) -> Array:
        """Where the cliques of each instance start."""
        return self._offsets() if callable(self._offsets) else self._offsets

    @cached_property
    def members(self) -> Array:
        """The vertices of each clique."""
        return self._members() if callable(self._members) else self._members

    @property
    def count(self) -> int:
        """C."""
        return int(self.offsets[-1])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of their scores."""
        return self.values if self.shared else (self.count, *self.values)


class StructureBatch(ABC):
    """The shape of one batch: how many instances, which cliques, which outputs."""

    answer: ClassVar[str]
    """The clique type that users ask about: "node" for labels of vertices, "arc" for parses, …

    Costs of errors, marginals of answers and what is known beforehand refer to it.
    """
    words: Words = SEQUENCES
    """What messages call instances and vertices."""
    featured: ClassVar[tuple[str, ...]] = ()
    """Clique types that say nothing without features: models score them by what they see, or not at all."""
    no_sums: ClassVar[str] = ""
    """Why it does not sum over its outputs, and what does, where that is worth saying."""

    named_cliques: Collection[str] = ()
    """Clique types that a structure has besides those that all of its kind have."""
    label_sets: Array | None = None
    """(N, L) booleans: which labels each vertex can have; None for all."""
    bound: Array | None = None
    """(L,) booleans: labels that only runs among the candidates can have; None for no such labels."""

    @property
    @abstractmethod
    def offsets(self) -> Array:
        """Instance s owns the vertices (rows of X) ``offsets[s]`` up to ``offsets[s + 1]``."""

    @property
    @abstractmethod
    def output_offsets(self) -> Array:
        """Instance s owns the part ``output_offsets[s]`` up to ``output_offsets[s + 1]`` of an output."""

    @property
    @abstractmethod
    def cliques(self) -> Mapping[str, Cliques]:
        """All cliques, by type."""

    @abstractmethod
    def take(self, ids: npt.ArrayLike) -> StructureBatch:
        """Return the structure of some instances only."""

    @abstractmethod
    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        """Subtract the indicator of an output from arrays in the shapes of the scores, in place."""

    @abstractmethod
    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every instance, in float64; −inf where a part is forbidden."""

    @property
    def observations(self) -> Mapping[str, Any]:
        """What models see of cliques, a row for each, by clique type, where a structure brings it along."""
        return {}

    @property
    def n_instances(self) -> int:
        """Number of instances in the batch."""
        return len(self.offsets) - 1

    @property
    def n_answers(self) -> int:
        """How many values an answer can have: the number of labels, or 1 where it is there or not."""
        return math.prod(self.cliques[self.answer].values)

    @property
    def n_vertices(self) -> int:
        """Number of vertices in the batch."""
        return int(self.offsets[-1])

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of the scores of each clique type."""
        return {name: cliques.shape for name, cliques in self.cliques.items()}

    def warn_of_unsettled(self) -> None:  # noqa: B027 - exact sums have nothing to say
        """Say, as a warning, for how many instances the last sums did not converge."""

    def known_scores(self) -> dict[str, Array]:
        """Return the scores that come with the structure and are not learnt, by clique type; mostly none."""
        return {}

    def cut(self, scores: Scores, ids: npt.ArrayLike) -> dict[str, Array]:
        """Scores of some instances only, in the shapes of ``take(ids)``; shared ones stay."""
        ids = require_ids(ids, self.n_instances)
        return {
            name: scores[name] if cliques.shared else scores[name][rows_of(cliques.offsets, ids)]
            for name, cliques in self.cliques.items()
        }

    def cut_outputs(self, outputs: Array, ids: npt.ArrayLike) -> Array:
        """Return the part of an output that belongs to some instances."""
        return outputs[rows_of(self.output_offsets, require_ids(ids, self.n_instances))]

    def parts(self, outputs: Array, weights: Array | None = None) -> dict[str, Array]:
        """Return the indicator of an output: ⟨θ, parts(y)⟩ is its score.

        Shared scores count how often they are used; with ``weights`` the parts of each instance count
        that many times.
        """
        result = {clique: np.zeros(shape) for clique, shape in self.shapes.items()}
        self.subtract_parts(result, outputs, weights)
        return {clique: -values for clique, values in result.items()}

    def hamming(self, outputs: Array) -> dict[str, Array]:
        """Return 1 − parts(y) of the answers: as a cost, the number of wrong ones."""
        return {self.answer: 1.0 - self.parts(outputs)[self.answer]}

    def differ(self, outputs: Array, others: Array) -> Array:
        """Return for every instance whether two outputs differ."""
        wrong = np.concatenate([[0], np.cumsum(outputs != others)])
        return np.diff(wrong[self.output_offsets]) > 0

    def agree(self, outputs: Array, others: Array) -> Array:
        """Return which answers of an output are also those of another one."""
        return np.asarray(outputs == others)

    def per_output(self, values: Array) -> Array:
        """Return one value per instance, repeated along its part of an output."""
        return np.repeat(values, np.diff(self.output_offsets))

    def untied(self, names: Iterable[str]) -> Self:
        """Return the same instances, these clique types with scores of its own for every clique."""
        names = list(names)
        for name in names:
            if name not in self.cliques:
                known = ", ".join(map(repr, self.cliques))
                raise InputError(f"{type(self).__name__} has no clique type {name!r}; it has {known}.")
        tied = [name for name in names if self.cliques[name].shared]
        return self._untied(tied) if tied else self

    def _untied(self, names: list[str]) -> Self:
        raise InputError(f"{type(self).__name__} has one array of scores for every {names[0]}.")

    def spread(self, scores: Scores) -> dict[str, Array]:
        """Return scores of a structure that shares more than this one, in these shapes: views."""
        return {clique: np.broadcast_to(scores[clique], shape) for clique, shape in self.shapes.items()}

    def gathered(self, parts: Scores) -> dict[str, Array]:
        """Return parts of a structure that shares less than this one, added up where this one shares."""
        return {
            clique: parts[clique] if parts[clique].ndim == len(shape) else parts[clique].sum(axis=0)
            for clique, shape in self.shapes.items()
        }


def require_feasible(values: Array, words: Words = SEQUENCES) -> None:
    """Refuse a batch in which an instance has no output (−inf) or bad scores (NaN)."""
    if all_finite(values):
        return
    s = int(np.flatnonzero(~np.isfinite(values))[0])
    if values[s] == -np.inf:
        raise InfeasibleError(f"{words.name(s)} has no allowed {words.output}.")
    raise ScoreError(f"{words.name(s)} has scores that are NaN or +inf.")
