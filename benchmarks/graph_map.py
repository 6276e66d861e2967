"""Best labellings of grids: what searches prove, against toulbar2's exact search and HiGHS.

Snakes: test images with scores counted on the training images; how many are solved to proved optimality, in
what time. Potts: one large grid with random scores; value, bound and the gap between them.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kernelfields.errors import MissingDataError
from kernelfields.structures import (
    AlphaExpansion,
    LinearProgramMax,
    MaxSearch,
    MergedCliques,
    SearchedGraphBatch,
    TreeReweightedMax,
)

from . import _run, _snakes, _toulbar2

LIMIT = 20
"""Seconds that toulbar2 may take for one problem."""

Problem = tuple[SearchedGraphBatch, dict[str, np.ndarray]]


def run(quick: bool) -> _run.Result:
    details: dict[str, Any] = {**_run.machine(), "toulbar2": _toulbar2.state()}
    bars: list[_run.Bar] = []
    try:
        rows, share = _on_snakes(_snakes.problems()[: 5 if quick else None])
        details["snakes"] = rows
        bars.append(_run.Bar("snakes_solved", share, at_least=0.95))
    except MissingDataError:
        details["snakes"] = "absent"
    rows, gap = _on_potts(10 if quick else 200, 5, quick)
    details["potts"] = rows
    bars.append(_run.Bar("potts_relative_gap", gap, at_most=5e-3))
    return _run.Result("graph_map", bars, details)


def _on_snakes(problems: list[Problem]) -> tuple[list[dict[str, Any]], float]:
    """A row for every search, and the share of the images that ours finds the best labelling of."""
    searches: dict[str, MaxSearch] = {"TRW-S": TreeReweightedMax(), "HiGHS": LinearProgramMax()}
    rows, found = [], {}
    for name, search in searches.items():
        start = time.perf_counter()
        answers = [search.find(MergedCliques(graph), scores) for graph, scores in problems]
        seconds = time.perf_counter() - start
        found[name] = np.array([answer.value[0] for answer in answers])
        proved = np.mean([answer.certified[0] for answer in answers])
        gap = np.mean([answer.bound[0] - answer.value[0] for answer in answers])
        rows.append({"search": name, "seconds": seconds, "proved": float(proved), "mean_gap": float(gap)})
    solved = rows[0]["proved"]
    if _toulbar2.state() == "present":
        start = time.perf_counter()
        exact = [_toulbar2.best_value(graph, scores, LIMIT) for graph, scores in problems]
        seconds = time.perf_counter() - start
        known = np.array([np.nan if value is None else value for value in exact])
        rows.append({"search": "toulbar2", "seconds": seconds, "found": float(np.mean(~np.isnan(known)))})
        if (found["TRW-S"] > known + 1e-3).any():
            raise AssertionError("A search found more than toulbar2's optimum.")
        solved = float(np.mean(found["TRW-S"] >= known - 1e-3))
        rows[0]["optimal"] = solved
    return rows, float(solved)


def _on_potts(size: int, labels: int, quick: bool) -> tuple[list[dict[str, Any]], float]:
    """A row for every search, and the least relative gap."""
    rng = np.random.default_rng(0)
    edges = np.concatenate(_snakes.grid_edges(size, size))
    graph = SearchedGraphBatch([0, size * size], edges, labels)
    scores = {"node": rng.normal(size=(size * size, labels)), "edge": 0.5 * np.eye(labels)}
    searches: dict[str, MaxSearch] = {"TRW-S": TreeReweightedMax(), "expansion": AlphaExpansion()}
    if quick:
        searches["HiGHS"] = LinearProgramMax()
    rows, value, bound = [], -np.inf, np.inf
    for name, search in searches.items():
        start = time.perf_counter()
        answer = search.find(MergedCliques(graph), scores)
        seconds = time.perf_counter() - start
        rows.append(
            {
                "search": name,
                "seconds": seconds,
                "value": float(answer.value[0]),
                "bound": float(answer.bound[0]),
            }
        )
        value, bound = max(value, float(answer.value[0])), min(bound, float(answer.bound[0]))
    if _toulbar2.state() == "present":
        start = time.perf_counter()
        exact = _toulbar2.best_value(graph, scores, LIMIT)
        rows.append({"search": "toulbar2", "seconds": time.perf_counter() - start, "value": exact})
    return rows, max((bound - value) / abs(bound), 1e-16)
