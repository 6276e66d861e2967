"""The report on trees and alignments: one file of HTML that needs nothing else, and runs nothing."""

from __future__ import annotations

import math
from itertools import islice

from .markup import element, escape
from .parse_evaluation import ParseEvaluation
from .plots import plot_answered, plot_reliability
from .tables import ranked_table, table_of

PICTURES = 40
"""Sentences that are drawn."""
LEGENDS = {
    "dependency": "Arcs above the words are answers: blue ones are right, red ones wrong, paler ones less "
    "probable. Dashed arcs below the words are the true ones where the answer is wrong.",
    "constituency": "Blue phrases are right, red ones wrong, paler ones less probable. Dashed bars below the "
    "words are true phrases that the answer does not have.",
    "matching": "Cells are the darker the more probable their link is. Dots are answers, blue if "
    "they are true; frames are true links, dashed if they are only possible.",
}


def parse_pieces(evaluation: ParseEvaluation, title: str | None, pictures: int = PICTURES) -> dict[str, str]:
    """Return what goes into the template."""
    e = evaluation
    curve = plot_answered(e.answered, e.chosen, e.words.part)[0] if e.n_answers else ""
    every = ((s, picture) for s in e.order if (picture := e.draw(s)) is not None)
    drawn = list(islice(every, pictures))
    return {
        "title": escape(title or f"{e.model} on test data"),
        "Noun": e.noun.capitalize(),
        "parts": f"{e.words.part}s",
        "size": escape(f"{e.n_answers:,} {e.words.part}s in {e.n_items:,} {e.noun}s"),
        "warning": element("p", escape(e.warning), class_="warning") if e.warning else "",
        "tiles": _tiles(e),
        "scores": _scores(e),
        "answered": curve,
        "reliability": plot_reliability(e.calibration, e.words.part) if e.n_answers else "",
        "labels": _labels(e),
        "worst": ranked_table(e.worst, e.noun),
        "legend": escape(LEGENDS[e.structure]),
        "shown": escape(_shown(e, len(drawn))),
        "pictures": "".join(_figure(e, s, picture) for s, picture in drawn),
    }


def _tiles(e: ParseEvaluation) -> str:
    values = [(e.words.scores[name][0], _share(value)) for name, value in e.known_scores.items()][:3]
    values += [] if e.ece is None else [("calibration error", f"{e.ece:.4f}")]
    gap = e.path and e.path.relative_gap
    values += [] if gap is None else [("certified gap", f"{100 * gap:.2g}\N{NO-BREAK SPACE}%")]
    return "".join(
        element("div", element("b", escape(value)), element("span", escape(name)), class_="tile")
        for name, value in values
    )


def _scores(e: ParseEvaluation) -> str:
    rows = [(*_named(e, name, value),) for name, value in e.known_scores.items()]
    if e.log_loss is not None:
        shown = f"{e.log_loss:.4f}" if math.isfinite(e.log_loss) else "∞"
        rows.append(("log loss", shown, "−log probability of what is true, per word; less is better"))
    if e.ece is not None:
        rows.append(("calibration error", f"{e.ece:.4f}", "mean gap between probability and share right"))
    rows.append(("seconds to answer", f"{e.timings.predict:.3g}", "everything in one batch"))
    return table_of([], rows)


def _named(e: ParseEvaluation, name: str, value: float) -> tuple[str, str, str]:
    shown, meaning = e.words.scores[name]
    return shown, _share(value), meaning


def _labels(e: ParseEvaluation) -> str:
    if not e.by_label:
        return ""
    rows = [
        (one.label, _share(one.precision), _share(one.recall), _share(one.f1), f"{one.n_true:,}")
        for one in e.by_label
    ]
    table = table_of(["label", "precision", "recall", "F1", "true"], rows)
    return element("details", element("summary", "Every label"), table)


def _shown(e: ParseEvaluation, drawn: int) -> str:
    if drawn == e.n_items:
        return f"All {drawn:,} {e.noun}s are here, most errors first."
    return f"{drawn:,} of {e.n_items:,} {e.noun}s are here, most errors first; very long ones are left out."


def _figure(e: ParseEvaluation, s: int, picture: str) -> str:
    caption = element("figcaption", escape(f"{e.noun} {s}, {e.wrong[s]} wrong"))
    return element("figure", caption, picture)


def _share(value: float) -> str:
    return f"{value:.2%}".replace("%", "\N{NO-BREAK SPACE}%")
