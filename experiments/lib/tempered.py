"""How sure probabilities are, set on labels that are held out."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from kernelfields.arrays import Array


def tempered(marginals: Array, temperature: float) -> Array:
    """Return p^(1/T) of every row, adding up to one."""
    logs = np.log(np.maximum(marginals, np.finfo(np.float64).tiny)) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def coolest(marginals: Array, labels: Array) -> float:
    """Return the temperature between 1/20 and 20 that makes the labels most likely."""

    def loss(log_temperature: float) -> float:
        p = tempered(marginals, float(np.exp(log_temperature)))
        return -float(np.log(np.maximum(p[np.arange(len(labels)), labels], 1e-300)).mean())

    limit = float(np.log(20.0))
    return float(np.exp(minimize_scalar(loss, bounds=(-limit, limit), method="bounded").x))
