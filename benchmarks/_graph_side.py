"""One side of graph_exact, as a process of its own: its peak memory is then its own, too.

    python _graph_side.py SIDE PROBLEM.npz OUT.npz THREADS COUNT ROUNDS

SIDE is kernelfields, pyagrum or pgmpy, with the interpreter that has it. Prints one JSON object; marginals
of the first graph go to OUT. Models of rivals are built outside the clock, the shape of our batch inside.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

warnings.simplefilter("ignore")  # of rivals' deprecated modules
os.environ["OMP_NUM_THREADS"] = sys.argv[4] if len(sys.argv) > 4 else "1"  # before numpy is loaded

import numpy as np  # noqa: E402

QUERIES = 2
"""Queries of each kind that pgmpy is timed on."""


class Graph(NamedTuple):
    """One graph with its potentials, exp of the scores."""

    edges: np.ndarray
    node: np.ndarray
    edge: np.ndarray


class Timed(NamedTuple):
    """What a side did."""

    seconds: float
    node: np.ndarray
    edge: np.ndarray


def graphs(problem: Any, count: int) -> Iterator[Graph]:
    """Take the problem apart."""
    spans = itertools.pairwise(problem["offsets"]), itertools.pairwise(problem["edge_offsets"])
    for (start, end), (first, last) in itertools.islice(zip(*spans, strict=True), count):
        edges = problem["edges"][first:last] - start
        yield Graph(edges, np.exp(problem["node"][start:end]), np.exp(problem["edge"][first:last]))


def kernelfields(problem: Any, threads: int, count: int) -> Timed:
    """All graphs of the batch at once."""
    from kernelfields.structures import ExactGraphBatch

    start = time.perf_counter()
    batch = ExactGraphBatch(
        problem["offsets"], problem["edges"], problem["node"].shape[1], shared_edges=False
    )
    _, parts = batch.marginals({"node": problem["node"], "edge": problem["edge"]})
    seconds = time.perf_counter() - start
    vertices, edges = batch.offsets[1], batch.edge_offsets[1]
    return Timed(seconds / batch.n_instances, parts["node"][:vertices], parts["edge"][:edges])


def pyagrum(problem: Any, threads: int, count: int) -> Timed:
    """Shafer and Shenoy's messages, graph by graph."""
    import pyagrum as gum

    seconds, first = 0.0, None
    for graph in graphs(problem, count):
        model = gum.MarkovRandomField()
        for v in range(len(graph.node)):
            model.add(gum.LabelizedVariable(f"v{v}", "", graph.node.shape[1]))
            model.addFactor([f"v{v}"])[:] = graph.node[v]
        pairs = [(f"v{a}", f"v{b}") for a, b in graph.edges]
        for pair, table in zip(pairs, graph.edge, strict=True):
            model.addFactor(list(pair))[:] = np.ascontiguousarray(table.T)  # its axes are in reverse
        start = time.perf_counter()
        engine = gum.ShaferShenoyMRFInference(model)
        engine.setNumberOfThreads(threads)
        for pair in pairs:
            engine.addJointTarget(set(pair))
        engine.makeInference()
        node = [engine.posterior(f"v{v}").toarray() for v in range(len(graph.node))]
        joint = [engine.jointPosterior(set(pair)) for pair in pairs]
        seconds += time.perf_counter() - start
        if first is None:
            edge = [_in_order(each, pair) for each, pair in zip(joint, pairs, strict=True)]
            first = np.array(node), np.array(edge)
    return Timed(seconds / count, *first)


def _in_order(tensor: Any, pair: tuple[str, str]) -> np.ndarray:
    table = tensor.toarray()
    return table.T if tuple(tensor.names) == pair else table


def pgmpy(problem: Any, threads: int, count: int) -> Timed:
    """Variable elimination, one query for every vertex and every edge; a few are timed, and multiplied.

    Its junction trees run out of memory on grids of three columns.
    """
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteMarkovNetwork

    graph = next(graphs(problem, 1))
    n, L = graph.node.shape
    pairs = [(str(a), str(b)) for a, b in graph.edges]
    model = DiscreteMarkovNetwork(pairs)
    model.add_factors(
        *(DiscreteFactor([str(v)], [L], graph.node[v]) for v in range(n)),
        *(DiscreteFactor(list(p), [L, L], table) for p, table in zip(pairs, graph.edge, strict=True)),
    )
    engine = VariableElimination(model)
    node, edge = np.full((n, L), np.nan), np.full(graph.edge.shape, np.nan)
    seconds = {"node": 0.0, "edge": 0.0}
    for k in range(QUERIES):
        v, e = (k + 1) * n // (QUERIES + 1), (k + 1) * len(pairs) // (QUERIES + 1)
        for kind, into, place, names in (("node", node, v, [str(v)]), ("edge", edge, e, list(pairs[e]))):
            order = [str(u) for u in range(n) if str(u) not in names]
            start = time.perf_counter()
            found = engine.query(names, elimination_order=order, show_progress=False)
            seconds[kind] += time.perf_counter() - start
            axes = [found.variables.index(name) for name in names]
            into[place] = found.values.transpose(axes) / found.values.sum()
    return Timed((seconds["node"] * n + seconds["edge"] * len(pairs)) / QUERIES, node, edge)


SIDES: dict[str, Callable[[Any, int, int], Timed]] = {
    "kernelfields": kernelfields,
    "pyagrum": pyagrum,
    "pgmpy": pgmpy,
}


def peak() -> float:
    """Megabytes that this program has had at most; what getrusage says begins with those of its parent."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Run a side and say how long it took per graph."""
    side, source, target = sys.argv[1:4]
    threads, count, rounds = map(int, sys.argv[4:7])
    problem = dict(np.load(source))
    runs = [SIDES[side](problem, threads, count) for _ in range(rounds)]
    np.savez(target, node=runs[0].node, edge=runs[0].edge)
    seconds = statistics.median(run.seconds for run in (runs[1:] or runs))
    print(json.dumps({"seconds": seconds, "peak_mbytes": peak(), "processor": time.process_time()}))


if __name__ == "__main__":
    main()
