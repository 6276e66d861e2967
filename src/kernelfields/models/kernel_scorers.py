"""Scorers of fitted kernel models: expansions over a basis, or weights of random features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..approximation import FourierMap
from ..arrays import Array
from ..kernels import Kernel
from ..observations import in_precision
from ..structures import StructureBatch
from .attributes import learnt_model
from .model import Model, Scorer, add
from .separate_kernels import SeparateKernels
from .vertex_kernels import VertexKernels, used_times


@dataclass(frozen=True, slots=True)
class KernelScorer(Scorer):
    """f(x, y) = Σ_o k_y(x, basis_o) coef_{o,y} for every answer."""

    kernels: VertexKernels | SeparateKernels
    basis: Any
    coef: Array
    """(n, L)."""

    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Sum over the basis, in the precision that observations had in the fit."""
        observations = in_precision(features, self.basis.dtype)
        add_answers(into, batch, self.kernels.scores(observations, self.basis, self.coef))


@dataclass(frozen=True, slots=True)
class FourierScorer(Scorer):
    """f(x, y) = ⟨coef_y, φ(x)⟩ for every answer."""

    fourier: FourierMap
    coef: Array
    """(n, L)."""

    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Multiply random features with weights."""
        observations = in_precision(features, self.fourier.frequencies.dtype)
        add_answers(into, batch, self.fourier.times(observations, self.coef))


@dataclass(frozen=True, slots=True)
class EdgeKernelScorer(Scorer):
    """g(x, y, y′) for every edge, x being that of its tail: an expansion, or weights of random features."""

    kernel: Kernel | FourierMap
    basis: Any
    coef: Array
    """(n, L, L)."""
    own: ClassVar[frozenset[str]] = frozenset({"edge"})

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Sum over the basis."""
        L = self.coef.shape[-1]
        flat = self.coef.reshape(-1, L * L)
        tails = features[batch.edge_tails]
        if isinstance(self.kernel, FourierMap):
            values = self.kernel.times(in_precision(tails, self.kernel.frequencies.dtype), flat)
        else:
            values = used_times(self.kernel, in_precision(tails, self.basis.dtype), self.basis, flat)
        add(into, "edge", np.asarray(values, dtype=np.float64).reshape(-1, L, L))


@dataclass(frozen=True, slots=True)
class ColumnScorer(Scorer):
    """Kernel values with a basis, computed before, times coefficients."""

    clique: str
    columns: Any
    """(N, n), one row for every vertex of the very batch that is asked for."""
    coef: Array
    """(n, number of what labels a clique can have)."""

    @property
    def own(self) -> frozenset[str]:  # type: ignore[override]  # it depends on the basis
        """Return the clique type that it is about."""
        return frozenset({self.clique})

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Multiply; edges see their tails."""
        scores = self.columns @ self.coef.astype(self.columns.dtype)
        seen = scores[batch.edge_tails] if self.clique == "edge" else scores
        shape = batch.cliques[self.clique].shape
        add(into, self.clique, np.asarray(seen, dtype=np.float64).reshape(shape))


def add_answers(into: dict[str, Array], batch: StructureBatch, values: Array) -> None:
    """Add scores of answers, one row for each, in double."""
    shape = (len(values), *batch.cliques[batch.answer].values)
    add(into, batch.answer, np.asarray(values, dtype=np.float64).reshape(shape))


def kernel_model(model: Any) -> Model:
    """Return what a fitted kernel model has learnt, whatever its settings say by now."""
    coef = model.dual_coef_  # models from large files read the rest now, too
    learnt = vars(model)
    fourier, edge_coef = learnt.get("fourier_"), learnt.get("edge_dual_coef_")
    scorers: list[Scorer] = []
    if fourier is None:
        scorers.append(KernelScorer(learnt["_kernels"], learnt["basis_"], coef))
        kernel = learnt.get("edge_kernel_")
    else:
        scorers.append(FourierScorer(fourier, coef))
        kernel = fourier
    if edge_coef is not None:
        assert kernel is not None  # files may say anything
        scorers.append(EdgeKernelScorer(kernel, learnt.get("basis_"), edge_coef))
    return learnt_model(model, *scorers)
