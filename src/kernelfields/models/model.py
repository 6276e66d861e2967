"""A fitted model: scorers of the cliques of a structure. The one place where θ is computed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..constraints import Forbidden
from ..data.base_measure import BaseMeasure, add_base_measure
from ..data.inputs import Inputs
from ..data.rules import forbid
from ..features import FeatureRows
from ..native import chain_add_label_scores
from ..structures import Chain, EdgeBatch, SequenceBatch, Structure, StructureBatch
from .scaling import Scaling


class ScoredBatch(NamedTuple):
    """A batch with its scores: what a model says about it."""

    batch: Any
    """With every oracle that a decoder asks for."""
    scores: dict[str, Array]
    inputs: Any = None
    """What was scored."""


class Scorer(ABC):
    """What a fitted model keeps of one of its parts."""

    own: ClassVar[frozenset[str]] = frozenset()
    """The clique types in which every clique needs separate scores."""

    @abstractmethod
    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Add the scores of this part; a clique type that is missing from ``into`` has scored 0 so far.

        Arrays of ``into`` belong to it, and may be added to in place.
        """


class Model(NamedTuple):
    """θ = Σ scorers + what is not learnt, on the cliques of a structure."""

    structure: Structure
    alphabet: Array
    """What answers can be: the labels."""
    scorers: tuple[Scorer, ...]
    measure: BaseMeasure = None
    """log q of labels, known beforehand."""
    forbidden: Forbidden | None = None
    """What rules forbid."""
    scaling: Scaling | None = None
    """How held-out data have rescaled all of it."""

    def scores(self, inputs: Inputs, batch: Any = None) -> ScoredBatch:
        """Return the scores of some inputs; ``batch`` is theirs, if it has been made before."""
        if batch is None:
            batch = self.batch_of(inputs)
        theta: dict[str, Array] = {}
        for scorer in self.scorers:
            scorer.add_scores(batch, inputs.features, theta)
        if len(theta) < len(batch.cliques):
            _fill(theta, batch)
        if self.measure is not None:
            add_base_measure(self.measure, batch, matrix_of(inputs.features), self.alphabet, theta)
        if self.forbidden is not None:
            forbid(self.forbidden, batch, theta)
        if self.scaling is not None:
            theta = self.scaling.of(theta, batch.answer)
        return ScoredBatch(batch, theta, inputs)

    def batch_of(self, inputs: Inputs) -> Any:
        """Return the batch of some inputs."""
        own: set[str] = set()
        for scorer in self.scorers:
            own |= scorer.own
        return self.structure.on(inputs.offsets, inputs.links, len(self.alphabet), own=own)


def _fill(theta: dict[str, Array], batch: StructureBatch) -> None:
    """Write zeros for the clique types that nothing scores, or what the structure itself knows of them."""
    dtype = theta[batch.answer].dtype if batch.answer in theta else np.float64
    known = batch.known_scores()
    for clique, shape in batch.shapes.items():
        if clique not in theta:
            theta[clique] = known[clique].astype(dtype) if clique in known else np.zeros(shape, dtype)


def add(into: dict[str, Array], clique: str, values: Array) -> None:
    """Add scores, a new array, to those of a clique type."""
    if clique in into:
        into[clique] += values
    else:
        into[clique] = values


def matrix_of(features: Any) -> Any:
    """Return features as an array or a matrix of SciPy, also if they come as rows of an extractor."""
    return features.matrix() if isinstance(features, FeatureRows) else features


@dataclass(frozen=True, slots=True)
class KnownScores(Scorer):
    """Scores that have been computed before, of the very batch that is asked for."""

    values: Mapping[str, Array]

    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Add them."""
        for clique, values in self.values.items():
            if clique in into:
                into[clique] += values
            else:
                into[clique] = values.copy()


@dataclass(frozen=True, slots=True)
class LabelScorer(Scorer):
    """Scores of labels alone: free tables."""

    every: Array
    """(L,), everywhere."""
    first: Array
    """(L,), at sources: first positions, roots."""
    last: Array
    """(L,), at sinks: last positions, leaves."""
    tables: Mapping[str, Array] = field(default_factory=dict)
    """Of further clique types: pairs, triples, lengths of runs, rules, factors."""

    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Add them, in the precision of the scores of answers."""
        node = into[batch.answer]
        every, first, last = self.every, self.first, self.last
        if not every.dtype == first.dtype == last.dtype:  # drafts of models without a bias have other zeros
            every, first, last = (part.astype(np.float64) for part in (every, first, last))
        if isinstance(batch, SequenceBatch):
            chain_add_label_scores(node, batch.offsets, every, first, last)
        else:
            node += every.astype(node.dtype, copy=False).reshape(batch.cliques[batch.answer].values)
            if isinstance(batch, EdgeBatch):
                node[batch.sources] += first.astype(node.dtype, copy=False)
                node[batch.sinks] += last.astype(node.dtype, copy=False)
        for clique, table in self.tables.items():
            if clique in batch.cliques:
                add_table(batch, clique, table.astype(node.dtype), into)


def add_table(batch: StructureBatch, clique: str, table: Array, into: dict[str, Array]) -> None:
    """Add a new array with the scores of one clique to those of every clique of a type."""
    cliques = batch.cliques[clique]
    if clique in into:
        into[clique] += table
    else:
        into[clique] = table if cliques.shared else np.tile(table, (cliques.count, *(1,) * table.ndim))


def fitted_model(model: Any, *scorers: Scorer) -> Model:
    """Return these scorers on the structure of a fitted model, with what it has not learnt."""
    learnt = vars(model)
    measure, forbidden = learnt.get("base_measure_"), learnt.get("forbidden_")
    scaling = learnt.get("scaling_")
    return Model(fitted_structure(model), model.classes_, scorers, measure, forbidden, scaling)


CHAIN, SECOND_ORDER_CHAIN = Chain(), Chain(order=2)
"""The structures of models that say nothing of theirs: those that know no other, and old files."""


def fitted_structure(model: Any) -> Structure:
    """Return the structure that a model was fitted with, whatever its settings say by now."""
    found: Structure | None = vars(model).get("structure_")
    if found is not None:
        return found
    return CHAIN if vars(model).get("second_order_") is None else SECOND_ORDER_CHAIN


def dense(array: Any) -> Any:
    """Return a matrix as an array."""
    return array.toarray() if sparse.issparse(array) else array


_LAST: ContextVar[list[tuple[Any, Any, Any]] | None] = ContextVar("last scores", default=None)


@contextmanager
def remembering_scores() -> Iterator[None]:
    """Keep the scores of the last sequences that a model was asked about, for the next question about them.

    Marginals, probabilities of labellings and best labels come from the same scores, which are most of the
    work of a kernel model. Sequences are the same if they are the same object, and so nobody may change
    them meanwhile.
    """
    token = _LAST.set([])
    try:
        yield
    finally:
        _LAST.reset(token)


def remembered(model: Any, X: Any, score: Callable[[], Any]) -> Any:
    """Return the scores of X, those of the last question if they are kept and it was about X."""
    last = _LAST.get()
    if last is None:
        return score()
    if not (last and last[0][0] is model and last[0][1] is X):
        last[:] = [(model, X, score())]
    return last[0][2]
