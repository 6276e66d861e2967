"""Kernel models: how all of them are fitted, kept, and asked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..approximation import FourierMap
from ..arrays import Array
from ..checks import each, require_not_negative, require_settings
from ..data.base_measure import BaseMeasure, kept_measure
from ..data.seeds import random_state
from ..data.training import Training
from ..data.types import Items, Lengths, Outputs, Weights
from ..errors import InputError
from ..fitting.checkpoint import KERNEL_SETTINGS, checkpoint_of
from ..fitting.held_out import HeldOutSet, read_held_out
from ..fitting.observers import EarlyStopping
from ..fitting.provenance import provenance_of
from ..fitting.run import (
    Found,
    mismatches,
    open_observer,
    present,
    previous,
    reporter,
    starts_afresh,
    watched_search,
)
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS, selecting
from ..gram import origins, unique_observations
from ..kernels import Kernel, Weighted
from ..models.attributes import keep_scorers
from ..models.averaging import Averaging
from ..models.expansion import Gathered, expand, gather
from ..models.fold_choice import posterior_method
from ..models.full_gap import full_certificate
from ..models.graph_diagnosis import warn_of_graphs
from ..models.kernel_held_out import held_out_fixed, held_out_loss
from ..models.kernel_recipe import KernelRecipe, KernelTraining
from ..models.kernel_scorers import kernel_model
from ..models.kernel_weights import weighed
from ..models.labeller import SequenceLabeller
from ..models.learnt import KERNEL
from ..models.model import Model
from ..models.parts import BoundParts, FixedScores, Part, Parts, fixed_measure, parts_of
from ..models.posterior_fit import kernel_attributes, posterior_of, selected_attributes
from ..models.selected import continued, finish, gathered, pair_scores, selected_of, task_of
from ..models.selected_held_out import SelectionHeldOut
from ..models.separate_kernels import SeparateKernels
from ..models.terms import kernel_solver, solver_for
from ..models.vertex_kernels import VertexKernels
from ..models.warm import warm_element
from ..objective import Certificate, Point
from ..observations import in_precision
from ..posterior import require_posterior
from ..selection import Atoms, Growth, GrowthTask, Selection, SelectionReason, SelectionStep
from ..tables import KERNEL_SOLVERS, LOW_RANK_SOLVERS, choose

FIT_ONLY = (
    "certificate_",
    "objective_",
    "objective_path_",
    "certificate_space_",
    "weights_certificate_",
    "mismatch_",
    "n_iter_",
    "stop_reason_",
    "path_",
    "selected_",
    "_growth",
)
"""What is known about a fit and needed for no prediction."""


class KernelModel(SequenceLabeller):
    """A chain model whose functions of the input are kernel expansions over its training set."""

    kernel_: Kernel | dict[Hashable, Kernel]
    edge_kernel_: Kernel | None
    basis_: Any
    dual_coef_: Array
    edge_dual_coef_: Array | None
    transitions_: Array
    _kernels: VertexKernels | SeparateKernels
    fourier_: FourierMap | None
    base_measure_: BaseMeasure
    certificate_space_: str
    kernel_weights_: Array | None
    weights_certificate_: Certificate | None
    _learnt = KERNEL
    _transient = ("_growth", "_residual")

    _learns_weights: ClassVar[bool] = True  # of `Weighted` kernels
    kernel: Any
    run: Run
    path_: list[SelectionStep]
    selected_: dict[str, Atoms]
    _growth: Growth | None
    posterior_: Averaging | None

    def _recipe(self) -> KernelRecipe:
        """Return the settings, by the names they have for all kernel models."""
        names = [field.name for field in fields(KernelRecipe) if field.name != "parts"]
        settings = {name: getattr(self, name) for name in names if hasattr(self, name)}
        if self._learns_weights and isinstance(self.kernel, Weighted):
            settings |= {"kernel": list(self.kernel.kernels), "kernel_weights": self.kernel.by}
        return KernelRecipe(parts=self._given_parts(), **settings)

    def _given_parts(self) -> Parts:
        """Return what differs from the parts of a `KernelCRF`."""
        return parts_of(self, Part, FixedScores)

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
        X_unlabelled: Items | None = None,
    ) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X : list of (T, D) arrays, or flat array
            Sequences.
        y : list of label sequences
            Labels; None marks one that was not observed. In the place of a label sequence, None or −1 says
            that there are no labels: the sequence counts as one of ``X_unlabelled``.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        sample_weight : (S,) array, optional
            How many times each sequence counts.
        X_dev, y_dev : lists, optional
            Held-out sequences: the search ends when their likelihood has not risen for ``patience``
            iterations, and the best function seen is kept. With a selection, it is the number of
            functions that they decide about. Kernel values between them and the basis are kept in memory.
        X_unlabelled : list, optional
            Sequences without labels, for kernels that look at observations before they compare any
            (`Kernel.on`), and for losses that learn from them (``loss="entropy"``). Other losses leave
            them out; where neither kernel nor loss look at them, they are refused.
        """
        require_settings(vars(self), {**CHECKS, "penalty": each(require_not_negative), "sparse": selecting})
        recipe = self._recipe()
        solvers = KERNEL_SOLVERS if recipe.approximation is None else LOW_RANK_SOLVERS
        solver = solver_for(choose(solvers, recipe.solver, "solver"), recipe.norms, recipe.solver)
        training = recipe.read(X, y, lengths, sample_weight, X_unlabelled)
        given, recipe = recipe, recipe.on(recipe.observations(training))
        if given.uses_unlabelled:
            warn_of_graphs(recipe.kernel, training)
        kernels = VertexKernels.of(recipe.kernel, recipe.penalty, training.encoded.classes)
        edge_kernel = _edge_kernel(recipe, kernels)
        observations, rows = unique_observations(in_precision(training.inputs.features, recipe.dtype))
        data = KernelTraining(recipe, training, observations, rows, kernels, edge_kernel)
        _require_steady(recipe)
        self.kernel_weights_, self.weights_certificate_, bound = None, None, None
        if recipe.kernel_weights is not None:
            data, self.kernel_weights_, bound = weighed(data, solver)
            recipe, kernels, edge_kernel = data.recipe, data.kernels, data.edge_kernel
        selection = recipe.selection
        if selection is not None:
            self._fit_selected(data, selection, X_dev, y_dev, (X, y, lengths, sample_weight))
            self._certify_weights(bound)
            return self
        checkpoint = None
        if recipe.run.checkpoint is not None:
            # before anything is drawn: a generator that has drawn is another setting
            checkpoint = checkpoint_of(given, training.contents(), KERNEL_SETTINGS)
        expanded = expand(data)
        problem = expanded.problem
        solver = kernel_solver(solver, recipe, problem)
        if recipe.posterior is not None:
            read = kernel_attributes(expanded, len(training.encoded.classes))
            require_posterior(problem)
        stopping = None
        if X_dev is not None or y_dev is not None:
            held_out = read_held_out(self, training, X_dev, y_dev)
            loss = held_out_loss(recipe, expanded, training, held_out)
            stopping = EarlyStopping(loss, recipe.run.patience)
        kept = None if checkpoint is None else checkpoint.start(problem.size)
        start = problem.zero() if kept is None else problem.refreshed(kept.astype(problem.element_dtype))
        last = previous(self) if recipe.warm_start and kept is None else None
        if last is not None:
            warm = warm_element(last, problem, kernels, observations, training.encoded.classes, data.others)
            start = start if warm is None else warm

        def draft(point: Point) -> KernelModel:
            model = copy(self)
            model._kernels, model.edge_kernel_, model.fourier_ = kernels, edge_kernel, expanded.fourier
            model._take(training, observations, gather(point, expanded.bases), data.others, point)
            return model

        watching, exact = present(reporter(recipe.run.callback, draft), stopping), expanded.exact
        found = watched_search(
            problem, start, solver, recipe.stop, watching, exact, checkpoint, recipe.verbose
        )
        if stopping is not None and stopping.element is not None:
            precise = exact()
            point = precise.at(precise.refreshed(stopping.element.astype(np.float64)))
            found = found._replace(point=point, certificate=point.certificate)
        self._kernels, self.edge_kernel_ = kernels, edge_kernel
        self.fourier_ = expanded.fourier
        self.certificate_space_ = "full" if recipe.approximation is None else "approximation"
        whole = recipe.posterior is not None
        gathered_ones = gather(found.point, expanded.bases, whole=whole)
        self._keep(training, observations, gathered_ones, data.others, found, whole=whole)
        self.basis_origin_ = origins(self.basis_, observations, rows, training.inputs.offsets)
        self._certify_weights(bound)
        if recipe.posterior is not None:
            method = posterior_method(self, recipe.posterior, X, y, lengths, sample_weight)
            self.posterior_ = posterior_of(method, problem, found.point.element, read, recipe.random_state)
        return self

    def _certify_weights(self, bound: float | None) -> None:
        """Say how far the objective can be above that of the best weights."""
        if bound is not None and self.certificate_ is not None:
            value = self.certificate_.value
            self.weights_certificate_ = self.certificate_._replace(lower_bound=min(bound, value))

    def _fit_selected(
        self,
        data: KernelTraining,
        selection: Selection,
        X_dev: Items | None,
        y_dev: Outputs | None,
        given: tuple[Any, Any, Any, Any],
    ) -> Self:
        """Let the space grow, fit all coefficients at the end, and take over what was found."""
        recipe, training = data.recipe, data.training
        chosen = task_of(data, selection)
        task = chosen.task
        judge = None
        if X_dev is not None or y_dev is not None:
            judge = self._judge(data, task, read_held_out(self, training, X_dev, y_dev))
        seed = int(random_state(recipe.random_state).randint(2**31 - 1))
        last = previous(self) if recipe.warm_start else None
        before = None if last is None else getattr(last, "_growth", None)
        with open_observer(recipe) as observer:
            growth = continued(before, Growth(task, selection, seed, judge, observer))
            state = growth.run()
        found, state = finish(growth, state, choose(LOW_RANK_SOLVERS, recipe.solver, "solver"), recipe.stop)
        parts, ends = gathered(chosen, state)
        several = len(chosen.kernels) > 1
        self._kernels = SeparateKernels(tuple(chosen.kernels), tuple(ends)) if several else data.kernels
        self.edge_kernel_, self.fourier_, self.certificate_space_ = data.edge_kernel, None, "selection"
        self._keep(training, task.pools[next(iter(task.pools))].observations, parts, data.others, found)
        pairs = pair_scores(state, len(self.classes_))
        self.transitions_ = self.transitions_ if pairs is None else pairs
        self.basis_origin_ = origins(
            self.basis_,
            task.pools[next(iter(task.pools))].observations,
            task.rows,
            training.inputs.offsets,
        )
        if recipe.posterior is not None:
            read = selected_attributes(chosen, state, len(self.classes_))
            method = posterior_method(self, recipe.posterior, *given)
            self.posterior_ = posterior_of(
                method, found.point.problem, found.point.element, read, recipe.random_state
            )
        self.path_, self.selected_ = list(growth.path), selected_of(state, task.rows)
        self.n_iter_, self.stop_reason_ = growth.visits, growth.ending.value
        self._growth = (
            growth.at_rest() if recipe.warm_start or growth.ending is SelectionReason.INTERRUPTED else None
        )
        return self

    def _judge(self, data: KernelTraining, task: GrowthTask, held_out: HeldOutSet) -> SelectionHeldOut:
        """Return what judges functions on held-out sequences."""
        recipe, training = data.recipe, data.training
        observations = in_precision(held_out.inputs.features, recipe.dtype)
        fixed = held_out_fixed(recipe, training, held_out)
        return SelectionHeldOut(task, observations, training, held_out, fixed, data.others)

    def full_gap(
        self, X: Items, y: Outputs, *, lengths: Lengths = None, sample_weight: Weights = None
    ) -> Certificate | None:
        """Certify the model among all functions of its kernels' spaces, not only those of its subspace.

        Needs the training set again, and takes one product with its whole Gram matrix, N² kernel values.

        Parameters
        ----------
        X, y, lengths, sample_weight
            The training set, as `fit` had it.

        Returns
        -------
        Certificate or None
            Value, lower bound over the full space, and gap; None where no bound exists.
        """
        self._require_fitted()
        if self._recipe().further_looks or self._recipe().norms:
            raise InputError("full_gap knows functions of vertices and edges with squared penalties only.")
        if self.fourier_ is not None:
            raise InputError("Random Fourier features are not functions of the kernel's space.")
        if isinstance(self._kernels, SeparateKernels):
            raise InputError("full_gap is not there for a selection among several kernels.")
        recipe = self._recipe()
        training = recipe.read(X, y, lengths, sample_weight)
        if training.encoded.classes.tolist() != self.classes_.tolist():
            raise InputError("full_gap needs the training set: its labels are not those of the model.")
        observations = in_precision(training.inputs.features, recipe.dtype)
        rows = np.arange(observations.shape[0])
        data = KernelTraining(recipe, training, observations, rows, self._kernels, self.edge_kernel_)
        return full_certificate(self, data)

    def compact(self) -> Self:
        """Return a model that predicts the same, without what is only known about the fit.

        That is: certificate, mismatches, callback.
        """
        self._require_fitted()
        result = copy(self)
        for name in FIT_ONLY:
            vars(result).pop(name, None)
        result.run = replace(self.run, callback=None)
        return result

    def _keep(
        self,
        training: Training,
        observations: Any,
        gathered: Gathered,
        others: BoundParts,
        found: Found,
        *,
        whole: bool = False,
    ) -> None:
        point = found.point
        self._take(training, observations, gathered, others, point, whole=whole)
        self.certificate_: Certificate | None = found.certificate
        self.objective_ = float(point.value)
        if found.path:
            self.objective_path_ = list(found.path)
        self.mismatch_ = mismatches(point.problem, point.mismatch)
        self.provenance_ = provenance_of(training.inputs, training.encoded, training.unlabelled)
        self.n_iter_ = found.iterations
        self.stop_reason_ = found.reason.value

    def _take(
        self,
        training: Training,
        observations: Any,
        gathered: Gathered,
        others: BoundParts,
        point: Point,
        *,
        whole: bool = False,
    ) -> None:
        """Take over what predictions need; with ``whole`` observations without coefficients, too."""
        self.classes_, self.structure_ = training.encoded.classes, training.structure
        self.basis_, self.dual_coef_, self.edge_dual_coef_ = gathered
        self.kernel_ = self._kernels.by_label(self.classes_)
        scorers = others.scorers(point.problem, point.element)
        if not whole:
            scorers = {name: one.pruned() for name, one in scorers.items()}
        keep_scorers(self, scorers, len(self.classes_))
        self.n_features_in_ = observations.shape[1] if observations.ndim == 2 else 1
        if training.inputs.names is not None:
            self.feature_names_in_ = training.inputs.names
        self.forbidden_ = training.forbidden
        self.features_ = training.extractor
        measure = self._recipe().base_measure
        self.base_measure_ = None if measure is None else kept_measure(measure)

    def _model(self) -> Model:
        return kernel_model(self)

    def _settle(self, state: Mapping[str, Any]) -> None:
        known = dict(state)
        older = known.pop("clique_kernels_", None) or ()
        vars(self).update(known)
        # files of older versions have it among the settings only
        vars(self).setdefault("base_measure_", fixed_measure(self._given_parts()))
        if older:
            L = len(self.classes_)
            parts = {f"clique_kernel {n}": one.reshaped(L) for n, one in enumerate(older)}
            vars(self)["parts_"] = {**parts, **(vars(self).get("parts_") or {})}


def _require_steady(recipe: KernelRecipe) -> None:
    """Refuse to go on from what would be another search the next time."""
    if recipe.warm_start and recipe.approximation is not None:
        raise InputError("warm_start does not go with an approximation: its subspace is another every time.")
    if recipe.run.checkpoint is None:
        return
    if recipe.selection is not None:
        raise InputError("A selection keeps no checkpoints; it goes on by warm_start=True.")
    if recipe.approximation is not None and recipe.random_state is None:
        raise InputError(
            "A checkpoint with an approximation needs a random_state: another draw, another basis."
        )


def _edge_kernel(recipe: KernelRecipe, kernels: VertexKernels) -> Kernel | None:
    """Return the kernel on edges; the very object that vertices have, if it is the same."""
    return kernels.kernel if recipe.edge_kernel is True else recipe.edge_kernel
