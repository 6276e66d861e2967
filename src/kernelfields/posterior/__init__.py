"""Averaging over the posterior of the function, and the evidence of settings."""

from ._base import PosteriorDraws, PosteriorMethod
from .averaged_loss import AveragedLoss
from .curvature import Curvature
from .determinant import PrecisionSpectrum, log_determinant, spectrum
from .evidence_slope import EvidenceSlope
from .laplace import Laplace, laplace_evidence
from .slice_sampling import SliceSampling
from .unit_problem import UnitProblem, require_posterior
from .variational import Variational

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
