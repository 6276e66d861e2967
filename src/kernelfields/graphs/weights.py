"""Weights of the edges of a neighbour graph, from distances."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .neighbors import Neighbors


def squared_width(links: Neighbors) -> float:
    """Return the mean of squared distances of neighbours; 1 if there are none at a distance."""
    mean = float(np.mean(links.distance**2)) if len(links.distance) else 0.0
    return mean if mean > 0 else 1.0


def local_scales(links: Neighbors) -> Array:
    """Return σ_i, the distance from point i to its farthest neighbour; 1 where that is 0 or there is none."""
    scales = np.zeros(len(links.first) - 1)
    np.maximum.at(scales, links.sources, links.distance)
    scales[scales == 0] = 1.0
    return scales


def gaussian(links: Neighbors, gamma: float) -> Array:
    """Return exp(−γ d²)."""
    return np.exp(-gamma * links.distance**2)


def locally_gaussian(links: Neighbors, sources: Array, vertices: Array) -> Array:
    """Return exp(−d²/(σ_i σ_j)) [zelnik2004] for the scales of sources and of vertices."""
    return np.exp(-(links.distance**2) / (sources[links.sources] * vertices[links.vertex]))
