"""Tables of the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from .evaluation import Evaluation, RankedSequence
from .markup import element, escape

SCORES = {
    "wrong labels": "of all positions",
    "sequences with a wrong label": "of all sequences",
    "trees with a wrong label": "of all trees",
    "graphs with a wrong label": "of all graphs",
    "grids with a wrong label": "of all grids",
    "entity F1": "entities found with begin, end and type",
    "entity precision": "of the entities answered, those right",
    "entity recall": "of the true entities, those found",
    "segment F1 at 10 %": "segments whose overlap with a true one is a tenth of both together",
    "segment F1 at 25 %": "the same with a quarter",
    "segment F1 at 50 %": "the same with a half",
    "negative log-likelihood": "−log p(y|x) per position; less is better",
    "calibration error": "mean gap between probability and share right",
    "Brier score": "mean squared distance of probabilities from the truth",
    "changes of label found": "both labels right where the true label changes",
    "labels never seen in training": "positions that no model could get right",
    "positions without a label": "true label not known: not scored",
    "answered with the guarantee": "as far as the promise above allows",
    "wrong among those": "answers that the guarantee allowed",
    "seconds to label": "everything in one batch",
}


def score_table(evaluation: Evaluation) -> str:
    """Every score with what it means."""
    e, overall = evaluation, evaluation.entities and evaluation.entities.overall
    found = (e.segments or {}).items()
    segments = {f"segment F1 at {100 * float(least):g} %": _share(scores.f1) for least, scores in found}
    values = {
        "wrong labels": _share(e.token_error),
        f"{e.noun}s with a wrong label": _share(e.sequence_error),
        "entity F1": overall and _share(overall.f1),
        "entity precision": overall and _share(overall.precision),
        "entity recall": overall and _share(overall.recall),
        **segments,
        "negative log-likelihood": _number(e.nll),
        "calibration error": _number(e.ece),
        "Brier score": _number(e.brier),
        "changes of label found": None if e.boundary_accuracy is None else _share(e.boundary_accuracy),
        "labels never seen in training": f"{e.unseen:,}" if e.unseen else None,
        "positions without a label": f"{e.n_unobserved:,}" if e.n_unobserved else None,
        "answered with the guarantee": e.guaranteed and _share(e.guaranteed.answered),
        "wrong among those": _share(e.guaranteed.error) if e.guaranteed and e.guaranteed.answered else None,
        "seconds to label": f"{e.timings.predict:.3g}",
    }
    return table_of([], [(name, value, SCORES[name]) for name, value in values.items() if value is not None])


def tiles(evaluation: Evaluation) -> str:
    """The few numbers to see first."""
    values = [("wrong labels", _share(evaluation.token_error))]
    if evaluation.entities is not None:
        values.append(("entity F1", _share(evaluation.entities.overall.f1)))
    values.append(("nats per label", _number(evaluation.nll)))
    values.append(("calibration error", _number(evaluation.ece)))
    gap = evaluation.path and evaluation.path.relative_gap
    if gap is not None:
        values.append(("certified gap", f"{100 * gap:.2g}\N{NO-BREAK SPACE}%"))
    return "".join(
        element("div", element("b", escape(value)), element("span", escape(name)), class_="tile")
        for name, value in values
    )


def label_table(evaluation: Evaluation) -> str:
    """Precision, recall and F of every label."""
    scores = evaluation.labels
    rows = zip(scores.labels, scores.precision, scores.recall, scores.f1, scores.support, strict=True)
    return table_of(
        ["label", "precision", "recall", "F1", "true"],
        [(str(name), _share(p), _share(r), _share(f), f"{n:,}") for name, p, r, f, n in rows],
    )


def entity_table(evaluation: Evaluation) -> str:
    """The same of every type of entity; nothing where there are none."""
    if evaluation.entities is None:
        return ""
    rows = [
        (name or "(no type)", _share(s.precision), _share(s.recall), _share(s.f1), f"{s.n_true:,}")
        for name, s in evaluation.entities.by_type.items()
    ]
    summary = element("summary", "Types of entities")
    table = table_of(["type", "precision", "recall", "F1", "true"], rows)
    return element("details", summary, table)


def ranked_table(
    ranked: Sequence[RankedSequence], noun: str = "sequence", names: Sequence[str] | None = None
) -> str:
    """Sequences or trees by number, counted from 0 as everywhere else, and by name if they have one."""
    timed = any(row.seconds is not None for row in ranked)
    head = [noun, "length", "wrong", *(["milliseconds"] if timed else [])]
    rows = [
        (
            f"{r.sequence}" if names is None else f"{r.sequence} ({names[r.sequence]})",
            f"{r.length}",
            f"{r.wrong}",
            *([f"{1000 * (r.seconds or 0):.2g}"] if timed else []),
        )
        for r in ranked
    ]
    return table_of(head, rows)


def table_of(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; without a head, one of names, values and what they mean."""
    titles = element("tr", *(element("th", escape(name)) for name in head)) if head else ""
    lines = [element("tr", *(element("td", escape(cell)) for cell in row)) for row in rows]
    table = element("table", titles, *lines, **({} if head else {"class_": "scores"}))
    return element("div", table, class_="scroll")


def _share(value: float) -> str:
    return f"{value:.2%}".replace("%", "\N{NO-BREAK SPACE}%")


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "∞"
