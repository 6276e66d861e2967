"""Cliques of proteins selected one by one, from vertices alone or from vertices and edges [lafferty2004]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernelfields.arrays import Array
from kernelfields.selection import GreedyCliques, RefitAll

from .folds import mean_of
from .intervals import paired_interval
from .protein_fields import EDGES, VERTICES, Chains, FieldSettings
from .results import Row

GREEDY = "greedy "
CURVES = ("risk", "log-likelihood", "Q3 %")
"""Regularised risk and log-likelihood of test chains, both per residue, and test accuracy."""

Curves = Mapping[str, Mapping[str, list[list[float]]]]
"""By candidates and curve: for every trial the values after 0, 1, … cliques."""


def greedy_field(
    name: str, settings: FieldSettings, train: Chains, test: Chains, cliques: int
) -> tuple[Any, dict[str, list[float]]]:
    """Return the model of all selected cliques, and its curves; the test chains decide nothing.

    Models with and without candidates of edges have the same penalties, so that their risks are comparable.
    """
    settings = settings if name == EDGES else settings._replace(edge_kernel_penalty=None)
    # Refits on the way are as good as the differences that are looked at.
    selection = GreedyCliques(cliques, 1, refit=RefitAll(tol=1e-3))
    model = settings.field(name, 1e-3).set_params(basis=selection, warm_start=True)
    model.fit(*train, X_dev=test.X, y_dev=test.y)
    curves = _curves(model.path_, cliques, sum(map(len, train.X)), sum(map(len, test.X)))
    # Once more, now without test chains: goes on from all cliques, not from those that these prefer.
    return model.fit(*train), curves


def _curves(path: list[Any], cliques: int, n_train: int, n_test: int) -> dict[str, list[float]]:
    found = np.full((cliques + 1, len(CURVES)), np.nan)
    for step in path:
        found[step.functions] = step.value / n_train, step.held_out / n_test, 100 * (1 - step.error)
    for row in range(1, len(found)):  # where there are no more candidates
        if np.isnan(found[row, 0]):
            found[row] = found[row - 1]
    return dict(zip(CURVES, found.T.tolist(), strict=True))


def apart(curves: Curves, curve: str, count: int) -> Array:
    """Return by how much the value with edges is above that without, trial by trial."""
    with_edges, without = (
        np.array([one[count] for one in curves[GREEDY + name][curve]]) for name in (EDGES, VERTICES)
    )
    return np.asarray(with_edges - without)


def least_lead(every: Mapping[str, Curves], curve: str, counts: list[int], sign: float) -> float:
    """Return the lowest end of the intervals of the lead of edges, over training sets and counts."""
    return min(
        paired_interval((sign * apart(curves, curve, count)).tolist())[0]
        for curves in every.values()
        for count in counts
    )


def path_rows(data: str, chains: int, curves: Curves, counts: list[int]) -> list[Row]:
    """Return the means after some numbers of cliques, with intervals of what edges change."""
    rows: list[Row] = []
    for count in counts:
        for model, mine in curves.items():
            row: dict[str, Any] = {"data": data, "chains": chains, "model": model, "cliques": count}
            row |= {curve: mean_of([one[count] for one in mine[curve]]).mean for curve in CURVES}
            if model == GREEDY + EDGES:
                for curve in CURVES:
                    low, high = paired_interval(apart(curves, curve, count).tolist())
                    row[f"{curve} above vertices"] = f"{low:+.4f} … {high:+.4f}"
            rows.append(row)
    return rows


def draw_paths(every: Mapping[str, Curves], figure: Any) -> None:
    """Draw risk, test likelihood and accuracy against the number of cliques, a row for each training set."""
    panels = figure.subplots(len(every), len(CURVES), squeeze=False)
    for row, (name, curves) in zip(panels, every.items(), strict=True):
        for panel, curve in zip(row, CURVES, strict=True):
            for (model, mine), style in zip(curves.items(), ("--", "-"), strict=True):
                values = np.asarray(mine[curve])
                mean = values.mean(axis=0)
                error = values.std(axis=0, ddof=min(1, len(values) - 1)) / np.sqrt(len(values))
                panel.plot(mean, style, label=model)
                panel.fill_between(range(len(mean)), mean - error, mean + error, alpha=0.3)
            panel.set(xlabel="cliques", title=f"{name} chains: {curve}")
            panel.title.set_fontsize("small")
            panel.grid(alpha=0.3)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
