"""The comparison that `chain_inference` and `viterbi` have in common: ragged batches of chains.

Scores are random normal, lengths uniform between half and one and a half of their mean; with few labels one
long sequence is measured too. This project gets
the scores of the whole batch; hmmlearn gets ready probabilities, sequence after sequence, through the
compiled routines that its own ``fit`` and ``decode`` call. Neither exponentials nor what its Python code
adds around those routines counts against it. It has one thread, also beside our two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernelfields import native
from kernelfields.structures import ChainBatch

from . import _run, _torch_struct

CORES = {"one_core": 1, "two_cores": 2}


class Size(NamedTuple):
    """How much is measured."""

    labels: tuple[int, ...]
    mean_lengths: tuple[int, ...]
    positions: int
    rounds: int
    slow_work: float
    """Positions · L² given to rivals that are slow by design."""
    long: int
    """Positions of one long sequence, with few labels."""


FEW = (2, 3, 5, 9)
FULL = Size((*FEW, 26, 64, 128), (25, 1000), 200_000, rounds=7, slow_work=1.5e7, long=1_000_000)
QUICK = Size((*FEW, 26), (25, 100), 2_000, rounds=2, slow_work=1e5, long=10_000)
BARS = {
    **{("one_core", labels): 8.0 for labels in FEW},
    **{("two_cores", labels): 14.0 for labels in FEW},
    ("one_core", 26): 5.0,
    ("two_cores", 26): 8.0,
}
"""At which number of cores and which L, how many times as fast as the rival, at all mean lengths."""
LONG_BARS = {"one_core": 6.0, "two_cores": 11.0}
"""The same of one long sequence, with few labels."""


class Batch:
    """One ragged batch in the forms that each side takes."""

    def __init__(self, chain: ChainBatch, node: np.ndarray, edge: np.ndarray) -> None:
        self.chain = chain
        self.scores = {
            "float64": {"node": node, "edge": edge},
            "float32": {"node": node.astype("float32"), "edge": edge.astype("float32")},
        }
        self.start = np.ones(chain.n_labels)
        self.transitions = np.exp(edge)
        self.log_frames = np.split(node, chain.offsets[1:-1])
        self.frames = np.split(np.exp(node), chain.offsets[1:-1])

    @classmethod
    def draw(cls, labels: int, mean_length: int, positions: int, seed: int = 0) -> Batch:
        """Draw lengths and scores; one sequence if its mean length is that of all positions."""
        random = np.random.default_rng(seed)
        lengths = [positions] if mean_length == positions else _lengths(random, mean_length, positions)
        offsets = np.array([0, *np.cumsum(lengths)])
        node, edge = random.normal(size=(positions, labels)), random.normal(size=(labels, labels))
        return cls(ChainBatch(offsets, labels), node, edge)

    def first(self, work: float) -> Batch:
        """Give the first sequences, at least one, up to so many positions · L²."""
        room = work / self.chain.n_labels**2
        ids = np.arange(max(1, np.searchsorted(self.chain.offsets, room) - 1))
        return Batch(self.chain.take(ids), **self.chain.cut(self.scores["float64"], ids))

    @property
    def work(self) -> float:
        """Positions · L²."""
        return float(self.chain.n_vertices) * self.chain.n_labels**2


@dataclass(frozen=True)
class Task:
    """What is compared: this project's call, its rivals', and the proof that they agree."""

    name: str
    ours: Callable[[Batch, str], object]
    """Of a batch and a type of scores."""
    rival: Callable[[Batch], object]
    check: Callable[[Batch], None]
    slow_rivals: dict[str, Callable[[Batch], object]]
    flops: int
    """Counted per position · L²."""
    numbers: int
    """Read and written at least, per position · L."""
    torch_struct: Callable[[Batch], Callable[[], object]]


def compare(task: Task, quick: bool) -> _run.Result:
    """Run a task over all sizes."""
    size = QUICK if quick else FULL
    ceilings = _run.Ceilings(quick)
    rows = [
        _measure(task, size, ceilings, Batch.draw(L, mean, size.positions), mean)
        for L in size.labels
        for mean in size.mean_lengths
    ]
    long = [_measure(task, size, ceilings, Batch.draw(L, size.long, size.long), size.long) for L in FEW]
    bars = _bars(rows, BARS, "f64") + _bars(
        long, {(cores, L): factor for cores, factor in LONG_BARS.items() for L in FEW}, "f64_long"
    )
    rows += long
    details: dict[str, Any] = {
        "machine": _run.machine(),
        "instruction_set": native.isa(),
        "torch_struct": _torch_struct.state(),
        "quick": quick,
    }
    for table in ("times_hmmlearn", "ns_per_position_and_L2", "fraction_of_ceiling"):
        details[table] = [{**row["case"], **row[table]} for row in rows]
    return _run.Result(task.name, bars, details)


def _bars(rows: list[dict[str, Any]], bounds: dict[tuple[str, int], float], name: str) -> list[_run.Bar]:
    """The worst over lengths."""
    bars = []
    for (cores, labels), factor in bounds.items():
        value = min(row["times_hmmlearn"][f"float64_{cores}"] for row in rows if row["case"]["L"] == labels)
        bars.append(_run.Bar(f"{name}_{cores}_L{labels}", value, at_least=factor))
    return bars


def _measure(task: Task, size: Size, ceilings: _run.Ceilings, batch: Batch, mean: int) -> dict[str, Any]:
    """Time one case."""
    task.check(batch)
    sides = {"hmmlearn": _run.Side(lambda: task.rival(batch)), **ceilings.sides()}
    for dtype in ("float64", "float32"):
        for cores, threads in CORES.items():
            sides[f"{dtype}_{cores}"] = _run.Side(lambda dtype=dtype: task.ours(batch, dtype), threads)
    part = batch.first(size.slow_work)
    slow = {name: _run.Side(lambda call=call: call(part)) for name, call in task.slow_rivals.items()}
    if mean == size.long:  # no part of one sequence is small
        slow = {}
    elif _torch_struct.installed():
        slow["torch_struct"] = _run.Side(task.torch_struct(part))
    seconds = _run.alternate({**sides, **slow}, size.rounds)
    ours = {name: time for name, time in seconds.items() if name.endswith(tuple(CORES))}
    ns = {name: seconds[name] / batch.work * 1e9 for name in ("hmmlearn", *ours)}
    return {
        "case": {"L": batch.chain.n_labels, "mean_length": mean},
        "times_hmmlearn": {name: seconds["hmmlearn"] / time for name, time in ours.items()},
        "ns_per_position_and_L2": {**ns, **{name: seconds[name] / part.work * 1e9 for name in slow}},
        "fraction_of_ceiling": _fractions(task, batch, ours, ceilings.rates(seconds)),
    }


def _fractions(task: Task, batch: Batch, ours: dict[str, float], rates: dict[str, float]) -> dict[str, float]:
    """How near one core comes to what it could do, by arithmetic and by memory, and that ceiling."""
    result = {}
    for dtype in ("float64", "float32"):
        giga_per_second = batch.work / ours[f"{dtype}_one_core"] / 1e9
        moved = task.numbers * np.dtype(dtype).itemsize * giga_per_second / batch.chain.n_labels
        result[f"{dtype}_of_product"] = task.flops * giga_per_second / rates[f"{dtype}_gflops"]
        result[f"{dtype}_of_copy"] = moved / rates["copy_gbytes"]
    return {**result, **rates}


def _lengths(random: np.random.Generator, mean: int, positions: int) -> list[int]:
    """Uniform lengths that add up to all positions; the last takes what is left."""
    lengths: list[int] = []
    left = positions
    while left > 0:
        lengths.append(min(left, int(random.integers(mean // 2, mean + mean // 2 + 1))))
        left -= lengths[-1]
    return lengths
