"""A linear model in a fit: its parts, its objective, and what is read off an element."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.base_measure import add_base_measure
from ..data.inputs import canonical
from ..data.rules import barred_scores, offset_of
from ..data.training import Training
from ..errors import InputError
from ..losses import LogLoss
from ..objective import Geometry, L1Norm, LinearChainData, Problem, RowData, Term
from ..solvers import Solver
from ..spaces import as_floats
from ..structures import StructureBatch
from ..tables import SOLVERS, choose
from .attributes import scorers_of
from .parts import (
    BoundParts,
    FixedScores,
    LinearScores,
    Part,
    PartData,
    compose,
    feature_parts,
    fixed_measure,
    free_parts,
    norms_of,
    parts_of,
    require_features,
)
from .scorers import LearntScorer, add_scorers
from .terms import solver_for

SINGLE = 1e-4
"""The least relative gap that a search in single precision can certify."""


def solver_of(model: Any) -> Solver:
    """Return the solver of a linear model; what cannot minimise its norms is refused."""
    solver = choose(SOLVERS, model.solver, "solver")
    norms = norms_of(parts_of(model, Part, FixedScores))
    if model.l1:
        if "features" in norms:
            raise InputError("l1 is the ℓ1 norm of the part 'features', which has another; leave out one.")
        norms["features"] = L1Norm(float(model.l1))
    return solver_for(solver, norms, model.solver)


class LinearFit:
    """The objective of a linear model on a training set, as a search sees it and in double.

    Parameters
    ----------
    model : CRF
        The settings.
    training : Training
        The training set.
    base : CRF, optional
        A fitted model whose scores are added to those that are learnt.
    fast : bool
        Whether the loss may be one without second derivatives, where there is one.
    """

    def __init__(self, model: Any, training: Training, base: Any = None, *, fast: bool = False) -> None:
        self.model, self.training, self.base = model, training, base
        self.measure = fixed_measure(parts_of(model, Part, FixedScores))
        features, random = training.inputs.features, model.random_state
        self.data = PartData(training.chain, features, training.observed, random=random)
        self.parts = BoundParts.of(linear_parts(model, training.chain), self.data)
        self.problem = self._problem(fast)

    def _problem(self, fast: bool) -> Problem:
        data, terms = self.data, self.parts.terms()
        if fast and self.base is None and self.measure is None:
            fitting = self._fast_data(terms)
            if fitting is not None:
                return Problem(Geometry(terms, fitting.dtype), fitting)
        if data.features.dtype == bool:
            data = replace(data, features=canonical(as_floats(data.features)))
            terms = self.parts.terms(data)
        return self._whole_problem(data, terms)

    def exact(self) -> Problem:
        """Return the same objective in double: the scores of the search carry its rounding."""
        if isinstance(self.problem.data, LinearChainData | RowData):
            return self.problem.exact()
        features = canonical(self.data.features.astype(np.float64, copy=False))
        data = replace(self.data, features=features)
        return self._whole_problem(data, self.parts.terms(data))

    def _fast_data(self, terms: list[Term]) -> LinearChainData | RowData | None:
        """Return the loss without second derivatives, where there is one."""
        loss = self.training.loss
        if LinearChainData.suits(loss, terms):
            return fast_chain_data(self.model, self.training, terms)
        if self.training.forbidden is None and RowData.suits(loss, terms):
            assert isinstance(loss, LogLoss)
            return RowData(loss, [term.space for term in terms], np.float64)
        return None

    def _whole_problem(self, data: PartData, terms: list[Term]) -> Problem:
        training, dtype = self.training, data.features.dtype
        batch, forbidden, measure = data.batch, training.forbidden, self.measure
        offset = None if forbidden is None else offset_of(forbidden, training.chain, dtype)
        if self.base is None and measure is not None:
            if offset is None:
                offset = {clique: np.zeros(shape, dtype) for clique, shape in batch.shapes.items()}
            add_base_measure(measure, batch, training.inputs.features, training.encoded.classes, offset)
            offset = {clique: values.astype(dtype) for clique, values in offset.items()}
        if self.base is not None:
            learnt = self.base._model()._replace(forbidden=None, scaling=None)
            known = learnt.scores(training.inputs._replace(features=data.features)).scores
            offset = known if offset is None else {name: offset[name] + known[name] for name in known}
        return Problem.of(training.loss, terms, offset, dtype)

    def scorers(self, element: Array) -> dict[str, LearntScorer]:
        """Return what a model keeps of an element, on top of the weights of the base."""
        found = self.parts.scorers(self.problem, element)
        return found if self.base is None else add_scorers(found, scorers_of(self.base))


def fast_chain_data(model: Any, training: Training, terms: list[Term]) -> LinearChainData:
    """Return the loss without second derivatives, in single precision where that can be certified."""
    assert isinstance(training.loss, LogLoss)
    single = training.inputs.features.dtype != np.float64 and model.tol >= SINGLE
    barred = None if training.forbidden is None else barred_scores(training.forbidden)
    spaces = [term.space for term in terms]
    return LinearChainData(training.loss, spaces, barred, np.float32 if single else np.float64)


def linear_parts(model: Any, batch: StructureBatch) -> dict[str, Part]:
    """Return the parts of a linear model by its settings: features, labels alone, then the rest."""
    given = parts_of(model, Part, FixedScores)
    require_features(given)
    norm = L1Norm(float(model.l1)) if model.l1 else None
    defaults = {"features": LinearScores(norm=norm), **free_parts(batch), **feature_parts(batch)}
    return compose(defaults, given, model.penalty)


def widened_scorers(model: Any, batch: StructureBatch) -> dict[str, LearntScorer]:
    """Return the parts of a fitted model for a batch with more labels, whose weights are zero."""
    return {
        name: scorer.widened(batch.cliques[batch.answer if scorer.on is None else scorer.on].values)
        for name, scorer in scorers_of(model).items()
        if scorer.on is None or scorer.on in batch.cliques
    }
