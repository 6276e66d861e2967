"""Two spiral arms with a common core, visited by a Markov chain of two states [lafferty2004, 5.1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelfields.arrays import Array, offsets_of
from kernelfields.structures import ChainBatch

from .mixtures import StateSequences

NODES = 400
"""Points of an arm that its density is summed over; neighbours are far closer than an arm is wide."""


@dataclass(frozen=True)
class Galaxy:
    """Two persistent states; each emits from its own arm, or from a core that is the same for both.

    An arm is a spiral r = r₀ + (r₁ − r₀)s/S, uniform in its length s, with Gaussian noise around it; the
    other is the same turned by half a circle. The core is a Gaussian around the origin.
    """

    core: float
    """Share of the core."""
    core_width: float
    """Its standard deviation."""
    inner: float
    """r₀, where arms begin."""
    outer: float
    """r₁, where they end."""
    turns: float
    """Turns of an arm."""
    arm_width: float
    """Standard deviation of the noise around arms."""
    stay: float
    """Probability that the state does not change."""

    @property
    def transitions(self) -> Array:
        """(2, 2)."""
        return np.array([[self.stay, 1 - self.stay], [1 - self.stay, self.stay]])

    def arm(self, share: Array) -> Array:
        """Return the points of the first arm that have a share of its length behind them, (n, 2)."""
        fine = np.linspace(0, 1, 20 * NODES)
        points = self._spiral(fine)
        walked = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        return self._spiral(np.interp(share, walked / walked[-1], fine))

    def _spiral(self, place: Array) -> Array:
        radius, angle = self.inner + (self.outer - self.inner) * place, 2 * np.pi * self.turns * place
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)

    def draw(self, count: int, length: int, random: np.random.Generator) -> StateSequences:
        """Draw sequences of one length."""
        change = random.random((count, length)) >= self.stay
        change[:, 0] = random.random(count) >= 0.5
        states = np.cumsum(change, axis=1) % 2
        size = count * length
        in_core = random.random(size) < self.core
        centres = np.where(in_core[:, None], 0.0, self.arm(random.random(size)))
        widths = np.where(in_core, self.core_width, self.arm_width)
        points = centres + widths[:, None] * random.normal(size=(size, 2))
        points *= 1 - 2 * states.reshape(-1, 1)  # by half a circle
        return StateSequences(list(points.reshape(count, length, 2)), states.tolist())

    def densities(self, X: Array) -> Array:
        """Return p(x|state), (n, 2); the integral over an arm by the midpoint rule."""
        core = self.core * np.exp(-np.square(X).sum(axis=1) / (2 * self.core_width**2))
        found = np.tile((core / (2 * np.pi * self.core_width**2))[:, None], 2)
        for state, arm in enumerate(self._arms()):
            across, along = (_bell(x, middles, self.arm_width) for x, middles in zip(X.T, arm.T, strict=True))
            found[:, state] += (1 - self.core) * np.einsum("in,in->i", across, along) / NODES
        return found

    def bayes_error(self, cells: int = 600) -> float:
        """Return ½∫min(p(x|0), p(x|1))dx: no rule that sees single positions errs less.

        The integral by the midpoint rule on a square that leaves out a part of about 10⁻⁶. Gaussians are
        products over the two coordinates, sums of them over the nodes of an arm a matrix product.

        Parameters
        ----------
        cells : int
            Cells along a side of the square.
        """
        reach = max(self.outer + 5 * self.arm_width, 5 * self.core_width)
        side = 2 * reach / cells
        places = -reach + side * (np.arange(cells) + 0.5)
        core = _bell(places, np.zeros(1), self.core_width)
        arms = [
            _bell(places, arm[:, 0], self.arm_width) @ _bell(places, arm[:, 1], self.arm_width).T / NODES
            for arm in self._arms()
        ]
        least = self.core * core @ core.T + (1 - self.core) * np.minimum(*arms)
        return 0.5 * side**2 * float(least.sum())

    def _arms(self) -> tuple[Array, Array]:
        middles = self.arm((np.arange(NODES) + 0.5) / NODES)
        return middles, -middles

    def guesses(self, sequences: StateSequences, *, chained: bool) -> list[list[int]]:
        """Return the states that one who knows the source takes for most likely, with or without context."""
        X = np.concatenate(sequences.X)
        edge = np.log(self.transitions) if chained else np.zeros((2, 2))
        offsets = offsets_of([len(y) for y in sequences.y])
        scores = {"node": np.log(self.densities(X)), "edge": edge}
        found = ChainBatch(offsets, 2).marginals(scores).parts["node"].argmax(axis=1)
        return [part.tolist() for part in np.split(found, offsets[1:-1])]


def _bell(x: Array, centres: Array, width: float) -> Array:
    """Return the densities of Gaussians on the line, (n, centres)."""
    scaled = (x[:, None] - centres) / width
    return np.asarray(np.exp(-0.5 * np.square(scaled)) / (np.sqrt(2 * np.pi) * width))
