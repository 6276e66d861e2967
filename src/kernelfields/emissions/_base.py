"""What emissions are: the distribution of an observation in each state of a hidden Markov model.

A *family* says which distributions there are (its settings, priors included) and how to choose among
them; *emissions* are one choice, a distribution for every state. Emissions are scorers: they turn
observations into node scores log p(x_t|y_t), and that is all prediction needs of them.
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
"""What settings of families may be."""


class ObservedSequences(NamedTuple):
    """Observations of all sequences, one behind the other."""

    observations: Any
    """As the family keeps them; their ``numbers`` are an array."""
    offsets: Array
    labels: Array | None = None
    """State of every position, −1 where it was not observed; None if none was."""


class Markov(NamedTuple):
    """How states follow one another: log-probabilities."""

    start: Array
    """(L,), log p(y_1)."""
    transitions: Array
    """(L, L), log p(y_{t+1}|y_t), from row to column."""


class Expectations(NamedTuple):
    """What an expectation step finds."""

    log_probability: Array
    """log p(x, observed states) for every sequence."""
    start: Array
    """(L,), expected number of sequences that start in each state."""
    transitions: Array
    """(L, L), expected number of steps from row to column."""
    statistics: Any
    """Expected sufficient statistics, as `Emissions.improved` wants them."""


class Emissions(ABC):
    """A distribution of observations for each of L states."""

    family: Family
    n_states: int

    @abstractmethod
    def log_density(self, observations: Any) -> Array:
        """Log p(x_t|k), (N, L); 0 where x_t is missing, which sums it out."""

    @abstractmethod
    def expected(self, data: ObservedSequences, markov: Markov) -> Expectations:
        """Sum over all paths of hidden states: Baum and Welch's expectation step [rabiner1989tutorial]."""

    @abstractmethod
    def improved(self, statistics: Any) -> Emissions:
        """Maximise the expected log-likelihood plus `log_prior`."""

    @abstractmethod
    def log_prior(self) -> float:
        """Log-density of the parameters under the prior of the family, but for a constant."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Number of free parameters."""

    @abstractmethod
    def draw(self, states: Array, rng: Random, offsets: Array | None = None) -> Any:
        """One observation for each of some states, of one sequence, or of those that ``offsets`` say."""


class Family(Parameterised, ABC):
    """Distributions to choose emissions from."""

    def require_settings(self) -> None:
        """Refuse settings that mean nothing."""
        for name in self._parameter_names():
            value = getattr(self, name)
            if name in CHECKS:
                CHECKS[name](name, value)
            elif isinstance(value, Family):
                value.require_settings()

    @abstractmethod
    def read(self, X: Any, lengths: Any, known: Emissions | None) -> ObservedSequences:
        """Read what users give; with emissions that are ``known``, in their columns or symbols."""

    @abstractmethod
    def guess(self, observations: Any, n_states: int, rng: Random) -> Emissions:
        """Emissions to start from when nothing is known but observations."""

    @abstractmethod
    def labelled(self, data: ObservedSequences, n_states: int) -> Emissions:
        """Return the best emissions for positions whose states are observed; others are left out."""


def chain_scores(
    emissions: Emissions, data: ObservedSequences, markov: Markov, density: Array | None = None
) -> tuple[ChainBatch, dict[str, Array]]:
    """Return the chain whose scores are log p(x, y): nodes emit, edges step, first positions start.

    A state that was observed forbids the others.
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
    """Logarithms, −inf for zeros, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
