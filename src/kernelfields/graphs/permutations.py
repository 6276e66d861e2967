"""How labels that are close to each other agree, against all or many other orders of the same labels."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array

FEW = 20_000
"""Different orders up to which all of them are looked at."""

ROUNDING = 1e-10
"""Difference up to which two shares are the same."""


class LabelAgreement(NamedTuple):
    """Shares over weighted pairs."""

    equal: float
    """Σ w_ij [y_i = y_j] / Σ w_ij."""
    rayleigh: float
    """(1 − equal) over what it would be if the labels of both ends were drawn by their weights."""


class PermutationTest(NamedTuple):
    """LabelAgreement of labels in the order in which they are, and in others."""

    observed: LabelAgreement
    by_chance: LabelAgreement
    """Means over the other orders."""
    p_equal: float
    """Share of orders, this one included, in which as many pairs or more agree."""
    p_rayleigh: float
    """Share of orders in which the Rayleigh quotient is as low or lower."""
    orders: int
    exact: bool
    """Whether these are all orders there are."""


def agreement_test(
    pairs: Any, codes: Array, permutations: int, random: np.random.Generator
) -> PermutationTest:
    """Test whether labels agree over pairs, a symmetric (n, n) sparse matrix of weights, the diagonal 0."""
    upper = sparse.coo_matrix(sparse.triu(pairs, 1))
    if not upper.nnz:
        nothing = LabelAgreement(np.nan, np.nan)
        return PermutationTest(nothing, nothing, 1.0, 1.0, 0, False)
    degrees = np.asarray(pairs.sum(axis=1), dtype=np.float64).ravel()
    n_labels = int(codes.max()) + 1
    total = float(upper.data.sum())

    def agreement(order: Array) -> LabelAgreement:
        equal = float(upper.data[order[upper.row] == order[upper.col]].sum()) / total
        shares = np.bincount(order, degrees, n_labels) / degrees.sum()
        differing = 1 - float(shares @ shares)
        return LabelAgreement(equal, (1 - equal) / differing if differing > ROUNDING else 1.0)

    exact = n_orders(codes) <= FEW
    orders = every_order(codes) if exact else (random.permutation(codes) for _ in range(permutations))
    found = np.array([agreement(order) for order in orders])
    observed = agreement(codes)
    if not exact:  # the one observed is one of them, else a p-value could be 0
        found = np.vstack([found, observed])
    return PermutationTest(
        observed,
        LabelAgreement(*found.mean(axis=0).tolist()),
        float((found[:, 0] >= observed.equal - ROUNDING).mean()),
        float((found[:, 1] <= observed.rayleigh + ROUNDING).mean()),
        len(found),
        exact,
    )


def n_orders(codes: Array) -> int:
    """Return the number of different orders of labels, n! / Π n_l!."""
    result, left = 1, len(codes)
    for count in np.bincount(codes).tolist():
        result *= comb(left, count)
        left -= count
    return result


def every_order(codes: Array) -> Iterator[Array]:
    """Yield every different order of labels once, in alphabetical order."""
    order = np.sort(codes)
    while True:
        yield order
        rises = np.flatnonzero(order[:-1] < order[1:])
        if not len(rises):
            return
        pivot = rises[-1]
        larger = np.flatnonzero(order > order[pivot])[-1]
        order = order.copy()
        order[pivot], order[larger] = order[larger], order[pivot]
        order[pivot + 1 :] = order[pivot + 1 :][::-1].copy()
