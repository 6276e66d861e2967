"""Fits of linear models."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...data.inputs import canonical
from ...data.rules import barred_scores
from ...data.training import Training
from ...errors import InputError
from ...fitting.held_out import HeldOutSet
from ...fitting.run import Found, previous
from ...losses import LogLoss
from ...objective import Geometry, L1Norm, LinearChainData, Point, Problem, RowData, Term
from ...solvers import LBFGS, OWLQN, ConjugateGradients, Solver, Stop
from ...spaces import as_floats
from ...structures import StructureBatch
from ...tables import SOLVERS, choose
from ..attributes import attributes_of, keep_scorers, scorers_of
from ..parts import (
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
from ..scorers import LearntScorer, add_scorers
from ..terms import solver_for
from .steps import Mode, ProblemFit, keep_end, keep_objective, keep_training

if TYPE_CHECKING:
    from ...fitting.checkpoint import Checkpoint

SINGLE = 1e-4
"""The least relative gap that a search in single precision can certify."""
EPOCHS = 10
"""Passes of stochastic descent for large training sets: few beside the iterations they save."""
MANY = 500
"""Sequences from which on that pays."""
FIRST_ORDER = (LBFGS, OWLQN, ConjugateGradients)
"""Solvers that ask for no second derivatives."""


def solver_of(model: Any) -> Solver:
    """Return the solver of a linear model; what cannot minimise its norms is refused."""
    solver = choose(SOLVERS, model.solver, "solver")
    norms = norms_of(parts_of(model, Part, FixedScores))
    if model.l1:
        if "features" in norms:
            raise InputError("l1 is the ℓ1 norm of the part 'features', which has another; leave out one.")
        norms["features"] = L1Norm(float(model.l1))
    return solver_for(solver, norms, model.solver)


class LinearFit(ProblemFit):
    """The objective of a linear model on a training set.

    Parameters
    ----------
    model : CRF
        The settings.
    training : Training
        The training set.
    base : CRF, optional
        A fitted model whose scores are added to those that are learnt.
    checkpoint : Checkpoint, optional
        The file that has the state of the search.
    whole : bool
        Whether the loss must be one of whole arrays of scores, even where there is a faster one.
    """

    def __init__(
        self,
        model: Any,
        training: Training,
        base: Any = None,
        checkpoint: Checkpoint | None = None,
        *,
        whole: bool = False,
    ) -> None:
        self.model, self.training, self.base, self.checkpoint = model, training, base, checkpoint
        self.solver = solver_of(model)
        self.stop = Stop(gap=model.tol, gradient=1e-2 * model.tol, iterations=model.max_iter)
        self.measure = fixed_measure(parts_of(model, Part, FixedScores))
        features, random = training.inputs.features, model.random_state
        self.data = PartData(training.batch, features, training.observed, random=random)
        self.parts = BoundParts.of(linear_parts(model, training.batch), self.data)
        # the faster ones have no second derivatives
        self.problem = self._problem(not whole and isinstance(self.solver, FIRST_ORDER))

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
        offset = training.fixed_scores(self.measure if self.base is None else None, dtype)
        if self.base is not None:
            learnt = self.base._model()._replace(forbidden=None, scaling=None)
            known = learnt.scores(training.inputs._replace(features=data.features)).scores
            offset = known if offset is None else {name: offset[name] + known[name] for name in known}
        return Problem.of(training.loss, terms, offset, dtype)

    def scorers(self, element: Array) -> dict[str, LearntScorer]:
        """Return what a model keeps of an element, on top of the weights of the base."""
        found = self.parts.scorers(self.problem, element)
        return found if self.base is None else add_scorers(found, scorers_of(self.base))

    def start(self) -> Array:
        """Return the weights of the last fit, if labels and features are the same; else a first guess."""
        before = previous(self.model) if self.model.warm_start and self.base is None else None
        if (
            before is not None
            and np.array_equal(before.classes_, self.training.encoded.classes)
            and before.n_features_in_ == self.training.inputs.features.shape[1]
        ):
            return self.problem.refreshed(self.parts.element(self.problem, scorers_of(before)))
        return self._guess()

    def _guess(self) -> Array:
        """Return zero, or what some passes of stochastic descent lead to."""
        from ...online import Sweep, descend_first

        epochs = self.model.run.quick_start
        if epochs is None:
            epochs = EPOCHS if self.problem.structure.n_instances >= MANY else 0
        if epochs == 0 or not Sweep.suits(self.problem):
            return self.problem.zero()
        return descend_first(self.problem, epochs, seed=0)

    def held_out_loss(self, held_out: HeldOutSet) -> Callable[[Array], float]:
        """Return the loss of elements on held-out data: that of the models that they would be."""

        def loss(element: Array) -> float:
            model = copy(self.model)
            self._take(model, element)
            return held_out.loss_of(model._model())

        return loss

    def take(self, model: Any, point: Point, element: Array) -> None:
        """Make attributes of a model of what predictions need."""
        self._take(model, element)

    def keep(self, model: Any, found: Found) -> None:
        """Make attributes of a model of what was found."""
        self._take(model, found.element)
        keep_end(model, self.training, found)
        keep_objective(model, found)

    def mode(self, found: Found) -> Mode:
        """Return what was found as the mode of a posterior."""
        count = len(self.training.encoded.classes)

        def attributes(problem: Problem, element: Array) -> dict[str, Any]:
            return attributes_of(self.parts.scorers(problem, element), count)

        return Mode(self.problem, found.element, attributes)

    def _take(self, model: Any, element: Array) -> None:
        keep_scorers(model, self.scorers(element), len(self.training.encoded.classes))
        keep_training(model, self.training, self.measure)


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
