"""What a kernel model is made of, whichever face it has."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays import Array
from ..constraints import Rule
from ..data.base_measure import BaseMeasure
from ..data.extraction import extractor_for, read_tokens
from ..data.inputs import read_inputs
from ..data.training import ClassWeight, Training, read_training
from ..objective import Term
from ..solvers import Progress, Solver, Stop
from ..structures import SequenceBatch
from .terms import Penalties, chain_of, edge_term, second_order_terms, vertex_terms
from .vertex_kernels import first_penalty, takes_objects


@dataclass(frozen=True)
class KernelRecipe:
    """Settings of a kernel model; `KernelCRF` says what they mean."""

    kernel: Any
    penalty: Any
    edge_penalty: float | None = None
    features: Any = None
    order: int = 1
    second_order_penalty: float | None = None
    bias: bool = False
    boundaries: bool = False
    edges: bool = True
    edge_kernel: Any = None
    label_kernel: Any = None
    classes: Sequence[Hashable] | None = None
    class_weight: ClassWeight = None
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
    def stop(self) -> Stop:
        """When a search ends."""
        return Stop(gap=self.tol, gradient=1e-2 * self.tol, iterations=self.max_iter)

    def read(self, X: Any, y: Any, lengths: Any, sample_weight: Any) -> Training:
        """Read and check a training set."""
        extractor = extractor_for(self.features, X, verbatim=takes_objects(self.kernel))
        inputs = read_inputs(X, lengths) if extractor is None else read_tokens(extractor, X, fit=True)
        return read_training(
            inputs,
            extractor,
            y,
            self.chain,
            sample_weight=sample_weight,
            class_weight=self.class_weight,
            loss=self.loss,
            constraints=self.constraints,
            classes=self.classes,
        )

    def chain(self, offsets: Array, n_labels: int) -> SequenceBatch:
        """Return chains; their edges have scores of their own where a kernel looks at their input."""
        return chain_of(offsets, n_labels, self.order, shared_edges=self.edge_kernel is None)

    def free_terms(self, chain: SequenceBatch) -> list[Term]:
        """The spaces that look at labels only."""
        terms = vertex_terms(chain, self.penalties, bias=self.bias, boundaries=self.boundaries)
        if self.edges:
            terms.append(edge_term(chain, self.penalties))
        return terms + second_order_terms(chain, self.penalties)
