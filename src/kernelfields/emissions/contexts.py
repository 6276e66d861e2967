"""Contexts and words: symbols together with those before them, as numbers.

The context of a position is the number whose digits in base V + 1 are the ``order`` symbols before it, the
nearest last; the digit V stands for nothing, before the start of a sequence or where a symbol is missing. The
word of a position is V times its context plus its symbol.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError

MISSING = -1
MOST_WORDS = 2**27


def require_contexts(n_symbols: int, order: int) -> int:
    """Return the number of contexts; refuse more words than a table can hold."""
    contexts = int((n_symbols + 1) ** order)
    if contexts * n_symbols > MOST_WORDS:
        raise InputError(
            f"order is {order}: {n_symbols} symbols make {contexts * n_symbols:,} words, but at most "
            f"{MOST_WORDS:,} are possible."
        )
    return contexts


def words_of(numbers: Array, offsets: Array, n_symbols: int, order: int) -> Array:
    """Return the word of every position, int32; −1 where its symbol is missing."""
    if order == 0:
        return numbers
    require_contexts(n_symbols, order)
    digits = np.where(numbers == MISSING, n_symbols, numbers).astype(np.int64)
    place = np.arange(len(digits)) - np.repeat(offsets[:-1], np.diff(offsets))
    context = np.zeros(len(digits), dtype=np.int64)
    for back in range(order, 0, -1):
        context = (n_symbols + 1) * context + np.where(place >= back, np.roll(digits, back), n_symbols)
    return np.where(numbers == MISSING, MISSING, n_symbols * context + digits).astype(np.int32)


def draw_words(probabilities: Array, states: Array, offsets: Array, rng: Any) -> Array:
    """Draw the symbol of every position given its state, (L, contexts, V) the probabilities.

    All sequences advance together, position by position.
    """
    _, contexts, V = probabilities.shape
    symbols = np.zeros(len(states), dtype=np.int64)
    lengths = np.diff(offsets)
    context = np.full(len(lengths), contexts - 1)  # nothing is before the first
    for t in range(int(lengths.max(initial=0))):
        there = np.flatnonzero(lengths > t)
        at = offsets[there] + t
        edges = np.cumsum(probabilities[states[at], context[there]], axis=1)
        draws = rng.random(len(there)) * edges[:, -1]
        symbols[at] = np.minimum((edges <= draws[:, None]).sum(axis=1), V - 1)
        context[there] = ((V + 1) * context[there] + symbols[at]) % contexts
    return symbols


def used_contexts(n_symbols: int, order: int) -> int:
    """Return the number of contexts without missing symbols: incomplete ones only at the beginning."""
    return sum(n_symbols**length for length in range(order + 1))
