"""The objective of a linear chain model: its spaces, their penalties, and in which precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.base_measure import add_base_measure
from ..data.inputs import canonical
from ..data.rules import barred_scores, offset_of
from ..data.training import Observed, Training
from ..losses import Log
from ..objective import LinearChainData, Problem, Term, linear_chain_problem
from ..solvers import Solver
from ..spaces import LinearFeatures, as_floats
from ..structures import EdgeBatch
from ..tables import SOLVERS, choose
from .terms import (
    Penalties,
    answer_features,
    label_terms,
    read_norms,
    solver_for,
    with_norms,
)


def solver_of(model: Any) -> Solver:
    """Return the solver of a linear model; what cannot minimise its norms is refused."""
    solver = choose(SOLVERS, model.solver, "solver")
    return solver_for(solver, read_norms(model.norms, model.l1), model.solver)


def linear_problem(model: Any, training: Training, base: Any, fast: bool) -> Problem:
    """Build the objective; ``fast`` takes the one without second derivatives where there is one."""
    features = training.inputs.features
    terms = linear_terms(model, training.chain, features, training.observed, fast=True)
    if fast and base is None and model.base_measure is None and LinearChainData.suits(training.loss, terms):
        assert isinstance(training.loss, Log)
        single = features.dtype != np.float64 and model.tol >= 1e-4  # what it can certify
        barred = None if training.forbidden is None else barred_scores(training.forbidden)
        return linear_chain_problem(training.loss, terms, barred, np.float32 if single else np.float64)
    if features.dtype == bool:
        features = canonical(as_floats(features))
        terms = linear_terms(model, training.chain, features, training.observed, fast=True)
    return _whole_problem(model, training, features, terms, base)


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
        before = base._model()._replace(forbidden=None).scores(training.inputs._replace(features=features))
        known = before.scores
        offset = known if offset is None else {name: offset[name] + known[name] for name in known}
    return Problem.of(training.loss, terms, offset, features.dtype)


def exact_problem(model: Any, problem: Problem, training: Training, base: Any) -> Problem:
    """Return the same objective in double: the scores of the search carry its rounding."""
    if isinstance(problem.data, LinearChainData):
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
        terms.append(Term("edge_features", LinearFeatures(chain, "edge", features), penalties.edge))
    return with_norms(terms, read_norms(model.norms, model.l1))
