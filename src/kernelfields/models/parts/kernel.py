"""Functions of a kernel's space, of what cliques of any type see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...approximation import FactoredKernel, KernelMap, ObservationMap
from ...arrays import Array
from ...checks import Check, optional, shown
from ...data.seeds import random_state
from ...errors import InputError
from ...gram import find_observations, gram_of, unique_observations
from ...kernels import check_gram
from ...observations import in_precision
from ...spaces import Expansion, LabelEmbedding, LowRank
from ...structures import StructureBatch
from ...tables import APPROXIMATIONS, choose
from ..expansion_scorer import ExpansionScorer
from ..vertex_kernels import own_kernel
from ..views import require_view, view_of
from ._base import BoundPart, Part
from .data import PartData


def _approximation(name: str, value: Any) -> None:
    choose(APPROXIMATIONS, value, name)


@dataclass(frozen=True, repr=False)
class KernelScores(Part):
    """f(x_c, y_c), f in the space of [y_c = y′_c] k(x_c, x′_c) [lafferty2004].

    Parameters
    ----------
    kernel : name, Kernel or function, optional
        k, as `kernels.as_kernel` reads it; that of the model if not given.
    on : str, optional
        The clique type; the answers if not given.
    penalty, norm : float, Norm, optional
        λ of (λ/2)‖f‖², and a further penalty.
    view : "first", "own", "all", "difference", "mean" or "run", optional
        What x_c is, as for `LinearScores`. Undirected edges of graphs are listed both ways, so that a
        function of both ends is symmetric; members of factors come in the order that they are given in.
    basis : "nystroem", "random-fourier", Approximation, optional
        The subspace in which f is sought; all observations if not given.
    labels : (K, K) array, optional
        A kernel on what a clique can have, in the place of [y_c = y′_c].
    """

    kernel: Any = None
    _: KW_ONLY
    view: str | None = None
    basis: Any = None
    labels: Any = None
    _checks: ClassVar[Mapping[str, Check]] = {
        **Part._checks,
        "view": require_view,
        "basis": optional(_approximation),
    }

    def bind(self, data: PartData) -> BoundKernel:
        """Return the functions on a training set: with the kernel as it is there, and a basis drawn once."""
        on = data.batch.answer if self.on is None else self.on
        require_own(data.batch, on)
        view = view_of(data.batch, on, self.view)
        if self.kernel is None:
            raise InputError("KernelScores needs a kernel, such as 'rbf': the model has none to take.")
        kernel = own_kernel(self.kernel).on(data.looked_at(on, view))
        seen, rows = data.seen(on, view)
        check_gram(kernel, seen)
        distinct, where = unique_observations(seen)
        found = None
        if self.basis is not None:
            settings = choose(APPROXIMATIONS, self.basis, "basis")
            found = settings.on(kernel, distinct, random_state(data.random), data.memory_limit)
        where = np.asarray(where)
        K = int(np.prod(data.batch.cliques[on].values))
        return BoundKernel(
            on,
            self.view,
            kernel,
            distinct,
            where if rows is None else where[rows],
            _embedding(self.labels, K),
            found,
        )


@dataclass(frozen=True)
class BoundKernel(BoundPart):
    """A kernel on a training set."""

    on: str
    view: str | None
    kernel: Any
    observations: Any
    """Each once, in the precision of the data."""
    rows: Array
    """The observation that every clique sees."""
    embedding: LabelEmbedding
    factored: FactoredKernel | None = None
    grams: dict[Any, Any] = field(default_factory=dict, repr=False)

    def space(self, data: PartData, dtype: Any) -> Expansion | LowRank:
        """Return expansions over all observations, or functions of the subspace."""
        if self.factored is not None:
            return LowRank(data.batch, self.on, self.factored.factor, self.rows, self.embedding)
        gram = gram_of(self.kernel, self.observations, dtype, data.memory_limit)
        return Expansion(data.batch, self.on, gram, self.rows, self.embedding)

    def scorer(self, space: Any, element: Array) -> ExpansionScorer:
        """Return the coefficients over the whole basis: those of other functions may not be 0 there."""
        values = space.structure.cliques[self.on].values
        coef = np.array(space.coefficients(element), dtype=np.float64).reshape(-1, *values)
        on = None if self.on == space.structure.answer else self.on
        return ExpansionScorer(on, self._map, coef, self.view, self.observations.dtype)

    def element(self, space: Any, scorer: ExpansionScorer) -> Array:
        """Return the function as far as it is an expansion over the observations of the training set."""
        result = np.zeros(space.size)
        known = scorer.map.basis if isinstance(scorer.map, KernelMap) else None
        if isinstance(space, Expansion) and type(known) is type(self.observations):
            found = find_observations(self.observations, known)
            columns = space.embedding.columns(scorer.coef.reshape(len(scorer.coef), -1))
            space.coordinates(result)[found[found >= 0]] = columns[found >= 0]
        return space.refreshed(result)

    def held_out(self, data: PartData) -> Callable[[Any, Array], Array]:
        """Return the scores of elements on other data; kernel values with the basis are computed once."""
        view = view_of(data.batch, self.on, self.view)
        seen, rows = data.seen(self.on, view)
        columns, shape = (
            self._map.columns(in_precision(seen, self.observations.dtype)),
            data.batch.shapes[self.on],
        )

        def scores(space: Any, element: Array) -> Array:
            values = np.asarray(columns @ space.coefficients(element).astype(columns.dtype), dtype=np.float64)
            return (values if rows is None else values[rows]).reshape(shape)

        return scores

    @property
    def _map(self) -> ObservationMap:
        """What coefficients are multiplied with."""
        return KernelMap(self.kernel, self.observations) if self.factored is None else self.factored.map


def require_own(batch: StructureBatch, on: str) -> None:
    """Refuse a kernel on cliques that a structure cannot score one by one."""
    cliques = batch.cliques.get(on)
    if cliques is None or cliques.shared:
        kind = type(batch).__name__
        raise InputError(f"A kernel on {on!r} cannot be had: {kind} has no scores for each of them.")


def _embedding(labels: Any, n_values: int) -> LabelEmbedding:
    """Return the kernel on what a clique can have; of two labels one column is enough, and half the work."""
    if labels is None:
        return LabelEmbedding.identity(n_values)
    if np.shape(labels) != (n_values, n_values):
        raise InputError(f"labels is {shown(labels)}; it must have the shape {(n_values, n_values)}.")
    try:
        return LabelEmbedding.of(labels)
    except ValueError as error:
        raise InputError(str(error)) from error
