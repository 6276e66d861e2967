"""What a kernel model is made of, whichever face it has."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from ..constraints import Rule
from ..data.base_measure import BaseMeasure
from ..data.reading import read_to_fit
from ..data.training import ClassWeight, Training, read_training
from ..objective import Term
from ..solvers import Progress, Solver, Stop
from ..structures import EdgeBatch, Structure
from ..tables import structure_of
from .clique_kernels import read_clique_kernels
from .terms import Penalties, edge_terms, second_order_terms, vertex_terms
from .vertex_kernels import first_penalty, takes_objects


@dataclass(frozen=True)
class KernelRecipe:
    """Settings of a kernel model; `KernelCRF` says what they mean."""

    kernel: Any
    penalty: Any
    edge_penalty: float | None = None
    features: Any = None
    structure: str | Structure = "chain"
    second_order_penalty: float | None = None
    fit_intercept: bool = False
    boundaries: bool = False
    edges: bool = True
    edge_kernel: Any = None
    clique_kernels: Any = None
    label_kernel: Any = None
    norms: Any = None
    classes: Sequence[Hashable] | None = None
    class_weight: ClassWeight = None
    cost: Any = None
    loss: str = "log"
    constraints: str | Rule | None = None
    base_measure: BaseMeasure = None
    approximation: Any = None
    selection: Any = None
    warm_start: bool = False
    solver: str | Solver = "lbfgs"
    tol: float = 1e-3
    max_iter: int = 1000
    patience: int = 5
    dtype: Any = "float32"
    memory_limit: Any = None
    checkpoint: Any = None
    checkpoint_seconds: float = 30.0
    random_state: Any = None
    callback: Callable[[Progress], None] | None = None
    verbose: int = 0

    @property
    def penalties(self) -> Penalties:
        """λ of each part."""
        return Penalties.of(first_penalty(self.penalty), self.edge_penalty, self.second_order_penalty)

    @property
    def untied(self) -> bool:
        """Whether every edge has scores of its own: a kernel looks at its input."""
        cliques = read_clique_kernels(self.clique_kernels)
        return self.edge_kernel is not None or any(one.clique == "edge" for one in cliques)

    @property
    def stop(self) -> Stop:
        """When a search ends."""
        return Stop(gap=self.tol, gradient=1e-2 * self.tol, iterations=self.max_iter)

    def read(self, X: Any, y: Any, lengths: Any, sample_weight: Any) -> Training:
        """Read and check a training set."""
        structure = structure_of(self.structure)
        verbatim = takes_objects(self.kernel)
        inputs, extractor = read_to_fit(structure, self.features, X, lengths, verbatim=verbatim)
        return read_training(
            inputs,
            extractor,
            y,
            structure,
            untied=self.untied,
            sample_weight=sample_weight,
            class_weight=self.class_weight,
            cost=self.cost,
            loss=self.loss,
            constraints=self.constraints,
            classes=self.classes,
        )

    def free_terms(self, chain: EdgeBatch) -> list[Term]:
        """The spaces that look at labels only."""
        terms = vertex_terms(chain, self.penalties, bias=self.fit_intercept, boundaries=self.boundaries)
        if self.edges:
            terms += edge_terms(chain, self.penalties)
        return terms + second_order_terms(chain, self.penalties)
