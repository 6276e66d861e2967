"""The objective of a linear chain model: its spaces, their penalties, and in which precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.inputs import canonical
from ..data.rules import barred_scores, offset_of
from ..data.training import Observed, Training
from ..errors import InputError
from ..losses import Log
from ..objective import L1Norm, LinearChainData, Problem, Term, linear_chain_problem
from ..solvers import LBFGS, OWLQN, Solver
from ..spaces import LinearFeatures, as_floats
from ..structures import EdgeBatch
from ..tables import SOLVERS, choose
from .terms import Penalties, answer_features, edge_terms, second_order_terms, vertex_terms


def solver_of(model: Any) -> Solver:
    """Return the solver of a linear model; what cannot minimise its ℓ1 penalty is refused."""
    solver = choose(SOLVERS, model.solver, "solver")
    if not model.l1:
        if isinstance(solver, OWLQN):
            raise InputError(f"solver is {model.solver!r}, which is for l1 above 0; l1 is {model.l1}.")
        return solver
    if isinstance(solver, LBFGS):
        return OWLQN() if solver.memory is None else OWLQN(solver.memory)
    if isinstance(solver, OWLQN):
        return solver
    raise InputError(f"solver is {model.solver!r}; with l1 it must be 'lbfgs' or OWLQN(...).")


def linear_problem(model: Any, training: Training, base: Any, fast: bool) -> Problem:
    """Build the objective; ``fast`` takes the one without second derivatives where there is one."""
    features = training.inputs.features
    terms = linear_terms(model, training.chain, features, training.observed, fast=True)
    if fast and base is None and LinearChainData.suits(training.loss, terms):
        assert isinstance(training.loss, Log)
        single = features.dtype != np.float64 and model.tol >= 1e-4  # what it can certify
        barred = None if training.forbidden is None else barred_scores(training.forbidden)
        return linear_chain_problem(training.loss, terms, barred, np.float32 if single else np.float64)
    if features.dtype == bool:
        features = canonical(as_floats(features))
        terms = linear_terms(model, training.chain, features, training.observed, fast=True)
    return _whole_problem(training, features, terms, base)


def _whole_problem(training: Training, features: Any, terms: list[Term], base: Any) -> Problem:
    chain, forbidden = training.chain, training.forbidden
    offset = None if forbidden is None else offset_of(forbidden, chain, features.dtype)
    if base is not None:
        before = base._scores(training.inputs._replace(features=features)).scores
        offset = before if offset is None else {name: offset[name] + before[name] for name in before}
    return Problem.of(training.loss, terms, offset, features.dtype)


def exact_problem(model: Any, problem: Problem, training: Training, base: Any) -> Problem:
    """Return the same objective in double: the scores of the search carry its rounding."""
    if isinstance(problem.data, LinearChainData):
        return problem.exact()
    features = canonical(training.inputs.features.astype(np.float64, copy=False))
    terms = linear_terms(model, training.chain, features, training.observed, fast=True)
    return _whole_problem(training, features, terms, base)


def linear_terms(
    model: Any, chain: EdgeBatch, features: Any, observed: Observed | None = None, fast: bool = False
) -> list[Term]:
    """Build the sum of spaces; ``fast`` prepares sparse features for many products."""
    penalties = Penalties.of(model.penalty, model.edge_penalty, model.second_order_penalty)
    space = answer_features(chain, features, observed.features if observed else None, fast)
    norm = L1Norm(float(model.l1)) if model.l1 else None
    terms = [Term("features", space, penalties.node, norm)]
    terms += vertex_terms(chain, penalties, bias=model.bias, boundaries=model.boundaries)
    terms += edge_terms(chain, penalties, observed.edges if observed else None)
    if model.edge_features:
        terms.append(Term("edge_features", LinearFeatures(chain, "edge", features), penalties.edge))
    return terms + second_order_terms(chain, penalties)
