"""What a kernel model may be extended by: clique types, and further kernels on its vertices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..data.training import Training
from ..errors import InputError
from ..fitting.run import precision_of
from ..kernels import Columns, Weighted, as_kernel
from ..objective import Term
from ..structures import Chain, Graph, Structure
from ..tables import structure_of
from .kernel_problem import part_data
from .kernel_settings import KernelSettings
from .parts import FreeScores, KernelScores, Part, Parts


class CliqueType(ABC):
    """One way to extend a `KernelCRF` or a `CRF`."""

    default: ClassVar[bool] = False
    """Whether models have it unless their settings take it away."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What reports call it."""

    @property
    def names(self) -> list[str]:
        """Return its name, or those of its parts."""
        return [self.name]

    @property
    @abstractmethod
    def part(self) -> tuple[str, Part]:
        """Return what the extended model has more: a part, and its name."""

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that change, from those of the present model."""
        name, part = self.part
        if self.default and present["parts"].get(name, part) is not None:
            raise InputError(
                f"The model has the part {name!r} from the start: parts=Parts({name}=None) is without."
            )
        return {"parts": Parts({**present["parts"], name: part})}

    def term(self, model: Any, settings: KernelSettings, training: Training) -> Term:
        """Return the space of the part on the training set of the extended model, with its penalty."""
        (name, part), data = self.part, part_data(training, model.run, model.random_state)
        penalty = settings.penalty_of(name) if part.penalty is None else part.penalty
        return Term(name, part.bind(data).space(data, precision_of(model.run)), penalty)

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
    """Scores of label pairs.

    Parameters
    ----------
    penalty : float, optional
        Their λ; that of the model if not given.
    """

    default: ClassVar[bool] = True
    name: str = "edges"
    penalty: float | None = None

    @property
    def part(self) -> tuple[str, Part]:
        """V."""
        return "edges", FreeScores(on="edge", penalty=self.penalty)

    def freedom(self, structure: Structure, n_labels: int) -> int:
        """Return how many numbers tell labels apart."""
        return (n_labels - 1) ** 2


@dataclass(frozen=True)
class Boundaries(CliqueType):
    """Scores of the first and the last label."""

    default: ClassVar[bool] = True
    name: str = "boundaries"

    @property
    def part(self) -> tuple[str, Part]:
        """Return start and end."""
        return "boundaries", FreeScores(where="ends")

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that change; graphs have no ends."""
        if isinstance(structure_of(present["structure"]), Graph):
            raise InputError("A graph has no first and last labels: Boundaries is for sequences and trees.")
        return super().settings(present)

    def freedom(self, structure: Structure, n_labels: int) -> int:
        """Return how many numbers tell labels apart."""
        return 2 * (n_labels - 1)


@dataclass(frozen=True)
class SecondOrder(CliqueType):
    """Scores of label triples.

    Parameters
    ----------
    penalty : float, optional
        Their λ; that of the model if not given.
    """

    name: str = "order 2"
    penalty: float | None = None

    @property
    def part(self) -> tuple[str, Part]:
        """U."""
        return "second_order", FreeScores(on="triple", penalty=self.penalty)

    def settings(self, present: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that change: the order, too."""
        if not isinstance(structure_of(present["structure"]), Chain):
            raise InputError("Only chains have label triples: SecondOrder is for structure='chain'.")
        return {"structure": Chain(order=2), **super().settings(present)}

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
    penalty : float, optional
        Its λ; that of the model if not given.
    """

    kernel: Any
    name: str = "edges with input"
    penalty: float | None = None

    @property
    def part(self) -> tuple[str, Part]:
        """Return the expansion over all edges."""
        return "edge_kernel", KernelScores(self.kernel, on="edge", view="first", penalty=self.penalty)


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
        if isinstance(kernel, dict | Weighted):
            raise InputError("A further kernel does not go with one kernel per label, nor with Weighted.")
        kernels = list(kernel) if isinstance(kernel, list | tuple) else [kernel]
        penalties = list(penalty) if isinstance(penalty, list | tuple) else [penalty] * len(kernels)
        return {"kernel": [*kernels, self.kernel], "penalty": [*penalties, self.penalty]}

    @property
    def part(self) -> tuple[str, Part]:
        """Return the expansion over all vertices."""
        return "kernel", KernelScores(self.kernel, penalty=self.penalty)


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

    @property
    def part(self) -> tuple[str, Part]:
        """Refuse to be one part: each candidate is one."""
        raise TypeError("Candidates that are tried together are a part each.")
