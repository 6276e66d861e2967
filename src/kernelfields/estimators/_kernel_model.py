"""Kernel models: how all of them are fitted, kept, and asked."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from ..approximation import FourierMap
from ..arrays import Array
from ..checks import each, require_not_negative, require_settings
from ..constraints import Rule
from ..data.base_measure import BaseMeasure
from ..data.reading import FeatureSetting
from ..data.training import Training
from ..data.types import Items, Lengths, Outputs, Seed, Weights
from ..errors import InputError
from ..fitting.checkpoint import KERNEL_SETTINGS, checkpoint_of
from ..fitting.run import precision_of, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS, selecting
from ..graphs import Diagnosis, warn_of_uninformative
from ..graphs.permutations import agreement_test
from ..kernels import Kernel, SpectralKernel, Weighted
from ..losses import CustomLoss, LossSettings
from ..models.fit.kernel import KernelFit, full_certificate
from ..models.fit.selected import SelectedFit
from ..models.fit.steps import FitArguments, ObjectiveModel
from ..models.kernel_problem import KernelProblem, kernel_reader, part_data
from ..models.kernel_scorers import kernel_model
from ..models.kernel_settings import KernelSettings, kernel_settings
from ..models.kernel_weights import weigh_kernels
from ..models.learnt import KERNEL
from ..models.model import Model
from ..models.parts import FixedScores, Part, Parts, fixed_measure, norms_of, parts_of
from ..models.separate_kernels import SeparateKernels
from ..models.terms import solver_for
from ..models.vertex_kernels import VertexKernels
from ..objective import Certificate
from ..observations import take
from ..posterior import require_posterior
from ..selection import Atoms, Growth, SelectionStep
from ..solvers import Solver
from ..structures import Structure
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


class KernelModel(ObjectiveModel):
    """A chain model whose functions of the input are kernel expansions over its training set."""

    kernel_: Kernel | dict[Hashable, Kernel]
    edge_kernel_: Kernel | None
    basis_: Any
    basis_origin_: Array | None
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
    structure: str | Structure
    features: FeatureSetting
    classes: Sequence[Hashable] | None
    loss: str | LossSettings | CustomLoss = "log"
    constraints: str | Rule | None = None
    solver: str | Solver
    warm_start: bool
    random_state: Seed
    run: Run
    path_: list[SelectionStep]
    selected_: dict[str, Atoms]
    _growth: Growth | None

    def _settings(self) -> KernelSettings:
        """Return what is learnt, by the names it has for all kernel models."""
        settings = replace(kernel_settings(self), parts=self._given_parts())
        weighted = self._learns_weights and isinstance(self.kernel, Weighted)
        return replace(settings, kernel=list(self.kernel.kernels)) if weighted else settings

    def _given_parts(self) -> Parts:
        """Return what differs from the parts of a `KernelCRF`."""
        return parts_of(self, Part, FixedScores)

    @property
    def edge_penalty(self) -> float | None:
        """λ of scores of several labels, where it is not that of all parts."""
        return None

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
        return self._fit(FitArguments(X, y, lengths, sample_weight, X_dev, y_dev, X_unlabelled))

    def _objective(self, given: FitArguments) -> KernelFit | SelectedFit:
        require_settings(vars(self), {**CHECKS, "penalty": each(require_not_negative), "sparse": selecting})
        settings, weighed, checkpoint = self._settings(), None, None
        solvers = KERNEL_SOLVERS if settings.approximation is None else LOW_RANK_SOLVERS
        solver = solver_for(choose(solvers, self.solver, "solver"), norms_of(settings.parts), self.solver)
        training = self._training(given)
        data = part_data(training, self.run, self.random_state)
        self._require_steady(settings)
        if isinstance(self.kernel, Weighted):
            weighed = weigh_kernels(self, self.kernel.by, settings, training, data, solver)
            settings = weighed.settings
        if settings.selection is not None:
            return SelectedFit(self, settings, training, data, settings.selection, weighed)
        if self.run.checkpoint is not None:
            # before anything is drawn: a generator that has drawn is another setting
            precision = np.dtype(precision_of(self.run)).name
            checkpoint = checkpoint_of(self, [*training.contents(), precision], KERNEL_SETTINGS)
        functions = KernelProblem(self, settings, training, data)
        if settings.uses_unlabelled:
            warn_of_graphs([one.kernel for one in functions.vertices.values()], training)
        fit = KernelFit(self, functions, solver, weighed, checkpoint)
        if self.posterior is not None:
            require_posterior(fit.problem)
        return fit

    def _training(self, given: FitArguments) -> Training:
        """Read and check a training set, and sequences without labels as far as kernels look at them."""
        return kernel_reader(self, self._settings(), self.loss).read(given)

    def _require_steady(self, settings: KernelSettings) -> None:
        """Refuse to resume searches whose subspace would be drawn again."""
        drawn = settings.approximation is not None
        if self.warm_start and drawn:
            raise InputError(
                "warm_start does not go with an approximation: its subspace is another every time."
            )
        if self.run.checkpoint is None:
            return
        if settings.selection is not None:
            raise InputError("A selection keeps no checkpoints; it goes on by warm_start=True.")
        if drawn and self.random_state is None:
            raise InputError(
                "A checkpoint with an approximation needs a random_state: another draw, another basis."
            )

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
        settings = self._settings()
        settings.require_labels_alone("full_gap")
        if self.fourier_ is not None:
            raise InputError("Random Fourier features are not functions of the kernel's space.")
        if isinstance(self._kernels, SeparateKernels):
            raise InputError("full_gap is not there for a selection among several kernels.")
        training = self._training(FitArguments(X, y, lengths, sample_weight))
        if training.encoded.classes.tolist() != self.classes_.tolist():
            raise InputError("full_gap needs the training set: its labels are not those of the model.")
        return full_certificate(self, settings, training)

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


FEWEST = 20
"""Labels below which chance is not told from anything."""

MOST = 300
"""Labels that are looked at: all pairs of them are compared."""

PERMUTATIONS = 199


def warn_of_graphs(kernel: Any, training: Training, seed: int = 0) -> None:
    """Warn of each graph kernel under which close observations agree in labels no more than by chance.

    ``kernel`` is one, or several, as they are on the training set. Looked at are up to 300 observations.
    """
    labels = training.encoded.labels
    if not training.structure.labelling or len(labels) != training.inputs.features.shape[0]:
        return
    random = np.random.default_rng(seed)
    known = np.flatnonzero(labels >= 0)
    if len(known) < FEWEST or len(np.unique(labels[known])) < 2:
        return
    some = np.sort(random.permutation(known)[:MOST])
    if len(np.unique(labels[some])) < 2:
        return
    for graph_kernel in spectral_kernels(kernel):
        features = graph_kernel.features(take(training.inputs.features, some))
        test = agreement_test(close_by(features), labels[some], PERMUTATIONS, random)
        pairs = len(some) * (len(some) - 1) // 2
        warn_of_uninformative(Diagnosis(len(some), pairs, 0, 0, test))


def close_by(features: Array) -> Any:
    """Return the weights of pairs of observations: how much closer they are than others are, or 0."""
    centred = features - features.mean(axis=0)
    values = np.maximum(centred @ centred.T, 0.0)
    np.fill_diagonal(values, 0.0)
    return sparse.csr_matrix(values)


def spectral_kernels(kernel: Any) -> Iterator[SpectralKernel]:
    """Yield the graph kernels that a kernel, or several, are made of."""
    if isinstance(kernel, SpectralKernel):
        yield kernel
    elif isinstance(kernel, Kernel):
        for part in kernel.get_params(deep=False).values():
            yield from spectral_kernels(part)
    elif isinstance(kernel, list | tuple):
        for part in kernel:
            yield from spectral_kernels(part)
    elif isinstance(kernel, dict):
        yield from spectral_kernels(list({id(one): one for one in kernel.values()}.values()))
