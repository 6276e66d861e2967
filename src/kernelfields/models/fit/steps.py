"""The steps of a fit in their order, and those that all fits have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ...arrays import Array
from ...constraints import Rule
from ...data.base_measure import BaseMeasure, kept_measure
from ...data.labels import unlabelled_items
from ...data.reading import FeatureSetting, read_to_fit
from ...data.training import Training, read_training
from ...data.types import Items, Lengths, Outputs, Weights
from ...fitting.held_out import HeldOutSet, read_held_out
from ...fitting.observers import EarlyStopping
from ...fitting.provenance import Provenance, provenance_of
from ...fitting.run import Found, mismatches, present, reporter, watched_search
from ...losses import CustomLoss, LossSettings
from ...objective import Certificate, Point, Problem
from ...solvers import Solver, Stop
from ...structures import Structure
from ...tables import loss_settings, structure_of
from ..labeller import SequenceLabeller
from ..model import fitted_structure

if TYPE_CHECKING:
    from ...fitting.checkpoint import Checkpoint
    from ...posterior import PosteriorMethod
    from ..averaging import Averaging
    from ..posterior_fit import Attributes


class FitArguments(NamedTuple):
    """What `fit` was called with."""

    X: Items
    y: Outputs
    lengths: Lengths = None
    sample_weight: Weights = None
    X_dev: Items | None = None
    y_dev: Outputs | None = None
    X_unlabelled: Items | None = None


@dataclass(frozen=True)
class Reader:
    """Settings that decide how a training set is read.

    Attributes
    ----------
    structure, features, loss, constraints, classes
        As estimators have them.
    own : collection of str
        The clique types with scores for every clique.
    observed_only : bool
        Whether only pairs of feature and label that occur have weights.
    binary : bool
        Whether a flat sparse matrix of booleans stays one.
    verbatim : bool
        Whether strings are observations themselves.
    missing : bool
        Whether NaN is a missing number rather than a mistake.
    looks : bool
        Whether kernels look at sequences without labels.
    """

    structure: str | Structure
    features: FeatureSetting
    loss: str | LossSettings | CustomLoss
    constraints: str | Rule | None
    classes: Sequence[Hashable] | None
    own: Collection[str] = frozenset()
    observed_only: bool = False
    binary: bool = False
    verbatim: bool = False
    missing: bool = False
    looks: bool = False

    def read(
        self, given: FitArguments, known: Sequence[Hashable] | None = None, base: Any = None
    ) -> Training:
        """Read and check a training set, changing nothing; labels ``known`` before come first.

        With the fitted model ``base``, it is read as that model reads.
        """
        X, y, lengths, weights, *_, X_unlabelled = given
        structure = structure_of(self.structure) if base is None else fitted_structure(base)
        rest: list[Any] = []
        learnt = None
        if loss_settings(self.loss).learns_without_labels:
            if X_unlabelled is not None:
                from ...data.unlabelled import joined

                X, y, weights = joined(X, y, lengths, weights, X_unlabelled)
        elif X_unlabelled is not None or unlabelled_items(y, X, lengths):
            from ...data.unlabelled import set_aside

            parts = set_aside(structure, X, y, lengths)
            rest = parts.rest(X_unlabelled, self.looks)
            learnt = parts.extractor(structure, self.features, rest, verbatim=self.verbatim)
            weights = parts.weights(weights, structure.words)
            (X, lengths, _), y = parts.labelled, parts.y
        if base is not None:
            extractor, inputs = base.features_, base._read(X, lengths)
        else:
            inputs, extractor = read_to_fit(
                structure,
                self.features,
                X,
                lengths,
                fitted=learnt,
                verbatim=self.verbatim,
                binary=self.binary,
                missing=self.missing,
            )
        training = read_training(
            inputs,
            extractor,
            y,
            structure,
            own=self.own,
            sample_weight=weights,
            loss=self.loss,
            constraints=self.constraints,
            known=known,
            classes=self.classes if known is None else None,
            observed_only=self.observed_only,
            by_parts=True,
        )
        training = training._replace(missing=self.missing)
        if not rest:
            return training
        from ...data.unlabelled import read_unlabelled

        others = read_unlabelled(training.structure, extractor, rest, inputs, missing=self.missing)
        return training._replace(unlabelled=others)


class Mode(NamedTuple):
    """The most probable functions, as a posterior sees them."""

    problem: Problem
    element: Array
    attributes: Attributes
    """Reads other elements as attributes of a model."""


class Fit(ABC):
    """The objective of a model on a training set."""

    training: Training

    @abstractmethod
    def search(self, held_out: HeldOutSet | None) -> Found:
        """Minimise; with held-out data, return what did best on them."""

    @abstractmethod
    def keep(self, model: Any, found: Found) -> None:
        """Make attributes of a model of what was found."""

    @abstractmethod
    def mode(self, found: Found) -> Mode:
        """Return what was found as the mode of a posterior."""


class ObjectiveModel(SequenceLabeller):
    """A model that minimises an objective."""

    posterior: str | PosteriorMethod | None
    structure_: Structure
    feature_names_in_: Array
    certificate_: Certificate | None
    objective_: float
    objective_path_: list[float]
    mismatch_: dict[str, float]
    posterior_: Averaging | None
    provenance_: Provenance
    n_iter_: int
    stop_reason_: str

    @abstractmethod
    def _objective(self, given: FitArguments) -> Fit:
        """Read and check settings and data, and return what is to be minimised."""

    def _fit(self, given: FitArguments) -> Self:
        """Read, search, keep, average."""
        fit, held_out = self._objective(given), None
        if not (given.X_dev is given.y_dev is None):
            held_out = read_held_out(self, fit.training, given.X_dev, given.y_dev)
        found = fit.search(held_out)
        fit.keep(self, found)
        if self.posterior is not None:
            self._average(fit.mode(found), given)
        return self

    def _average(self, mode: Mode, given: FitArguments) -> None:
        """Draw functions from the posterior around the most probable ones."""
        from ..posterior_fit import posterior_method, posterior_of

        data = given.X, given.y, given.lengths, given.sample_weight
        self.posterior_ = posterior_of(
            posterior_method(self, self.posterior, *data), *mode, self.random_state
        )


class ProblemFit(Fit):
    """A fit that minimises one `Problem` by one solver.

    Attributes
    ----------
    model : estimator
        The settings.
    problem, solver, stop
        What is minimised, how, and until when.
    checkpoint : Checkpoint or None
        The file that has the state of the search.
    """

    model: Any
    problem: Problem
    solver: Solver
    stop: Stop
    checkpoint: Checkpoint | None = None

    @abstractmethod
    def exact(self) -> Problem:
        """Return the same problem in double."""

    @abstractmethod
    def start(self) -> Array:
        """Return the element at which a search begins that goes on from no checkpoint."""

    @abstractmethod
    def held_out_loss(self, held_out: HeldOutSet) -> Callable[[Array], float]:
        """Return the loss of elements on held-out data."""

    @abstractmethod
    def take(self, model: Any, point: Point, element: Array) -> None:
        """Make attributes of a model of what predictions need: of a point, and its element as it is kept."""

    def search(self, held_out: HeldOutSet | None) -> Found:
        """Minimise; with held-out data, return what did best on them."""
        run, stopping = self.model.run, None
        if held_out is not None:
            stopping = EarlyStopping(self.held_out_loss(held_out), run.patience)
        watching = present(reporter(run.callback, self._draft), stopping)
        found = watched_search(
            self.problem,
            self._begin(),
            self.solver,
            self.stop,
            watching,
            self.exact,
            self.checkpoint,
            self.model.verbose,
        )
        if stopping is None or stopping.element is None:
            return found
        precise = self.exact()
        point = precise.at(precise.refreshed(stopping.element.astype(np.float64)))
        return found._replace(point=point, element=stopping.element, certificate=point.certificate)

    def _begin(self) -> Array:
        """Return the element at which the search begins: that of the checkpoint, if there is one."""
        kept = None if self.checkpoint is None else self.checkpoint.start(self.problem.size)
        if kept is None:
            return self.start()
        return self.problem.refreshed(kept.astype(self.problem.element_dtype))

    def _draft(self, point: Point) -> Any:
        """Return the model that a point of the search stands for."""
        model = copy(self.model)
        self.take(model, point, point.element)
        return model


def keep_training(model: Any, training: Training, measure: BaseMeasure) -> None:
    """Make attributes of a model of what predictions need to know of its training set."""
    features = training.inputs.features
    model.classes_, model.structure_ = training.encoded.classes, training.structure
    model.n_features_in_ = features.shape[1] if features.ndim == 2 else 1
    if training.inputs.names is not None:
        model.feature_names_in_ = training.inputs.names
    model.forbidden_, model.features_ = training.forbidden, training.extractor
    model.base_measure_ = None if measure is None else kept_measure(measure)


def keep_end(model: Any, training: Training, found: Found) -> None:
    """Make attributes of a model of how its search ended."""
    model.certificate_ = found.certificate
    model.provenance_ = provenance_of(training.inputs, training.encoded, training.unlabelled)
    model.n_iter_, model.stop_reason_ = found.iterations, found.reason.value


def keep_objective(model: Any, found: Found) -> None:
    """Make attributes of a model of the objective where the search ended."""
    model.objective_ = found.value
    if found.path:
        model.objective_path_ = list(found.path)
    model.mismatch_ = mismatches(found.point.problem, found.point.mismatch)
