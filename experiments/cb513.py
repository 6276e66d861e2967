"""Secondary structure of CB513 from PSI-BLAST profiles, 7 folds: one kernel CRF, and a cascade of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import Proteins, load_cb513
from kernelfields.estimators import CRF

from .lib.accuracy import CALIBRATION, ERROR, LIKELIHOOD, SUREST, judged
from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.folds import mean_of, pick
from .lib.protein_all import CASCADE, ONE, AllSettings, largest_gap, models, windowed
from .lib.results import Outcome, Row
from .lib.row_models import RowModel
from .lib.run_labels import RunLabels

LINEAR, ROWS, PARTS = "CRF", "logistic regression", ", parts of runs"
CASCADE_PARTS = CASCADE + PARTS
PUBLISHED = 79.5
"""Q3 of the best SVMs on CB513 with PSI-BLAST profiles, with seven folds."""


@dataclass(frozen=True)
class Cb513Settings:
    """Settings of inputs and models."""

    test_folds: list[int]
    shares: float
    """Weight of the shares of residues in alignments beside PSI-BLAST's scores."""
    linear_penalty: float
    models: Mapping[str, Any]
    """As for all chains of JPred4."""
    parts: Mapping[str, Any]
    """What is different for models of split labels."""
    depth: int
    """Up to which places in a run are told apart."""


def run(settings: Cb513Settings, report: Report) -> Outcome:
    """Test every model on chains of every fold, fitted to those of the others."""
    chosen = AllSettings(**settings.models)
    proteins = load_cb513(psiblast=True)
    X = _inputs(proteins, load_cb513(), settings.shares, chosen)
    found: dict[str, dict[str, list[Any]]] = {}
    for fold in settings.test_folds:
        train = _some(_known(proteins, np.flatnonzero(proteins.fold != fold)), chosen)
        test = _some(np.flatnonzero(proteins.fold == fold), chosen)
        for name, model in _models(settings, chosen).items():
            report(f"{name}: fold {fold}")
            groups = {"groups": proteins.fold[train]} if name in (CASCADE, CASCADE_PARTS) else {}
            started = perf_counter()
            model.fit(pick(X, train), pick(proteins.labels, train), **groups)
            mine = found.setdefault(name, {"y": [], "p": [], "seconds": [], "gap": [], "fold": []})
            mine["seconds"].append(perf_counter() - started)
            y, p = pick(proteins.labels, test), model.predict_marginals(pick(X, test))
            mine["y"] += y
            mine["p"] += p
            mine["fold"].append(100 - judged(y, p, model.classes_)[ERROR])
            mine["gap"].append(largest_gap(getattr(model, "model", model)))
            mine["classes"] = model.classes_
    rows = [_row(name, one) for name, one in found.items()]
    return Outcome("cb513", _claims(rows, chosen), rows, notes=_notes(settings, chosen))


def _models(settings: Cb513Settings, chosen: AllSettings) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression

    split = models(AllSettings(**{**settings.models, **settings.parts}))
    return {
        ROWS: RowModel(LogisticRegression(C=1 / settings.linear_penalty, max_iter=300)),
        LINEAR: CRF(settings.linear_penalty, decoder="posterior", tol=chosen.tol),
        **models(chosen),
        **{f"{name}{PARTS}": RunLabels(model, settings.depth) for name, model in split.items()},
    }


def _inputs(proteins: Proteins, aligned: Proteins, weight: float, settings: AllSettings) -> list[Array]:
    """Return both profiles in windows, in which distant positions count less."""
    both = [
        np.hstack([scores - 0.5, weight * np.sqrt(shares)]).astype(np.float32)
        for scores, shares in zip(proteins.profiles, aligned.profiles, strict=True)
    ]
    return windowed(both, settings)


def _known(proteins: Proteins, ids: Array) -> Array:
    """Return the chains without gaps in their labels, which leave fits without a certificate."""
    return np.array([i for i in ids if None not in proteins.labels[i]])


def _some(ids: Array, settings: AllSettings) -> Array:
    return ids[: settings.max_chains]


def _row(name: str, found: dict[str, Any]) -> Row:
    figures = judged(found["y"], found["p"], found["classes"])
    gaps = [gap for gap in found["gap"] if gap is not None]
    return {
        "model": name,
        "Q3 %": 100 - figures[ERROR],
        "standard error over folds": mean_of(found["fold"]).standard_error,
        **{key: figures[key] for key in (SUREST, LIKELIHOOD, CALIBRATION)},
        "seconds per fit": mean_of(found["seconds"]).mean,
        "largest gap": max(gaps) if gaps else None,
    }


def _claims(rows: list[Row], settings: AllSettings) -> list[Claim]:
    by_name = {row["model"]: row for row in rows}
    one, rivals = by_name[ONE + PARTS], [by_name[ROWS], by_name[LINEAR]]
    gaps = [row["largest gap"] for row in rows if row["largest gap"] is not None]
    return [
        Claim("q3", one["Q3 %"], paper=PUBLISHED, at_least=80.0),
        Claim("parts_above_whole_labels_points", one["Q3 %"] - by_name[ONE]["Q3 %"], at_least=0.0),
        Claim("q3_cascade", by_name[CASCADE_PARTS]["Q3 %"], at_least=one["Q3 %"]),
        Claim("surest_below_rivals_points", min(row[SUREST] for row in rivals) - one[SUREST], at_least=0.0),
        Claim("log_p_above_rivals", one[LIKELIHOOD] - max(row[LIKELIHOOD] for row in rivals), at_least=0.0),
        Claim("largest_relative_gap", max(gaps), at_most=settings.tol),
    ]


def _notes(settings: Cb513Settings, chosen: AllSettings) -> list[str]:
    return [
        f"CB513, {len(settings.test_folds)} of 7 folds tested on, chains of one protein in one fold; states "
        "H, G, I as helix, E, B as strand, the rest as coil. PSI-BLAST profiles in tenths, and the shares of "
        f"residues in the alignments, in windows of {chosen.window}; {chosen.rank} landmarks. All models see "
        "the same windows and answer the most probable state of every residue. Chains with residues of "
        "unknown state are tested on, without these, and not trained on.",
        "Parts of runs: labels are split by how many equal ones come before and after, up to "
        f"{settings.depth} (`RunParts`), and the probabilities of the parts added up again.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw Q3 of all models."""
    panel = figure.subplots()
    values = [row["Q3 %"] for row in outcome.rows]
    bars = panel.barh([row["model"] for row in outcome.rows], values)
    panel.bar_label(bars, fmt="%.2f")
    panel.set_xlim(min(values) - 3, max(values) + 1)
    panel.axvline(PUBLISHED, color="black", linestyle="--")
    panel.invert_yaxis()
    panel.set_xlabel("Q3, %")


CB513 = Experiment(
    "cb513",
    "Secondary structure of CB513, 7 folds: kernel CRF and cascade beside linear models",
    "cb513",
    Cb513Settings,
    run,
    draw,
)
