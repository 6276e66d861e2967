"""What a structure can answer about its outputs.

Oracles are classes of their own: what a structure cannot do, it does not offer, and a loss names the
oracle it needs.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import UnsupportedError, warn_user
from ._base import Scores, StructureBatch

ROUNDING = 1e-9
"""Share of a bound that rounding can have added to it, or taken from the value below it."""


class Marginals(NamedTuple):
    """Log-partitions and marginals of a batch."""

    log_partition: Array
    """g(θ) = log Σ_y exp⟨θ, parts(y)⟩ for every instance, float64."""
    parts: dict[str, Array]
    """μ(θ) = ∇g(θ), the expectation of parts(y), times the weight of the instance; summed over the
    cliques that share a score."""


class Convergence(NamedTuple):
    """How an approximation ended, and what it proves, for every instance."""

    converged: Array
    """Whether it reached its tolerance."""
    iterations: Array
    """How many iterations it took."""
    change: Array
    """How much the last iteration changed."""
    lower: Array
    """A lower bound of the exact log-partition; −inf where none is known."""
    upper: Array
    """An upper bound of the exact log-partition; inf where none is known."""
    slack: Array
    """At most how far ``log_partition`` is below what it would be after any number of iterations, where that
    is convex in the scores; else 0."""


class ApproximateMarginals(NamedTuple):
    """Approximations of log-partitions and marginals."""

    log_partition: Array
    """What stands for g(θ), for every instance, float64."""
    parts: dict[str, Array]
    """Beliefs in place of marginals, times the weight of the instance; summed over the cliques that share a
    score."""
    convergence: Convergence
    """How they were reached."""


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


class ApproximateSum(StructureBatch):
    """A structure that approximates sums over all outputs; never mistaken for a `SumOracle`."""

    convex: ClassVar[bool]
    """Whether the approximation of g is convex in the scores, with the beliefs as its gradient."""
    convergence: Convergence | None = None
    """Of the last sums that were asked for."""

    @abstractmethod
    def log_partition(self, scores: Scores) -> Array:
        """Return what stands for g(θ), for every instance."""

    @abstractmethod
    def marginals(self, scores: Scores, weights: Array | None = None) -> ApproximateMarginals:
        """Return what stands for g(θ) and its gradient; ``weights`` count each instance that many times."""

    @abstractmethod
    def entropy(self, scores: Scores) -> Array:
        """Return what stands for the entropy, for every instance."""

    def warn_of_unsettled(self) -> None:
        """Say, as a warning, for how many instances the last sums did not converge."""
        if self.convergence is not None:
            warn_of_unsettled(self, int((~self.convergence.converged).sum()))


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


class ApproximateSample(StructureBatch):
    """A structure that draws outputs approximately; never mistaken for a `SampleOracle`."""

    @abstractmethod
    def approximate_sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Draws from about p(y) ∝ exp⟨θ, parts(y)⟩, one flat output per row; they depend on each other."""


class KBestOracle(StructureBatch):
    """A structure that finds its k best outputs."""

    @abstractmethod
    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Return the k best outputs of every instance."""


class BoundedLabelling(NamedTuple):
    """A good output of every instance, and how far it can be from the best."""

    labels: Array
    """y, flat, as in `Labelling`."""
    value: Array
    """⟨θ, parts(y)⟩ of every instance, at most the best score; −inf where no allowed output was found."""
    bound: Array
    """At least the best score of every instance."""
    converged: Array
    """Whether the search of every instance came to its end, rather than to a limit."""

    @property
    def certified(self) -> Array:
        """Whether the bound meets the value, up to rounding: then y is a best output."""
        close = ROUNDING * np.maximum(1.0, np.abs(self.bound))
        with np.errstate(invalid="ignore"):
            return np.asarray(self.bound - self.value <= close)


class ApproximateMax(StructureBatch):
    """A structure that looks for its best output, and bounds its score; whether it was found is said."""

    @abstractmethod
    def approximate_argmax(self, scores: Scores) -> BoundedLabelling:
        """Return a good output of every instance, with a bound of the best score."""


def warn_of_unsettled(batch: StructureBatch, count: int) -> None:
    """Say, as a warning, for how many instances an approximation did not converge; nothing for 0."""
    if count:
        from sklearn.exceptions import ConvergenceWarning

        name, items = type(batch).__name__, f"{batch.n_instances} {batch.words.items}"
        advice = "raise max_iter or tol of its inference."
        warn_user(f"{name} did not converge on {count} of {items}: {advice}", ConvergenceWarning)


def require_max(structure: StructureBatch, who: str) -> MaxOracle | ApproximateMax:
    """Return a structure that finds its best output, or looks for it; a plain refusal of others."""
    if not isinstance(structure, MaxOracle | ApproximateMax):
        raise UnsupportedError(
            f"{who} needs the best output, which {type(structure).__name__} does not give."
        )
    return structure


def bounded_argmax(structure: MaxOracle | ApproximateMax, scores: Scores) -> BoundedLabelling:
    """Return the best output, its value as the bound; where there is no such oracle, what a search finds."""
    if not isinstance(structure, MaxOracle):
        return structure.approximate_argmax(scores)
    labels, value = structure.argmax(scores)
    return BoundedLabelling(labels, value, value, np.ones(len(value), dtype=bool))
