"""Marginals of all vertices and edges of graphs, exactly: junction trees against those of pyAgrum, and pgmpy.

Grids have one shape and new potentials each; small graphs are all different, drawn vertex by vertex, each
joined to a clique of five before it, three edges of ten then left out. Every side is a process of its own and
gets the same number of threads. Rivals run with the interpreter that KERNELFIELDS_RIVALS names, else with
this one, on the first graphs of a batch, and are compared per graph; they do not report log Z, which we
compute, too. pgmpy answers one query at a time: a few are timed, and multiplied.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelfields import native
from kernelfields.structures import ExactGraphBatch, TreeBatch

from . import _run
from .trees import random_parents

SIDE = Path(__file__).with_name("_graph_side.py")
RIVALS = os.environ.get("KERNELFIELDS_RIVALS", sys.executable)


class Size(NamedTuple):
    """How much is measured."""

    grid: tuple[int, int]
    grids: int
    small: int
    rival_grids: int
    rival_small: int
    rounds: int
    tree_vertices: int


FULL = Size((20, 8), 100, 10_000, rival_grids=2, rival_small=200, rounds=4, tree_vertices=100_000)
QUICK = Size((5, 3), 4, 20, rival_grids=2, rival_small=3, rounds=2, tree_vertices=500)
LABELS = {"grid": 4, "small": 3}
VERTICES, WIDTH, KEPT = 30, 5, 0.7


def run(quick: bool) -> _run.Result:
    size = QUICK if quick else FULL
    threads = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        grid = _sides(Path(folder), grids(size), threads, size.rounds, size.rival_grids, pgmpy=True)
        small = _sides(Path(folder), small_graphs(size), threads, size.rounds, size.rival_small)
    ratios = {
        **_ratios("grid", grid),
        **_ratios("small", small),
        "tree_over_tree_engine": _trees(size),
    }
    if "pyagrum" in grid:
        ratios["memory_over_pyagrum"] = grid["kernelfields"]["peak_mbytes"] / grid["pyagrum"]["peak_mbytes"]
    least = {"grid_over_pyagrum": 10, "small_over_pyagrum": 50, "grid_over_pgmpy": 1000}
    most = {"memory_over_pyagrum": 0.5, "tree_over_tree_engine": 1.5}
    bars = [_run.Bar(name, ratios[name], at_least=bound) for name, bound in least.items() if name in ratios]
    bars += [_run.Bar(name, ratios[name], at_most=bound) for name, bound in most.items() if name in ratios]
    details = {
        "machine": _run.machine(),
        "instruction_set": native.isa(),
        "threads": threads,
        "quick": quick,
        **ratios,
        "grid": [{"side": name, **found} for name, found in grid.items()],
        "small": [{"side": name, **found} for name, found in small.items()],
        "cost": _cost(quick),
    }
    return _run.Result("graph_exact", bars, details)


def grid_edges(height: int, width: int) -> np.ndarray:
    place = np.arange(height * width).reshape(height, width)
    across, down = (place[:, :-1], place[:, 1:]), (place[:-1], place[1:])
    return np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in (across, down)])


def grids(size: Size) -> dict[str, np.ndarray]:
    edges = [grid_edges(*size.grid)] * size.grids
    return _problem(edges, size.grid[0] * size.grid[1], LABELS["grid"])


def small_graphs(size: Size) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    edges = [partial_tree(random, VERTICES, WIDTH) for _ in range(size.small)]
    return _problem(edges, VERTICES, LABELS["small"])


def partial_tree(random: np.random.Generator, vertices: int, width: int) -> np.ndarray:
    """Edges of a random graph of this treewidth, or less."""
    cliques = [np.arange(width + 1)]
    edges = [np.stack(np.triu_indices(width + 1, 1), 1)]
    for v in range(width + 1, vertices):
        some = random.permutation(cliques[random.integers(len(cliques))])[:width]
        edges.append(np.stack([np.full(width, v), some], 1))
        cliques.append(np.append(some, v))
    every = np.concatenate(edges)
    return random.permutation(vertices)[every[random.random(len(every)) < KEPT]]


def _problem(edges: list[np.ndarray], vertices: int, labels: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    offsets = vertices * np.arange(len(edges) + 1)
    before = np.concatenate([[0], np.cumsum([len(each) for each in edges])])
    return {
        "offsets": offsets,
        "edge_offsets": before,
        "edges": np.concatenate([each + start for each, start in zip(edges, offsets[:-1], strict=True)]),
        "node": random.normal(size=(offsets[-1], labels)),
        "edge": random.normal(size=(before[-1], labels, labels)),
    }


def _sides(
    folder: Path, problem: dict[str, np.ndarray], threads: int, rounds: int, count: int, pgmpy: bool = False
) -> dict[str, dict[str, float]]:
    """Run all sides that are installed, and refuse to compare those that disagree."""
    np.savez(folder / "problem.npz", **problem)
    result, wanted = {}, None
    sides = {"kernelfields": (sys.executable, 1, rounds), "pyagrum": (RIVALS, count, 1)}
    for name, (python, graphs, times) in {**sides, **({"pgmpy": (RIVALS, 1, 1)} if pgmpy else {})}.items():
        if name != "kernelfields" and not _has(python, name):
            continue
        command = [python, str(SIDE), name, str(folder / "problem.npz"), str(folder / "out.npz")]
        numbers = [str(threads), str(graphs), str(times)]
        found = subprocess.run([*command, *numbers], check=True, capture_output=True, text=True)
        result[name] = json.loads(found.stdout.splitlines()[-1])
        marginals = dict(np.load(folder / "out.npz"))
        wanted = wanted or marginals
        for kind, values in marginals.items():
            asked = np.isfinite(values)
            np.testing.assert_allclose(values[asked], wanted[kind][asked], atol=1e-9)
    return result


def _has(python: str, module: str) -> bool:
    return (
        subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    )


def _ratios(case: str, found: dict[str, dict[str, float]]) -> dict[str, float]:
    ours = found["kernelfields"]["seconds"]
    rivals = [name for name in found if name != "kernelfields"]
    return {f"{case}_over_{name}": found[name]["seconds"] / ours for name in rivals}


def _trees(size: Size) -> float:
    """Random trees given as graphs, against the same trees."""
    offsets = np.arange(0, size.tree_vertices + 1, 25)
    tree = TreeBatch(offsets, random_parents(np.random.default_rng(1), offsets), 9)
    graph = ExactGraphBatch(offsets, np.stack([tree.edge_tails, tree.edge_heads], 1), 9)
    random = np.random.default_rng(2)
    scores = {name: random.normal(size=shape) for name, shape in tree.shapes.items()}
    np.testing.assert_allclose(graph.log_partition(scores), tree.log_partition(scores), rtol=1e-10)
    sides = {
        name: _run.Side(lambda each=each: each.marginals(scores))
        for name, each in (("graph", graph), ("tree", tree))
    }
    seconds = _run.alternate(sides, 2 * size.rounds + 1)
    return seconds["graph"] / seconds["tree"]


def _cost(quick: bool) -> list[dict[str, Any]]:
    """Microseconds per graph, against the number of vertices and against treewidth; one thread."""
    rows = []
    for vertices, width in (
        ((10, 3), (20, 3)) if quick else ((30, 5), (100, 5), (300, 5), (30, 3), (30, 7), (30, 9))
    ):
        random = np.random.default_rng(3)
        problem = _problem([partial_tree(random, vertices, width) for _ in range(20)], vertices, 3)
        batch = ExactGraphBatch(problem["offsets"], problem["edges"], 3, shared_edges=False)
        scores = {"node": problem["node"], "edge": problem["edge"]}
        side = {"marginals": _run.Side(lambda batch=batch, scores=scores: batch.marginals(scores))}
        seconds = _run.alternate(side, 3)["marginals"]
        found = float(batch.treewidths.mean())
        rows.append(
            {"vertices": vertices, "width": width, "found_width": found, "microseconds": seconds / 20 * 1e6}
        )
    return rows
