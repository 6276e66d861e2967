"""Conditional random fields with binary hidden units at every position."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import chosen, require_settings, whole
from ..constraints import Rule
from ..data.reading import FeatureSetting
from ..data.rules import offset_of
from ..data.seeds import random_state
from ..data.training import Training, require_labelling, warn_of
from ..data.types import Items, Lengths, Outputs, Seed, Weights
from ..decoders import Decoder
from ..errors import InputError
from ..fitting.held_out import read_held_out
from ..fitting.observers import EarlyStopping
from ..fitting.provenance import provenance_of
from ..fitting.run import open_observer, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..losses import Log
from ..models.attributes import keep_scorers, learnt_model
from ..models.fit.steps import FitArguments, Reader
from ..models.hidden_units import HiddenUnitProblem, HiddenUnitScorer
from ..models.labeller import SequenceLabeller
from ..models.learnt import FREE, LABELLER
from ..models.model import Model
from ..models.parts import BoundParts, FreeScores, Parts, compose, free_parts, parts_of, require_no_norms
from ..objective import Problem
from ..persistence.fields import Field, Kind, Numbers
from ..solvers import LBFGS, ConjugateGradients, Result, Solver, Stop
from ..structures import Structure, StructureBatch
from ..tables import LOG_LOSSES, SOLVERS, choose, structure_of


@dataclass(eq=False, repr=False)
class HiddenUnitCRF(SequenceLabeller):
    """Hidden-unit conditional random field [vandermaaten2011].

    Every position has K binary hidden units z between observation and label. Given x and y they are
    independent, and are summed out in closed form: the score of label y at a position is

        θ(x, y) = b_y + Σ_k log(1 + exp(⟨w_k, x⟩ + c_k + V_{k,y})),

    beside transitions, start and end as in `CRF`. Each unit is a feature that is learnt, and that all labels
    share; so many units make 2^K linear functions. Minimises −log p(y|x) plus (λ/2)·(squares of all weights).

    It is **not convex**: the search follows the gradient from ``n_init`` random starts, and the lowest
    objective is kept. There is no certificate.

    Parameters
    ----------
    penalty : float
        λ of the weights of units, of b, start and end.
    n_units : int
        K.
    parts : Parts
        What differs from the default parts that look at labels alone, as in `CRF`.
    features, structure, classes, constraints
        As in `CRF`; the structure must label vertices.
    loss : "log" or losses.Log
        The log loss, with costs or class weights inside, as in `CRF`.
    n_init : int
        Number of starts.
    solver : "lbfgs", "conjugate-gradients" or Solver
        How to minimise, without second derivatives.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides: the best labelling as a whole, or label by label.
    tol : float
        The search ends when the norm of the gradient is below ``tol`` / 100, relative to the start.
    max_iter : int
        Limit of iterations of a search; reaching it is a `ConvergenceWarning`.
    random_state : int, RandomState or None
        Seed of the starts, and of `sample`.
    run : Run
        Heeds ``patience`` and ``callback``.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_ : (L,) array
        Labels, in the order of all arrays over labels.
    unit_coef_ : (K, D) array
        w; ``unit_intercept_`` (K,) is c, ``unit_labels_`` (K, L) is V.
    intercept_, transitions_, start_, end_ : arrays
        Of labels alone, as in `CRF`; ``second_order_`` (L, L, L) with "chain2".
    objectives_ : list of float
        The objective that each start led to; the lowest is that of the model, ``objective_``.
    certificate_ : None
        No bound is known: the loss is not convex in the weights.
    n_iter_, stop_reason_, provenance_, forbidden_, n_features_in_, feature_names_in_
        As in `CRF`.

    Examples
    --------
    >>> from kernelfields import HiddenUnitCRF
    >>> X = [[[-1.0], [0.0], [0.1], [1.0]], [[1.0], [-1.1], [0.1]], [[0.0], [-0.9], [0.9]], [[0.1], [1.1]]]
    >>> y = [["out", "in", "in", "out"], ["out", "out", "in"], ["in", "out", "out"], ["in", "out"]]
    >>> HiddenUnitCRF(0.01, n_units=8, random_state=0).fit(X, y).predict([[[-1.0], [1.0], [0.0]]])
    [['out', 'out', 'in']]
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        **LABELLER,
        **FREE,
        "unit_coef_": Numbers("K D"),
        "unit_intercept_": Numbers("K"),
        "unit_labels_": Numbers("K L"),
        "objectives_": Kind(list),
    }
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["warm_start", "checkpoint"], "it starts several times, at random"),
        "X_unlabelled": "its loss does not learn from sequences without labels",
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"patience", "callback"})

    penalty: float = 0.1
    _: KW_ONLY
    n_units: int = 100
    parts: Parts = Parts()
    features: FeatureSetting = None
    structure: str | Structure = "chain"
    classes: Sequence[Hashable] | None = None
    loss: str | Log = "log"
    constraints: str | Rule | None = None
    n_init: int = 1
    solver: str | Solver = "lbfgs"
    decoder: str | Decoder = "viterbi"
    tol: float = 1e-2
    max_iter: int = 1000
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(
        self,
        X: Items,
        y: Outputs,
        *,
        lengths: Lengths = None,
        sample_weight: Weights = None,
        X_dev: Items | None = None,
        y_dev: Outputs | None = None,
    ) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X, y, lengths, sample_weight, X_dev, y_dev
            As in `CRF.fit`.
        """
        require_settings(vars(self), {**CHECKS, "loss": chosen(LOG_LOSSES), "n_units": whole(1, 100_000)})
        solver = choose(SOLVERS, self.solver, "solver")
        if not isinstance(solver, LBFGS | ConjugateGradients):
            raise InputError(f"solver is {self.solver!r}, which needs curvatures; use 'lbfgs'.")
        training = self._training(FitArguments(X, y, lengths, sample_weight))
        problem = self._problem(training)
        held_out = None
        if X_dev is not None or y_dev is not None:
            held_out = read_held_out(self, training, X_dev, y_dev)

        def judged(element: Array) -> float:
            assert held_out is not None
            return held_out.loss_of(self._draft(training, problem, element)._model())

        random = random_state(self.random_state)
        found = []
        for _ in range(self.n_init):
            stopping = None if held_out is None else EarlyStopping(judged, self.run.patience)
            found.append(self._search(problem, problem.start(random), solver, training, stopping))
        objectives = [point.value for point, _ in found]
        point, result = found[int(np.argmin(objectives))]
        self._take(training, problem, point.element)
        self.objectives_, self.objective_ = objectives, float(point.value)
        self.certificate_ = None
        self.provenance_ = provenance_of(training.inputs, training.encoded)
        self.n_iter_, self.stop_reason_ = result.progress.iteration, result.reason.value
        if not result.reason.converged:
            warn_of(result.reason, result.progress, None)
        return self

    def _training(self, given: FitArguments) -> Training:
        """Read and check a training set, changing nothing."""
        require_labelling(structure_of(self.structure), "n_units")
        return Reader(
            self.structure, self.features, self.loss, self.constraints, self.classes, binary=True
        ).read(given)

    def _problem(self, training: Training) -> HiddenUnitProblem:
        batch, forbidden = training.batch, training.forbidden
        terms = self._labels_alone(batch).terms()
        offset = None if forbidden is None else offset_of(forbidden, training.batch, np.float64)
        free = Problem.of(training.loss, terms, offset)
        return HiddenUnitProblem(training.inputs.features, self.n_units, self.penalty, free)

    def _labels_alone(self, batch: StructureBatch) -> BoundParts:
        """Return the parts that look at labels alone."""
        given = parts_of(self, FreeScores)
        require_no_norms(self, given)
        return BoundParts.of_labels(compose(free_parts(batch), given, self.penalty), batch)

    def _search(
        self,
        problem: HiddenUnitProblem,
        start: Array,
        solver: Solver,
        training: Training,
        stopping: EarlyStopping | None,
    ) -> tuple[Any, Result]:
        """Minimise from a start; with held-out data, the point that was best on them."""

        def draft(point: Any) -> HiddenUnitCRF:
            return self._draft(training, problem, point.element)

        stop = Stop(gap=self.tol, gradient=1e-2 * self.tol, iterations=self.max_iter)
        with open_observer(self, draft, stopping) as watching:
            task: Any = problem  # has what solvers ask of smooth functions without second derivatives
            result = solver.minimize(task, start, stop, watching)
        if stopping is not None and stopping.element is not None:
            return problem.at(stopping.element), result
        return result.point, result

    def _draft(self, training: Training, problem: HiddenUnitProblem, element: Array) -> HiddenUnitCRF:
        model = copy.copy(self)
        model._take(training, problem, element)
        return model

    def _take(self, training: Training, problem: HiddenUnitProblem, element: Array) -> None:
        """Take over what predictions need."""
        weights = problem.parts(element)
        self.unit_coef_ = np.ascontiguousarray(weights.coef.T)
        self.unit_intercept_, self.unit_labels_ = weights.bias.copy(), weights.labels.copy()
        self.classes_, self.structure_ = training.encoded.classes, training.structure
        keep_scorers(
            self, self._labels_alone(training.batch).scorers(problem.free, weights.free), len(self.classes_)
        )
        self.n_features_in_ = training.inputs.features.shape[1]
        if training.inputs.names is not None:
            self.feature_names_in_ = training.inputs.names
        self.forbidden_, self.features_ = training.forbidden, training.extractor

    def _model(self) -> Model:
        units = HiddenUnitScorer(self.unit_coef_, self.unit_intercept_, self.unit_labels_)
        return learnt_model(self, units)
