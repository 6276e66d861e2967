"""Second-order chains beside first-order ones: all marginals and best labellings of the same batches.

A second-order chain has L times as many cliques, so that its time is given per label: over the time of a
first-order chain and over L. Before they are timed, second-order chains without triples must give the
marginals of first-order ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelfields import native

from ._chains import Batch
from ._run import Bar, Result, Side, alternate

LABELS = (9, 22)


def run(quick: bool) -> Result:
    rows = [_measure(L, 1_000 if quick else 40_000 // L, 2 if quick else 9) for L in LABELS]
    bars = [
        Bar(f"over_order1_per_label_L{row['L']}", row["marginals_over_order1_per_label"], at_most=1.5)
        for row in rows
    ]
    return Result("order2", bars, {"instruction_set": native.isa(), "rows": rows})


def _measure(L: int, positions: int, rounds: int) -> dict[str, Any]:
    batch = Batch.draw(L, 25, positions)
    node, edge = batch.scores["float64"]["node"], batch.scores["float64"]["edge"]
    offsets = batch.chain.offsets
    triple = np.random.default_rng(1).normal(size=(L, L, L))
    _check(node, edge, offsets)
    sides = {
        "first": Side(lambda: native.chain_marginals(node, edge, offsets, together=True)),
        "second": Side(lambda: native.chain2_marginals(node, edge, triple, offsets)),
        "logarithms": Side(lambda: native.chain2_marginals(node, edge, triple, offsets, scaled=False)),
        "first_best": Side(lambda: native.chain_argmax(node, edge, offsets)),
        "second_best": Side(lambda: native.chain2_argmax(node, edge, triple, offsets)),
    }
    seconds = alternate(sides, rounds)
    return {
        "L": L,
        "marginals_over_order1_per_label": seconds["second"] / seconds["first"] / L,
        "logarithms_over_order1_per_label": seconds["logarithms"] / seconds["first"] / L,
        "best_over_order1_per_label": seconds["second_best"] / seconds["first_best"] / L,
        "nanoseconds_per_triple": seconds["second"] / positions / L**3 * 1e9,
    }


def _check(node: np.ndarray, edge: np.ndarray, offsets: np.ndarray) -> None:
    L = node.shape[1]
    second = native.chain2_marginals(node, edge, np.zeros((L, L, L)), offsets)
    for left, right in zip(second[:3], native.chain_marginals(node, edge, offsets), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-8, atol=1e-10)
