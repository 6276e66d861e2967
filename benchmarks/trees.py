"""Marginals on trees, against this project's own chain engine on as many vertices, and against rivals.

Paths are chains that the tree engine is not told of. Random trees are drawn vertex by vertex, each below
one of those before it, and numbered at random. Lengths and scores are those of the chains, edges shared.
pgmpy propagates beliefs on the same factors of one small tree (its time grows with the square of the size),
torch-struct works on the first paths: what they do in reasonable time. Compare their times per vertex.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from kernelfields import native
from kernelfields.structures import TreeBatch

from . import _pgmpy, _run, _torch_struct
from ._chains import CORES, Batch

BARS = {
    "path_over_chain_L3": 2.0,
    "path_over_chain_L9": 2.0,
    "path_over_chain_L26": 2.0,
    "random_over_chain_L9": 3.0,
}


class Size(NamedTuple):
    """How much is measured."""

    mean_lengths: tuple[int, ...]
    positions: int
    rounds: int
    slow_work: float
    """Positions · L² given to torch-struct."""


FULL = Size((25, 1000), positions=100_000, rounds=9, slow_work=1.5e7)
QUICK = Size((25, 100), positions=2_000, rounds=2, slow_work=1e5)
LABELS = (3, 9, 26)
SHAPES = ("path", "random")
MOST_FOR_PGMPY = 50
"""Vertices; hundreds take seconds."""
DTYPES = ("float64", "float32")


def run(quick: bool) -> _run.Result:
    size = QUICK if quick else FULL
    rows = [_measure(size, labels, mean) for labels in LABELS for mean in size.mean_lengths]
    worst = {
        f"{shape}_over_chain_L{labels}": max(
            row["ratio"][shape] for row in rows if row["case"]["L"] == labels
        )
        for shape in SHAPES
        for labels in LABELS
    }
    details: dict[str, Any] = {
        "machine": _run.machine(),
        "instruction_set": native.isa(),
        "pgmpy": _pgmpy.state(),
        "torch_struct": _torch_struct.state(),
        "quick": quick,
        **worst,
    }
    for table in ("over_chain", "ns_per_vertex"):
        details[table] = [{**row["case"], **row[table]} for row in rows]
    return _run.Result(
        "trees", [_run.Bar(name, worst[name], at_most=most) for name, most in BARS.items()], details
    )


def random_parents(random: np.random.Generator, offsets: np.ndarray) -> np.ndarray:
    """Draw a tree for every instance."""
    parents = np.full(offsets[-1], -1, dtype=np.int64)
    for start, end in itertools.pairwise(offsets):
        place = start + random.permutation(end - start)
        above = random.integers(0, np.maximum(np.arange(end - start), 1))
        parents[place[1:]] = place[above[1:]]
    return parents


def _trees(batch: Batch) -> dict[str, TreeBatch]:
    chain = batch.chain
    path = np.full(chain.n_vertices, -1, dtype=np.int64)
    path[chain.edge_heads] = chain.edge_tails
    drawn = random_parents(np.random.default_rng(1), chain.offsets)
    return {
        shape: TreeBatch(chain.offsets, parents, chain.n_labels)
        for shape, parents in zip(SHAPES, (path, drawn), strict=True)
    }


def _check(batch: Batch, path: TreeBatch) -> None:
    """Refuse to time engines that disagree."""
    wanted, found = (each.marginals(batch.scores["float64"]) for each in (batch.chain, path))
    np.testing.assert_allclose(found.log_partition, wanted.log_partition, rtol=1e-10)
    np.testing.assert_allclose(found.parts["node"], wanted.parts["node"], atol=1e-9)
    np.testing.assert_allclose(found.parts["edge"], wanted.parts["edge"], rtol=1e-8)


def _measure(size: Size, labels: int, mean: int) -> dict[str, Any]:
    """Time one case."""
    batch = Batch.draw(labels, mean, size.positions)
    engines = {"chain": batch.chain, **_trees(batch)}
    _check(batch, engines["path"])
    sides = {
        f"{name}_{dtype}_{cores}": _run.Side(
            lambda engine=engine, dtype=dtype: engine.marginals(batch.scores[dtype]), threads
        )
        for dtype in DTYPES
        for cores, threads in CORES.items()
        for name, engine in engines.items()
    }
    rivals, vertices = _rivals(batch, engines["random"], size)
    seconds = _run.alternate({**sides, **rivals}, size.rounds)
    kinds = [f"{dtype}_{cores}" for dtype in DTYPES for cores in CORES]
    ratios = {
        f"{shape}_{kind}": seconds[f"{shape}_{kind}"] / seconds[f"chain_{kind}"]
        for kind in kinds
        for shape in SHAPES
    }
    ns = {name: seconds[name] / vertices.get(name, size.positions) * 1e9 for name in seconds}
    return {
        "case": {"L": labels, "mean_length": mean},
        "ratio": {shape: ratios[f"{shape}_float64_one_core"] for shape in SHAPES},
        "over_chain": ratios,
        "ns_per_vertex": {
            name: ns[name] for name in ns if name.endswith("float64_one_core") or name in rivals
        },
    }


def _rivals(batch: Batch, tree: TreeBatch, size: Size) -> tuple[dict[str, _run.Side], dict[str, int]]:
    """Sides of the rivals that are installed, and how many vertices each works on."""
    sides, vertices = {}, {}
    one = tree.take([0])
    if _pgmpy.installed() and one.n_vertices <= MOST_FOR_PGMPY:
        scores = tree.cut(batch.scores["float64"], [0])
        sides["pgmpy"], vertices["pgmpy"] = _run.Side(_pgmpy.calibrate(one, dict(scores))), one.n_vertices
    if _torch_struct.installed():
        part = batch.first(size.slow_work)
        sides["torch_struct"] = _run.Side(_torch_struct.marginals(part))
        vertices["torch_struct"] = part.chain.n_vertices
    return sides, vertices
