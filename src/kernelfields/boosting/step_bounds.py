"""Upper bounds of the exponential loss along single features, which need no pass through the data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array

ITERATIONS = 60
"""More than bisection needs for the precision of doubles, from any bracket that makes sense."""
PRECISION = 1e-12


class Chords(NamedTuple):
    """What a bound is made of: for features and sequences, a chord of every exponential between two ends.

    A feature f changes by d(y) = f(x_i, y) − f(x_i, y_i) between the right labelling and another one, which
    is between ``lower`` and ``upper``. There, an exponential is below its chord,

        exp(δ d) ≤ (1 − r) exp(δ·lower) + r exp(δ·upper),        r = (d − lower) / (upper − lower),

    whose mean over labellings needs the mean of d alone.
    """

    features: Array
    """(M,), which of the features each chord is about, from 0 on."""
    lower: Array
    """(M,), the least change."""
    upper: Array
    """(M,), the largest change."""
    shares: Array
    """(M,), D(i)."""
    changes: Array
    """(M,), Σ_y D(i, y) d(y)."""


class Steps(NamedTuple):
    """The best step along every feature, by its bound."""

    steps: Array
    bounds: Array
    """Upper bounds of R(F + δf) / R(F)."""


class _Ends(NamedTuple):
    """Ends of chords on one side of 0, those without mass left out."""

    features: Array
    changes: Array
    masses: Array

    def slopes(self, steps: Array) -> tuple[Array, Array]:
        """Return the size of the derivatives of the bounds of all features, and of their derivatives."""
        size = self.masses * np.abs(self.changes) * np.exp(steps[self.features] * self.changes)
        return self._sum(size, len(steps)), self._sum(size * self.changes, len(steps))

    def gains(self, steps: Array) -> Array:
        """Return what these ends add to the bounds."""
        grown = np.expm1(steps[self.features] * self.changes)
        return self._sum(self.masses * grown, len(steps))

    def _sum(self, values: Array, count: int) -> Array:
        return np.bincount(self.features, values, count)


def best_steps(chords: Chords, count: int, longest: float) -> Steps:
    """Return the minimisers of the bounds of some features over −longest ≤ δ ≤ longest.

        Z(δ) = Σ_i Σ_y D(i, y) exp(δ d(y)) ≤ 1 + Σ_i D(i) [(1 − r_i)(exp(δ·lower_i) − 1) + …]

    [altun2003discriminative, Section 4]; sequences in which a feature does not change are in the 1. The
    derivative of the bound is P(δ) − N(δ), from ends above and below 0, which rises. It is zero where
    log P = log N; both sides are nearly straight lines, so that Newton's method needs a few steps. Where it
    leaves the bracket, the bracket is halved.
    """
    below, above = _ends(chords)
    low, high = np.full(count, -longest), np.full(count, longest)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # beyond all numbers is too far
        falling = above.slopes(high)[0] < below.slopes(high)[0]
        rising = above.slopes(low)[0] > below.slopes(low)[0]
        low, high = np.where(falling, high, low), np.where(rising, low, high)
        steps = np.clip(0.0, low, high)
        for _ in range(ITERATIONS):
            new, low, high = _closer(below, above, steps, low, high)
            moved = np.abs(new - steps)
            steps = new
            if (moved <= PRECISION).all():
                break
    return Steps(steps, 1.0 + below.gains(steps) + above.gains(steps))


def _closer(below: _Ends, above: _Ends, steps: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Return steps closer to the minimum, and smaller brackets."""
    (down, down_change), (up, up_change) = below.slopes(steps), above.slopes(steps)
    low, high = np.where(up < down, steps, low), np.where(up > down, steps, high)
    new = steps - (np.log(up) - np.log(down)) / (up_change / up - down_change / down)
    new = np.where((new >= low) & (new <= high), new, 0.5 * (low + high))
    return np.where(up == down, steps, new), low, high


def _ends(chords: Chords) -> tuple[_Ends, _Ends]:
    """Return the lower and the upper ends of all chords."""
    width = chords.upper - chords.lower
    high = (chords.changes - chords.shares * chords.lower) / np.where(width > 0, width, 1.0)
    high = np.clip(high, 0.0, chords.shares)  # what rounding did
    return _with_mass(chords, chords.lower, chords.shares - high), _with_mass(chords, chords.upper, high)


def _with_mass(chords: Chords, changes: Array, masses: Array) -> _Ends:
    kept = (masses > 0) & (changes != 0)
    return _Ends(chords.features[kept], changes[kept], masses[kept])
