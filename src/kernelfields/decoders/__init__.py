"""Decoders: from clique scores to labels."""

from ._base import ABSTAINED, Decoder, best_allowed, best_output
from .abstain import Abstain
from .cost import BayesRule, Best, Candidates, Draws, MinimumRisk
from .linear_program import LinearProgram, Relaxation
from .map import Viterbi
from .posterior import Posterior
from .semidefinite import SemidefiniteProgram

__all__ = [
    "ABSTAINED",
    "Abstain",
    "BayesRule",
    "Best",
    "Candidates",
    "Decoder",
    "Draws",
    "LinearProgram",
    "MinimumRisk",
    "Posterior",
    "Relaxation",
    "SemidefiniteProgram",
    "Viterbi",
    "best_allowed",
    "best_output",
]
