"""torch-struct as one more rival, on machines that have it; nothing here installs it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np


def installed() -> bool:
    """Whether torch-struct can be imported."""
    return all(importlib.util.find_spec(name) is not None for name in ("torch", "torch_struct"))


def state() -> str:
    """One word for the report."""
    return "present" if installed() else "absent"


def marginals(batch: Any) -> Callable[[], object]:
    """Forward-backward through automatic differentiation."""
    return _checked(batch, "marginals")


def argmax(batch: Any) -> Callable[[], object]:
    """Viterbi, likewise."""
    return _checked(batch, "argmax")


def _checked(batch: Any, what: str) -> Callable[[], object]:
    import torch
    from torch_struct import LinearChainCRF

    potentials, lengths = (torch.from_numpy(array) for array in _padded(batch))
    value = LinearChainCRF(potentials, lengths=lengths).partition.numpy()
    np.testing.assert_allclose(value, batch.chain.log_partition(batch.scores["float64"]), rtol=1e-6)
    # A new object each time: it caches what it has computed.
    return lambda: getattr(LinearChainCRF(potentials, lengths=lengths), what)


def _padded(batch: Any) -> tuple[np.ndarray, np.ndarray]:
    """Potentials of pairs, (S, T − 1, after, before); the first pair also has the first node."""
    scores, lengths = batch.scores["float64"], np.diff(batch.chain.offsets)
    L = batch.chain.n_labels
    result = np.zeros((len(lengths), max(int(lengths.max()), 2) - 1, L, L))
    for s, node in enumerate(batch.log_frames):
        result[s, : len(node) - 1] = scores["edge"].T + node[1:, :, None]
        result[s, 0] += node[0][None, :]
    return result, lengths
