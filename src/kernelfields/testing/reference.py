"""Forward-backward for one chain as the textbook has it, in logarithms and long double.

For sequences too long to enumerate. Slow, and obviously right; the native recursions are measured
against it. (Where long double is double, as on some machines, it is a second opinion rather than a
better one.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


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
    alpha, beta = _forward(node, edge), _backward(node, edge)
    log_partition = _log_sum_exp(alpha[-1], axis=0)
    pairs = alpha[:-1, :, None] + edge + (node + beta)[1:, None, :]
    return ChainReference(log_partition, np.exp(alpha + beta - log_partition), np.exp(pairs - log_partition))


def _forward(node: Array, edge: Array) -> Array:
    """α_t(j) = node_t(j) + log Σ_i exp(α_{t−1}(i) + edge_t(i, j))."""
    alpha = node.copy()
    for t in range(1, len(node)):
        alpha[t] += _log_sum_exp(alpha[t - 1][:, None] + edge[t - 1], axis=0)
    return alpha


def _backward(node: Array, edge: Array) -> Array:
    """β_t(i) = log Σ_j exp(edge_t(i, j) + node_{t+1}(j) + β_{t+1}(j))."""
    beta = np.zeros_like(node)
    for t in range(len(node) - 2, -1, -1):
        beta[t] = _log_sum_exp(edge[t] + (node[t + 1] + beta[t + 1]), axis=1)
    return beta


def _log_sum_exp(values: Array, axis: int) -> Any:
    top = values.max(axis=axis, keepdims=True)
    base = np.where(np.isneginf(top), 0, top)
    with np.errstate(divide="ignore"):  # the logarithm of nothing is −inf, and that is meant
        return np.log(np.exp(values - base).sum(axis=axis)) + np.squeeze(base, axis=axis)
