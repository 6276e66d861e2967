"""Marginals of dependency trees with a single root word, and of labelled spans; the best trees of a grammar.

torch-struct and supar do the same on the same scores, in double precision, with as many threads, in a process
of their own (see `_parsing_rivals`), and their marginals are compared first. Memory is what a process grows
by while it computes; ours counts the marginals that it returns, too.
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelfields import native
from kernelfields.structures import DependencyBatch

from . import _parsing_grammar, _parsing_rivals, _parsing_spans, _run
from ._chains import CORES

RIVALS = ("torch_struct", "supar")
KINDS = {"projective": True, "all": False}


class Size(NamedTuple):
    """How much is measured."""

    words: tuple[int, ...]
    sentences: int
    rounds: int
    rival_rounds: int


FULL = Size((20, 40), sentences=64, rounds=15, rival_rounds=5)
QUICK = Size((4,), sentences=3, rounds=1, rival_rounds=1)


def run(quick: bool) -> _run.Result:
    size = QUICK if quick else FULL
    rows = [_measure(size, kind, n) for kind in KINDS for n in size.words]
    details: dict[str, Any] = {
        "machine": _run.machine(),
        "instruction_set": native.isa(),
        "rivals": _parsing_rivals.state(),
        "quick": quick,
        "dependency_marginals": rows,
    }
    span_bars, details["span_marginals"] = _parsing_spans.measured(quick)
    grammar_bars, details["best_trees_of_a_grammar"] = _parsing_grammar.measured(quick)
    bars = []
    for rival in RIVALS:
        ratios = [
            row[f"{rival}_{cores}_ratio"]
            for row in rows
            for cores in CORES
            if row["trees"] == "projective" and f"{rival}_{cores}_ratio" in row
        ]
        if ratios:
            bars.append(_run.Bar(f"eisner_over_{rival}", min(ratios), at_least=20.0))
    return _run.Result("parsing", [*bars, *span_bars, *grammar_bars], details)


def _measure(size: Size, kind: str, n: int) -> dict[str, Any]:
    """Time one kind of trees at one length."""
    scores = np.random.default_rng(0).normal(size=(size.sentences, n, n + 1))
    batch = DependencyBatch([n] * size.sentences, projective=KINDS[kind])
    theta = {"arc": scores.ravel()}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wanted = batch.marginals(theta).parts["arc"].reshape(scores.shape)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    sides = {name: _run.Side(lambda: batch.marginals(theta), threads) for name, threads in CORES.items()} | {
        "best": _run.Side(lambda: batch.argmax(theta))
    }
    seconds = _run.alternate(sides, size.rounds)
    row: dict[str, Any] = {"trees": kind, "words": n, "kilobytes": float(grown)}
    row |= {f"{name}_ms": 1e3 * value for name, value in seconds.items()}
    for rival in RIVALS:
        if _parsing_rivals.has(rival):
            row |= _compared(f"{rival}/{kind}", scores, wanted, seconds, size)
    return row


def _compared(
    rival: str, scores: np.ndarray, wanted: np.ndarray, seconds: dict[str, float], size: Size
) -> dict[str, float]:
    """Time a rival at equal threads; refuse to, if it computes something else."""
    (name, kind), row = rival.split("/"), {}
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "scores.npy"), Path(folder, "marginals.npy")
        np.save(given, scores)
        for cores, threads in CORES.items():
            took = _parsing_rivals.timed(rival, given, found, threads, size.rival_rounds)
            # torch-struct adds 1e-5 to the diagonal of the Laplacian.
            np.testing.assert_allclose(np.load(found), wanted, atol=2e-3 if kind == "all" else 1e-9)
            row[f"{name}_{cores}_ms"] = 1e3 * took["seconds"]
            row[f"{name}_{cores}_ratio"] = took["seconds"] / seconds[cores]
            row[f"{name}_kilobytes"] = took["kilobytes"]
    return row
