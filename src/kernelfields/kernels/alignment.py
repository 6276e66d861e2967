"""Centred alignment of kernels with labels, and weights of kernels by it [cortes2012]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..errors import InputError
from ._base import Kernel
from .observations import Observations, count, take

TILE = 512
"""Rows of Gram matrices at a time."""


FLAT = 1e-12
"""Share of ‖K‖² up to which ‖HKH‖² is rounding, and the kernel constant."""


class Alignments(NamedTuple):
    """Products of centred Gram matrices, ⟨K_c, K′_c⟩ = Σ_ij [HKH]_ij [HK′H]_ij with H = I − 11ᵀ/N."""

    kernels: Array
    """Of kernels with each other, (M, M)."""
    labels: Array
    """Of kernels with the labels' kernel [y = y′], (M,)."""
    own: float
    """Of the labels' kernel with itself."""
    spreads: Array
    """tr(HKH)/N, (M,): the mean squared distance, in the space of each kernel, from the mean."""


def centred_alignment(kernel: Kernel, X: Observations, labels: Any) -> float:
    """Return ⟨K_c, L_c⟩ / (‖K_c‖ ‖L_c‖), from 0 to 1, for the kernel L = [y = y′] of labels [cortes2012].

    1 where centred kernel values say whether labels are the same, and nothing else. N² kernel values.

    Parameters
    ----------
    kernel : Kernel
        k.
    X, labels : N observations and labels
        All of them known.

    Examples
    --------
    >>> from kernelfields.kernels import RBF
    >>> centred_alignment(RBF(9.0), [[0.0], [0.1], [2.0], [2.1]], ["a", "a", "b", "b"]).__round__(2)
    1.0
    """
    found = alignments([kernel], X, labels)
    size = np.sqrt(found.kernels[0, 0] * found.own)
    return float(found.labels[0] / size) if size > 0 else 0.0


def alignment_weights(kernels: Sequence[Kernel], X: Observations, labels: Any) -> Array:
    """Return the shares μ, (M,), with which kernels are most aligned with labels [cortes2012, Prop. 9].

    The weights v ≥ 0 of Σ_m v_m k_m maximise its `centred_alignment`: they solve the non-negative quadratic
    program min_v vᵀMv − 2vᵀa, M the products of centred kernels, a those with labels. v_m is then multiplied
    by the spread of k_m, so that a kernel counts by what it adds and not by its scale, and the sum of
    all is 1.

    Parameters
    ----------
    kernels : list of Kernel
        k_m.
    X, labels : N observations and labels
        All of them known. M N² kernel values are computed, and not stored.

    Examples
    --------
    >>> from kernelfields.kernels import RBF, Constant
    >>> alignment_weights([Constant(), RBF(9.0)], [[0.0], [0.1], [2.0], [2.1]], ["a", "a", "b", "b"])
    array([0., 1.])
    """
    return shares_of(alignments(kernels, X, labels))


def shares_of(found: Alignments) -> Array:
    """Solve the quadratic program; shares by spread."""
    scale = np.sqrt(np.maximum(found.kernels.diagonal(), 0.0))
    if not (found.labels > FLAT * scale * np.sqrt(found.own)).any():
        raise InputError(
            "No kernel is aligned with the labels: similarity says nothing about them, or there is only one."
        )
    unit = 1 / np.where(scale > 0, scale, 1.0)  # kernels of norm 1: sizes far apart would spoil the solution
    values, vectors = np.linalg.eigh(unit[:, None] * found.kernels * unit)
    kept = values > 1e-12 * values.max()
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    goal = (vectors[:, kept].T @ (unit * found.labels)) / np.sqrt(values[kept])
    shares = scipy.optimize.nnls(root, goal)[0] * unit * found.spreads
    return np.asarray(shares / shares.sum())


def alignments(kernels: Sequence[Kernel], X: Observations, labels: Any) -> Alignments:
    """Return all products, some rows of Gram matrices at a time.

    ⟨HKH, HK′H⟩ = ⟨K, K′⟩ − (2/N)⟨K1, K′1⟩ + (1ᵀK1)(1ᵀK′1)/N², and ⟨HKH, YYᵀ⟩ = tr (HY)ᵀK(HY).
    """
    N, M = count(X), len(kernels)
    _, codes = np.unique(np.asarray(labels), return_inverse=True)
    if codes.shape != (N,):
        raise InputError(f"There are {N} observations, but {codes.size} labels.")
    Y = np.eye(codes.max(initial=0) + 1)[codes]
    Y -= Y.mean(axis=0)
    raw, sums, with_labels, traces = np.zeros((M, M)), np.zeros((M, N)), np.zeros(M), np.zeros(M)
    for start in range(0, N, TILE):
        place = slice(start, min(start + TILE, N))
        some = take(X, np.arange(place.start, place.stop))
        blocks = [np.asarray(kernel.block(some, X), dtype=np.float64) for kernel in kernels]
        for m, block in enumerate(blocks):
            sums[m, place] = block.sum(axis=1)
            with_labels[m] += np.vdot(Y[place], block @ Y)
            traces[m] += np.trace(block, offset=start)
            raw[m, : m + 1] += [np.vdot(block, other) for other in blocks[: m + 1]]
    raw = np.tril(raw) + np.tril(raw, -1).T
    total = sums.sum(axis=1)
    products = raw - 2 * (sums @ sums.T) / N + np.outer(total, total) / N**2
    varied = products.diagonal() > FLAT * raw.diagonal()
    spreads = varied * np.maximum(traces / N - total / N**2, 0.0)
    own = float(np.square(Y.T @ Y).sum())
    return Alignments(products * np.outer(varied, varied), varied * with_labels, own, spreads)
