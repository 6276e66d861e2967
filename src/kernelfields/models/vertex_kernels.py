"""The kernels of a model's vertices, as users give them: one, several, or one per label."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..data.labels import index_of
from ..errors import InputError
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

    @classmethod
    def of(cls, spec: Any, penalty: Any, classes: Array) -> VertexKernels:
        """Read ``kernel``, as `settled_kernels` returns it, and ``penalty`` of a kernel model."""
        if isinstance(spec, Mapping):
            return cls(_by_label(spec, classes), _one(penalty))
        if isinstance(spec, list | tuple):
            return _merged(spec, penalty)
        return cls((LabelGroup(spec, None),), _one(penalty))

    @property
    def kernel(self) -> Kernel:
        """The only kernel."""
        if len(self.groups) != 1:
            raise InputError("Edges need a kernel of their own where every label has its own kernel.")
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


def settled_kernels(spec: Any, observations: Any, known: dict[Hashable, Kernel]) -> Any:
    """Return what users gave as kernels of vertices, each as it is on these observations."""
    if isinstance(spec, Mapping):
        return {label: settled_kernel(one, observations, known) for label, one in spec.items()}
    if isinstance(spec, list | tuple):
        return [settled_kernel(one, observations, known) for one in spec]
    return settled_kernel(spec, observations, known)


def settled_kernel(spec: Any, observations: Any, known: dict[Hashable, Kernel]) -> Kernel:
    """Return a kernel of the model's own, as it is on these observations.

    ``known`` holds those that were settled before, by name or identity: what is one stays one.
    """
    key = spec if isinstance(spec, str) else id(spec)
    if key not in known:
        known[key] = own_kernel(spec).on(observations)
    return known[key]


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


def first_penalty(penalty: Any) -> float:
    """λ of the first kernel, which is that of all other functions of single labels."""
    return float(penalty[0]) if isinstance(penalty, list | tuple) else float(penalty)


def _one(penalty: Any) -> float:
    if isinstance(penalty, list | tuple):
        raise InputError("Several penalties need as many kernels.")
    return float(penalty)


def _merged(kernels: Sequence[Kernel], penalty: Any) -> VertexKernels:
    """Σ_i k_i/λ_i with λ = 1: the same functions at the same price, in one Gram matrix."""
    if not kernels:
        raise InputError("The list of kernels is empty.")
    found = list(kernels)
    if not isinstance(penalty, list | tuple):
        return VertexKernels((LabelGroup(reduce(add, found), None),), float(penalty))
    if len(penalty) != len(found):
        raise InputError(f"There are {len(found)} kernels, but {len(penalty)} penalties.")
    if not all(value > 0 for value in penalty):
        raise InputError("The penalties of several kernels must be positive.")
    parts = [kernel * (1.0 / float(value)) for value, kernel in zip(penalty, found, strict=True)]
    return VertexKernels((LabelGroup(reduce(add, parts), None),), 1.0)


def _by_label(kernels: Mapping[Any, Kernel], classes: Array) -> tuple[LabelGroup, ...]:
    """One group per distinct object among the kernels."""
    index = index_of(classes)
    unknown = [label for label in kernels if label not in index]
    missing = [label for label in index if label not in kernels]
    if unknown or missing:
        what = f"has the unknown label {unknown[0]!r}" if unknown else f"lacks the label {missing[0]!r}"
        raise InputError(f"kernel {what}.")
    members: dict[int, list[int]] = {}
    for label, kernel in kernels.items():
        members.setdefault(id(kernel), []).append(index[label])
    distinct = {id(kernel): kernel for kernel in kernels.values()}
    return tuple(LabelGroup(kernel, np.array(sorted(members[key]))) for key, kernel in distinct.items())
