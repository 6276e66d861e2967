"""Functions of a kernel's space, of what cliques of any type see."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...approximation import FactoredKernel, KernelMap, ObservationMap
from ...arrays import Array
from ...checks import Check, optional
from ...data.seeds import random_state
from ...errors import InputError
from ...gram import find_observations, gram_of, unique_observations
from ...kernels import FeatureMapKernel, Kernel, Linear, Scaled, check_gram
from ...observations import in_precision
from ...spaces import BoundSpace, Expansion, LabelEmbedding, LowRank
from ...structures import StructureBatch
from ...tables import APPROXIMATIONS, choose
from ..expansion_scorer import ExpansionScorer
from ..vertex_kernels import own_kernel
from ..views import FIRST, require_view, view_of
from ._base import BoundPart, Part
from .data import PartData, SharedValues


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
    basis : "nystroem", "fourier", Approximation, optional
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
        once, looks = data.shared.once, view if view == FIRST else f"{view} of {on}"
        kernel = once(lambda: self._settle(data, on, view), "kernel", self.kernel, looks)
        seen, rows = data.seen(on, view)
        given = seen if data.given is None or view != FIRST else data.given
        once(lambda: check_gram(kernel, given), "check", kernel, looks)
        distinct, where = once(lambda: unique_observations(seen), "observations", looks)
        bound = self._bind_over(data, on, kernel, distinct, where if rows is None else where[rows])
        if self.basis is not None:
            settings = choose(APPROXIMATIONS, self.basis, "basis")
            random, limit = data.random, data.memory_limit
            return replace(
                bound,
                factored=once(
                    lambda: settings.on(kernel, distinct, random_state(random), limit),
                    "factored",
                    kernel,
                    distinct,
                    self.basis,
                ),
            )
        if data.as_weights and self.labels is None and isinstance(kernel, Linear | FeatureMapKernel | Scaled):
            from .featured import as_weights

            return as_weights(bound, data, self.norm)
        return bound

    def over(self, observations: Any, kernel: Kernel, data: PartData) -> BoundKernel:
        """Return the functions over given observations, of which the first are what vertices see."""
        on = data.batch.answer if self.on is None else self.on
        rows = data.seen(on, FIRST)[1]
        return self._bind_over(
            data, on, kernel, observations, np.arange(data.features.shape[0]) if rows is None else rows
        )

    def _bind_over(
        self, data: PartData, on: str, kernel: Kernel, observations: Any, rows: Any
    ) -> BoundKernel:
        embedding = _embedding(self.labels, data.batch, on)
        return BoundKernel(on, self.view, kernel, observations, np.asarray(rows), embedding, data.shared)

    def _settle(self, data: PartData, on: str, view: str) -> Kernel:
        """Return a kernel of the model's own, as it is on what cliques see."""
        return own_kernel(self.kernel).on(data.looked_at(on, view))


class Coefficients(NamedTuple):
    """A function of a kernel's space as an expansion."""

    basis: Any
    """Observations; None for weights of features that are not the kernel's."""
    values: Array
    """(n, number of what a clique can have)."""


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
    shared: SharedValues
    factored: FactoredKernel | None = None

    @property
    def labels(self) -> Array:
        """Return what a clique can have that its function tells from the rest: indices."""
        vectors = self.embedding.vectors
        return np.arange(self.embedding.width) if vectors is None else np.flatnonzero(vectors.any(axis=1))

    def space(self, data: PartData, dtype: Any) -> BoundSpace:
        """Return expansions over all observations, or functions of the subspace."""
        if self.factored is not None:
            return LowRank(data.batch, self.on, self.factored.factor, self.rows, self.embedding)
        precision = np.dtype(dtype)
        gram = self.shared.gram(
            lambda: gram_of(self.kernel, self.observations, precision, data.memory_limit),
            self.kernel,
            self.observations,
            precision.name,
        )
        return Expansion(data.batch, self.on, gram, self.rows, self.embedding)

    @property
    def map(self) -> ObservationMap:
        """What coefficients are multiplied with at new observations."""
        if self.factored is not None:
            return self.factored.map
        return self.shared.once(
            lambda: KernelMap(self.kernel, self.observations), "map", self.kernel, self.observations
        )

    def coefficients(self, space: Any, element: Array) -> Array:
        """Return what the columns of the map are multiplied with."""
        return np.asarray(space.coefficients(element))

    def expansion(self, space: Any, element: Array) -> Coefficients:
        """Return an element as an expansion over observations, if it is one."""
        basis = self.observations
        if self.factored is not None:
            basis = self.map.basis if isinstance(self.map, KernelMap) else None
        return Coefficients(basis, self.coefficients(space, element))

    def scorer(self, space: Any, element: Array) -> ExpansionScorer:
        """Return the coefficients over the whole basis: those of other functions may not be 0 there."""
        return self.scorer_over(self.map, self.coefficients(space, element), space.structure)

    def scorer_over(self, map: ObservationMap, coef: Array, batch: StructureBatch) -> ExpansionScorer:
        """Return the function of some coefficients, a row for everything that a map has columns for."""
        values = batch.cliques[self.on].values
        coef = np.array(coef, dtype=np.float64).reshape(len(coef), *values)
        on = None if self.on == batch.answer else self.on
        return ExpansionScorer(on, map, coef, self.view, self.observations.dtype)

    def element(self, space: Any, scorer: ExpansionScorer) -> Array:
        """Return the function as far as it is an expansion over the observations of the training set.

        The image of the element, a product with the Gram matrix, is left to `Problem.refreshed`.
        """
        result = np.zeros(space.size)
        known = scorer.map.basis if isinstance(scorer.map, KernelMap) else None
        if isinstance(space, Expansion) and type(known) is type(self.observations):
            found = find_observations(self.observations, known)
            width = math.prod(scorer.coef.shape[1:])
            columns = space.embedding.columns(scorer.coef.reshape(len(scorer.coef), width))
            space.coordinates(result)[found[found >= 0]] = columns[found >= 0]
        return result

    def held_out(self, data: PartData) -> Callable[[Any, Array], Array]:
        """Return the scores of elements on other data; kernel values with the basis are computed once."""
        view = view_of(data.batch, self.on, self.view)
        seen, rows = data.seen(self.on, view)
        observations = in_precision(seen, self.observations.dtype)
        columns = data.shared.once(lambda: self.map.columns(observations), "columns", self.map, seen)
        shape = data.batch.shapes[self.on]

        def scores(space: Any, element: Array) -> Array:
            coefficients = self.coefficients(space, element).astype(columns.dtype)
            values = np.asarray(columns @ coefficients, dtype=np.float64)
            return (values if rows is None else values[rows]).reshape(shape)

        return scores


def require_own(batch: StructureBatch, on: str) -> None:
    """Refuse a kernel on cliques that a structure cannot score one by one."""
    cliques = batch.cliques.get(on)
    if cliques is None or cliques.shared:
        kind = type(batch).__name__
        raise InputError(f"A kernel on {on!r} cannot be had: {kind} has no scores for each of them.")


def _embedding(labels: Any, batch: StructureBatch, on: str) -> LabelEmbedding:
    """Return the kernel on what a clique can have; of two labels one column is enough, and half the work."""
    n_values = math.prod(batch.cliques[on].values)
    if labels is None:
        centred = on == batch.answer and n_values == 2
        return LabelEmbedding.centred(2) if centred else LabelEmbedding.identity(n_values)
    if np.shape(labels) != (n_values, n_values):
        shape = np.shape(labels)
        raise InputError(f"labels of KernelScores has shape {shape}, expected {(n_values, n_values)}.")
    try:
        return LabelEmbedding.of(labels)
    except ValueError as error:
        raise InputError(str(error)) from error
