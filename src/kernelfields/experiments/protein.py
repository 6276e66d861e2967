"""Protein secondary structure: few training chains, and all of JPred4 [lafferty2004, 5.2]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.protein_all import CASCADE, ONE, AllSettings, run_all
from .lib.protein_few import (
    BOUNDARIES,
    EDGE_COST,
    EDGES,
    GREEDY,
    MARGINAL,
    SVM,
    VERTICES,
    FewSettings,
    run_few,
)
from .lib.results import Outcome, Row

BEST = 82.0
"""Q3 of JPred4's own networks on its blind set, an ensemble [drozdetskiy2015]."""


@dataclass(frozen=True)
class ProteinSettings:
    """Settings of the two parts."""

    parts: list[str]
    """Which to run: "all", "few"."""
    few: Mapping[str, Any]
    all: Mapping[str, Any]


def run(settings: ProteinSettings, report: Report) -> Outcome:
    """Run both parts, or one of them."""
    everything, few = AllSettings(**settings.all), FewSettings(**settings.few)
    large = run_all(everything, report) if "all" in settings.parts else []
    small, trials = run_few(few, report) if "few" in settings.parts else ([], {})
    rows = [*large, *small]
    claims = _claims(large, small, everything.tol)
    return Outcome("protein", claims, rows, {"trials": trials}, _notes(everything, few))


def _claims(large: list[Row], small: list[Row], tol: float) -> list[Claim]:
    claims = []
    if large:
        blind = next(row for row in large if row["model"] == CASCADE)
        claims += [
            Claim("blind_q3", blind["Q3 %"], paper=BEST, at_least=BEST),
            Claim("largest_relative_gap", max(row["gap"] for row in large), at_most=tol),
        ]
    if small:
        models = (
            (VERTICES, ""),
            (MARGINAL, "_label_by_label"),
            (GREEDY + VERTICES, "_greedy"),
            (GREEDY + EDGES, "_greedy_edges"),
        )
        for model, suffix in models:
            claims.append(Claim(f"q3_above_svm{suffix}", _least(small, "Q3 %", model), at_least=0.0))
        decoded = (
            (VERTICES, ""),
            (VERTICES + EDGE_COST, "_edge_cost"),
            (MARGINAL + EDGE_COST, "_edge_cost_label_by_label"),
            (VERTICES + BOUNDARIES, "_boundaries_first"),
        )
        for model, suffix in decoded:
            least = _least(small, "transitions %", model)
            claims.append(Claim(f"transitions_above_svm{suffix}", least, at_least=0.0))
    return claims


def _least(rows: list[Row], figure: str, model: str) -> float:
    """Return the least lead of a model over the SVM, over training sets."""
    value = {(row["data"], row["chains"], row["model"]): row[figure] for row in rows}
    return min(value[*key, model] - value[*key, SVM] for *key, name in value if name == SVM)


def _notes(everything: AllSettings, few: FewSettings) -> list[str]:
    return [
        f"JPred4 blind: trained on the chains of folds {everything.train_folds}, PSI-BLAST and HMMER "
        f"profiles in windows of {everything.window}; settings were chosen on training folds, the blind "
        "chains looked at once by each model. Standard error: of the mean over chains.",
        f"Few chains: means over {few.n_trials} trials; 95 % intervals of the differences from the SVM, "
        "trial by trial. Penalties, C and the weight of boundaries are chosen on chains that no trial sees. "
        "The blind chains take no part.",
        "Transitions: boundaries at which both labels are right. The edge cost is a Bayes rule that pays for "
        "boundaries missed as well as for labels; with boundaries first, its weight is the one that finds "
        "most of them, whatever that does to Q3. Greedy models have the kernel and penalties of the dense "
        f"ones, and {few.cliques} labelled cliques. Label by label: the log loss of every label by itself.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw Q3 against transition accuracy, one panel per training set; below, the risk of greedy models."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in outcome.rows:
        groups.setdefault((row["data"], row["chains"]), []).append(row)
    top, below = figure.subplots(2, len(groups), squeeze=False)
    for panel, under, ((data, chains), rows) in zip(top, below, groups.items(), strict=True):
        for row in rows:
            colour, marker = _style(row["model"])
            panel.plot(
                row["Q3 %"], row["transitions %"], marker, color=colour, label=row["model"], markersize=4
            )
        panel.set_title(f"{data}, {chains}", fontsize="small")
        panel.set_xlabel("Q3, %")
        panel.grid(alpha=0.3)
        panel.margins(0.2)
        panel.locator_params(axis="x", nbins=3)
        panel.tick_params(labelsize=6)
        _draw_risk(under, outcome.details["trials"].get(f"{data} {chains}"))
    top[0].set_ylabel("boundaries found, %")
    handles = {
        label: handle
        for panel in (*top, *below)
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=5)


def _style(model: str) -> tuple[str, str]:
    """Return the colour of a model and the marker of its decoder."""
    decoders = {EDGE_COST: "^", BOUNDARIES: "s"}
    decoder = next((suffix for suffix in decoders if model.endswith(suffix)), "")
    known = [SVM, VERTICES, EDGES, GREEDY + VERTICES, GREEDY + EDGES, MARGINAL, ONE]
    name = model.removesuffix(decoder)
    return f"C{known.index(name) if name in known else len(known)}", decoders.get(decoder, "o")


def _draw_risk(panel: Any, trials: Mapping[str, Any] | None) -> None:
    """Draw the mean of R over trials, relative to R without functions, where functions were selected."""
    if trials is None:
        panel.axis("off")
        return
    for name, style in ((VERTICES, "k--"), (EDGES, "k-")):
        paths = trials["paths"][GREEDY + name]
        length = min(map(len, paths))
        values = np.array([[value for _, value in path[:length]] for path in paths])
        count = [functions for functions, _ in paths[0][:length]]
        panel.plot(count, np.mean(values / values[:, :1], axis=0), style, label=f"risk, {GREEDY}{name}")
    panel.set_xlabel("cliques")
    panel.grid(alpha=0.3)


PROTEIN = Experiment(
    "protein",
    "Protein secondary structure: few chains beside SVMs, and all of JPred4 [lafferty2004, 5.2]",
    "jpred4",
    ProteinSettings,
    run,
    draw,
)
