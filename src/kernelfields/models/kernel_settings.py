"""What a kernel model learns: its kernels, penalties and parts, as composed of settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..approximation import Approximation
from ..arrays import Array
from ..checks import shown, unknown_name
from ..data.labels import index_of
from ..errors import InputError
from ..kernels import Kernel, as_kernel
from ..selection import Selection
from ..structures import StructureBatch
from ..tables import BASES, choose
from .parts import AnyPart, KernelScores, Part, Parts, compose, free_parts, looked_at, norms_of
from .views import FIRST

KERNEL, EDGE_KERNEL = "kernel", "edge_kernel"
"""Names of the functions of vertices, and of label pairs and the first observation of both."""


def read_basis(basis: Any) -> Approximation | Selection | None:
    """Return the approximation or the selection that is given; None for expansions over all positions."""
    if basis is None:
        return None
    if isinstance(basis, str) and basis not in BASES:
        raise unknown_name("basis", basis, BASES, ", an Approximation or a Selection")
    return choose(BASES, basis, "basis")


@dataclass(frozen=True)
class KernelSettings:
    """The settings; `KernelCRF` documents them."""

    kernel: Any
    penalty: Any = 1.0
    parts: Parts = Parts()
    basis: Any = None
    edge_penalty: float | None = None
    """λ of scores of several labels, where it is not that of all parts."""

    @property
    def approximation(self) -> Approximation | None:
        """The subspace or the random features, if there are any."""
        found = read_basis(self.basis)
        return found if isinstance(found, Approximation) else None

    @property
    def selection(self) -> Selection | None:
        """How labelled cliques are selected, if they are."""
        found = read_basis(self.basis)
        return found if isinstance(found, Selection) else None

    @property
    def several(self) -> list[Any] | None:
        """The kernels whose functions add up; None if there is one, or one for every label."""
        return list(self.kernel) if isinstance(self.kernel, list | tuple) else None

    @property
    def vertex_part(self) -> KernelScores:
        """The settings of the functions of vertices, but for their kernel and penalty."""
        part = self.parts.get(KERNEL, KernelScores())
        if not isinstance(part, KernelScores):
            raise InputError(f"The part 'kernel' is {shown(part)}; it must be KernelScores(...).")
        for name in ("on", "view", "basis"):
            if getattr(part, name) is not None:
                raise InputError(
                    f"The part 'kernel' has {name}={getattr(part, name)!r}; it is on single labels and their "
                    "observations. Give functions of other cliques names of their own."
                )
        for name in ("kernel", "penalty"):
            if getattr(part, name) is not None:
                raise InputError(f"The part 'kernel' has a {name}; give it as {name}= of the model.")
        return part

    @property
    def edge_part(self) -> KernelScores | None:
        """The functions of label pairs and first observations, which share the Gram matrix of vertices."""
        part = self.parts.get(EDGE_KERNEL)
        if part is None:
            return None
        if (
            isinstance(part, KernelScores)
            and part.on in (None, "edge")
            and part.view in (None, "first")
            and part.basis is part.labels is None
        ):
            return replace(part, on="edge", view=FIRST)
        raise InputError(
            f"The part 'edge_kernel' is {shown(part)}; it is KernelScores(kernel, penalty=..., norm=...) of "
            "first observations. Give functions of other cliques and views names of their own."
        )

    @property
    def further(self) -> dict[str, AnyPart | None]:
        """The parts that share no kernel values with the functions of vertices."""
        return {name: part for name, part in self.parts.items() if name not in (KERNEL, EDGE_KERNEL)}

    @property
    def further_looks(self) -> list[str]:
        """The names of those of these parts that look at the input."""
        return [name for name, part in self.further.items() if isinstance(part, Part) and part.looks]

    @property
    def own(self) -> frozenset[str]:
        """The clique types in which every clique has separate scores: a part looks at its input."""
        edges = [] if self.edge_part is None else ["edge"]
        return frozenset([*edges, *looked_at(Parts(self.further))])

    @property
    def kernels(self) -> list[Kernel]:
        """All kernels, as they are before they have seen a training set."""
        several = self.several
        if several is None:
            several = list(self.kernel.values()) if isinstance(self.kernel, Mapping) else [self.kernel]
        parts = [self.edge_part, *self.further.values()]
        others = [one.kernel for one in parts if isinstance(one, KernelScores) and one.kernel is not None]
        return [as_kernel(one) for one in (*several, *others)]

    @property
    def uses_unlabelled(self) -> bool:
        """Whether a kernel looks at observations without labels, too."""
        return any(kernel.uses_unlabelled for kernel in self.kernels)

    @property
    def takes_missing(self) -> bool:
        """Whether NaN is a missing number to all kernels."""
        return all(kernel.takes_missing for kernel in self.kernels)

    @property
    def first_penalty(self) -> float:
        """λ of parts that have none: with several penalties the first."""
        return float(self.penalty[0] if isinstance(self.penalty, list | tuple) else self.penalty)

    def penalty_of(self, name: str) -> float:
        """Return λ of a part that scores several labels."""
        given = [getattr(self.parts.get(name), "penalty", None), self.edge_penalty, self.first_penalty]
        return next(float(value) for value in given if value is not None)

    def vertex_parts(self, classes: Array) -> dict[str, KernelScores]:
        """Return the functions that share values of kernels: of vertices, and of edges and their tails."""
        common, vertices = self.vertex_part, self._vertex_kernels(classes)
        if common.labels is not None and isinstance(self.kernel, Mapping):
            raise InputError("labels= of the part 'kernel' does not go with one kernel per label.")
        subspace = self.approximation
        found = {
            name: replace(common, view=FIRST, penalty=penalty, basis=subspace, **settings)
            for name, (penalty, settings) in vertices.items()
        }
        edge = self.edge_part
        if edge is None:
            return found
        if edge.kernel is None and isinstance(self.kernel, Mapping):
            raise InputError("Edges need a kernel of their own where every label has its own kernel.")
        kernel = found[KERNEL].kernel if edge.kernel is None else edge.kernel
        penalty = self.first_penalty if edge.penalty is None else edge.penalty
        found[EDGE_KERNEL] = replace(edge, kernel=kernel, penalty=penalty, basis=subspace)
        return found

    def _vertex_kernels(self, classes: Array) -> dict[str, tuple[float, dict[str, Any]]]:
        """Return the penalties and the kernels of functions of vertices, with the labels they are for."""
        several = self.several
        if several is not None:
            kernel, penalty = _sum_kernels(several, self.penalty)
            return {KERNEL: (penalty, {"kernel": kernel})}
        if isinstance(self.penalty, list | tuple):
            raise InputError("Several penalties need as many kernels.")
        if not isinstance(self.kernel, Mapping):
            return {KERNEL: (self.first_penalty, {"kernel": self.kernel})}
        return {
            f"{KERNEL} {n}": (self.first_penalty, {"kernel": kernel, "labels": np.diag(mine.astype(float))})
            for n, (kernel, mine) in enumerate(_by_label(self.kernel, classes))
        }

    def other_parts(self, batch: StructureBatch) -> dict[str, Part]:
        """Return the parts that share no kernel values: labels alone, and what else was given."""
        free = free_parts(batch)
        if self.edge_penalty is not None:
            free = {
                name: part if part.on is None else replace(part, penalty=self.edge_penalty)
                for name, part in free.items()
            }
        parts = compose(free, Parts(self.further), self.first_penalty, [KERNEL])
        return {name: self._complete(part) for name, part in parts.items()}

    def _complete(self, part: Part) -> Part:
        """Return a part that has the kernel and the subspaces of the model where it has none."""
        if not isinstance(part, KernelScores):
            return part
        if part.kernel is None and (self.several is not None or isinstance(self.kernel, Mapping)):
            raise InputError("KernelScores without a kernel take that of the model, which has several.")
        return replace(
            part,
            kernel=self.kernel if part.kernel is None else part.kernel,
            basis=self.approximation if part.basis is None else part.basis,
        )

    def require_labels_alone(self, what: str, but: Collection[str] = ()) -> None:
        """Refuse norms, and parts other than vertices, edges and some that look at the input."""
        for name in [*(one for one in self.further_looks if one not in but), *norms_of(self.parts)]:
            raise InputError(f"{what} goes with squared penalties, and with no part such as {name!r}.")


def kernel_settings(model: Any) -> KernelSettings:
    """Return what a model learns; a linear one is that of the linear kernel."""
    basis, edge_penalty = getattr(model, "basis", None), getattr(model, "edge_penalty", None)
    return KernelSettings(getattr(model, "kernel", "linear"), model.penalty, model.parts, basis, edge_penalty)


def _sum_kernels(kernels: Sequence[Any], penalty: Any) -> tuple[Kernel, float]:
    """Σ_i k_i/λ_i with λ = 1: the same functions at the same price, in one Gram matrix."""
    if not kernels:
        raise InputError("The list of kernels is empty.")
    found = [as_kernel(one) for one in kernels]
    if not isinstance(penalty, list | tuple):
        return reduce(add, found), float(penalty)
    if len(penalty) != len(found):
        raise InputError(f"There are {len(found)} kernels, but {len(penalty)} penalties.")
    if not all(value > 0 for value in penalty):
        raise InputError("The penalties of several kernels must be positive.")
    return reduce(
        add, [kernel * (1.0 / float(value)) for value, kernel in zip(penalty, found, strict=True)]
    ), 1.0


def _by_label(kernels: Mapping[Any, Any], classes: Array) -> list[tuple[Any, Array]]:
    """Return every distinct kernel, and which labels it is for."""
    index = index_of(classes)
    unknown = [label for label in kernels if label not in index]
    missing = [label for label in index if label not in kernels]
    if unknown or missing:
        what = f"has the unknown label {unknown[0]!r}" if unknown else f"lacks the label {missing[0]!r}"
        raise InputError(f"kernel {what}.")
    found: dict[Any, tuple[Any, Array]] = {}
    for label, kernel in kernels.items():
        key = kernel if isinstance(kernel, str) else id(kernel)
        found.setdefault(key, (kernel, np.zeros(len(classes), dtype=bool)))[1][index[label]] = True
    return list(found.values())
