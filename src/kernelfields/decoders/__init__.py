"""Decoders: from clique scores to labels."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import ABSTAINED, Decoder, best_allowed, best_output
    from .abstain import Abstain
    from .cost import BayesRule, Best, Candidates, Draws, MinimumRisk
    from .linear_program import LinearProgram, Relaxation
    from .map import Viterbi
    from .posterior import Posterior
    from .semidefinite import SemidefiniteProgram
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "ABSTAINED Decoder best_allowed best_output",
            "abstain": "Abstain",
            "cost": "BayesRule Best Candidates Draws MinimumRisk",
            "linear_program": "LinearProgram Relaxation",
            "map": "Viterbi",
            "posterior": "Posterior",
            "semidefinite": "SemidefiniteProgram",
        },
    )

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
