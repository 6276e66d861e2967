"""Inside and outside over labelled spans, beside torch-struct and supar: the same scores in single precision.

All sum labels of a span over first. Memory is what a process grows by while it computes, marginals included,
each side in a process of its own.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from kernelfields.structures import ConstituencyBatch

from . import _parsing_rivals, _run
from ._chains import CORES

LABELS, SENTENCES = 30, 64
RIVALS = ("torch_struct", "supar")


def measured(quick: bool) -> tuple[list[_run.Bar], list[dict[str, Any]]]:
    """Return bars, and a row for every length."""
    lengths, sentences, rounds = ((4,), 3, 1) if quick else ((20, 40), SENTENCES, 15)
    rows = [_row(n, sentences, rounds) for n in lengths]
    bars = []
    for rival in RIVALS:
        ratios = [
            row[f"{rival}_{cores}_ratio"]
            for row in rows
            for cores in CORES
            if f"{rival}_{cores}_ratio" in row
        ]
        if ratios:
            bars.append(_run.Bar(f"inside_outside_over_{rival}", min(ratios), at_least=20.0))
            memory = max(row["kilobytes"] / row[f"{rival}_kilobytes"] for row in rows)
            bars.append(_run.Bar(f"inside_outside_memory_over_{rival}", memory, at_most=0.05))
    return bars, rows


def _row(n: int, sentences: int, rounds: int) -> dict[str, Any]:
    scores = np.random.default_rng(0).normal(size=(sentences, n * (n + 1) // 2, LABELS)).astype(np.float32)
    batch, theta = ConstituencyBatch([n] * sentences, LABELS), {"span": scores.reshape(-1, LABELS)}
    wanted = batch.marginals(theta).parts["span"].reshape(scores.shape)
    sides = {name: _run.Side(lambda: batch.marginals(theta), threads) for name, threads in CORES.items()}
    seconds = _run.alternate(sides | {"best": _run.Side(lambda: batch.argmax(theta))}, rounds)
    row: dict[str, Any] = {"words": n, "labels": LABELS}
    row |= {f"{name}_ms": 1e3 * value for name, value in seconds.items()}
    rivals = [name for name in RIVALS if _parsing_rivals.has(name)]
    if not rivals:
        return row
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "scores.npy"), Path(folder, "marginals.npy")
        np.save(given, scores)
        own = _parsing_rivals.timed("kernelfields/spans", given, found, 1, 1, sys.executable)
        row["kilobytes"] = own["kilobytes"]
        for name, (cores, threads) in product(rivals, CORES.items()):
            took = _parsing_rivals.timed(f"{name}/spans", given, found, threads, min(rounds, 5))
            np.testing.assert_allclose(np.load(found), wanted, atol=1e-4)
            row[f"{name}_{cores}_ms"] = 1e3 * took["seconds"]
            row[f"{name}_{cores}_ratio"] = took["seconds"] / seconds[cores]
            row[f"{name}_kilobytes"] = took["kilobytes"]
    return row
