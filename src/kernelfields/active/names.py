"""Strategies by name."""

from __future__ import annotations

from ..checks import Table
from ._base import Strategy
from .disagreement import Disagreement, SampleDisagreement
from .random_choice import RandomChoice
from .uncertainty import ExpectedError, LogProbability, Margin, SequenceEntropy, TokenEntropy

STRATEGIES: Table[Strategy] = Table(
    Strategy,
    entries={
        "token-entropy": TokenEntropy(),
        "sequence-entropy": SequenceEntropy(),
        "log-probability": LogProbability(),
        "margin": Margin(),
        "expected-error": ExpectedError(),
        "disagreement": Disagreement(),
        "sample-disagreement": SampleDisagreement(),
        "random": RandomChoice(),
    },
)
