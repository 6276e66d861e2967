"""Gaussian process classification of sequences."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from ..data.reading import FeatureSetting
from ..data.types import Seed
from ..decoders import Decoder
from ..fitting.run_settings import Run
from ..models.parts import Parts
from ..posterior import PosteriorMethod
from ..selection import SGPS, Selection
from ..solvers import Solver
from ..structures import Structure
from ._kernel_model import KernelModel

PAPER = 2.0
"""λ here of a penalty αᵀKα without the half [altun2004gp, (6)]; the scale is in the kernel."""


@dataclass(eq=False, repr=False)
class GPSequenceClassifier(KernelModel):
    """Gaussian process sequence classification, dense (DGPS) or sparse (SGPS) [altun2004gp].

    The scores of labellings, F(x, y), have a Gaussian prior whose covariance adds up over pairs of
    positions: [y_s = y_t] k(x_s, x_t) for labels and observations, and κ [(y_s, y_{s+1}) = (y_t, y_{t+1})]
    for neighbouring labels. The maximum of the posterior minimises

        Σ_i −log p(y^i|x^i) + αᵀKα                                                      [altun2004gp, (6)]

    over all coefficients, with exact expectations by forward-backward; coefficients of whole labellings
    collapse to those of positions and label pairs (its Proposition 1). There is no λ: the scale of the
    prior is that of the kernel, and the missing half makes this `KernelCRF` with λ = 2, edges with
    λ = 2/κ, without bias and without scores of first and last labels.

    Parameters
    ----------
    kernel : name, Kernel or function
        k, its scale included: ``4 * RBF()`` has twice the prior standard deviation of ``RBF()``.
    sparse : bool or Selection
        False: an expansion over all positions (Algorithm 1). True: `SGPS` (Algorithm 2); or one of `SGPS`,
        `SGSA`, `WholeSequences` and `GreedyCliques` of ``selection`` with settings.
    edge_variance : float
        κ.
    posterior : "laplace", "variational", "mcmc", PosteriorMethod, optional
        As in `KernelCRF`.
    warm_start : bool
        As in `KernelCRF`.
    structure, classes, parts, features, solver, decoder, tol, max_iter
        As in `KernelCRF`.
    random_state, verbose
        As in `KernelCRF`.
    run : Run
        Heeds ``dtype``, ``memory_limit``, ``patience`` and ``callback``.

    Attributes
    ----------
    classes_, basis_, dual_coef_, transitions_, kernel_, certificate_, n_iter_, stop_reason_
        As in `KernelCRF`; the value of the certificate is (6).
    path_, selected_
        With ``sparse``, as in `KernelCRF`.

    Examples
    --------
    >>> from kernelfields import GPSequenceClassifier
    >>> X = [[[0.0], [1.0], [2.0]], [[1.0], [0.0]]]
    >>> y = [["A", "B", "A"], ["B", "A"]]
    >>> GPSequenceClassifier("rbf").fit(X, y).predict([[[1.0], [0.0]]])
    [['B', 'A']]
    """

    _lacks: ClassVar[Mapping[str, str]] = {
        "checkpoint": "KernelCRF has it, which with a penalty of 2 is the same model",
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"dtype", "memory_limit", "patience", "callback"})

    _learns_weights: ClassVar[bool] = False

    kernel: Any = "rbf"
    _: KW_ONLY
    sparse: bool | Selection = False
    edge_variance: float = 1.0
    posterior: str | PosteriorMethod | None = None
    warm_start: bool = False
    structure: str | Structure = "chain"
    classes: Sequence[Hashable] | None = None
    parts: Parts = Parts()
    features: FeatureSetting = None
    solver: str | Solver = "lbfgs"
    decoder: str | Decoder = "viterbi"
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @property
    def penalty(self) -> float:
        """λ of the model that this one is."""
        return PAPER

    @property
    def edge_penalty(self) -> float:
        """λ of its label pairs."""
        return PAPER / self.edge_variance

    def _given_parts(self) -> Parts:
        return super()._given_parts().beside({"bias": None, "boundaries": None})

    @property
    def basis(self) -> Selection | None:
        """How its functions are selected."""
        return SGPS() if self.sparse is True else self.sparse or None
