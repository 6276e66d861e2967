"""Overlapping Gaussians behind a chain: how many vertices are enough? [lafferty2004, 5.1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernelfields import Parts
from kernelfields.arrays import Array
from kernelfields.estimators import KernelCRF, KernelLogisticRegression
from kernelfields.graphs import NeighborGraph, Regularised
from kernelfields.kernels import RBF, GraphKernel, Kernel
from kernelfields.metrics import token_error
from kernelfields.selection import GreedyCliques, ImportVectors

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.folds import mean_of
from .lib.intervals import paired_interval
from .lib.mixtures import MixtureHMM, StateSequences
from .lib.results import Outcome, Row

CHAIN, SINGLE = "kernel CRF", "kernel logistic regression"
GRAPH, IMPORT = "kernel CRF, graph kernel", "import vector machine"
STYLES = {CHAIN: "o-", SINGLE: "o-", IMPORT: "s--", GRAPH: "^-"}
Errors = dict[str, dict[int, list[float]]]
"""Wrong labels in percent, by model and number of training sequences, of every trial."""

CURVES = ("risk", "log-likelihood", "accuracy %")


@dataclass(frozen=True)
class GaussianHMMSettings:
    """How the data are generated, and which models are fitted to them."""

    components: int
    """Gaussians of a state."""
    spread: float
    """Standard deviation of their means; that of observations about them is near 1."""
    stay: float
    length: int
    """Of all sequences."""
    sizes: list[int]
    """Training sequences; each in turn."""
    path_size: int
    """Training sequences of the path."""
    test_sequences: int
    n_trials: int
    n_tuning: int
    """Number of training sets, of the size of the path, for the choice of λ; no trial uses them."""
    vertices: int
    """Selected at most."""
    few: int
    """Vertices that should be enough."""
    gamma: float
    penalties: list[float]
    n_neighbors: int
    n_eigenpairs: int
    epsilons: list[float]
    """ε of the graph kernel, to choose from."""
    tried: int
    """Vertices that the import vector machine tries in every step, drawn at random."""
    change: float
    """Relative change of the risk at which it stops."""
    seed: int


class Tuned(NamedTuple):
    """What is chosen for a model."""

    penalty: float
    epsilon: float | None = None
    """Of the graph kernel."""

    def __str__(self) -> str:
        """Return both as words."""
        return f"λ = {self.penalty:g}" + ("" if self.epsilon is None else f", ε = {self.epsilon:g}")


def run(settings: GaussianHMMSettings, report: Report) -> Outcome:
    """Draw one model; then trials with sequences drawn from it."""
    random = np.random.default_rng(settings.seed)
    source = MixtureHMM.drawn(settings.components, settings.spread, settings.stay, random)
    test = source.draw(settings.test_sequences, settings.length, random)
    report("choosing penalties")
    choices = {name: _chosen(name, source, settings, random) for name in (CHAIN, SINGLE)}
    # drawn after all else, so that the rows of the two above do not depend on further ones
    later = np.random.default_rng(settings.seed + 1)
    choices |= {name: _chosen(name, source, settings, later) for name in (IMPORT, GRAPH)}
    paths, selected = [], []
    errors: Errors = {name: {size: [] for size in settings.sizes} for name in choices}
    for trial in range(settings.n_trials):
        report(f"trial {trial + 1} of {settings.n_trials}")
        train = source.draw(max(*settings.sizes, settings.path_size), settings.length, random)
        paths.append(_path(_first(train, settings.path_size), test, choices[CHAIN], settings))
        for name, choice in choices.items():
            kernel = _kernel(name, choice, [*train.X, *test.X], settings)
            for size in settings.sizes:
                model = _model(name, kernel, choice.penalty, settings).fit(*_first(train, size))
                errors[name][size].append(100 * token_error(test.y, model.predict(test.X)))
            selected += [len(model.basis_)] if name == IMPORT else []
    curves = {name: np.mean([path[name] for path in paths], axis=0).tolist() for name in CURVES}
    details = {
        "choices": {name: choice._asdict() for name, choice in choices.items()},
        "import vectors": selected,
        "errors": errors,
        "path": curves,
        "path standard errors": {
            name: [mean_of(values).standard_error for values in zip(*(p[name] for p in paths), strict=True)]
            for name in CURVES
        },
        "error % of the source": 100 * source.best_error(test, chained=True),
        "error % of the source without transitions": 100 * source.best_error(test, chained=False),
        "drawn": {"X": np.concatenate(test.X)[:600].tolist(), "y": np.concatenate(test.y)[:600].tolist()},
    }
    rows = [*_path_rows(details, settings), *_size_rows(errors)]
    return Outcome(
        "gaussian-hmm", _claims(curves, errors, settings), rows, details, _notes(details, settings)
    )


def _first(sequences: StateSequences, count: int) -> StateSequences:
    return StateSequences(sequences.X[:count], sequences.y[:count])


def _kernel(name: str, choice: Tuned, X: list[Array], settings: GaussianHMMSettings) -> Kernel:
    """Return the kernel of a model; the graph has all observations, with labels or without."""
    if choice.epsilon is None:
        return RBF(settings.gamma)
    points = np.concatenate(X).astype(np.float32)  # as estimators read them
    graph = NeighborGraph(settings.n_neighbors)
    return GraphKernel(graph, Regularised(choice.epsilon), settings.n_eigenpairs).on(points)


def _model(name: str, kernel: Kernel, penalty: float, settings: GaussianHMMSettings) -> Any:
    """Return a model of vertices selected one by one; without edges it is kernel logistic regression."""
    if name == IMPORT:
        vectors = ImportVectors(2 * settings.vertices, sample=settings.tried, change=settings.change)
        return KernelLogisticRegression(kernel, penalty=penalty, basis=vectors, random_state=settings.seed)
    chained = name != SINGLE
    # Two functions per vertex: those of three labels add up to nothing, once centred.
    selection = GreedyCliques(2 * settings.vertices, 1, every_labelling=True)
    return KernelCRF(
        kernel,
        penalty=penalty,
        basis=selection,
        parts=Parts() if chained else Parts(edges=None, boundaries=None),
        decoder="posterior",
    )


def _chosen(
    name: str, source: MixtureHMM, settings: GaussianHMMSettings, random: np.random.Generator
) -> Tuned:
    """Return the λ, and ε, with the fewest errors on sequences that are used for nothing else."""
    held = source.draw(settings.test_sequences, settings.length, random)
    sets = [source.draw(settings.path_size, settings.length, random) for _ in range(settings.n_tuning)]

    epsilons: list[float | None] = [*settings.epsilons] if name == GRAPH else [None]
    wrong: dict[Tuned, float] = {}
    for epsilon in epsilons:
        for train in sets:
            kernel = _kernel(name, Tuned(1.0, epsilon), [*train.X, *held.X], settings)
            for penalty in settings.penalties:
                model = _model(name, kernel, penalty, settings).fit(*train)
                choice = Tuned(penalty, epsilon)
                wrong[choice] = wrong.get(choice, 0.0) + token_error(held.y, model.predict(held.X))
    return min(wrong, key=lambda choice: wrong[choice])


def _path(
    train: StateSequences, test: StateSequences, choice: Tuned, settings: GaussianHMMSettings
) -> dict[str, Array]:
    """Return risk, test likelihood and accuracy after every vertex; no choice depends on test sequences."""
    model = _model(CHAIN, RBF(settings.gamma), choice.penalty, settings)
    model.fit(*train, X_dev=test.X, y_dev=test.y)
    found = np.full((settings.vertices + 1, len(CURVES)), np.nan)
    for step in model.path_:
        assert step.held_out is not None
        assert step.error is not None
        figures = step.value, step.held_out / test.size, 100 * (1 - step.error)
        found[step.observations : step.observations + 1] = figures
    for row in range(1, len(found)):  # a training set with fewer vertices than that
        if np.isnan(found[row, 0]):
            found[row] = found[row - 1]
    return dict(zip(CURVES, found.T, strict=True))


def _path_rows(details: dict[str, Any], settings: GaussianHMMSettings) -> list[Row]:
    shown = sorted({0, 1, 2, 5, settings.few, 2 * settings.few, 4 * settings.few, settings.vertices})
    errors = details["path standard errors"]
    return [
        {
            "model": CHAIN,
            "sequences": settings.path_size,
            "vertices": count,
            "risk": details["path"]["risk"][count],
            "log-likelihood": details["path"]["log-likelihood"][count],
            "accuracy %": details["path"]["accuracy %"][count],
            "standard error": errors["accuracy %"][count],
        }
        for count in shown
        if count <= settings.vertices
    ]


def _size_rows(errors: Errors) -> list[Row]:
    rows: list[Row] = []
    for name, by_size in errors.items():
        for size, values in by_size.items():
            mean = mean_of(values)
            low, high = paired_interval(_apart(errors, size, name))
            rows.append(
                {
                    "model": name,
                    "sequences": size,
                    "accuracy %": 100 - mean.mean,
                    "standard error": mean.standard_error,
                    "above logistic regression": f"{low:+.2f} … {high:+.2f}" if name != SINGLE else None,
                }
            )
    return rows


def _apart(errors: Errors, size: int, name: str = CHAIN, rival: str = SINGLE) -> list[float]:
    """Return by how many points one model is better than another, trial by trial."""
    return [b - a for a, b in zip(errors[name][size], errors[rival][size], strict=True)]


def _claims(curves: dict[str, Any], errors: Errors, settings: GaussianHMMSettings) -> list[Claim]:
    risk, likelihood, accuracy = (np.asarray(curves[name]) for name in CURVES)
    few = settings.few
    least, above_import = (
        min(paired_interval(_apart(errors, size, CHAIN, rival))[0] for size in settings.sizes)
        for rival in (SINGLE, IMPORT)
    )
    worse = np.mean([_apart(errors, size, CHAIN, GRAPH) for size in settings.sizes], axis=0)
    return [
        Claim("accuracy_lost_with_few_vertices_points", float(accuracy.max() - accuracy[few]), at_most=0.5),
        Claim("likelihood_lost_with_few_vertices", float(likelihood.max() - likelihood[few]), at_most=0.02),
        Claim("risk_fall_after_few_vertices_percent", float(100 * (1 - risk[-1] / risk[few])), at_least=1.0),
        Claim("largest_rise_of_risk_percent", float(100 * np.max(np.diff(risk) / risk[:-1])), at_most=0.1),
        Claim("chain_above_logistic_points_lower_end", least, at_least=0.0),
        Claim("chain_above_import_vectors_points_lower_end", above_import, at_least=0.0),
        Claim("graph_kernel_below_rbf_points", float(worse.mean()), at_least=0.0),
        Claim("the_same_upper_end", paired_interval(worse.tolist())[1], at_most=3.0),
    ]


def _notes(details: dict[str, Any], settings: GaussianHMMSettings) -> list[str]:
    choices = {name: Tuned(**choice) for name, choice in details["choices"].items()}
    chosen = "; ".join(f"{name}, {choice}" for name, choice in choices.items())
    return [
        f"Sequences of {settings.length} positions; the paper's lengths and sizes are not known. Means "
        f"over {settings.n_trials} trials, with standard errors and 95 % intervals of differences trial by "
        f"trial; λ, and ε of the graph kernel, are chosen on separate sequences: {chosen}.",
        f"Who knows the source has {100 - details['error % of the source']:.2f} % of states right, and "
        f"{100 - details['error % of the source without transitions']:.2f} % by one position alone.",
        "The log-likelihood is per position. No choice depends on the test sequences, whose observations "
        "are in the graph. Claims about the graph kernel are about means over sizes.",
        f"The import vector machine tries {settings.tried} vertices per step, drawn at random, and stops at "
        f"a relative change of {settings.change:g}: {np.mean(details['import vectors']):.1f} vertices from "
        f"{settings.sizes[-1]} sequences.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the data, the sizes, and the three curves of the path."""
    top, bottom = figure.subplots(2, 3)
    drawn = outcome.details["drawn"]
    points = np.asarray(drawn["X"])
    top[0].scatter(*points.T, c=drawn["y"], s=4, cmap="viridis")
    top[0].set_title("states", fontsize="small")
    sizes = outcome.details["settings"]["sizes"]
    for name, by_size in outcome.details["errors"].items():
        means = [mean_of(values) for values in by_size.values()]
        errors = [m.standard_error for m in means]
        top[1].errorbar(sizes, [m.mean for m in means], errors, fmt=STYLES[name], ms=4, label=name)
    source = outcome.details["error % of the source"]
    top[1].axhline(source, color="black", linestyle=":", label="the source itself")
    top[1].set(xlabel="training sequences", ylabel="wrong, %", xscale="log")
    top[1].set_xticks(sizes, sizes)
    top[1].minorticks_off()
    top[2].axis("off")
    top[2].legend(*top[1].get_legend_handles_labels(), loc="center", fontsize="small")
    for panel, name in zip(bottom, CURVES, strict=True):
        curve = np.asarray(outcome.details["path"][name])
        error = np.asarray(outcome.details["path standard errors"][name])
        panel.plot(curve)
        panel.fill_between(range(len(curve)), curve - error, curve + error, alpha=0.3)
        panel.set(xlabel="vertices selected", title=name)
    for panel in (top[0], top[1], *bottom):
        panel.grid(alpha=0.3)


GAUSSIAN_HMM = Experiment(
    "gaussian-hmm",
    "Overlapping Gaussians behind a chain: risk and accuracy against selected vertices [lafferty2004, 5.1]",
    "none: the sequences are drawn",
    GaussianHMMSettings,
    run,
    draw,
)
