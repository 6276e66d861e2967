"""Kernels on cliques of any type, which see all of their members [lafferty2004]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, require_positive, shown, unknown_name
from ..errors import InputError
from ..gram import gram_of, unique_observations
from ..kernels import Kernel, check_gram
from ..objective import Point, Term
from ..observations import stacked
from ..spaces import Expansion, concatenated, difference, mean, run_mean
from ..structures import StructureBatch
from .vertex_kernels import own_kernel, used_times


def first(observations: Any, members: Array) -> Any:
    """Return the observation of the first member."""
    return observations[members[:, 0]]


VIEWS: Mapping[str, Callable[[Any, Array], Any]] = {
    "first": first,
    "all": concatenated,
    "difference": difference,
    "mean": mean,
    "run": run_mean,
}


def _view(name: str, value: Any) -> None:
    if value not in VIEWS:
        raise unknown_name(name, value, VIEWS)


@dataclass(frozen=True)
class CliqueKernel(Checked):
    """A function of the input and of the labels of cliques: f in the space of [y_c = y′_c] k(x_c, x′_c).

    Parameters
    ----------
    clique : str
        The clique type: "edge" for pairs of neighbouring labels, "node" for single ones, "segment" for the
        candidates of `CandidateSegments` and `Segments` with means.
    kernel : name, Kernel or function
        k, as `kernels.as_kernel` reads it.
    view : "all", "first", "difference", "mean" or "run"
        What x_c is made of: the observations of all members side by side, as [lafferty2004] has it, that
        of the first one, the last minus the first, or their mean. Members of a segment are its first and its
        last position; "run" is the mean over all positions from the one to the other.
    penalty : float
        λ of this function.
    """

    clique: str = "edge"
    kernel: Any = "rbf"
    view: str = "all"
    penalty: float = 1.0
    _checks: ClassVar[Mapping[str, Check]] = {"view": _view, "penalty": require_positive}


class CliqueExpansion(NamedTuple):
    """What a fitted model keeps of it: f(x_c, y_c) = Σ_o k(x_c, basis_o) coef_{o,y}."""

    clique: str
    view: str
    kernel: Kernel
    basis: Any
    coef: Array
    """(n, number of what labels a clique can have)."""

    def add_scores(self, batch: StructureBatch, observations: Any, theta: dict[str, Array]) -> None:
        """Add f to the scores of every clique of a batch."""
        into = theta[self.clique]
        if len(into) and len(self.coef):
            seen = VIEWS[self.view](observations, batch.cliques[self.clique].members)
            into += used_times(self.kernel, seen, self.basis, self.coef).reshape(into.shape)


def read_clique_kernels(given: Any) -> tuple[CliqueKernel, ...]:
    """Read the setting: none, one, or several."""
    several = given if isinstance(given, list | tuple) else [] if given is None else [given]
    for n, one in enumerate(several):
        if not isinstance(one, CliqueKernel):
            raise InputError(f"clique_kernels[{n}] is {shown(one)}; it must be a CliqueKernel.")
    return tuple(several)


class CliqueTerms:
    """Such functions on one training set, and how they are read off an element.

    Parameters
    ----------
    settings : sequence of CliqueKernel
        What the model has.
    batch : StructureBatch
        The training set, with scores of their own for the cliques that are looked at.
    observations : observations
        Those of its vertices.
    unlabelled : sequence of pairs
        Batches without labels and their observations, for kernels that look at them first.
    """

    def __init__(
        self,
        settings: Sequence[CliqueKernel],
        batch: StructureBatch,
        observations: Any,
        unlabelled: Sequence[tuple[StructureBatch, Any]] = (),
    ) -> None:
        self.settings, self.batch = tuple(settings), batch
        every = [_seen(one, batch, observations) for one in self.settings]
        looked_at = [
            stacked([seen, *(_seen(one, *other) for other in unlabelled)])
            for one, seen in zip(self.settings, every, strict=True)
        ]
        self.kernels = [
            own_kernel(one.kernel).on(seen) for one, seen in zip(self.settings, looked_at, strict=True)
        ]
        for kernel, seen in zip(self.kernels, every, strict=True):
            check_gram(kernel, seen)
        self.seen: list[tuple[Any, Array]] = [unique_observations(seen) for seen in every]

    def terms(self, dtype: Any, memory_limit: Any) -> list[Term]:
        """Return their spaces with their penalties."""
        found = []
        for name, one, kernel, (distinct, rows) in zip(
            self.names, self.settings, self.kernels, self.seen, strict=True
        ):
            gram = gram_of(kernel, distinct, dtype, memory_limit)
            found.append(Term(name, Expansion(self.batch, one.clique, gram, np.asarray(rows)), one.penalty))
        return found

    @property
    def names(self) -> list[str]:
        """Names of their terms."""
        return [f"clique_kernel {n}" for n in range(len(self.settings))]

    def fitted(self, point: Point) -> list[CliqueExpansion]:
        """Read them off a point."""
        found = []
        terms = {term.name: term for term in point.problem.terms}
        for name, one, kernel, (distinct, _) in zip(
            self.names, self.settings, self.kernels, self.seen, strict=True
        ):
            space: Any = terms[name].space
            coef = np.array(space.coefficients(point.element[point.problem.slices[name]]), dtype=np.float64)
            used = coef.any(axis=1)
            found.append(CliqueExpansion(one.clique, one.view, kernel, distinct[used], coef[used]))
        return found


def _seen(one: CliqueKernel, batch: StructureBatch, observations: Any) -> Any:
    """Return what a kernel sees of every clique."""
    cliques = batch.cliques.get(one.clique)
    if cliques is None or cliques.shared:
        kind = type(batch).__name__
        raise InputError(f"A kernel on {one.clique!r} cannot be had: {kind} has no scores for each of them.")
    return VIEWS[one.view](observations, cliques.members)
