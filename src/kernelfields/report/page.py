"""The report: one file of HTML that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from importlib.resources import files

from ..io.replacing import write_file
from .browser import ReportLimits, browse
from .evaluation import Evaluation, TestSequences
from .markup import element, embedded, escape
from .parse_evaluation import ParseEvaluation
from .parse_page import PICTURES as PARSES
from .parse_page import parse_pieces
from .path import TrainingPath
from .plots import plot_answered, plot_confusion, plot_gap, plot_reliability, plot_values
from .plots.confusion import LIMIT as MOST_CONFUSED
from .plots.network import MOST as MOST_VERTICES
from .plots.network import plot_network
from .plots.segmentation import MOST as MOST_PIXELS
from .plots.segmentation import plot_segmentation
from .ranking import order
from .series import timelines
from .tables import entity_table, label_table, ranked_table, score_table, tiles

LINES = "Children stand below their parents, further to the right. "
PICTURES = 6
"""Graphs or grids that are drawn."""
LIMITS = ReportLimits(sequences=200, positions=10_000)


def write_report(
    evaluation: Evaluation | ParseEvaluation,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    limits: ReportLimits = LIMITS,
) -> None:
    """Write a self-contained page: scores, plots, and a browser of sequences or drawn trees and alignments.

    It loads nothing from anywhere, and runs no script but its own: tokens and labels are data, and the
    page's security policy names the script by its hash.

    Parameters
    ----------
    evaluation : Evaluation or ParseEvaluation
        What `evaluate` gave.
    path : path
        The file to write.
    title : str, optional
        Heading; by default the name of the model.
    limits : ReportLimits
        How many sequences and positions are shown at most; the page says how many there are.
    """
    write_file(path, page(evaluation, title, limits))


def page(
    evaluation: Evaluation | ParseEvaluation, title: str | None = None, limits: ReportLimits = LIMITS
) -> str:
    """Return the text of the page."""
    if isinstance(evaluation, ParseEvaluation):
        pieces = parse_pieces(evaluation, title, min(limits.sequences, PARSES))
        return _filled("parse.html", pieces | {"training": _training(evaluation.path)})
    picture, marks = plot_answered(evaluation.answered, evaluation.chosen)
    data = browse(evaluation, limits)
    data |= {"marks": marks, "chosen": evaluation.chosen}
    noun = evaluation.noun
    script, labels = _piece("script.js"), len(evaluation.confusion.labels)
    pieces = {
        "title": escape(title or f"{evaluation.model} on test data"),
        "noun": noun,
        "Noun": noun.capitalize(),
        "drawn": LINES if noun == "tree" else "",
        "policy": escape(_policy(script)),
        "script": script,
        "data": embedded(data),
        "size": escape(f"{evaluation.n_tokens:,} labels in {evaluation.n_sequences:,} {noun}s"),
        "warning": element("p", escape(evaluation.warning), class_="warning") if evaluation.warning else "",
        "guaranteed": _guaranteed(evaluation),
        "tiles": tiles(evaluation),
        "scores": score_table(evaluation),
        "answered": picture,
        "reliability": plot_reliability(evaluation.calibration),
        "confusion": plot_confusion(evaluation.confusion),
        "confused": f"The {MOST_CONFUSED} of {labels} labels with most errors."
        if labels > MOST_CONFUSED
        else "",
        "training": _training(evaluation.path),
        "labels": label_table(evaluation),
        "entities": entity_table(evaluation),
        "worst": ranked_table(evaluation.worst, noun, evaluation.sequences.names),
        "pictures": timelines(evaluation) or _pictures(evaluation),
        "slowest": ranked_table(evaluation.slowest, noun, evaluation.sequences.names),
        "timed": str(evaluation.timings.timed),
        "threshold": str(evaluation.chosen),
        "shown": _shown(evaluation, len(data["sequences"])),
    }
    return _filled("page.html", pieces)


def _guaranteed(evaluation: Evaluation) -> str:
    """Say what a calibrated model promised."""
    found = evaluation.guaranteed
    return "" if found is None else element("p", escape(found.sentence), class_="guaranteed")


def _filled(template: str, pieces: dict[str, str]) -> str:
    """Put pieces into a template."""
    pieces = pieces | {"style": _piece("style.css")}
    # One pass: what is put in is not looked at again, whatever it contains.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: pieces[match[1]], _piece(template))


def _piece(name: str) -> str:
    return (files(__package__) / "template" / name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """Nothing is loaded, no script runs but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _shown(evaluation: Evaluation, count: int) -> str:
    nonempty = sum(map(bool, evaluation.sequences.true))
    if count == nonempty:
        return f"All {count:,} {evaluation.noun}s are here."
    return f"{count:,} of {nonempty:,} {evaluation.noun}s are here; the counts are of all."


def _pictures(evaluation: Evaluation) -> str:
    """Draw the grids or graphs with most errors, as far as they are small enough."""
    sequences = evaluation.sequences
    if sequences.edges is None:
        return ""
    most = MOST_PIXELS if sequences.shapes is not None else MOST_VERTICES
    chosen = [s for s in order(sequences) if 0 < len(sequences.true[s]) <= most][:PICTURES]
    drawn = [
        element("figure", element("figcaption", escape(f"{evaluation.noun} {s}")), _picture(sequences, s))
        for s in chosen
    ]
    if not drawn:
        return ""
    said = (
        "True labels, answers, and answers as pale as they are improbable."
        if sequences.shapes is not None
        else "Colours are answers, paler where less probable; a ring is the true label of a wrong one."
    )
    note = element("p", escape(f"{said} Most errors first. Point at a place for its numbers."), class_="note")
    return element(
        "section",
        element("h2", "Pictures"),
        note,
        element("div", *drawn, class_="pictures wide" if sequences.shapes is not None else "pictures"),
    )


def _picture(sequences: TestSequences, s: int) -> str:
    """Draw one grid or graph."""
    known = sequences.true[s], sequences.answers[s], sequences.marginals[s], sequences.classes
    if sequences.shapes is not None:
        return plot_segmentation(sequences.shapes[s], *known)
    assert sequences.edges is not None
    return plot_network(sequences.edges[s], sequences.tokens[s], *known)


def _training(path: TrainingPath | None) -> str:
    """Plots of the training, or what is known of its end."""
    if path is None:
        return element("p", "Nothing is known of the training.", class_="note")
    plots = []
    if len(path.steps) > 1:
        plots = [picture for picture in (plot_values(path), plot_gap(path)) if picture is not None]
    said = []
    if path.value is not None and path.lower_bound is not None:
        said.append(
            f"Objective {path.value:.6g}; no model of this kind is below {path.lower_bound:.6g}: "
            f"at most {path.relative_gap:.1e} above the optimum, relatively."
        )
    if path.reason:
        said.append(path.reason)
    return "".join(plots) + element("p", escape(" ".join(said)), class_="note")
