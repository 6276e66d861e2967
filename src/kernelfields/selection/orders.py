"""Orders in which training sequences are visited."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, optional, whole

Steepness = Callable[[Array], Array]
"""Maps sequences to the largest |⟨∇R, h⟩| among the candidates of each."""


class Order(Checked, ABC):
    """The order in which sequences are picked."""

    @abstractmethod
    def pick(
        self, visit: int, count: int, random: np.random.RandomState, steepness: Steepness, times: int = 1
    ) -> Array:
        """Return the sequences of a visit, out of ``count``: ``times`` as many as usual."""

    @abstractmethod
    def patience(self, count: int) -> int:
        """Return the number of successive visits without a candidate after which none is expected."""


@dataclass(frozen=True)
class InTurn(Order):
    """Sequences in order, round after round [altun2004gp, Algorithm 2].

    Parameters
    ----------
    batch : int
        Number of sequences in a visit.
    """

    batch: int = 1
    _checks: ClassVar[Mapping[str, Check]] = {"batch": whole()}

    def pick(
        self, visit: int, count: int, random: np.random.RandomState, steepness: Steepness, times: int = 1
    ) -> Array:
        """Return the next ones."""
        batch = min(times * self.batch, count)
        return (visit * batch + np.arange(batch)) % count

    def patience(self, count: int) -> int:
        """Return the number of visits in one round."""
        return -(-count // min(self.batch, count))


@dataclass(frozen=True)
class AtRandom(Order):
    """Sequences at random, all equally likely [altun2006, Algorithm 1.1, line 5].

    Parameters
    ----------
    batch : int
        Number of sequences in a visit.
    """

    batch: int = 1
    _checks: ClassVar[Mapping[str, Check]] = {"batch": whole()}

    def pick(
        self, visit: int, count: int, random: np.random.RandomState, steepness: Steepness, times: int = 1
    ) -> Array:
        """Draw sequences at random."""
        return np.sort(random.choice(count, min(times * self.batch, count), replace=False))

    def patience(self, count: int) -> int:
        """Return a number of visits among which any given sequence very likely is."""
        return 20 * -(-count // min(self.batch, count))


@dataclass(frozen=True)
class LargestGradient(Order):
    """The sequence with the steepest candidate [altun2006, Algorithm 1.1, line 4]: Gauss-Southwell.

    Every visit takes the kernel values of all visited positions with all others, N² without ``sample``;
    they are not stored.

    Parameters
    ----------
    sample : int, optional
        Number of sequences to consider, drawn at random for every visit; all if not given.
    """

    sample: int | None = None
    _checks: ClassVar[Mapping[str, Check]] = {"sample": optional(whole())}

    def pick(
        self, visit: int, count: int, random: np.random.RandomState, steepness: Steepness, times: int = 1
    ) -> Array:
        """Pick the steepest of all sequences, or of a sample; several where more are to be added."""
        some = np.arange(count)
        if self.sample is not None and times * self.sample < count:
            some = np.sort(random.choice(count, times * self.sample, replace=False))
        found = steepest(steepness(some), times)
        return some[np.sort(found)] if len(found) else some[:1]

    def patience(self, count: int) -> int:
        """Return 1, or a number of visits among which any given sequence very likely is."""
        return 1 if self.sample is None or self.sample >= count else 20 * -(-count // self.sample)


SLACK = 1e-5
"""Share of the largest below which differences may be rounding."""


def first_of_largest(values: Array) -> int:
    """Return the first entry that rounding cannot tell from the largest: threads must not matter."""
    return int(np.argmax(values >= (1 - SLACK) * values.max()))


def steepest(slopes: Array, count: int, groups: Array | None = None) -> Array:
    """Return the steepest ``count`` of some candidates, steepest first, ties in their order.

    Parameters
    ----------
    slopes : (c,) array
        ⟨∇R, h⟩, or other merits of candidates; the sign does not matter.
    count : int
        Number of candidates to return.
    groups : (c,) integers, optional
        Group of each candidate; at most one of every group is returned.
    """
    left = np.abs(slopes)
    found: list[int] = []
    while len(found) < count and len(left) and left.max() > 0:
        best = first_of_largest(left)
        found.append(best)
        left[best if groups is None else groups == groups[best]] = 0
    return np.array(found, dtype=np.int64)
