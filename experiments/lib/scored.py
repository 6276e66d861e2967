"""Test sequences whose scores are computed once, for several decoders: kernel values are what takes time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.decoders import Decoder
from kernelfields.metrics import log_likelihood, token_error, transition_accuracy
from kernelfields.structures import Scores


class ScoredSequences(NamedTuple):
    """Test sequences with the scores that one model gives them."""

    chain: Any
    scores: Scores
    classes: Array
    y: Sequence[Any]
    """Their labels."""

    @classmethod
    def of(cls, model: Any, X: Sequence[Any], y: Sequence[Any]) -> ScoredSequences:
        """Score sequences by a fitted model."""
        chain, scores = model._batch(X, None, None)[:2]
        return cls(chain, scores, model.classes_, y)

    def judged(self, decoder: Decoder) -> dict[str, float]:
        """Return Q3 and transition accuracy of a decoder on these scores."""
        labels = self.classes[decoder.decode(self.chain, self.scores)]
        return judge(self.y, [labels[a:b].tolist() for a, b in pairwise(self.chain.offsets)])

    def log_likelihood(self) -> float:
        """Return the log-likelihood of the labels, per position."""
        truth = np.searchsorted(self.classes, np.concatenate(self.y)).astype(np.int32)
        log_proba = self.chain.score(self.scores, truth) - self.chain.log_partition(self.scores)
        return log_likelihood(log_proba, [len(labels) for labels in self.y])


def judge(y: Any, predicted: Any) -> dict[str, float]:
    """Return the share of right labels, and of boundaries at which both labels are right."""
    return {
        "Q3 %": 100 * (1 - token_error(y, predicted)),
        "transitions %": 100 * transition_accuracy(y, predicted),
    }
