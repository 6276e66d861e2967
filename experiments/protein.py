"""Protein secondary structure: few training chains, and all of JPred4 [lafferty2004, 5.2]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.protein_all import CASCADE, AllSettings, run_all
from .lib.protein_few import BOUNDARIES, EDGE_COST, FewFound, FewSettings, run_few
from .lib.protein_fields import EDGES, MARGINAL, VERTICES
from .lib.protein_paths import GREEDY, draw_paths, least_lead, path_rows
from .lib.results import Outcome, Row

BEST = 82.0
"""Q3 of JPred4's own networks on its blind set, an ensemble [drozdetskiy2015]."""

JUDGED = {
    "Q3 %": {
        VERTICES: "q3_above_svm",
        EDGES: "q3_above_svm_edges",
        MARGINAL: "q3_above_svm_label_by_label",
        GREEDY + VERTICES: "q3_above_svm_greedy",
        GREEDY + EDGES: "q3_above_svm_greedy_edges",
    },
    "transitions %": {
        VERTICES: "transitions_above_svm",
        VERTICES + EDGE_COST: "transitions_above_svm_edge_cost",
        MARGINAL + EDGE_COST: "transitions_above_svm_edge_cost_label_by_label",
        GREEDY + EDGES + EDGE_COST: "transitions_above_svm_edge_cost_greedy_edges",
        VERTICES + BOUNDARIES: "transitions_above_svm_boundaries_first",
    },
}
"""Claims that the interval of a model's lead over the SVM is above 0, by figure and model."""


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
    small = run_few(few, report) if "few" in settings.parts else []
    rows = [*large, *(row for one in small for row in one.rows)]
    for one in small:
        rows += path_rows(one.data, one.size, one.curves, few.shown)
    claims = [*_claims_of_all(large, everything.tol), *_claims_of_few(small, few)]
    details = {"trials": {f"{one.data} {one.size}": one.details for one in small}}
    return Outcome("protein", claims, rows, details, _notes(everything, few))


def _claims_of_all(rows: list[Row], tol: float) -> list[Claim]:
    if not rows:
        return []
    blind = next(row for row in rows if row["model"] == CASCADE)
    return [
        Claim("blind_q3", blind["Q3 %"], paper=BEST, at_least=BEST),
        Claim("largest_relative_gap", max(row["gap"] for row in rows), at_most=tol),
    ]


def _claims_of_few(found: list[FewFound], settings: FewSettings) -> list[Claim]:
    """Return claims about lower ends of intervals, the least over all training sets."""
    if not found:
        return []
    claims = []
    for figure, models in JUDGED.items():
        for model, name in models.items():
            least = min(one.lead(model, figure)[0] for one in found if model in one.trials)
            claims.append(Claim(f"{name}_lower_end", least, at_least=0.0))
    paths = {f"{one.data} {one.size}": one.curves for one in found if one.curves}
    later = settings.shown[1:]
    return [
        *claims,
        Claim("edges_reduce_risk_lower_end", least_lead(paths, "risk", later, -1.0), at_least=0.0),
        Claim(
            "edges_raise_log_likelihood_lower_end",
            least_lead(paths, "log-likelihood", later[-1:], 1.0),
            at_least=0.0,
        ),
    ]


def _notes(everything: AllSettings, few: FewSettings) -> list[str]:
    return [
        f"JPred4 blind: trained on the chains of folds {everything.train_folds}, PSI-BLAST and HMMER "
        f"profiles in windows of {everything.window}; settings were chosen on training folds, the blind "
        "chains looked at once by each model. Standard error: of the mean over chains.",
        f"Few chains: means over {few.n_trials} trials; 95 % intervals of differences, trial by trial, and "
        "claims about the lower ends of these, the least over all training sets. On chains that no trial "
        "sees, γ and penalties of kernel CRFs are chosen by likelihood, γ and C of the SVM by Q3, the weight "
        "of boundaries by transitions. The blind chains take no part. RS126: the 117 chains of CB513 that "
        "come from it, PSI-BLAST scores s as 0 below −5, 0.5 + 0.1 s, 1 above 5 [kim2003], and a column that "
        "tells what is beyond the ends.",
        "Transitions: boundaries at which both labels are right. The edge cost is a Bayes rule that pays for "
        "boundaries missed as well as for labels; with boundaries first, its weight is the one that finds "
        "most of them, whatever that does to Q3. Label by label: the log loss of every label by itself.",
        f"Greedy models: {few.cliques} labelled cliques, selected one by one, all coefficients refitted "
        "after each; with and without candidates of edges the penalties are the same, those chosen for "
        "vertices and edges. Risk and log-likelihood are per residue; the claim about risk is about "
        f"{', '.join(map(str, few.shown[1:]))} cliques. No choice depends on test chains.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the paths of greedy models; without any, Q3 of all models."""
    trials = outcome.details["trials"]
    paths = {name: one["paths"] for name, one in trials.items() if one["paths"]}
    if paths:
        draw_paths(paths, figure)
        return
    panel = figure.subplots()
    panel.barh([row["model"] for row in outcome.rows], [row["Q3 %"] for row in outcome.rows])
    panel.set_xlabel("Q3, %")


PROTEIN = Experiment(
    "protein",
    "Protein secondary structure: few chains beside SVMs, and all of JPred4 [lafferty2004, 5.2]",
    "jpred4 and cb513",
    ProteinSettings,
    run,
    draw,
)
