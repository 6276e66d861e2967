"""The order in which CRFsuite learns from sequences.

It takes random numbers from the C library, never seeded. Here they are those of the GNU C library from the
start of a process, at every training anew: the order of a first training there, and always the same.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array

LONG, SHORT = 31, 3


class GnuRandom:
    """r_i = r_{i−31} + r_{i−3} mod 2³², each number without its last bit: ``rand()`` after ``srand(1)``."""

    def __init__(self, seed: int = 1) -> None:
        first = [seed]
        for _ in range(LONG - 1):
            first.append(16807 * first[-1] % 2147483647)
        state = first + first[:SHORT]
        for i in range(len(state), 344):
            state.append((state[i - LONG] + state[i - SHORT]) & 0xFFFFFFFF)
        self._state = state[-LONG:]

    def draw(self, count: int) -> list[int]:
        """Return the next numbers, from 0 to 2³¹ − 1."""
        state = self._state
        for i in range(LONG, LONG + count):
            state.append((state[i - LONG] + state[i - SHORT]) & 0xFFFFFFFF)
        self._state = state[-LONG:]
        return [number >> 1 for number in state[LONG:]]


class Shuffle:
    """A permutation that is shuffled further for every epoch, every place swapped with a random one."""

    def __init__(self, count: int) -> None:
        self._order = list(range(count))
        self._random = GnuRandom()

    def next(self) -> Array:
        """Shuffle once more."""
        order, count = self._order, len(self._order)
        for i, number in enumerate(self._random.draw(count)):
            j = number % count
            order[j], order[i] = order[i], order[j]
        return np.array(order, dtype=np.int64)
