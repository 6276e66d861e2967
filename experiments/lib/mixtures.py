"""Sequences from a Markov chain over mixtures of overlapping Gaussians [lafferty2004, 5.1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array, offsets_of
from kernelfields.metrics import token_error
from kernelfields.structures import ChainBatch

LABELS, DIMENSIONS = 3, 2


class StateSequences(NamedTuple):
    """Observations and their hidden states."""

    X: list[Array]
    y: list[list[int]]

    @property
    def size(self) -> int:
        """Number of positions."""
        return sum(map(len, self.y))


@dataclass(frozen=True)
class MixtureHMM:
    """Three persistent states, each a mixture of equally weighted Gaussians."""

    means: Array
    """(L, M, D)."""
    factors: Array
    """A of every covariance AAᵀ, (L, M, D, D)."""
    stay: float
    """Probability of no change; the other states share the rest."""

    @classmethod
    def drawn(cls, components: int, spread: float, stay: float, random: np.random.Generator) -> MixtureHMM:
        """Draw means with a standard deviation, and covariances about one."""
        shape = (LABELS, components, DIMENSIONS)
        means = spread * random.normal(size=shape)
        return cls(means, random.normal(size=(*shape, DIMENSIONS)) * 0.5 + 0.5 * np.eye(DIMENSIONS), stay)

    @property
    def transitions(self) -> Array:
        """(L, L)."""
        away = (1 - self.stay) / (LABELS - 1)
        return np.where(np.eye(LABELS) > 0, self.stay, away)

    def draw(self, count: int, length: int, random: np.random.Generator) -> StateSequences:
        """Draw sequences of one length."""
        return StateSequences(
            *map(list, zip(*(self._one(length, random) for _ in range(count)), strict=True))
        )

    def _one(self, length: int, random: np.random.Generator) -> tuple[Array, list[int]]:
        states = [int(random.integers(LABELS))]
        for _ in range(length - 1):
            states.append(int(random.choice(LABELS, p=self.transitions[states[-1]])))
        of = random.integers(self.means.shape[1], size=length)
        noise = random.normal(size=(length, DIMENSIONS))
        return self.means[states, of] + np.einsum("tij,tj->ti", self.factors[states, of], noise), states

    def log_density(self, X: Array) -> Array:
        """Return log p(x|state) up to a constant, (T, L)."""
        apart = X[:, None, None, :] - self.means
        whitened = np.einsum("lmij,tlmj->tlmi", np.linalg.inv(self.factors), apart)
        volume = np.log(np.abs(np.linalg.det(self.factors)))
        return np.asarray(np.logaddexp.reduce(-0.5 * np.square(whitened).sum(axis=-1) - volume, axis=2))

    def best_error(self, test: StateSequences, *, chained: bool) -> float:
        """Return the share of wrong states if this model were known, with or without its transitions."""
        X = np.concatenate(test.X)
        edge = np.log(self.transitions) if chained else np.zeros((LABELS, LABELS))
        chain = ChainBatch(offsets_of([len(y) for y in test.y]), LABELS)
        found = chain.marginals({"node": self.log_density(X), "edge": edge}).parts["node"].argmax(axis=1)
        return token_error([np.concatenate(test.y).tolist()], [found.tolist()])
