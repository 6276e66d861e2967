"""Emissions: the distribution of an observation in each state of a hidden Markov model.

A *family* is a set of distributions (its settings, priors included) with a way to choose among them;
*emissions* are one choice, a distribution for every state. Emissions are scorers: they turn observations
into node scores log p(x_t|y_t), which is all that prediction needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_not_negative, require_whole, whole
from ..parameters import Parameterised
from ..structures import ChainBatch

Random = Any
"""A NumPy Generator."""


CHECKS: Mapping[str, Callable[[str, Any], object]] = {
    **dict.fromkeys(["prior_count", "prior_scale", "prior_weight", "pseudocount"], require_not_negative),
    **dict.fromkeys(["components", "trials"], whole()),
    "order": lambda name, value: require_whole(name, value, 0, 20),
}
"""Types that settings of families may have."""


class ObservedSequences(NamedTuple):
    """Observations of all sequences, concatenated."""

    observations: Any
    """In the form of the family; their ``numbers`` are an array."""
    offsets: Array
    labels: Array | None = None
    """State of every position, −1 where it was not observed; None if no state was."""
    weights: Array | None = None
    """How many times each sequence counts; None for once."""

    def part(self, begin: int, end: int) -> ObservedSequences:
        """Return the sequences from one to another."""
        offsets = self.offsets[begin : end + 1]
        a, b = offsets[0], offsets[-1]
        labels = None if self.labels is None else self.labels[a:b]
        weights = None if self.weights is None else self.weights[begin:end]
        return ObservedSequences(self.observations.part(a, b), offsets - a, labels, weights)

    @property
    def position_weights(self) -> Array | None:
        """How many times each position counts."""
        return None if self.weights is None else np.repeat(self.weights, np.diff(self.offsets))


class Markov(NamedTuple):
    """Log-probabilities of first states and of steps from state to state."""

    start: Array
    """(L,), log p(y_1)."""
    transitions: Array
    """(L, L), log p(y_{t+1}|y_t), from row to column."""


class Expectations(NamedTuple):
    """The result of an expectation step."""

    log_probability: Array
    """log p(x, observed states) for every sequence."""
    start: Array
    """(L,), expected number of sequences that start in each state."""
    transitions: Array
    """(L, L), expected number of steps from row to column."""
    statistics: Any
    """Expected sufficient statistics, as `Emissions.improved` takes them."""


class Emissions(ABC):
    """A distribution of observations for each of L states."""

    family: Family
    n_states: int

    @abstractmethod
    def log_density(self, observations: Any) -> Array:
        """Return log p(x_t|k), (N, L); 0 where x_t is missing, which sums it out."""

    @abstractmethod
    def expected(self, data: ObservedSequences, markov: Markov) -> Expectations:
        """Sum over all paths of hidden states: Baum and Welch's expectation step [rabiner1989tutorial]."""

    def log_probability(self, data: ObservedSequences, markov: Markov) -> Array:
        """Return log p(x, observed states) of every sequence, by the forward recursion."""
        chain, scores = chain_scores(self, data, markov)
        return chain.log_partition(scores)

    @abstractmethod
    def improved(self, statistics: Any) -> Emissions:
        """Maximise the expected log-likelihood plus `log_prior`."""

    def joined(self, left: Any, right: Any) -> Any:
        """Return the statistics of two sets of sequences together: those of counts add up."""
        return left + right if isinstance(left, np.ndarray) else tuple(map(np.add, left, right))

    @abstractmethod
    def log_prior(self) -> float:
        """Return the log-density of the parameters under the prior of the family, up to a constant."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Number of free parameters."""

    @abstractmethod
    def draw(self, states: Array, rng: Random, offsets: Array | None = None) -> Any:
        """Draw one observation per state, for one sequence or for those that ``offsets`` delimit."""


class Family(Parameterised, ABC):
    """A family of distributions to choose emissions from."""

    def require_settings(self) -> None:
        """Refuse invalid settings."""
        for name in self._parameter_names():
            value = getattr(self, name)
            if name in CHECKS:
                CHECKS[name](name, value)
            elif isinstance(value, Family):
                value.require_settings()

    @abstractmethod
    def read(self, X: Any, lengths: Any, known: Emissions | None) -> ObservedSequences:
        """Read the observations of a user; with ``known`` emissions, in their columns or symbols."""

    @abstractmethod
    def guess(self, observations: Any, n_states: int, rng: Random) -> Emissions:
        """Return emissions to start from when only observations are known."""

    @abstractmethod
    def labelled(self, data: ObservedSequences, n_states: int) -> Emissions:
        """Return the best emissions for positions with observed states; other positions are ignored."""


def chain_scores(
    emissions: Emissions, data: ObservedSequences, markov: Markov, density: Array | None = None
) -> tuple[ChainBatch, dict[str, Array]]:
    """Return the chain with scores log p(x, y): emissions on nodes, steps on edges, starts on first nodes.
    An observed state forbids all others at its position.
    """
    chain = ChainBatch(data.offsets, emissions.n_states)
    node = emissions.log_density(data.observations) if density is None else density.copy()
    node[chain.first_positions] += markov.start
    if data.labels is not None:
        given = np.flatnonzero(data.labels >= 0)
        others = np.arange(emissions.n_states) != data.labels[given, None]
        node[given] = np.where(others, -np.inf, node[given])
    return chain, {"node": node, "edge": markov.transitions}


def log_of(probabilities: Array) -> Array:
    """Return logarithms, −inf for zeros, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
