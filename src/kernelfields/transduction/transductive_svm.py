"""Transductive support vector machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import proper_share, require_not_negative, require_positive, require_settings, shown
from ..data.labels import Encoded, index_of
from ..data.rows import Rows, encode_row_labels, read_row_labels, read_row_weights, read_rows
from ..data.types import Items, Outputs, Weights
from ..errors import InputError, warn_user
from ..fitting.observers import ProgressLine
from ..fitting.provenance import Provenance, provenance_of_rows
from ..fitting.row_classifier import RowClassifier
from ..fitting.run import starts_afresh
from ..fitting.settings import CHECKS
from ..kernels import Kernel, check_gram
from ..losses import class_weights
from ..memory import require_memory
from ..models.binary_margin import BinaryMargin
from ..models.label_switching import LabelSwitching, SwitchingStep, Transduced
from ..models.vertex_kernels import own_kernel, used_times
from ..objective import Certificate
from ..observations import stacked
from ..persistence.fields import Field, Kind, Numbers, Observations
from ..structures import Structure
from ..tables import structure_of


@dataclass(eq=False, repr=False)
class TransductiveSVM(RowClassifier):
    """Support vector machine that labels unlabelled rows while it learns [joachims1999].

    Over f in the Hilbert space of a kernel, b, and the labels ŷ = ±1 of unlabelled rows it minimises

        (λ/2)‖f‖² + Σ_labelled ξ_i + w* Σ_unlabelled ξ_j,    ξ = max(0, 1 − y (f(x) + b)),

    with the share of positive labels among unlabelled rows given, so that the border goes where rows are few.
    The problem is combinatorial. Labels start as those of the machine without unlabelled rows, whose weight
    then rises from next to nothing to w*, while pairs of labels are switched that the machine wants
    switched; every switch lowers the objective. The result is a local optimum: no such pair is left, and
    for its labels f is optimal up to the certified gap. Without unlabelled rows, and with w* = 0, it is the
    support vector machine, whose C is 1/λ. More than two labels are learnt one against all others. Each row
    is labelled for itself; `KernelCRF` with a graph kernel and `fit(..., X_unlabelled=...)` knows
    neighbours.

    Parameters
    ----------
    kernel : name, Kernel or function
        k, as in `KernelCRF`; one that looks at data first sees all rows, labelled or not.
    penalty : float
        λ.
    unlabelled_weight : float
        w*, the weight of an unlabelled row, where that of a labelled one is 1.
    first_share : float
        Share of w* that unlabelled rows start with; it is doubled until it is 1.
    class_shares : dict, optional
        The share that each label has among unlabelled rows; that among labelled rows if not given.
    structure : "chain", "tree", "graph" or Structure
        How X holds observations that are not given as rows alone, as in `CRF`.
    class_weight : dict or "balanced", optional
        Factors of the losses of labelled rows, by label, as in scikit-learn.
    tol : float
        Relative duality gap at which each support vector machine is good enough.
    max_iter : int
        Limit of passes over all rows of each support vector machine; reaching it is a
        `ConvergenceWarning`.
    verbose : int
        1 shows what is switched.

    Attributes
    ----------
    classes_ : (L,) array
        Labels.
    transduction_ : (N,) array
        Labels of all rows that the fit had, those of X first: the ones given, and those found. Of two labels
        they have the share asked for, which `predict` does not see to.
    basis_ : (n, D) array or sparse matrix
        Support vectors, labelled or not; ``dual_coef_`` (n, M) their coefficients, and ``intercept_`` (M,).
        M is L, or 1 of two labels.
    kernel_ : Kernel
        k as it was used.
    certificates_ : list of Certificate
        Objective of each of the M machines with its labels, lower bound, and gap.
    history_ : list of SwitchingStep
        Weights, number of switched pairs and objective of all machines on the way.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Examples
    --------
    >>> from kernelfields import TransductiveSVM
    >>> X, y = [[0.0], [5.0], [1.0], [2.0], [3.0], [6.0], [7.0], [8.0]], ["low", "high"] + 6 * [None]
    >>> model = TransductiveSVM("linear", penalty=0.1).fit(X, y)
    >>> model.transduction_.tolist()
    ['low', 'high', 'low', 'low', 'low', 'high', 'high', 'high']
    >>> model.predict([[2.5], [5.5]]).tolist()
    ['low', 'high']
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "n_features_in_": Kind(int),
        "feature_names_in_": Numbers("D", kinds="OU", needed=False),
        "structure_": Kind(Structure),
        "kernel_": Kind(Kernel, large=True),
        "basis_": Observations(needed=True),
        "dual_coef_": Numbers("n M"),
        "intercept_": Numbers("M"),
        "certificates_": Kind(list),
        "history_": Kind(list),
        "transduction_codes_": Numbers("N", kinds="i"),
        "provenance_": Kind(Provenance),
    }
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["X_dev", "y_dev"], "let held-out rows choose the penalty"),
        **dict.fromkeys(["warm_start", "checkpoint"], "labels that were switched depend on where it started"),
    }

    kernel: Any = "rbf"
    _: KW_ONLY
    penalty: float = 1.0
    unlabelled_weight: float = 1.0
    first_share: float = 1e-5
    class_shares: Mapping[Any, float] | None = None
    structure: str | Structure = "chain"
    class_weight: dict[Any, float] | str | None = None
    tol: float = 1e-3
    max_iter: int = 1000
    verbose: int = 0

    @starts_afresh
    def fit(
        self, X: Items, y: Outputs, sample_weight: Weights = None, *, X_unlabelled: Items | None = None
    ) -> Self:
        """Fit to rows of which some have labels.

        Parameters
        ----------
        X : (N, D) array, scipy-sparse matrix or data frame, or a list of them
            Observations; of a list, each entry is a sequence.
        y : (N,) labels, or a list of label sequences
            None or NaN marks a row without label.
        sample_weight : array, optional
            How many times each row, or each sequence, counts; those without label all count alike.
        X_unlabelled : as X, optional
            Further rows without labels.
        """
        require_settings(vars(self), {**CHECKS, **_CHECKS})
        rows = read_rows(self, X, fitting=True)
        self.structure_ = structure_of(self.structure)
        labels = read_row_labels(y, rows)
        known = np.array([n for n, label in enumerate(labels) if label is not None], dtype=np.int64)
        encoded = encode_row_labels([labels[n] for n in known])
        weights = np.ones(len(known))
        if sample_weight is not None:
            weights *= read_row_weights(sample_weight, rows)[known]
        if self.class_weight is not None:
            weights *= class_weights(self.class_weight, encoded.labels, encoded.classes)[encoded.labels]
        every = _doubles(rows.features)
        if X_unlabelled is not None:
            every = stacked([every, _doubles(read_rows(self, X_unlabelled, fitting=False).features)])
        order = np.concatenate([known, np.setdiff1d(np.arange(every.shape[0]), known)])
        self._learn(every, order, encoded, weights)
        self.provenance_ = provenance_of_rows(every, rows.offsets, encoded)
        return self

    def _learn(self, every: Any, order: Array, encoded: Encoded, weights: Array) -> None:
        """Fit a machine for each label, or one for two; ``order`` has labelled rows first."""
        self.classes_ = encoded.classes
        kernel = own_kernel(self.kernel).on(every)
        check_gram(kernel, every)
        observations, L = every[order], len(encoded.classes)
        require_memory(f"The Gram matrix of {len(order)} rows", 8 * len(order) ** 2)
        gram = np.ascontiguousarray(kernel.block(observations, observations), dtype=np.float64)
        margin = BinaryMargin(gram, float(self.penalty), self.tol, self.max_iter)
        switching = LabelSwitching(float(self.unlabelled_weight), float(self.first_share))
        counts = self._positives(encoded, len(order) - len(weights))
        with ProgressLine(shown=self.verbose) as line:
            found = [
                switching.run(
                    margin, np.where(encoded.labels == k, 1.0, -1.0), weights, counts[k], k, line.say
                )
                for k in (range(L) if L > 2 else [1])
            ]
        self._keep(kernel, observations, found)
        codes = np.empty(len(order), dtype=np.int64)
        codes[order] = _codes(found, encoded.labels)
        self.transduction_codes_ = codes

    def _keep(self, kernel: Kernel, observations: Any, found: list[Transduced]) -> None:
        """Take over what predictions need, and what is known about the fit."""
        coef = np.column_stack([one.function.coef for one in found])
        used = coef.any(axis=1)
        self.kernel_, self.basis_, self.dual_coef_ = kernel, observations[used], coef[used]
        self.intercept_ = np.array([one.function.intercept for one in found])
        self.certificates_: list[Certificate] = [one.function.certificate for one in found]
        self.history_: list[SwitchingStep] = [step for one in found for step in one.steps]
        worst = max(one.relative_gap for one in self.certificates_)
        if worst > self.tol:
            from sklearn.exceptions import ConvergenceWarning

            advice = "Raise max_iter or tol, or scale the features."
            warn_user(
                f"A support vector machine has the relative gap {worst:.1e}. {advice}", ConvergenceWarning
            )

    def _positives(self, encoded: Encoded, unlabelled: int) -> list[int]:
        """Return how many unlabelled rows have each label."""
        shares = np.bincount(encoded.labels, minlength=len(encoded.classes)) / len(encoded.labels)
        if self.class_shares is not None:
            shares = read_class_shares(self.class_shares, encoded.classes)
        return np.floor(unlabelled * shares + 0.5).astype(int).tolist()

    @property
    def transduction_(self) -> Array:
        """Labels of all rows that the fit had."""
        return self.classes_[self.transduction_codes_]

    def decision_function(self, X: Items) -> Any:
        """Return f(x) + b of every row: (N,), positive for the second of two labels, or (N, L).

        A list of them for sequences.
        """
        rows = self._read(X)
        values = self._machines(rows)
        return rows.split(values[:, 0] if values.shape[1] == 1 else values)

    def _machines(self, rows: Rows) -> Array:
        """Return f(x) + b of all rows, (N, M)."""
        values = used_times(self.kernel_, _doubles(rows.features), self.basis_, self.dual_coef_)
        return np.asarray(values + self.intercept_)

    def _label_scores(self, rows: Rows) -> Array:
        values = self._machines(rows)
        return np.column_stack([-values, values]) if values.shape[1] == 1 else values

    def _rehearse(self) -> None:
        nothing = Rows(np.zeros((0, self.n_features_in_)), None)
        assert self._label_scores(nothing).shape == (0, len(self.classes_))
        assert self.transduction_.ndim == 1


_CHECKS = {
    "penalty": require_positive,
    "unlabelled_weight": require_not_negative,
    "first_share": proper_share,
}


def _codes(found: list[Transduced], known: Array) -> Array:
    """Return the label of each row: the one given, else that of the machine, or of the largest of several."""
    if len(found) == 1:
        codes = (found[0].labels > 0).astype(np.int64)
    else:
        values = [one.function.scores + one.function.intercept for one in found]
        codes = np.argmax(values, axis=0).astype(np.int64)
    codes[: len(known)] = known
    return codes


def _doubles(features: Any) -> Any:
    return features.astype(np.float64, copy=False)


def read_class_shares(given: Any, classes: Array) -> Array:
    """Return the share of every label."""
    if not isinstance(given, Mapping):
        raise InputError(f"class_shares is {shown(given)}; it must be a dictionary of shares by label.")
    index = index_of(classes)
    for label in given:
        if label not in index:
            raise InputError(f"class_shares has the unknown label {label!r}.")
    for label in index:
        if label not in given:
            raise InputError(f"class_shares lacks the label {label!r}.")
    shares = np.zeros(len(classes))
    for label, share in given.items():
        shares[index[label]] = require_not_negative(f"class_shares of {label!r}", share)
    if abs(shares.sum() - 1) > 1e-6:
        raise InputError(f"class_shares has the sum {shares.sum():g}; shares of labels add up to 1.")
    return shares
