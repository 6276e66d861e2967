"""Kernel logistic regression: a kernel CRF without edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from ..parameters import Parameterised
from ..selection import Approximation
from ..solvers import Progress, Solver
from ..structures._base import Array
from ._base_measure import BaseMeasure
from ._routing import Routed
from ._saving_base import Savable, require_fitted
from ._saving_fields import Field, Kind
from .kernel_crf import KernelCRF


class KernelLogisticRegression(Parameterised, Routed, Savable):
    """Multinomial logistic regression in the Hilbert space of a kernel,

        p(y|x) ∝ exp(f(x, y) + b_y),    minimising  Σ_i −log p(y_i|x_i) + (λ/2)(‖f‖² + ‖b‖²).

    What is left of `KernelCRF` without edges, and the maximum of the posterior of multi-class Gaussian
    process classification. A classifier of rows, as scikit-learn has them; of sequences of rows it
    labels every position for itself, which shows what `KernelCRF` gains from neighbours.

    Parameters
    ----------
    kernel : name, Kernel, function, list or dict
        k, or several, as in `KernelCRF`.
    penalty : float, or list of floats
        λ; scikit-learn's C is 1/λ.
    bias : bool
        Whether there is b, penalised like f.
    label_kernel, class_weight, base_measure, approximation, solver, tol, max_iter, dtype, memory_limit, \
random_state, callback, verbose
        As in `KernelCRF`.

    Attributes
    ----------
    classes_, basis_, dual_coef_, intercept_, kernel_, certificate_, mismatch_, n_iter_, stop_reason_
        As in `KernelCRF`.
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

    classes_: Array
    _learnt: ClassVar[Mapping[str, Field]] = {"_field": Kind(KernelCRF, large=True)}

    def __init__(
        self,
        kernel: Any = "rbf",
        penalty: Any = 1.0,
        *,
        bias: bool = False,
        label_kernel: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        base_measure: BaseMeasure = None,
        approximation: str | Approximation | None = None,
        solver: str | Solver = "lbfgs",
        tol: float = 1e-3,
        max_iter: int = 1000,
        dtype: Any = "float32",
        memory_limit: Any = None,
        random_state: Any = None,
        callback: Callable[[Progress], None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.bias = bias
        self.label_kernel = label_kernel
        self.class_weight = class_weight
        self.base_measure = base_measure
        self.approximation = approximation
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to labelled rows.

        Parameters
        ----------
        X : (N, D) array, scipy-sparse matrix or data frame, or a list of them
            Observations; of a list, each entry is a sequence.
        y : (N,) labels, or a list of label sequences
            None marks one that was not observed.
        sample_weight : array, optional
            How many times each row, or each sequence, counts.
        """
        field = KernelCRF(edges=False, boundaries=False, **self.get_params(deep=False))
        lengths = _lengths(X)
        if lengths is not None:
            y = [[label] for label in (y.tolist() if isinstance(y, np.ndarray) else y)]
        self._take(field.fit(X, y, lengths=lengths, sample_weight=sample_weight))
        return self

    def _take(self, field: KernelCRF) -> None:
        """Have what the field has."""
        self._field = field
        for name, value in field.__getstate__().items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)

    def _state(self) -> dict[str, Any]:
        self._require_fitted()
        return {"_field": self._field}

    def _settle(self, state: Mapping[str, Any]) -> None:
        if "_field" in state:
            self._take(state["_field"])

    def _rehearse(self) -> None:
        self._field.predict([])

    def sequence_model(self) -> KernelCRF:
        """Give the same model for sequences, whose positions it labels one by one."""
        self._require_fitted()
        return self._field

    def predict_proba(self, X: Any) -> Any:
        """p(y|x) for every row, (N, L), columns as in ``classes_``; a list of such arrays for sequences."""
        self._require_fitted()
        lengths = _lengths(X)
        marginals = self._field.predict_marginals(X, lengths=lengths)
        return (
            marginals if lengths is None else np.concatenate([np.zeros((0, len(self.classes_))), *marginals])
        )

    def predict(self, X: Any) -> Any:
        """Give the most probable label of every row, (N,); a list of lists for sequences."""
        self._require_fitted()
        if _lengths(X) is None:
            return self._field.predict(X)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> Any:
        """Log p(y|x), in the form of `predict_proba`."""
        probabilities = self.predict_proba(X)
        return (
            [np.log(p) for p in probabilities] if isinstance(probabilities, list) else np.log(probabilities)
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the share of rows labelled right."""
        self._require_fitted()
        lengths = _lengths(X)
        truth = y if lengths is None else [[label] for label in y]
        return self._field.score(X, truth, lengths=lengths, sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Any:
        """Give what scikit-learn's tools ask: that this is a classifier, whose folds they balance."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        return tags

    def _require_fitted(self) -> None:
        require_fitted(self)


def _lengths(X: Any) -> Array | None:
    """Every row a sequence of its own; None if X is a list of sequences."""
    if isinstance(X, list | tuple) and (len(X) == 0 or sparse.issparse(X[0]) or np.ndim(X[0]) == 2):
        return None
    return np.ones(X.shape[0] if sparse.issparse(X) else len(X), dtype=np.int64)
