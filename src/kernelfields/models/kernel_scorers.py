"""Scorers of fitted kernel models: expansions over a basis, or weights of random features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..approximation import FourierMap
from ..arrays import Array
from ..kernels import Kernel
from ..structures import StructureBatch
from .clique_kernels import CliqueExpansion
from .kernel_recipe import in_precision
from .model import LabelScorer, Model, Scorer, add, fitted_model
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
    untied: ClassVar[bool] = True

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
class CliqueScorer(Scorer):
    """f(x_c, y_c) for every clique of some type."""

    expansion: CliqueExpansion
    dtype: Any
    """Precision of observations in the fit."""

    @property
    def untied(self) -> bool:  # type: ignore[override]  # it depends on the clique type
        """Whether it is about edges."""
        return self.expansion.clique == "edge"

    def add_scores(self, batch: StructureBatch, features: Any, into: dict[str, Array]) -> None:
        """Sum over the basis."""
        into.setdefault(self.expansion.clique, np.zeros(batch.shapes[self.expansion.clique]))
        self.expansion.add_scores(batch, in_precision(features, self.dtype), into)


@dataclass(frozen=True, slots=True)
class ColumnScorer(Scorer):
    """Kernel values with a basis, computed before, times coefficients."""

    clique: str
    columns: Any
    """(N, n), one row for every vertex of the very batch that is asked for."""
    coef: Array
    """(n, number of what labels a clique can have)."""

    @property
    def untied(self) -> bool:  # type: ignore[override]  # it depends on the clique type
        """Whether it is about edges."""
        return self.clique == "edge"

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
        dtype, kernel = learnt["basis_"].dtype, learnt.get("edge_kernel_")
    else:
        scorers.append(FourierScorer(fourier, coef))
        dtype, kernel = fourier.frequencies.dtype, fourier
    if edge_coef is not None:
        assert kernel is not None  # files may say anything
        scorers.append(EdgeKernelScorer(kernel, learnt.get("basis_"), edge_coef))
    scorers += [CliqueScorer(one, dtype) for one in learnt.get("clique_kernels_", ())]
    return fitted_model(model, *scorers, LabelScorer.of(learnt))
