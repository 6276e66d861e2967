"""Forward-backward for one chain as the textbook has it, in logarithms and long double.

For sequences too long to enumerate. Slow, and obviously right; the native recursions are measured
against it. (Where long double is double, as on some machines, it is a second opinion rather than a
better one.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array


class ChainReference(NamedTuple):
    """What forward-backward computes, in long double."""

    log_partition: Any
    """g(θ) = log Σ_y exp score(y)."""
    node: Array
    """p(y_t = i), (T, L)."""
    edge: Array
    """p(y_t = i, y_{t+1} = j), (T − 1, L, L); for shared scores, sum it over the first axis."""


def chain_reference(node: Array, edge: Array) -> ChainReference:
    """Log-partition and marginals of one chain.

    Parameters
    ----------
    node : (T, L) array
        T may be zero.
    edge : (L, L) or (T − 1, L, L) array

    Examples
    --------
    >>> import numpy as np
    >>> float(np.exp(chain_reference(np.zeros((3, 2)), np.zeros((2, 2))).log_partition).round(9))
    8.0
    """
    node = np.asarray(node, dtype=np.longdouble)
    T, L = node.shape
    edge = np.broadcast_to(np.asarray(edge, dtype=np.longdouble), (max(T - 1, 0), L, L))
    if T == 0:
        return ChainReference(np.longdouble(0), node, edge)
    alpha, log_partition = _forward(node, edge)
    beta = _backward(node, edge)
    pairs = alpha[:-1, :, None] + edge + (node + beta)[1:, None, :]
    return ChainReference(log_partition, _normalised(alpha + beta), _normalised(pairs))


def _forward(node: Array, edge: Array) -> tuple[Array, Any]:
    """α_t(j) = node_t(j) + log Σ_i exp(α_{t−1}(i) + edge_t(i, j)), and log Σ_j exp α_T(j).

    Each message is shifted to a largest entry of zero: digits are not lost to the size of sums.
    """
    alpha = node.copy()
    total = _shift(alpha[0])
    for t in range(1, len(node)):
        alpha[t] += _log_sum_exp(alpha[t - 1][:, None] + edge[t - 1], axis=0)
        total += _shift(alpha[t])
    return alpha, total + _log_sum_exp(alpha[-1], axis=0)


def _backward(node: Array, edge: Array) -> Array:
    """β_t(i) = log Σ_j exp(edge_t(i, j) + node_{t+1}(j) + β_{t+1}(j)), shifted likewise."""
    beta = np.zeros_like(node)
    for t in range(len(node) - 2, -1, -1):
        beta[t] = _log_sum_exp(edge[t] + (node[t + 1] + beta[t + 1]), axis=1)
        _shift(beta[t])
    return beta


def _shift(message: Array) -> Any:
    top = message.max()
    if np.isfinite(top):
        message -= top
    return top


def _normalised(logarithms: Array) -> Array:
    """Probabilities, every slice along the first axis summing to one."""
    flat = logarithms.reshape(len(logarithms), int(np.prod(logarithms.shape[1:])))
    return np.asarray(np.exp(flat - _log_sum_exp(flat, axis=1)[:, None])).reshape(logarithms.shape)


def _log_sum_exp(values: Array, axis: int) -> Any:
    top = values.max(axis=axis, keepdims=True)
    base = np.where(np.isneginf(top), 0, top)
    with np.errstate(divide="ignore"):  # the logarithm of nothing is −inf, and that is meant
        return np.log(np.exp(values - base).sum(axis=axis)) + np.squeeze(base, axis=axis)
