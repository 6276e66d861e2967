"""Hidden states and hidden units on letters, and a galaxy whose arms are found without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kernelfields.approximation import IncompleteCholesky
from kernelfields.datasets import load_letters
from kernelfields.estimators import CRF, HiddenStates, HiddenUnitCRF, KernelCRF

from .lib.accuracy import CALIBRATION, ERROR, LIKELIHOOD, judged
from .lib.claims import Claim
from .lib.clusterings import METHODS, clustered, right_share
from .lib.experiment import Experiment, Report
from .lib.folds import mean_of
from .lib.galaxies import Galaxy
from .lib.intervals import paired_interval
from .lib.results import Outcome, Row

N_FOLDS = 10
TOL = 1e-3
"""Relative certified gap of the plain model; the others have none."""
PLAIN, STATES, UNITS = "linear CRF", "hidden states", "hidden units"
APART = "hidden states, nothing shared"
FIELD, RIVALS = METHODS[-1], METHODS[:3]
LETTERS, POINTS = "letters", "galaxy, no labels"
Found = Mapping[str, Sequence[Mapping[str, float]]]


@dataclass(frozen=True)
class HiddenSettings:
    """Folds and models of letters; draws and methods of the galaxy."""

    train_folds: list[int]
    """Each is trained on in turn."""
    chosen_on: int
    """The fold within which settings were chosen, which is neither trained nor tested on."""
    max_words: int
    """At most that many words to train on, and to test on."""
    plain: dict[str, Any]
    """Settings of `CRF`."""
    states: dict[str, Any]
    """Those of the linear `KernelCRF` of states; ``n_states``, ``n_init``, ``method`` and ``share`` of
    `HiddenStates`, and the ``rank`` of features."""
    apart: dict[str, Any]
    """The same of states that share nothing."""
    units: dict[str, Any]
    """Settings of `HiddenUnitCRF`."""
    source: dict[str, float]
    """Shape of the galaxy, see `Galaxy`."""
    n_sequences: int
    length: int
    n_trials: int
    """Draws of the galaxy."""
    clustering: dict[str, Any]
    """Settings of `FieldClustering` and its kernels."""
    seed: int


def run(settings: HiddenSettings, report: Report) -> Outcome:
    """Train on every fold of letters; cluster every draw of the galaxy."""
    letters = _letters(settings, report)
    galaxy, drawn = _galaxy(settings, report)
    rows = [*_letter_rows(letters), *_galaxy_rows(galaxy)]
    details = {
        "errors": {name: [one[ERROR] for one in found] for name, found in letters.items()},
        "right": {name: [one["right %"] for one in found] for name, found in galaxy.items()},
        "drawn": drawn,
    }
    return Outcome("hidden", _claims(letters, galaxy), rows, details, _notes(settings))


def _letters(settings: HiddenSettings, report: Report) -> dict[str, list[dict[str, float]]]:
    """Return the figures of every model on every fold."""
    letters = load_letters()
    found: dict[str, list[dict[str, float]]] = {PLAIN: [], APART: [], STATES: [], UNITS: []}
    for fold in settings.train_folds:
        others = [one for one in range(N_FOLDS) if one not in (fold, settings.chosen_on)]
        X, y = (part[: settings.max_words] for part in letters.split(fold))
        X_test, y_test = (part[: settings.max_words] for part in letters.split(*others))
        for name in found:
            report(f"{name}, fold {fold}")
            started = perf_counter()
            model = _model(name, settings).fit(X, y)
            seconds = perf_counter() - started
            figures = judged(y_test, model.predict_marginals(X_test), model.classes_)
            gap = 0.0 if model.certificate_ is None else model.certificate_.relative_gap
            found[name].append({**figures, "seconds": seconds, "gap": gap})
    return found


def _model(name: str, settings: HiddenSettings) -> Any:
    if name == PLAIN:
        return CRF(tol=TOL).set_params(**settings.plain)
    if name == UNITS:
        return HiddenUnitCRF(random_state=settings.seed).set_params(**settings.units)
    known = ("n_states", "n_init", "method", "share")
    given = settings.states if name == STATES else settings.apart
    own = {key: value for key, value in given.items() if key in known}
    inner = {key: value for key, value in given.items() if key not in known}
    # as many directions as there are pixels: of the linear kernel this is all
    linear = KernelCRF("linear", basis=IncompleteCholesky(inner.pop("rank")))
    return HiddenStates(linear.set_params(**inner), random_state=settings.seed, **own)


def _galaxy(
    settings: HiddenSettings, report: Report
) -> tuple[dict[str, list[dict[str, float]]], dict[str, Any]]:
    """Return how well every method finds the states of every draw, and the last draw with its clusters."""
    source, random = Galaxy(**settings.source), np.random.default_rng(settings.seed)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in METHODS}
    known: list[dict[str, float]] = []
    drawn: dict[str, Any] = {}
    for trial in range(settings.n_trials):
        report(f"galaxy, draw {trial + 1} of {settings.n_trials}")
        data = source.draw(settings.n_sequences, settings.length, random)
        truth = np.concatenate(data.y)
        best = np.concatenate(source.guesses(data, chained=True))
        known.append({"right %": 100 * right_share(truth, best), "Rand index": _rand(truth, best)})
        for name in METHODS:
            started = perf_counter()
            labels = clustered(name, data.X, settings.clustering, settings.seed + trial)
            seconds = perf_counter() - started
            right = 100 * right_share(truth, labels)
            found[name].append({"right %": right, "Rand index": _rand(truth, labels), "seconds": seconds})
            drawn[name] = labels.tolist()
        drawn["X"] = np.concatenate(data.X).tolist()
    return {**found, "source known": known}, drawn


def _rand(truth: Any, labels: Any) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(truth, labels))


def _letter_rows(found: Found) -> list[Row]:
    rows: list[Row] = []
    for name, figures in found.items():
        mean = mean_of([one[ERROR] for one in figures])
        low, high = paired_interval(_below(found, PLAIN, name, ERROR))
        rows.append(
            {
                "data": LETTERS,
                "model": name,
                ERROR: mean.mean,
                "standard error": mean.standard_error,
                "points below the linear CRF": "" if name == PLAIN else f"{low:+.2f} … {high:+.2f}",
                **{key: mean_of([one[key] for one in figures]).mean for key in (LIKELIHOOD, CALIBRATION)},
                "seconds": mean_of([one["seconds"] for one in figures]).mean,
            }
        )
    return rows


def _galaxy_rows(found: Found) -> list[Row]:
    rows: list[Row] = []
    for name, figures in found.items():
        mean = mean_of([100 - one["right %"] for one in figures])
        seconds = [one["seconds"] for one in figures if "seconds" in one]
        rows.append(
            {
                "data": POINTS,
                "model": name,
                ERROR: mean.mean,
                "standard error": mean.standard_error,
                "adjusted Rand index": mean_of([one["Rand index"] for one in figures]).mean,
                "seconds": mean_of(seconds).mean if seconds else None,
            }
        )
    return rows


def _below(found: Found, rival: str, name: str, key: str) -> list[float]:
    """Return by how much a figure is lower than that of a rival, fold by fold."""
    return [a[key] - b[key] for a, b in zip(found[rival], found[name], strict=True)]


def _claims(letters: Found, galaxy: Found) -> list[Claim]:
    units, states = (_below(letters, PLAIN, name, ERROR) for name in (UNITS, STATES))
    rivals = [_below(galaxy, FIELD, name, "right %") for name in RIVALS]
    indices = [one["Rand index"] for one in galaxy[FIELD]]
    return [
        Claim("hidden_below_plain_points", float(np.mean(units)), at_least=0.01),
        Claim("hidden_below_plain_lower_end", paired_interval(units)[0], at_least=0.0),
        Claim("hidden_states_below_plain_points", float(np.mean(states)), at_least=0.01),
        Claim("hidden_states_below_plain_lower_end", paired_interval(states)[0], at_least=0.0),
        Claim("clusters_above_rivals_points", min(float(np.mean(one)) for one in rivals), at_least=0.01),
        Claim(
            "clusters_above_rivals_lower_end", min(paired_interval(one)[0] for one in rivals), at_least=0.0
        ),
        Claim("clusters_adjusted_rand_index", float(np.mean(indices)), at_least=0.5),
        Claim("largest_relative_gap", max(one["gap"] for one in letters[PLAIN]), at_most=TOL),
    ]


def _notes(settings: HiddenSettings) -> list[str]:
    units, states = settings.units, settings.states
    return [
        f"Letters: trained on one fold, in turn {len(settings.train_folds)} of them, tested on the others. "
        "All models see the same pixels, linearly, and answer the most probable letter of every position. "
        f"Hidden states: {states['n_states']} of every letter, which share {states['share']:g} of the kernel "
        f"of their functions, or {settings.apart['n_states']} that share nothing; hidden units: "
        f"{units['n_units']}. Penalties and shares were chosen by "
        f"cross-validation within fold {settings.chosen_on}, which is neither trained nor tested on. "
        "Intervals of 95 % are those of differences fold by fold; test sets overlap, so that they are "
        "somewhat too short. There are only 55 different words, in all folds the same: states remember "
        "more of a word than one letter does, and gain more here than they would on other words.",
        f"Galaxy: {settings.n_trials} draws of {settings.n_sequences} sequences of {settings.length} points, "
        "no labels. Clusters are counted as right by the better of both ways to name them. Fields have "
        f"penalty {settings.clustering['penalty']:g}; with context, neighbours are alike with probability "
        f"{settings.clustering['stay']:g}. These were chosen on other draws, with labels. The last line is "
        "one who knows the source.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw errors fold by fold, shares of right points, and the clusters of the last draw."""
    left, middle, *clouds = figure.subplots(1, 4, width_ratios=[1, 1.1, 1, 1])
    errors, right = outcome.details["errors"], outcome.details["right"]
    for column, values in enumerate(errors.values()):
        left.plot([column] * len(values), values, "o", ms=3, alpha=0.6)
        left.plot([column - 0.25, column + 0.25], [np.mean(values)] * 2, "k-", lw=1)
    left.set_xticks(range(len(errors)), [name.replace(" ", "\n") for name in errors], fontsize=6)
    left.set(ylabel="letters wrong, %", title="letters, fold by fold")
    for row, values in enumerate(right.values()):
        middle.plot(values, [row] * len(values), "o", ms=3, alpha=0.6)
        middle.plot([np.mean(values)] * 2, [row - 0.25, row + 0.25], "k-", lw=1)
    middle.set_yticks(range(len(right)), [name.replace(", ", ",\n") for name in right], fontsize=6)
    middle.set(xlabel="points right, %", title="galaxy without labels")
    middle.invert_yaxis()
    drawn = outcome.details["drawn"]
    points = np.asarray(drawn["X"])
    for panel, name in zip(clouds, (RIVALS[1], FIELD), strict=True):
        labels = np.asarray(drawn[name])
        for cluster, colour in enumerate(("C0", "C3")):
            panel.scatter(*points[labels == cluster].T, s=1.0, color=colour)
        panel.set_aspect("equal")
        panel.set(xticks=[], yticks=[], title=name.replace(", ", ",\n"))
    for panel in (left, middle, *clouds):
        panel.title.set_fontsize("x-small")
        panel.tick_params(labelsize=6)
        panel.xaxis.label.set_fontsize("x-small")
        panel.yaxis.label.set_fontsize("x-small")
    for panel in (left, middle):
        panel.grid(alpha=0.3)


HIDDEN = Experiment(
    "hidden",
    "Hidden states and units on letters, beside the plain CRF; a galaxy clustered without labels",
    "none: the letters come with the package, and the galaxy is drawn",
    HiddenSettings,
    run,
    draw,
)
