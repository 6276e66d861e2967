"""The gap-weighted subsequence kernel on strings."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise

import numpy as np

from ..arrays import Array
from ..checks import require_share
from ._base import Kernel, at_least_one
from ._counts import numbered
from .observations import Observations, items

CELLS = 1 << 21
"""Cells of the dynamic programme at a time: enough to make loops over letters cheap, and few in memory."""
PADDING = -1
"""A letter that equals no other."""


class Subsequence(Kernel):
    """k(s, t) = Σ_u Σ_{i: s[i] = u} Σ_{j: t[j] = u} λ^{span(i) + span(j)} over strings u of length p.

    The gap-weighted subsequence kernel [lodhi2002, Def. 1]: i and j run over increasing positions, their
    span is last − first + 1, so that gaps cost a factor λ per letter. Observations are strings, or
    sequences of hashable objects. Each pair takes time O(p |s| |t|); ``Normalized`` removes the effect of
    length. Not universal.

    Let S_1(a, b) = λ² [s_a = t_b], D_q(a, b) = Σ_{a′ ≤ a, b′ ≤ b} λ^{a − a′ + b − b′} S_q(a′, b′) and
    S_{q+1}(a, b) = λ² [s_a = t_b] D_q(a − 1, b − 1): S_q adds up pairs of subsequences of length q that
    end at a and b, and k = Σ_{a, b} S_p(a, b). D accumulates S along both axes in turn.

    Parameters
    ----------
    length : int
        p ≥ 1.
    decay : float
        0 < λ ≤ 1.

    Examples
    --------
    >>> Subsequence(length=2, decay=0.5)(["cat", "car"])  # "ca" in both: λ⁴; "ct", "at" in one
    array([[0.140625, 0.0625  ],
           [0.0625  , 0.140625]])
    """

    def __init__(self, length: int = 2, decay: float = 0.5) -> None:
        self.length = length
        self.decay = decay

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return k(x_i, y_j), computed for one x and many y at a time."""
        index: dict[Hashable, int] = {}
        left, right = _codes(X, index), _codes(Y, index)
        result = np.empty((len(left), len(right)))
        for i, code in enumerate(left):
            first = i if Y is X else 0
            result[i, first:] = self._row(code, right[first:])
            if Y is X:
                result[first:, i] = result[i, first:]
        return result

    def diagonal(self, X: Observations) -> Array:
        """Return k(x_i, x_i)."""
        return np.array([self._row(code, [code])[0] for code in _codes(X, {})])

    def _row(self, x: Array, others: list[Array]) -> Array:
        """Return k(x, y) for all y, as many at a time as memory for their cells allows."""
        longest = max((len(y) for y in others), default=0)
        some = max(1, CELLS // max(1, len(x) * longest))
        chunks = [_padded(others[k : k + some]) for k in range(0, len(others), some)]
        return np.concatenate([self._values(x, chunk) for chunk in chunks]) if chunks else np.empty(0)

    def _values(self, x: Array, others: Array) -> Array:
        """Run the dynamic programme for one x and m padded y, on an array (|x|, longest y, m)."""
        decay, length = self._decay(), at_least_one(self, "length")
        match = decay**2 * (x[:, None, None] == others[None, :, :])
        ends = match.copy()
        for _ in range(1, length):
            for line in (ends, ends.swapaxes(0, 1)):
                _accumulate(line, decay)
            ends[1:, 1:] = match[1:, 1:] * ends[:-1, :-1]
            ends[:1], ends[:, :1] = 0, 0
        return np.asarray(ends.sum(axis=(0, 1)))

    def _decay(self) -> float:
        return require_share("decay of Subsequence", self.decay, zero=False)


def _codes(X: Observations, index: dict[Hashable, int]) -> list[Array]:
    """Return the letters of a string as numbers."""
    return [np.array(numbered(some, index), dtype=np.int64) for some in items(X)]


def _padded(codes: list[Array]) -> Array:
    """Return m strings as a (longest, m) array, padded with a letter that equals no other."""
    result = np.full((max(map(len, codes)), len(codes)), PADDING)
    for k, code in enumerate(codes):
        result[: len(code), k] = code
    return result


def _accumulate(values: Array, decay: float) -> None:
    """Overwrite v_a by Σ_{a′ ≤ a} λ^{a − a′} v_a′ along the first axis."""
    for before, value in pairwise(values):
        value += decay * before
