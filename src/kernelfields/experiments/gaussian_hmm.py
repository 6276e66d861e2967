"""Overlapping Gaussians behind a chain: how many vertices are enough? [lafferty2004, 5.1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..estimators import KernelCRF
from ..kernels import RBF
from ..metrics import token_error
from ..selection import GreedyCliques
from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.folds import mean_of
from .lib.intervals import paired_interval
from .lib.mixtures import MixtureHMM, StateSequences
from .lib.results import Outcome, Row

CHAIN, SINGLE = "kernel CRF", "kernel logistic regression"
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
    seed: int


def run(settings: GaussianHMMSettings, report: Report) -> Outcome:
    """Draw one model; then trials with sequences drawn from it."""
    random = np.random.default_rng(settings.seed)
    source = MixtureHMM.drawn(settings.components, settings.spread, settings.stay, random)
    test = source.draw(settings.test_sequences, settings.length, random)
    report("choosing penalties")
    penalties = {name: _chosen(name, source, settings, random) for name in (CHAIN, SINGLE)}
    paths = []
    errors: Errors = {name: {size: [] for size in settings.sizes} for name in penalties}
    for trial in range(settings.n_trials):
        report(f"trial {trial + 1} of {settings.n_trials}")
        train = source.draw(max(*settings.sizes, settings.path_size), settings.length, random)
        paths.append(_path(_first(train, settings.path_size), test, penalties[CHAIN], settings))
        for name, penalty in penalties.items():
            for size in settings.sizes:
                model = _model(name, penalty, settings).fit(*_first(train, size))
                errors[name][size].append(100 * token_error(test.y, model.predict(test.X)))
    curves = {name: np.mean([path[name] for path in paths], axis=0).tolist() for name in CURVES}
    details = {
        "penalties": penalties,
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


def _model(name: str, penalty: float, settings: GaussianHMMSettings) -> KernelCRF:
    """Return a model of vertices selected one by one; without edges it is kernel logistic regression."""
    chained = name == CHAIN
    # Two functions per vertex: those of three labels add up to nothing, once centred.
    selection = GreedyCliques(2 * settings.vertices, 1, every_labelling=True)
    return KernelCRF(
        RBF(settings.gamma),
        penalty=penalty,
        selection=selection,
        fit_intercept=True,
        edges=chained,
        boundaries=chained,
        decoder="posterior",
    )


def _chosen(
    name: str, source: MixtureHMM, settings: GaussianHMMSettings, random: np.random.Generator
) -> float:
    """Return the λ with the fewest errors on sequences that are used for nothing else."""
    held = source.draw(settings.test_sequences, settings.length, random)
    sets = [source.draw(settings.path_size, settings.length, random) for _ in range(settings.n_tuning)]

    def wrong(penalty: float) -> float:
        models = [_model(name, penalty, settings).fit(*train) for train in sets]
        return sum(token_error(held.y, model.predict(held.X)) for model in models)

    return min(settings.penalties, key=wrong)


def _path(
    train: StateSequences, test: StateSequences, penalty: float, settings: GaussianHMMSettings
) -> dict[str, Array]:
    """Return risk, test likelihood and accuracy after every vertex; no choice depends on test sequences."""
    model = _model(CHAIN, penalty, settings).fit(*train, X_dev=test.X, y_dev=test.y)
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
            low, high = paired_interval(_apart(errors, size))
            rows.append(
                {
                    "model": name,
                    "sequences": size,
                    "accuracy %": 100 - mean.mean,
                    "standard error": mean.standard_error,
                    "above logistic regression": f"{low:+.2f} … {high:+.2f}" if name == CHAIN else None,
                }
            )
    return rows


def _apart(errors: Errors, size: int) -> list[float]:
    """Return by how many points the chain is better, trial by trial."""
    return [b - a for a, b in zip(errors[CHAIN][size], errors[SINGLE][size], strict=True)]


def _claims(curves: dict[str, Any], errors: Errors, settings: GaussianHMMSettings) -> list[Claim]:
    risk, likelihood, accuracy = (np.asarray(curves[name]) for name in CURVES)
    few = settings.few
    least = min(paired_interval(_apart(errors, size))[0] for size in settings.sizes)
    return [
        Claim("accuracy_lost_with_few_vertices_points", float(accuracy.max() - accuracy[few]), at_most=0.5),
        Claim("likelihood_lost_with_few_vertices", float(likelihood.max() - likelihood[few]), at_most=0.02),
        Claim("risk_fall_after_few_vertices_percent", float(100 * (1 - risk[-1] / risk[few])), at_least=1.0),
        Claim("largest_rise_of_risk_percent", float(100 * np.max(np.diff(risk) / risk[:-1])), at_most=0.1),
        Claim("chain_above_logistic_points_lower_end", least, at_least=0.0),
    ]


def _notes(details: dict[str, Any], settings: GaussianHMMSettings) -> list[str]:
    return [
        f"Sequences of {settings.length} positions; the paper's lengths and sizes are not known. Means "
        f"over {settings.n_trials} trials, with standard errors and 95 % intervals of differences trial by "
        f"trial; λ is chosen on separate sequences: {details['penalties']}.",
        f"Who knows the source has {100 - details['error % of the source']:.2f} % of states right, and "
        f"{100 - details['error % of the source without transitions']:.2f} % by one position alone.",
        "The log-likelihood is per position. No choice depends on the test sequences.",
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
        top[1].errorbar(
            sizes, [m.mean for m in means], [m.standard_error for m in means], fmt="o-", label=name
        )
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
