"""What a kernel model may be extended by: clique types, and further kernels on its vertices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.training import Training
from ..errors import InputError
from ..gram import gram_of, unique_observations
from ..kernels import Columns, as_kernel
from ..objective import Term
from ..observations import in_precision
from ..spaces import Boundary, Expansion, Free
from ..structures import Chain, Graph, Structure
from ..tables import structure_of
from .kernel_recipe import KernelRecipe, embedding_of


class CliqueType(ABC):
    """One way to extend a `KernelCRF` or a `CRF`."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What reports call it."""

    @property
    def names(self) -> list[str]:
        """Return its name, or those of its parts."""
        return [self.name]

    @abstractmethod
    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that change, from those of the present model."""

    @abstractmethod
    def term(self, recipe: KernelRecipe, training: Training) -> Term:
        """Return the space that the extended model has more, on its training set, with its penalty."""

    def freedom(self, structure: Structure, n_labels: int) -> int:
        """Return how many numbers there are to choose, beyond those of fewer labels; a refusal if many."""
        raise InputError(f"{self.name}: functions of the input have no number of parameters for 'bic'.")


class CliqueFamily(ABC):
    """Candidates that are known when the model to begin with is."""

    @abstractmethod
    def members(self, structure: Structure) -> list[CliqueType]:
        """Return them, from the structure of the fitted model."""


@dataclass(frozen=True)
class Edges(CliqueType):
    """Scores of label pairs."""

    name: str = "edges"

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Switch edges on."""
        return {"edges": True}

    def term(self, recipe: KernelRecipe, training: Training) -> Term:
        """V."""
        return Term("edges", Free(training.chain, "edge"), recipe.penalties.edge)

    def freedom(self, structure: Structure, n_labels: int) -> int:
        """Return how many numbers tell labels apart."""
        return (n_labels - 1) ** 2


@dataclass(frozen=True)
class Boundaries(CliqueType):
    """Scores of the first and the last label."""

    name: str = "boundaries"

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Switch boundaries on."""
        if isinstance(structure_of(present["structure"]), Graph):
            raise InputError("A graph has no first and last labels: Boundaries is for sequences and trees.")
        return {"boundaries": True}

    def term(self, recipe: KernelRecipe, training: Training) -> Term:
        """Return the space of start and end."""
        return Term("boundaries", Boundary(training.chain), recipe.penalties.node)

    def freedom(self, structure: Structure, n_labels: int) -> int:
        """Return how many numbers tell labels apart."""
        return 2 * (n_labels - 1)


@dataclass(frozen=True)
class SecondOrder(CliqueType):
    """Scores of label triples."""

    name: str = "order 2"

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Raise the order."""
        if not isinstance(structure_of(present["structure"]), Chain):
            raise InputError("Only chains have label triples: SecondOrder is for structure='chain'.")
        return {"structure": Chain(order=2)}

    def term(self, recipe: KernelRecipe, training: Training) -> Term:
        """U."""
        return Term("second_order", Free(training.chain, "triple"), recipe.penalties.second_order)

    def freedom(self, structure: Structure, n_labels: int) -> int:
        """Return how many numbers tell labels apart."""
        return (n_labels - 1) ** 3


@dataclass(frozen=True)
class InputEdges(CliqueType):
    """Functions of the input and a label pair.

    Parameters
    ----------
    kernel : kernel
        k_e on the input of an edge.
    """

    kernel: Any
    name: str = "edges with input"

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Set the kernel of edges."""
        return {"edge_kernel": self.kernel}

    def term(self, recipe: KernelRecipe, training: Training) -> Term:
        """Return the expansion over all edges."""
        chain, observations = training.chain, in_precision(training.inputs.features, recipe.dtype)
        distinct, rows = unique_observations(observations)
        gram = gram_of(
            as_kernel(self.kernel).on(recipe.observations(training)),
            distinct,
            recipe.dtype,
            recipe.memory_limit,
        )
        space = Expansion(chain, "edge", gram, np.asarray(rows)[chain.edge_tails])
        return Term("edge_kernel", space, recipe.penalty_of_edge_kernel)


@dataclass(frozen=True)
class FurtherKernel(CliqueType):
    """A further function of input and label, with a kernel and a penalty of its own.

    Parameters
    ----------
    kernel : kernel
        k.
    penalty : float
        Its λ.
    """

    kernel: Any
    penalty: float
    name: str = "further kernel"

    @classmethod
    def of_columns(cls, kernel: Any, columns: Sequence[int], penalty: float, name: str) -> FurtherKernel:
        """Let a kernel look at some columns only: those of one position of a window, for instance."""
        return cls(Columns(as_kernel(kernel), columns), penalty, name)

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Put the kernel behind the others."""
        kernel, penalty = present["kernel"], present["penalty"]
        if isinstance(kernel, dict):
            raise InputError("A further kernel does not go with one kernel per label.")
        kernels = list(kernel) if isinstance(kernel, list | tuple) else [kernel]
        penalties = list(penalty) if isinstance(penalty, list | tuple) else [penalty] * len(kernels)
        return {"kernel": [*kernels, self.kernel], "penalty": [*penalties, self.penalty]}

    def term(self, recipe: KernelRecipe, training: Training) -> Term:
        """Return the expansion over all vertices."""
        chain, observations = training.chain, in_precision(training.inputs.features, recipe.dtype)
        distinct, rows = unique_observations(observations)
        gram = gram_of(
            as_kernel(self.kernel).on(recipe.observations(training)),
            distinct,
            recipe.dtype,
            recipe.memory_limit,
        )
        seen = None if len(rows) == distinct.shape[0] else rows
        space = Expansion(chain, "node", gram, seen, embedding_of(recipe.label_kernel, None, chain.n_answers))
        return Term("kernel", space, self.penalty)


@dataclass(frozen=True)
class Together(CliqueType):
    """Several candidates at once."""

    parts: tuple[CliqueType, ...]

    @property
    def name(self) -> str:
        """Return the names of all."""
        return " + ".join(self.names)

    @property
    def names(self) -> list[str]:
        """Return one for each."""
        return [part.name for part in self.parts]

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Change what each of them changes, one after the other."""
        changed: dict[str, Any] = {}
        for part in self.parts:
            changed |= part.settings({**present, **changed})
        return changed

    def term(self, recipe: KernelRecipe, training: Training) -> Term:
        """Refuse to be one space: each part is one."""
        raise TypeError("Candidates that are tried together have a space each.")
