"""Kernel logistic regression: a kernel CRF without edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..approximation import Approximation
from ..arrays import Array
from ..data.base_measure import CliqueMeasures
from ..data.inputs import Inputs
from ..data.rows import Rows, encode_row_labels, read_row_labels, read_row_weights, read_rows
from ..data.types import Items, Outputs, Seed, SparseMatrix, Weights
from ..errors import InputError
from ..fitting.row_classifier import RowClassifier
from ..fitting.run import precision_of, starts_afresh
from ..fitting.run_settings import Run
from ..losses import class_weights
from ..models.parts import FixedScores, FreeScores, KernelScores, Parts, fixed_measure, parts_of
from ..persistence.fields import Field, Kind
from ..posterior import PosteriorMethod
from ..selection import Selection
from ..solvers import Solver
from ..structures import Chain, Structure, marginal_parts
from ..tables import structure_of
from .kernel_crf import KernelCRF


@dataclass(eq=False, repr=False)
class KernelLogisticRegression(RowClassifier):
    """Multinomial logistic regression in the Hilbert space of a kernel,

        p(y|x) ∝ exp(f(x, y) + b_y),    minimising  Σ_i −log p(y_i|x_i) + (λ/2)(‖f‖² + ‖b‖²).

    What is left of `KernelCRF` without edges, and the maximum of the posterior of multi-class Gaussian
    process classification. A classifier of rows, as scikit-learn has them; of sequences of rows it
    labels every position for itself, which shows what `KernelCRF` gains from neighbours. scikit-learn's
    searches balance the labels of folds, which sequences have none of: there, give ``cv=KFold(5)``.

    Parameters
    ----------
    kernel : name, Kernel, function, list, Weighted or dict
        k, or several, as in `KernelCRF`.
    penalty : float, or list of floats
        λ; scikit-learn's C is 1/λ.
    parts : Parts
        What differs from the parts f ("kernel") and b ("bias"), as in `KernelCRF`.
    structure : "chain", "tree", "graph" or Structure
        How X holds observations that are not given as rows alone, as in `CRF`. Labels do not depend on
        each other, whatever it is.
    class_weight : dict or "balanced", optional
        Factors of the losses of rows, by label, as in scikit-learn; "balanced" makes all labels count alike.
    basis : "cholesky", "nystroem", "fourier", Approximation, Selection, optional
        As in `KernelCRF`; to a selection every row is a sequence of its own. With `ImportVectors` this is the
        import vector machine [zhu2001].
    posterior : "laplace", "variational", "mcmc", PosteriorMethod, optional
        As in `KernelCRF`.
    solver, tol, max_iter, random_state, verbose
        As in `KernelCRF`.
    run : Run
        Heeds ``dtype`` ("float64" if not given), ``memory_limit`` and ``callback``.

    Attributes
    ----------
    classes_, basis_, dual_coef_, intercept_, kernel_, kernel_weights_, weights_certificate_, certificate_, \
mismatch_, path_, n_iter_, stop_reason_
        As in `KernelCRF`.
    selected_ : dict of Atoms
        With a selection: the functions, rows of the training set and labels.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Examples
    --------
    >>> from kernelfields import KernelLogisticRegression
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["same", "other", "other", "same"]
    >>> model = KernelLogisticRegression("rbf", penalty=0.1).fit(X, y)
    >>> model.predict([[0.1, 0.0], [0.9, 0.1]]).tolist()
    ['same', 'other']
    >>> model.predict_proba([[0.1, 0.0]]).shape
    (1, 2)
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "_field": Kind(KernelCRF, large=True),
        "structure_": Kind(Structure, needed=False),
    }
    _mirrored = tuple(sorted(name for name in KernelCRF._fit_sets if name[0] != "_"))
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ["X_dev", "y_dev", "warm_start", "checkpoint"],
            "KernelCRF has it, to which sequences of one position can be given",
        ),
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"dtype", "memory_limit", "callback"})

    kernel: Any = "rbf"
    _: KW_ONLY
    penalty: Any = 1.0
    structure: str | Structure = "chain"
    parts: Parts = Parts()
    class_weight: dict[Any, float] | str | None = None
    basis: str | Approximation | Selection | None = None
    posterior: str | PosteriorMethod | None = None
    solver: str | Solver = "auto"
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(
        self, X: Items, y: Outputs, sample_weight: Weights = None, *, X_unlabelled: Items | None = None
    ) -> Self:
        """Fit to labelled rows.

        Parameters
        ----------
        X : (N, D) array, scipy-sparse matrix or data frame, or a list of them
            Observations; of a list, each entry is a sequence.
        y : (N,) labels, or a list of label sequences
            None or NaN marks one that was not observed; its row is left out of the loss.
        sample_weight : array, optional
            How many times each row, or each sequence, counts.
        X_unlabelled : as X, optional
            Observations without labels, for kernels that look at observations before they compare any
            (`Kernel.on`), as rows without a label are; with other kernels they are refused.
        """
        rows = read_rows(self, X, fitting=True)
        others = None if X_unlabelled is None else [self._unlabelled(X_unlabelled)]
        labels = read_row_labels(y, rows)
        kept = np.array([n for n, label in enumerate(labels) if label is not None], dtype=np.int64)
        encoded = encode_row_labels([labels[n] for n in kept])
        weights = None if sample_weight is None else read_row_weights(sample_weight, rows)[kept]
        if self.class_weight is not None:
            factors = class_weights(self.class_weight, encoded.labels, encoded.classes)[encoded.labels]
            weights = factors if weights is None else weights * factors
        parts = parts_of(self, FreeScores, KernelScores, FixedScores)
        measure = fixed_measure(parts)
        if isinstance(measure, CliqueMeasures) and not (measure.edge is None and measure.triple is None):
            raise InputError("KernelLogisticRegression has no edges: FixedScores must be about labels.")
        run = replace(self.run, dtype=precision_of(self.run, "float64"))
        settings = {**self.get_params(deep=False), "structure": "chain", "run": run}
        del settings["class_weight"]
        field = KernelCRF(**{**settings, "parts": parts.without("edges", "boundaries")})
        given, features = [[labels[n]] for n in kept], rows.features
        if len(kept) < len(labels):
            if field._settings().uses_unlabelled:
                unknown = np.setdiff1d(np.arange(len(labels)), kept)
                others = [features[unknown], *(others or [])]
            features = features[kept]
        ones = np.ones(len(kept), np.int64)
        field.fit(features, given, lengths=ones, sample_weight=weights, X_unlabelled=others)
        if field.basis_origin_ is not None:
            field.basis_origin_ = _origins(rows, kept, field.basis_origin_)
        if field._settings().selection is not None:
            field.selected_ = {
                name: atoms._replace(observations=kept[atoms.observations])
                for name, atoms in field.selected_.items()
            }
        if hasattr(self, "feature_names_in_"):
            field.feature_names_in_ = self.feature_names_in_
        self._take(field, structure_of(self.structure))
        return self

    def _unlabelled(self, X: Items) -> Array | SparseMatrix:
        """Read further observations as X was read."""
        self.structure_ = structure_of(self.structure)
        try:
            return read_rows(self, X, fitting=False).features
        except InputError as error:
            raise InputError(f"X_unlabelled cannot be read: {error}") from error

    def _take(self, field: KernelCRF, structure: Structure) -> None:
        """Have what the field has, but for the structure: rows are chains of one to it."""
        self._field = field
        known = field.__getstate__()
        vars(self).update({name: value for name, value in known.items() if name in self._fit_sets})
        self.structure_ = structure

    def _state(self) -> dict[str, Any]:
        self._require_fitted()
        return {"_field": self._field, "structure_": self.structure_}

    def _settle(self, state: Mapping[str, Any]) -> None:
        structure = state.get("structure_") or vars(self).get("structure_") or Chain()  # none in older files
        if "_field" in state:
            self._take(state["_field"], structure)
        else:
            self.structure_ = structure

    def _rehearse(self) -> None:
        self._field.predict([])

    def sequence_model(self) -> KernelCRF:
        """Return the same model for sequences, whose positions it labels one by one."""
        self._require_fitted()
        return self._field

    def predict_proba(self, X: Items) -> Array | list[Array]:
        """Return p(y|x) for every row, (N, L), columns as in ``classes_``; a list of them for sequences."""
        rows = self._read(X)
        return rows.split(self._label_scores(rows))

    def predict_log_proba(self, X: Items) -> Array | list[Array]:
        """Return log p(y|x), in the form of `predict_proba`."""
        rows = self._read(X)
        with np.errstate(divide="ignore"):
            return rows.split(np.log(self._label_scores(rows)))

    def _label_scores(self, rows: Rows) -> Array:
        """Return p(y|x) of all rows, (N, L)."""
        each = Inputs(rows.features, np.arange(rows.features.shape[0] + 1), None)
        scored = self._field._with_posterior(self._field._model().scores(each))
        return marginal_parts(scored.batch, scored.scores)["node"]


def _origins(rows: Rows, kept: Array, origins: Array) -> Array:
    """Places of basis functions in what the user gave; −1 for those that are no rows of it."""
    places = rows.places(kept[origins[:, 0]])
    return np.where(origins >= 0, places, -1)
