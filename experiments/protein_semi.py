"""Secondary structure from few chains: what a graph over all residues adds [lafferty2004, Table 3]."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from kernelfields import FreeScores, Parts
from kernelfields.arrays import Array
from kernelfields.datasets import load_cb513
from kernelfields.estimators import KernelCRF, TransductiveSVM
from kernelfields.features.windows import stack_windows
from kernelfields.graphs import Diagnosis, NeighborGraph, diagnose
from kernelfields.selection import GreedyCliques

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.few_labels import Candidate
from .lib.folds import mean_of, pick
from .lib.intervals import paired_interval
from .lib.results import Outcome, Row
from .lib.semi_methods import FieldMethod, SemiMethod, SingleMargin, field_methods
from .lib.semi_pool import SequencePool
from .lib.semi_trials import Errors, TrialPlan, error_rows, run_trials

RADIAL, GRAPH, BOTH = "kernel CRF, RBF", "kernel CRF, graph", "kernel CRF, RBF + graph"
GREEDY = "kernel CRF, RBF + graph, greedy"
SINGLE, TRANSDUCTIVE = "SVM", "transductive SVM"


@dataclass(frozen=True)
class ProteinSemiSettings:
    """Chains, the graph over their residues, and settings to choose from."""

    max_chains: int
    sizes: list[int]
    """Labelled chains."""
    n_trials: int
    test_chains: int
    n_folds: int
    window: int
    reach: float
    """Residues after which the weight of a window has fallen to 1/e."""
    n_neighbors: int
    n_eigenpairs: int
    epsilons: list[float]
    gammas: list[float]
    penalties: list[float]
    weights: list[float]
    """Of the graph kernel beside the RBF kernel."""
    edge_penalty: float
    svm_penalties: list[float]
    unlabelled_rows: int
    """Residues that the transductive SVM labels while it learns, drawn from the test chains."""
    cliques: int
    """Functions that the greedy selection takes."""
    step: int
    """Of each kernel at once."""
    tol: float
    seed: int


def run(settings: ProteinSemiSettings, report: Report) -> Outcome:
    """Make one graph over all residues; label some chains in every trial, and test on others."""
    pool = protein_pool(settings)
    methods = methods_of(pool, settings)
    plan = TrialPlan(settings.sizes, settings.n_trials, settings.test_chains, settings.n_folds, settings.seed)
    errors = run_trials(pool, methods, plan, report)
    diagnoses = _diagnoses(pool, plan)
    fields = [method.gap for method in methods.values() if isinstance(method, FieldMethod)]
    equal = pool.equal_share()
    largest = max(one.p_value for found in diagnoses.values() for one in found)
    claims = [
        *_claims(errors, plan),
        Claim("graph_knows_labels_largest_p_value", largest, at_most=0.05),
        Claim("largest_relative_gap", max(fields), at_most=settings.tol),
    ]
    details = {
        "errors": {name: found.tolist() for name, found in errors.items()},
        "graph": repr(pool.graph),
        "share of neighbours with equal labels": equal,
    }
    rows = [*error_rows(errors, plan, RADIAL, "chains"), *_diagnosis_rows(diagnoses, plan)]
    return Outcome("protein-semi", claims, rows, details, _notes(pool, equal, settings))


def protein_pool(settings: ProteinSemiSettings) -> SequencePool:
    """Return the chains of RS126 in CB513 whose states are all known, with PSI-BLAST profiles in windows."""
    proteins = load_cb513(rs126=True, psiblast=True)
    known = [i for i, labels in enumerate(proteins.labels) if None not in labels]
    chosen = np.random.default_rng(settings.seed).permutation(known)[: settings.max_chains]
    away = np.abs(np.arange(settings.window) - settings.window // 2)
    windows = stack_windows(
        pick(proteins.profiles, chosen), settings.window, weights=np.exp(-away / settings.reach)
    )
    graph = NeighborGraph(settings.n_neighbors).on(np.concatenate(windows))
    labels = pick(proteins.labels, chosen)
    return SequencePool(windows, labels, graph, settings.n_eigenpairs, settings.epsilons)


def methods_of(pool: SequencePool, settings: ProteinSemiSettings) -> dict[str, SemiMethod]:
    """Return all methods by name."""
    radial = [pool.radial(gamma) for gamma in settings.gammas]
    graph = [pool.graph_kernel(epsilon) for epsilon in settings.epsilons]
    both = [radial[0] + weight * kernel for weight, kernel in product(settings.weights, graph)]
    kernels = {RADIAL: radial, GRAPH: graph, BOTH: both}
    margins = [Candidate(radial[0], penalty) for penalty in settings.svm_penalties]
    return {
        **field_methods(pool, kernels, settings.penalties, settings.edge_penalty, settings.tol),
        GREEDY: GreedyMethod(pool, settings),
        SINGLE: SingleMargin(pool, margins),
        TRANSDUCTIVE: TransductiveMethod(pool, margins, settings.unlabelled_rows, settings.seed),
    }


@dataclass(frozen=True)
class GreedyMethod:
    """The paper's selection: the best candidates of each kernel in every step."""

    pool: SequencePool
    settings: ProteinSemiSettings

    @property
    def choices(self) -> list[float]:
        """Penalties of both kernels."""
        return self.settings.penalties

    def label(self, choice: float, few: Array, others: Array) -> list[Any]:
        """Decide label by label."""
        kernels = [
            self.pool.radial(self.settings.gammas[0]),
            self.pool.graph_kernel(self.settings.epsilons[0]),
        ]
        model = KernelCRF(
            kernels,
            penalty=[choice, choice],
            parts=Parts(edges=FreeScores(penalty=self.settings.edge_penalty), bias=None, boundaries=None),
            basis=GreedyCliques(self.settings.cliques, self.settings.step, each_kernel=True),
            classes=self.pool.classes,
            decoder="posterior",
        ).fit(pick(self.pool.sequences, few), pick(self.pool.y, few))
        return model.predict(pick(self.pool.sequences, others))


@dataclass(frozen=True)
class TransductiveMethod:
    """A transductive SVM, which labels some of the residues that it is tested on while it learns."""

    pool: SequencePool
    choices: list[Candidate]
    rows: int
    seed: int

    def label(self, choice: Candidate, few: Array, others: Array) -> list[Any]:
        """Label every residue by itself."""
        known, rest = (np.concatenate(pick(self.pool.sequences, ids)) for ids in (few, others))
        some = np.random.default_rng(self.seed).permutation(len(rest))[: self.rows]
        model = TransductiveSVM(choice.kernel, penalty=choice.penalty, tol=1e-2)
        model.fit(known, self.pool.labels(few), X_unlabelled=rest[some])
        return self.pool.divided(np.asarray(model.predict(rest)), others)


def _diagnoses(pool: SequencePool, plan: TrialPlan) -> dict[int, list[Diagnosis]]:
    """Return what the labels of each training set say about the graph."""
    found: dict[int, list[Diagnosis]] = {size: [] for size in plan.sizes}
    for order in plan.draws(pool):
        for size in plan.sizes:
            few, _ = plan.split(order, size)
            labels = np.full(pool.offsets[-1], -1)
            labels[pool.rows(few)] = pool.labels(few)
            found[size].append(diagnose(pool.graph, labels))
    return found


def _diagnosis_rows(diagnoses: dict[int, list[Diagnosis]], plan: TrialPlan) -> list[Row]:
    def mean(values: list[float]) -> float:
        return mean_of(values).mean

    return [
        {
            "chains": size,
            "method": "diagnosis of the graph",
            "equal %": 100 * mean([one.equal_share for one in found]),
            "equal by chance %": 100 * mean([one.test.by_chance.equal for one in found]),
            "Rayleigh quotient": mean([one.rayleigh for one in found]),
            "largest p": max(one.p_value for one in found),
        }
        for size, found in diagnoses.items()
    ]


def _claims(errors: Errors, plan: TrialPlan) -> list[Claim]:
    """Claim that chains without labels help: at the lower ends of 95 % intervals, in points."""
    claims = []
    for column, size in enumerate(plan.sizes):
        for name, short in ((BOTH, "rbf_and_graph"), (GREEDY, "greedy"), (TRANSDUCTIVE, "transductive_svm")):
            low, _ = paired_interval((errors[RADIAL] - errors[name])[:, column].tolist())
            claims.append(Claim(f"{short}_below_rbf_at_{size}_chains_lower_end", low, at_least=0.0))
    return claims


def _notes(pool: SequencePool, equal: float, settings: ProteinSemiSettings) -> list[str]:
    return [
        f"{len(pool.y)} chains with {pool.offsets[-1]} residues, PSI-BLAST profiles in windows of "
        f"{settings.window} with weights that fall by 1/e in {settings.reach:g} residues. One graph over all "
        f"residues, {settings.n_neighbors} nearest neighbours: {pool.graph!r}. Means over "
        f"{settings.n_trials} trials, tested on {settings.test_chains} chains without labels; 95 % intervals "
        "of differences trial by trial. Settings are chosen in every trial by cross-validation of its "
        "labelled chains.",
        f"Of all edges {100 * equal:.1f} % join residues with equal labels. The diagnosis sees the labelled "
        "chains only: share of equal labels among labelled residues that are close in the graph, by chance, "
        "Rayleigh quotient (0: constant on components, about 1: by chance), and the largest p-value of all "
        "trials.",
        f"Greedy: {settings.cliques} functions, {settings.step} of each kernel per step [lafferty2004]. The "
        f"transductive SVM labels {settings.unlabelled_rows} residues of the test chains while it learns.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw accuracies with standard errors, one panel per number of chains."""
    rows = [row for row in outcome.rows if "error %" in row]
    sizes = list(dict.fromkeys(row["chains"] for row in rows))
    panels = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for panel, size in zip(panels, sizes, strict=True):
        some = [row for row in rows if row["chains"] == size]
        places = range(len(some))
        panel.errorbar(
            [100 - row["error %"] for row in some], places, xerr=[r["standard error"] for r in some], fmt="o"
        )
        panel.set_yticks(places, [row["method"] for row in some])
        panel.set(title=f"{size} chains", xlabel="residues right, %")
        panel.grid(alpha=0.3)
        panel.margins(y=0.1)
    panels[0].invert_yaxis()


PROTEIN_SEMI = Experiment(
    "protein-semi",
    "Protein secondary structure from few chains: RBF and graph kernels, transductive SVM [lafferty2004]",
    "cb513",
    ProteinSemiSettings,
    run,
    draw,
)
