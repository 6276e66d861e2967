"""Random samples of sentences."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ..checks import require_whole

Item = TypeVar("Item")


def drawn(items: list[Item], count: int, seed: int) -> list[Item]:
    """Return ``count`` items drawn at random without repetition, or all if there are fewer."""
    count, seed = require_whole("n_sentences", count), require_whole("seed", seed, 0)
    return [items[i] for i in np.random.default_rng(seed).permutation(len(items))[:count]]
