"""Handwritten words: kernels on pixels and on directions of strokes, from one fold and from nine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from kernelfields import Parts
from kernelfields.approximation import Nystroem
from kernelfields.datasets import Letters, load_letters
from kernelfields.estimators import CRF, KernelCRF
from kernelfields.features.images import OrientationChannels
from kernelfields.kernels import as_kernel

from .lib.accuracy import CALIBRATION, ERROR, LIKELIHOOD, SUREST, judged
from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.folds import mean_of
from .lib.results import Outcome, Row
from .lib.row_models import RowModel, calibrated_svc

N_FOLDS = 10
ONE, NINE = "one fold", "nine folds"
BEST, SECOND = "RBF, strokes", "RBF, strokes, order 2"
RIVALS = ("SVC", "random forest")


@dataclass(frozen=True)
class LettersSettings:
    """The training folds and the models trained on them."""

    train_folds: list[int]
    """Each is trained on in turn, and the other nine are tested on."""
    test_folds: list[int]
    """Each is tested on in turn, and the other nine are trained on."""
    max_words: int
    """At most that many words to train on, and to test on."""
    tol: float
    """Relative certified gap."""
    nine_tol: float
    """The same with nine folds."""
    channels: int
    blur: float
    spread: float
    """Of `OrientationChannels`."""
    rank: int
    """Landmarks of models that learn from nine folds."""
    trees: int
    """Of the random forest."""
    cost: float
    """C of the SVC."""
    models: list[dict[str, Any]]
    """Each with ``name``, ``parts`` (one fold, nine folds), ``features`` (pixels or strokes), ``kernel``,
    ``penalty`` and parameters of the kernel; ``order`` of the chain, and ``folds``, if not all."""


def run(settings: LettersSettings, report: Report) -> Outcome:
    """Train each model on one fold, tested on nine, and on nine, tested on one."""
    letters = load_letters()
    rows: list[Row] = []
    for part, folds in ((ONE, settings.train_folds), (NINE, settings.test_folds)):
        for model in settings.models:
            if part in model["parts"]:
                some = [fold for fold in folds if fold in model.get("folds", folds)]
                rows.append(_row(part, model, letters, some, settings, report))
    by_name = {(row["trained on"], row["model"]): row for row in rows}
    rivals = [by_name[ONE, name] for name in RIVALS]
    ours = by_name[ONE, BEST]
    gaps = [row["gap"] for row in rows if row["trained on"] == ONE and row["gap"] is not None]
    claims = [
        Claim("one_fold_error", ours[ERROR], at_most=6.0),
        Claim("nine_folds_error", by_name[NINE, BEST][ERROR], at_most=2.5),
        Claim("nine_folds_order2_error", by_name[NINE, SECOND][ERROR], at_most=by_name[NINE, BEST][ERROR]),
        Claim("surest_below_rivals_points", min(row[SUREST] for row in rivals) - ours[SUREST], at_least=0.0),
        Claim("log_p_above_rivals", ours[LIKELIHOOD] - max(row[LIKELIHOOD] for row in rivals), at_least=0.0),
        Claim(
            "calibration_error_below_rivals",
            min(row[CALIBRATION] for row in rivals) - ours[CALIBRATION],
            at_least=0.0,
        ),
        Claim("largest_relative_gap", max(gaps), at_most=settings.tol),
    ]
    return Outcome("letters", claims, rows, notes=_notes(settings))


def _strokes(settings: LettersSettings) -> OrientationChannels:
    return OrientationChannels(
        (16, 8), channels=settings.channels, blur=settings.blur, spread=settings.spread
    )


def _row(
    part: str,
    model: Mapping[str, Any],
    letters: Letters,
    folds: list[int],
    settings: LettersSettings,
    report: Report,
) -> Row:
    found = []
    for fold in folds:
        report(f"{model['name']}, {part}, {fold}")
        others = [other for other in range(N_FOLDS) if other != fold]
        train, test = ([fold], others) if part == ONE else (others, [fold])
        found.append(_measured(part, model, letters, train, test, settings))
    row: dict[str, Any] = {"trained on": part, "model": model["name"]}
    for name in found[0]:
        values = [one[name] for one in found]
        row[name] = None if values[0] is None else mean_of(values).mean
    row["gap"] = None if found[0]["gap"] is None else max(one["gap"] for one in found)
    row["standard error"] = mean_of([one[ERROR] for one in found]).standard_error
    return row


def _measured(
    part: str,
    model: Mapping[str, Any],
    letters: Letters,
    train: list[int],
    test: list[int],
    settings: LettersSettings,
) -> dict[str, Any]:
    X, y = _some(letters, train, settings)
    X_test, y_test = _some(letters, test, settings)
    if model["features"] == "strokes":
        X, X_test = _strokes(settings).transform(X), _strokes(settings).transform(X_test)
    started = perf_counter()
    fitted = _model(part, model, settings).fit(X, y)
    seconds = perf_counter() - started
    certificate = getattr(fitted, "certificate_", None)
    return {
        **judged(y_test, fitted.predict_marginals(X_test), fitted.classes_),
        "seconds": seconds,
        "gap": None if certificate is None else certificate.relative_gap,
    }


def _model(part: str, model: Mapping[str, Any], settings: LettersSettings) -> Any:
    if model["name"] == "random forest":
        from sklearn.ensemble import RandomForestClassifier

        return RowModel(RandomForestClassifier(settings.trees, n_jobs=-1, random_state=0))
    if model["name"] == "SVC":
        return calibrated_svc(settings.cost, model["gamma"])
    plain: dict[str, Any] = {
        "tol": settings.tol if part == ONE else settings.nine_tol,
        "decoder": "posterior",
    }
    if model["kernel"] == "none":
        return CRF(model["penalty"], **plain)
    known = ("name", "parts", "features", "kernel", "penalty", "order", "folds")
    parameters = {key: value for key, value in model.items() if key not in known}
    return KernelCRF(
        as_kernel(model["kernel"]).set_params(**parameters),
        penalty=model["penalty"],
        parts=Parts(bias=None),
        structure="chain2" if model.get("order") == 2 else "chain",
        basis=None if part == ONE else Nystroem(settings.rank),
        random_state=0,
        **plain,
    )


def _some(letters: Letters, folds: list[int], settings: LettersSettings) -> tuple[list[Any], list[Any]]:
    X, y = letters.split(*folds)
    step = max(1, len(X) // settings.max_words)  # words of one kind stand together
    return X[::step][: settings.max_words], y[::step][: settings.max_words]


def _notes(settings: LettersSettings) -> list[str]:
    return [
        "Every model answers the most probable letter of every position. Strokes: how much an image changes "
        f"in {settings.channels} directions, in blocks of 2 × 2 pixels (`OrientationChannels`); all models "
        "named so, and the rivals, see the same. Settings of kernel CRFs were chosen by cross-validation "
        "within fold 0; those of the rivals and of the linear CRF on strokes were not: the SVC has C = "
        f"{settings.cost:g} and the kernel's width, the forest its defaults.",
        f"One fold: trained on fold {settings.train_folds}, tested on the nine others. Nine folds: trained "
        f"on nine with {settings.rank} landmarks, tested on the tenth, for {len(settings.test_folds)} folds, "
        "order 2 for one. "
        "There are only 55 different words, in all folds the same: models of pairs and triples of letters "
        "gain more here than they would on other words.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the error and the calibration error of every model."""
    names = [f"{row['model']}, {row['trained on']}" for row in outcome.rows]
    panels = figure.subplots(1, 2, sharey=True)
    for panel, column in zip(panels, (ERROR, CALIBRATION), strict=True):
        bars = panel.barh(names, [row[column] for row in outcome.rows])
        panel.bar_label(bars, fmt="%.3g", fontsize=6)
        panel.grid(axis="x", alpha=0.3)
        panel.set_xlabel({ERROR: "letters wrong, %"}.get(column, column))
        panel.tick_params(labelsize=6)
    panels[0].invert_yaxis()


LETTERS = Experiment(
    "letters",
    "OCR letters: pixels and strokes, linear, polynomial and RBF kernels, from one fold and from nine",
    "none: the letters come with the package",
    LettersSettings,
    run,
    draw,
)
