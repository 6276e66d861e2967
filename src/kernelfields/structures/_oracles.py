"""What a structure can answer about its outputs.

Oracles are classes of their own: what a structure cannot do, it does not offer, and a loss names the
oracle it needs.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

from ..arrays import Array
from ._base import Scores, StructureBatch


class Marginals(NamedTuple):
    """Log-partitions and marginals of a batch."""

    log_partition: Array
    """g(θ) = log Σ_y exp⟨θ, parts(y)⟩ for every instance, float64."""
    parts: dict[str, Array]
    """μ(θ) = ∇g(θ), the expectation of parts(y), times the weight of the instance; summed over the
    cliques that share a score."""


class Labelling(NamedTuple):
    """The best output of every instance."""

    labels: Array
    """argmax_y ⟨θ, parts(y)⟩, flat: one label per vertex of the batch where vertices are labelled."""
    value: Array
    """max_y ⟨θ, parts(y)⟩ for every instance."""


class Labellings(NamedTuple):
    """Several outputs of every instance, best first."""

    labels: Array
    """One row per rank, as in `Labelling`; −1 where an instance has fewer outputs."""
    value: Array
    """Scores, one row per instance; −inf where there is no output of that rank."""


class MaxOracle(StructureBatch):
    """A structure that finds its best output."""

    @abstractmethod
    def argmax(self, scores: Scores) -> Labelling:
        """Best output of every instance; ties go to the lower label."""


class SumOracle(StructureBatch):
    """A structure that sums over all outputs, exactly."""

    @abstractmethod
    def log_partition(self, scores: Scores) -> Array:
        """g(θ) for every instance."""

    @abstractmethod
    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """g(θ) and its gradient; ``weights`` count each instance that many times in the latter."""

    @abstractmethod
    def entropy(self, scores: Scores) -> Array:
        """H(p) = −Σ_y p(y) log p(y) for every instance."""


class CovarianceOracle(SumOracle):
    """A structure that differentiates its marginals."""

    @abstractmethod
    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d, the derivative of all marginals along a direction in score space."""


class SampleOracle(StructureBatch):
    """A structure that draws outputs."""

    @abstractmethod
    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Exact draws from p(y) ∝ exp⟨θ, parts(y)⟩, one flat output per row."""


class KBestOracle(StructureBatch):
    """A structure that finds its k best outputs."""

    @abstractmethod
    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Return the k best outputs of every instance."""
