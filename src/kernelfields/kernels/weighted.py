"""Several kernels whose weights are learnt with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..checks import Check, Checked, one_of, shown
from ..errors import InputError

ALIGNMENT, CERTIFICATE = "alignment", "certificate"


def _several(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or len(value) < 2:
        raise InputError(f"{name} of Weighted is {shown(value)}; it must be a list of at least two kernels.")


@dataclass(frozen=True)
class Weighted(Checked):
    """k = Σ_m (μ_m/s_m) k_m with learnt μ ≥ 0, Σ_m μ_m = 1, for `KernelCRF` and `KernelLogisticRegression`.

    s_m is the mean squared distance of labelled observations from their mean in the space of k_m, so that
    μ_m is the share of k_m, whatever its scale. The model has one penalty.

    Parameters
    ----------
    kernels : list of names, Kernels or functions
        k_m, each as `as_kernel` reads it.
    by : "alignment" or "certificate"
        "alignment" chooses μ before the fit, so that k is most aligned with the labels of single positions
        (`alignment_weights`) [cortes2012]; "certificate" in the fit, so that the objective is smallest:
        multiple kernel learning, with one Gram matrix in double per kernel.

    Examples
    --------
    >>> from kernelfields import KernelLogisticRegression
    >>> from kernelfields.kernels import RBF, Columns, Weighted
    >>> X, y = [[0.0, 0.3], [0.1, 0.9], [2.0, 0.2], [2.1, 0.8]], ["a", "a", "b", "b"]
    >>> kernel = Weighted([Columns(RBF(), [0]), Columns(RBF(), [1])])
    >>> KernelLogisticRegression(kernel).fit(X, y).kernel_weights_.round(2).tolist()
    [1.0, 0.0]
    """

    kernels: Sequence[Any]
    by: str = ALIGNMENT
    _checks: ClassVar[Mapping[str, Check]] = {"kernels": _several, "by": one_of((ALIGNMENT, CERTIFICATE))}
