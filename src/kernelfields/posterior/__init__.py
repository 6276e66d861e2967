"""Averaging over the posterior of the function, and the evidence of settings."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import PosteriorDraws, PosteriorMethod
    from .averaged_loss import AveragedLoss
    from .curvature import Curvature
    from .determinant import PrecisionSpectrum, log_determinant, spectrum
    from .evidence_slope import EvidenceSlope
    from .laplace import Laplace, laplace_evidence
    from .slice_sampling import SliceSampling
    from .unit_problem import UnitProblem, require_posterior
    from .variational import Variational
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "PosteriorDraws PosteriorMethod",
            "averaged_loss": "AveragedLoss",
            "curvature": "Curvature",
            "determinant": "PrecisionSpectrum log_determinant spectrum",
            "evidence_slope": "EvidenceSlope",
            "laplace": "Laplace laplace_evidence",
            "slice_sampling": "SliceSampling",
            "unit_problem": "UnitProblem require_posterior",
            "variational": "Variational",
        },
    )

__all__ = [
    "AveragedLoss",
    "Curvature",
    "EvidenceSlope",
    "Laplace",
    "PosteriorDraws",
    "PosteriorMethod",
    "PrecisionSpectrum",
    "SliceSampling",
    "UnitProblem",
    "Variational",
    "laplace_evidence",
    "log_determinant",
    "require_posterior",
    "spectrum",
]
