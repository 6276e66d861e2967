"""A linear model in a fit: its spaces and penalties, its objective, and its weights read off an element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from ..arrays import Array
from ..data.base_measure import add_base_measure
from ..data.inputs import canonical
from ..data.rules import barred_scores, offset_of
from ..data.training import Observed, Training
from ..losses import Log
from ..objective import Geometry, LinearChainData, Problem, RowData, Term
from ..solvers import Solver
from ..spaces import LinearFeatures, Pooled, SparseFeatures, as_floats
from ..structures import EdgeBatch, StructureBatch
from ..tables import SOLVERS, choose
from .model import dense, edge_observations
from .terms import (
    SIBLINGS,
    Penalties,
    answer_features,
    free_elements,
    free_weights,
    label_terms,
    read_norms,
    sibling_terms,
    solver_for,
    with_norms,
)

SEGMENTS = "segment_features"
"""The part of a model that sees candidate segments."""
SINGLE = 1e-4
"""The least relative gap that a search in single precision can certify."""


@dataclass(frozen=True)
class LinearWeights:
    """All weights of a linear chain model with L labels and D features.

    A model has them as attributes, with an underscore behind their names.
    """

    coef: Any
    """(L, D), features at a vertex; sparse where only some pairs have a weight."""
    intercept: Array
    """(L,), bias."""
    start: Array
    """(L,), first label."""
    end: Array
    """(L,), last label."""
    transitions: Array
    """(L, L), label pairs."""
    edge_coef: Array | None = None
    """(L, L, D), features at the first of two neighbours."""
    second_order: Array | None = None
    """(L, L, L), label triples."""
    durations: Array | None = None
    """(B, L), lengths of runs, in bins."""
    segment_coef: Array | None = None
    """(L, F), features of candidate segments."""
    sibling_coef: Array | None = None
    """(F,), features of siblings."""
    rules: Array | None = None
    """(R,), rules of a grammar."""
    factors: Mapping[str, Array] | None = None
    """(L, …, L) of further clique types of graphs, by name."""

    @classmethod
    def of(cls, problem: Problem, element: Array, n_labels: int) -> Self:
        """Read them off an element of the problem; zeros for what the model does not have."""
        L = n_labels
        space: Any = problem.terms[0].space
        place = problem.slices
        edge_features = element[place["edge_features"]].copy() if "edge_features" in place else None
        return cls(
            coef=_coefficients(space, element[place["features"]]),
            edge_coef=None if edge_features is None else edge_features.reshape(-1, L, L).transpose(1, 2, 0),
            segment_coef=element[place[SEGMENTS]].reshape(-1, L).T.copy() if SEGMENTS in place else None,
            sibling_coef=element[place[SIBLINGS]].copy() if SIBLINGS in place else None,
            **free_weights(element, place, L),
        )

    @classmethod
    def from_model(cls, model: Any) -> Self:
        """Read them off a fitted model."""
        values: dict[str, Any] = {field.name: getattr(model, f"{field.name}_", None) for field in fields(cls)}
        return cls(**values)

    def put(self, model: Any) -> None:
        """Make them attributes of a model."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                setattr(model, f"{field.name}_", value)

    def elements(self, terms: list[Term]) -> list[Array]:
        """Return them as elements of these spaces."""
        features: Any = terms[0].space
        return [features.element(self.coef.T), *self._other_elements(terms[1:])]

    def _other_elements(self, terms: list[Term]) -> list[Array]:
        named = free_elements(self)
        if self.edge_coef is not None:
            named["edge_features"] = self.edge_coef.transpose(2, 0, 1).ravel()
        if self.segment_coef is not None:
            named[SEGMENTS] = self.segment_coef.T.ravel()
        named[SIBLINGS] = self.sibling_coef
        found = [(term.space, named.get(term.name)) for term in terms]
        return [np.zeros(space.size) if element is None else element for space, element in found]

    def widened(self, n_labels: int) -> LinearWeights:
        """Give labels that are new, behind the others, weights of zero."""
        more = (0, n_labels - len(self.intercept))
        edge = self.edge_coef
        return LinearWeights(
            coef=np.pad(dense(self.coef).T, ((0, 0), more)).T,
            intercept=np.pad(self.intercept, more),
            start=np.pad(self.start, more),
            end=np.pad(self.end, more),
            transitions=np.pad(self.transitions, more),
            edge_coef=None if edge is None else np.pad(edge, (more, more, (0, 0))),
            second_order=None if self.second_order is None else np.pad(self.second_order, more),
            durations=None if self.durations is None else np.pad(self.durations, ((0, 0), more)),
            segment_coef=None if self.segment_coef is None else np.pad(self.segment_coef, (more, (0, 0))),
            sibling_coef=self.sibling_coef,
            rules=self.rules,
            factors=self.factors and {name: np.pad(table, more) for name, table in self.factors.items()},
        )

    def plus(self, other: LinearWeights) -> LinearWeights:
        """Add two models."""
        total: dict[str, Any] = {}
        for field in fields(self):
            mine = getattr(self, field.name)
            theirs = getattr(other, field.name)
            if isinstance(mine, Mapping):
                total[field.name] = {name: table + theirs[name] for name, table in mine.items()}
            else:
                total[field.name] = None if mine is None else dense(mine) + dense(theirs)
        return LinearWeights(**total)


def _coefficients(space: Any, element: Array) -> Any:
    """(L, D): a sparse matrix where only some pairs have a weight."""
    if isinstance(space, SparseFeatures) and len(element) < space.matrix.shape[1] * space.width:
        return space.compact_table(element).T
    return np.array(space.table(element), order="C").T


def solver_of(model: Any) -> Solver:
    """Return the solver of a linear model; what cannot minimise its norms is refused."""
    solver = choose(SOLVERS, model.solver, "solver")
    return solver_for(solver, read_norms(model.norms, model.l1), model.solver)


def linear_problem(model: Any, training: Training, base: Any, fast: bool) -> Problem:
    """Build the objective; ``fast`` takes the one without second derivatives where there is one."""
    features = training.inputs.features
    terms = linear_terms(model, training.chain, features, training.observed, fast=True)
    if fast and base is None and model.base_measure is None:
        data = _fast_data(model, training, terms)
        if data is not None:
            return Problem(Geometry(terms, data.dtype), data)
    if features.dtype == bool:
        features = canonical(as_floats(features))
        terms = linear_terms(model, training.chain, features, training.observed, fast=True)
    return _whole_problem(model, training, features, terms, base)


def _fast_data(model: Any, training: Training, terms: list[Term]) -> LinearChainData | RowData | None:
    """Return the loss without second derivatives, where there is one."""
    if LinearChainData.suits(training.loss, terms):
        return fast_chain_data(model, training, terms)
    if training.forbidden is None and RowData.suits(training.loss, terms):
        assert isinstance(training.loss, Log)
        return RowData(training.loss, [term.space for term in terms], np.float64)
    return None


def fast_chain_data(model: Any, training: Training, terms: list[Term]) -> LinearChainData:
    """Return the loss without second derivatives, in single precision where that can be certified."""
    assert isinstance(training.loss, Log)
    single = training.inputs.features.dtype != np.float64 and model.tol >= SINGLE
    barred = None if training.forbidden is None else barred_scores(training.forbidden)
    spaces = [term.space for term in terms]
    return LinearChainData(training.loss, spaces, barred, np.float32 if single else np.float64)


def _whole_problem(model: Any, training: Training, features: Any, terms: list[Term], base: Any) -> Problem:
    chain, forbidden = training.chain, training.forbidden
    offset = None if forbidden is None else offset_of(forbidden, chain, features.dtype)
    if base is None and model.base_measure is not None:
        if offset is None:
            offset = {clique: np.zeros(shape, features.dtype) for clique, shape in chain.shapes.items()}
        add_base_measure(
            model.base_measure, chain, training.inputs.features, training.encoded.classes, offset
        )
        offset = {clique: values.astype(features.dtype) for clique, values in offset.items()}
    if base is not None:
        learnt = base._model()._replace(forbidden=None, scaling=None)
        before = learnt.scores(training.inputs._replace(features=features))
        known = before.scores
        offset = known if offset is None else {name: offset[name] + known[name] for name in known}
    return Problem.of(training.loss, terms, offset, features.dtype)


def exact_problem(model: Any, problem: Problem, training: Training, base: Any) -> Problem:
    """Return the same objective in double: the scores of the search carry its rounding."""
    if isinstance(problem.data, LinearChainData | RowData):
        return problem.exact()
    features = canonical(training.inputs.features.astype(np.float64, copy=False))
    terms = linear_terms(model, training.chain, features, training.observed, fast=True)
    return _whole_problem(model, training, features, terms, base)


def linear_terms(
    model: Any, chain: EdgeBatch, features: Any, observed: Observed | None = None, fast: bool = False
) -> list[Term]:
    """Build the sum of spaces; ``fast`` prepares sparse features for many products."""
    penalties = Penalties.of(model.penalty, model.edge_penalty, model.second_order_penalty)
    space = answer_features(chain, features, observed.features if observed else None, fast)
    pairs = observed.edges if observed else None
    terms = [Term("features", space, penalties.node)]
    terms += label_terms(chain, penalties, bias=model.fit_intercept, boundaries=model.boundaries, pairs=pairs)
    if model.edge_features:
        seen = edge_observations(chain, features)
        terms.append(Term("edge_features", LinearFeatures(chain, "edge", *seen), penalties.edge))
    if getattr(chain, "candidates", None) is not None:
        terms.append(Term(SEGMENTS, segment_space(chain, features), penalties.node))
    terms += sibling_terms(chain, penalties)
    return with_norms(terms, read_norms(model.norms, model.l1))


def segment_space(batch: StructureBatch, features: Any) -> LinearFeatures | Pooled:
    """Return linear functions of candidate segments: of their features, or of means over positions."""
    seen = getattr(batch, "segment_features", None)
    if seen is None:
        return Pooled(answer_features(batch, features, fast=True))
    return LinearFeatures(batch, "segment", seen, np.arange(seen.shape[0]))
