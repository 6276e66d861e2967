"""Two spirals with a common core: what context and unlabelled data are each worth [lafferty2004, 5.1]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelfields import FreeScores, Parts
from kernelfields.arrays import Array
from kernelfields.estimators import KernelCRF
from kernelfields.graphs import NeighborGraph, Regularised
from kernelfields.kernels import RBF, GraphKernel
from kernelfields.metrics import token_error

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.few_labels import Candidate, cross_validated, resampled_shares, share_of_labels
from .lib.folds import mean_of, pick
from .lib.galaxies import Galaxy
from .lib.intervals import paired_interval
from .lib.mixtures import StateSequences
from .lib.results import Outcome, Row

CHAIN, SINGLE = "kernel CRF", "kernel logistic regression"
RADIAL, GRAPH = "RBF", "graph kernel"
MODELS = [(structure, kernel) for structure in (SINGLE, CHAIN) for kernel in (RADIAL, GRAPH)]
STATES = [0, 1]


@dataclass(frozen=True)
class GalaxySettings:
    """How the data are generated, and which models are fitted to them."""

    source: dict[str, float]
    """Shape of the galaxy, see `Galaxy`."""
    n_sequences: int
    """Drawn in every trial, labelled and unlabelled."""
    length: int
    sizes: list[int]
    """Labelled sequences; logistic regression has as many labels, at random points."""
    n_trials: int
    n_folds: int
    """Of the labelled sequences, to choose settings with."""
    gammas: list[float]
    """γ of the RBF kernel, to choose from."""
    penalties: list[float]
    edge_penalty: float
    n_neighbors: int
    n_eigenpairs: int
    epsilons: list[float]
    """ε of the graph kernel, to choose from."""
    tol: float
    max_above_bayes: float
    """Points above the Bayes error at which logistic regression counts as having reached it."""
    seed: int


@dataclass
class Trials:
    """Errors in percent, (n_trials, n_sizes) each."""

    models: dict[str, Array]
    bayes: dict[str, Array]
    """Of the Bayes rule without context, on the points that logistic regression and chains are tested on."""
    source: Array
    """Of one who knows the source, with context."""
    gap: float
    """Largest relative gap."""

    def below_bayes(self, structure: str, kernel: str) -> Array:
        """Return by how many points a model is better than the rule on the same points."""
        return self.bayes[structure] - self.models[f"{structure}, {kernel}"]


def run(settings: GalaxySettings, report: Report) -> Outcome:
    """Draw sequences in every trial; label a few of them, and test on the others."""
    source = Galaxy(**settings.source)
    bayes = 100 * source.bayes_error()
    shape = (settings.n_trials, len(settings.sizes))
    trials = Trials(
        {f"{structure}, {kernel}": np.empty(shape) for structure, kernel in MODELS},
        {structure: np.empty(shape) for structure in (SINGLE, CHAIN)},
        np.empty(shape),
        0.0,
    )
    random = np.random.default_rng(settings.seed)
    for trial in range(settings.n_trials):
        report(f"trial {trial + 1} of {settings.n_trials}")
        data = source.draw(settings.n_sequences, settings.length, random)
        _trial(trial, data, source, trials, settings, random)
    details = {
        "Bayes error % without context": bayes,
        "errors": {name: found.tolist() for name, found in trials.models.items()},
        "error % of the source": trials.source.tolist(),
        "Bayes rule without context": {name: found.tolist() for name, found in trials.bayes.items()},
        "shares of labels": _shares(trials, settings),
        "drawn": {"X": np.concatenate(data.X).tolist(), "y": np.concatenate(data.y).tolist()},
    }
    claims = _claims(trials, settings)
    return Outcome("galaxy", claims, _rows(trials, settings), details, _notes(bayes, trials, settings))


def _trial(
    trial: int,
    data: StateSequences,
    source: Galaxy,
    trials: Trials,
    settings: GalaxySettings,
    random: np.random.Generator,
) -> None:
    """Fit every model with every number of labels; fewer labels are some of the many."""
    points, states = np.concatenate(data.X), np.concatenate(data.y)
    candidates = {RADIAL: _radial(settings), GRAPH: _graph(points, settings)}
    single = StateSequences([x[None] for x in points], [[int(state)] for state in states])
    orders = {CHAIN: _order(data.y, random), SINGLE: _order(single.y, random)}
    without, with_context = (source.guesses(data, chained=chained) for chained in (False, True))
    sets = {CHAIN: (data, without), SINGLE: (single, [[g] for g in np.concatenate(without).tolist()])}
    for column, size in enumerate(settings.sizes):
        for structure, (sequences, guesses) in sets.items():
            count = size if structure == CHAIN else size * settings.length
            few, rest = np.split(orders[structure], [count])
            truth = pick(sequences.y, rest)
            trials.bayes[structure][trial, column] = 100 * token_error(truth, pick(guesses, rest))
            if structure == CHAIN:
                trials.source[trial, column] = 100 * token_error(truth, pick(with_context, rest))
            for kernel, choices in candidates.items():
                field = Fields(structure == CHAIN, sequences, settings)
                chosen = cross_validated(
                    choices, field.label, sequences.y, few, settings.n_folds, settings.seed
                )
                wrong = 100 * token_error(truth, field.label(chosen, few, rest))
                trials.models[f"{structure}, {kernel}"][trial, column] = wrong
                trials.gap = max(trials.gap, field.gap)


def _order(y: Sequence[Sequence[int]], random: np.random.Generator) -> Array:
    """Return sequences in random order, so that the first two of them have both states."""
    while True:
        order = random.permutation(len(y))
        if len({*y[order[0]], *y[order[1]]}) == len(STATES):
            return order


def _radial(settings: GalaxySettings) -> list[Candidate]:
    return [Candidate(RBF(gamma), penalty) for penalty in settings.penalties for gamma in settings.gammas]


def _graph(points: Array, settings: GalaxySettings) -> list[Candidate]:
    graph, points = NeighborGraph(settings.n_neighbors), points.astype(np.float32)  # as estimators read them
    kernels = [
        GraphKernel(graph, Regularised(epsilon), settings.n_eigenpairs).on(points)
        for epsilon in settings.epsilons
    ]
    return [Candidate(kernel, penalty) for penalty in settings.penalties for kernel in kernels]


@dataclass
class Fields:
    """Kernel CRFs, which without edges are kernel logistic regression."""

    chained: bool
    data: StateSequences
    settings: GalaxySettings
    gap: float = 0.0
    """Largest relative gap so far."""

    def label(self, candidate: Candidate, few: Array, rest: Array) -> list[Any]:
        """Learn from a few sequences; label the others."""
        model = KernelCRF(
            candidate.kernel,
            penalty=candidate.penalty,
            parts=Parts(
                edges=FreeScores(penalty=self.settings.edge_penalty) if self.chained else None,
                boundaries=None,
            ),
            classes=STATES,
            decoder="posterior",
            tol=self.settings.tol,
        ).fit(pick(self.data.X, few), pick(self.data.y, few))
        assert model.certificate_ is not None
        self.gap = max(self.gap, model.certificate_.relative_gap)
        return model.predict(pick(self.data.X, rest))


def _shares(trials: Trials, settings: GalaxySettings) -> dict[str, Any]:
    """Return, for both structures, the labels that the graph kernel needs, and their 95 % intervals."""
    labels = [size * settings.length for size in settings.sizes]
    found: dict[str, Any] = {}
    for structure in (SINGLE, CHAIN):
        pair = (trials.models[f"{structure}, {kernel}"] for kernel in (GRAPH, RADIAL))
        errors, rival = pair
        drawn = resampled_shares(labels, errors, rival, settings.seed)
        found[structure] = {
            "share": share_of_labels(labels, errors, rival).tolist(),
            "interval": np.quantile(drawn, [0.025, 0.975], axis=0, method="nearest").T.tolist(),
        }
    return found


def _rows(trials: Trials, settings: GalaxySettings) -> list[Row]:
    shares = _shares(trials, settings)
    rows: list[Row] = []
    for structure, kernel in MODELS:
        for column, size in enumerate(settings.sizes):
            mean = mean_of(trials.models[f"{structure}, {kernel}"][:, column].tolist())
            low, high = paired_interval(trials.below_bayes(structure, kernel)[:, column].tolist())
            share = shares[structure]["share"][column] if kernel == GRAPH else None
            rows.append(
                {
                    "model": structure,
                    "kernel": kernel,
                    "labels": size * settings.length,
                    "error %": mean.mean,
                    "standard error": mean.standard_error,
                    "points below the Bayes rule without context": f"{low:+.2f} … {high:+.2f}",
                    "share of labels to reach RBF's error": share,
                }
            )
    return rows


def _claims(trials: Trials, settings: GalaxySettings) -> list[Claim]:
    gains = [trials.below_bayes(CHAIN, kernel)[:, -1].tolist() for kernel in (RADIAL, GRAPH)]
    single = [trials.below_bayes(SINGLE, kernel) for kernel in (RADIAL, GRAPH)]
    intervals = [paired_interval(column.tolist()) for found in single for column in found.T]
    shares = _shares(trials, settings)[CHAIN]
    return [
        Claim(
            "crf_below_bayes_without_context_points",
            min(float(np.mean(gain)) for gain in gains),
            at_least=0.01,
        ),
        Claim("the_same_lower_end", min(paired_interval(gain)[0] for gain in gains), at_least=0.0),
        Claim(
            "logistic_regression_above_bayes_points",
            -min(float(found[:, -1].mean()) for found in single),
            at_most=settings.max_above_bayes,
        ),
        Claim("logistic_regression_below_bayes_lower_end", max(low for low, _ in intervals), at_most=0.0),
        Claim("graph_kernel_share_of_labels", shares["share"][-1], at_most=0.99),
        Claim("graph_kernel_share_of_labels_upper_end", shares["interval"][-1][1], at_most=0.99),
        Claim("largest_relative_gap", trials.gap, at_most=settings.tol),
    ]


def _notes(bayes: float, trials: Trials, settings: GalaxySettings) -> list[str]:
    return [
        f"In every trial {settings.n_sequences} sequences of {settings.length} positions are drawn; a few "
        "have labels, the others are in the graph and are tested on. Logistic regression has as many "
        f"labels, at points drawn at random. Means over {settings.n_trials} trials with standard errors; "
        "intervals of 95 %, of differences trial by trial on the same points, of shares by bootstrap over "
        "trials. Kernel parameters and penalties are chosen in every trial, by cross-validation of its "
        "labelled sequences.",
        f"The Bayes error without context, by integration of the densities, is {bayes:.2f} %; who knows the "
        f"source and uses context errs on {trials.source.mean():.2f} %.",
        "Claims are about the largest number of labels and the worse of both kernels. The share of labels is "
        "the number with which the graph kernel's kernel CRF reaches the RBF's error there, by that number.",
        "Numbers of the paper's generator are not legible in our copy: the share of the core is such that "
        "the Bayes error is 20 %.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the data, and errors against labels without and with context."""
    left, *others = figure.subplots(1, 3, width_ratios=[1.15, 1, 1])
    drawn = outcome.details["drawn"]
    points, states = np.asarray(drawn["X"]), np.asarray(drawn["y"])
    for state, colour in enumerate(("C0", "C3")):
        left.scatter(*points[states == state].T, s=1.5, color=colour, label=f"state {state}")
    left.set_aspect("equal")
    left.set(xticks=[], yticks=[], title="data")
    settings = outcome.details["settings"]
    labels = [size * settings["length"] for size in settings["sizes"]]
    for panel, structure in zip(others, (SINGLE, CHAIN), strict=True):
        for kernel, style in ((RADIAL, "s--"), (GRAPH, "o-")):
            found = np.asarray(outcome.details["errors"][f"{structure}, {kernel}"])
            means = [mean_of(column.tolist()) for column in found.T]
            panel.errorbar(
                labels,
                [m.mean for m in means],
                [m.standard_error for m in means],
                fmt=style,
                ms=3,
                label=kernel,
            )
        bayes = outcome.details["Bayes error % without context"]
        panel.axhline(bayes, color="black", linestyle=":", label="Bayes error without context")
        source = np.mean(outcome.details["error % of the source"])
        panel.axhline(source, color="grey", linestyle="-.", label="source known, with context")
        panel.set(title=structure, xlabel="labels", xscale="log", ylim=(0, 45))
        panel.set_xticks(labels, labels)
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    others[0].set_ylabel("wrong, %")
    for panel in (left, *others):
        panel.title.set_fontsize("small")
        panel.tick_params(labelsize="small")
    figure.legend(
        *others[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="small"
    )


GALAXY = Experiment(
    "galaxy",
    "Two spirals with a mixed core: graph and RBF kernels, with and without context [lafferty2004, 5.1]",
    "none: the sequences are drawn",
    GalaxySettings,
    run,
    draw,
)
