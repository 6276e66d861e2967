"""The kernels of a model's vertices, as users give them: one, several, or one per label."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..gram import kernel_times
from ..kernels import Kernel, ProductKernel, Weighted, as_kernel
from ..kernels.feature_map import features_of
from ..kernels.observations import prepare

WRONG = 1e-5
"""Error of scores that nobody notices."""


class LabelGroup(NamedTuple):
    """A kernel and the labels it is for."""

    kernel: Kernel
    labels: Array | None
    """Indices into the classes; None stands for all."""


@dataclass(frozen=True)
class VertexKernels:
    """k of every label; labels that share one share its Gram matrix."""

    groups: tuple[LabelGroup, ...]
    penalty: float
    """λ of all of them."""

    @property
    def kernel(self) -> Kernel:
        """The only kernel."""
        return self.groups[0].kernel

    def by_label(self, classes: Array) -> Kernel | dict[Hashable, Kernel]:
        """The only kernel, or that of each label."""
        if len(self.groups) == 1 and self.groups[0].labels is None:
            return self.kernel
        names = classes.tolist()
        return {names[k]: group.kernel for group in self.groups for k in np.asarray(group.labels)}

    def scores(self, observations: Any, basis: Any, coef: Array) -> Array:
        """Σ_o k_y(x, basis_o) coef_{o,y}, (N, L)."""
        if self.groups[0].labels is None:
            return used_times(self.kernel, observations, basis, coef)
        result = np.zeros((observations.shape[0], coef.shape[1]))
        for kernel, labels in self.groups:
            result[:, labels] = used_times(kernel, observations, basis, coef[:, labels])
        return result


def own_kernel(spec: Any) -> Kernel:
    """Return a kernel that later changes of the one given leave alone; arrays in its settings are shared."""
    return as_kernel(spec) if isinstance(spec, str) else _copied(as_kernel(spec))


def _copied(setting: Any) -> Any:
    if isinstance(setting, Kernel):
        settings = setting.get_params(deep=False)
        return type(setting)(**{name: _copied(value) for name, value in settings.items()})
    if isinstance(setting, list | tuple):
        return type(setting)(_copied(value) for value in setting)
    return setting


def used_times(kernel: Kernel, observations: Any, basis: Any, coef: Array) -> Array:
    """Σ_o k(x, basis_o) coef_o over the o that have coefficients: kernels may share a basis in parts."""
    used = coef.any(axis=1)
    if not used.all():
        basis, coef = basis[used], coef[used]
    features = features_of(kernel)
    if features is not None:  # weights need no sum over the basis, and are as exact as those of the fit
        double = np.dtype(np.float64)
        weights = np.asarray(features(prepare(basis, double))).T @ coef
        return np.asarray(features(prepare(observations, double))) @ weights
    return kernel_times(
        kernel, observations, basis, coef, dtype=_precision(kernel, observations, basis, coef)
    )


def _precision(kernel: Kernel, observations: Any, basis: Any, coef: Array) -> Any:
    """Return double where scores of single-precision kernel values would be wrong by more than `WRONG`.

    Where penalties are small, large terms cancel: the error is about ε √(k(x, x) Σ_o k(b_o, b_o) coef_o²).
    """
    if basis.dtype != np.float32 or 0 in (len(coef), observations.shape[0]):
        return None
    sizes = np.asarray(kernel.diagonal(basis), dtype=np.float64)
    most = float(np.asarray(kernel.diagonal(observations), dtype=np.float64).max())
    error = np.finfo(np.float32).eps * np.sqrt(max(0.0, most * float((np.square(coef).T @ sizes).max())))
    return np.float64 if error > WRONG else None


def takes_objects(spec: Any) -> bool:
    """Whether a kernel may look at observations that are no numbers: it is no function of products."""
    if isinstance(spec, Weighted):
        spec = spec.kernels
    if isinstance(spec, Mapping):
        return any(takes_objects(one) for one in spec.values())
    if isinstance(spec, list | tuple):
        return any(takes_objects(one) for one in spec)
    return not isinstance(as_kernel(spec), ProductKernel)


def takes_missing(model: Any) -> bool:
    """Whether NaN is a missing number to all kernels of a fitted model; not if it has none."""
    known = vars(model)
    spec = known.get("kernel_")
    several = list(spec.values()) if isinstance(spec, Mapping) else [spec]
    maps = (getattr(one, "map", None) for one in (known.get("parts_") or {}).values())
    several += [known.get("edge_kernel_"), *(getattr(one, "kernel", None) for one in maps)]
    kernels = [one for one in several if isinstance(one, Kernel)]
    return bool(kernels) and all(one.takes_missing for one in kernels)
