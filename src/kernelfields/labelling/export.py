"""Labels as files that ``kf train`` takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..files.items import Item
from ..files.writing import WRITERS
from ..io.conll import Sentence
from ..io.jsonl import Record
from .learner import LabelGuess, LabelLearner, lesson_of
from .material import Material
from .session import Session
from .sheets import Sheet
from .showing import column_names, shown_sheet
from .tags import Tags

ITERATIONS = 1000
STATES = "# states ="
NO_STATES = "-"


def write_labels(
    path: Path, kind: str, material: Material, session: Session, model: Any = None, learner: Any = None
) -> int:
    """Write all sequences that were accepted; with a model, the others as well, as it labels them.

    Files of JSON have the states of labels in "states" ("auto", "reviewed", "manual", null), "status"
    ("accepted", "skipped", "open") and, where the model labels, "probability"; columns of text have states in
    a comment before every sentence; other formats have no place for them.

    Returns
    -------
    int
        The number of sequences.
    """
    if kind not in WRITERS:
        raise InputError(f"There is no format {kind!r} to export to; choose one of {', '.join(WRITERS)}.")
    chosen = [k for k, sheet in enumerate(session.sheets) if sheet.done or (model is not None and sheet.tags)]
    if not chosen:
        raise InputError("No sequence has been accepted yet: there is nothing to export.")
    guesses = _guesses(session.sheets, chosen, model, learner)
    items = [
        _item(material.data.items[k], session.sheets[k], guesses.get(k), session.tags, kind) for k in chosen
    ]
    WRITERS[kind](items, path)
    return len(items)


def fitted(material: Material, session: Session, penalty: float = 1.0) -> tuple[Any, LabelLearner]:
    """Return a model that has learnt from everything that was accepted, held out or not."""
    learner = LabelLearner(material, session.tags, penalty)
    model = learner.step(None, lesson_of(0, session.sheets, frozenset()), ITERATIONS)
    if model is None:
        raise InputError("No sequence has been accepted yet: there is nothing to learn from.")
    return model, learner


def _guesses(sheets: Sequence[Sheet], chosen: list[int], model: Any, learner: Any) -> dict[int, LabelGuess]:
    others = [k for k in chosen if not sheets[k].done]
    if not others or model is None:
        return {}
    found = learner.guesses(model, others, [sheets[k].tags for k in others])
    return dict(zip(others, found, strict=True))


def _item(item: Item, sheet: Sheet, guess: LabelGuess | None, tags: Tags, kind: str) -> Item:
    shown = shown_sheet(sheet, guess, tags)
    status = "accepted" if sheet.done else "skipped" if sheet.skipped else "open"
    labelled = replace(item, y=shown["tags"])
    if kind == "jsonl":
        labelled = replace(labelled, x=_objects(item.x))
        other = dict(item.source.other) if isinstance(item.source, Record) else {}
        other |= {"states": shown["states"], "status": status}
        other.pop("probability", None)
        if guess is not None:
            other["probability"] = shown["probability"]
        return replace(labelled, source=Record([], None, other))
    if kind == "conll":
        states = " ".join(state or NO_STATES for state in shown["states"])
        source = item.source if isinstance(item.source, Sentence) else Sentence([])
        kept = tuple(line for line in source.comments if not line.startswith(STATES))
        return replace(labelled, source=source._replace(comments=(*kept, f"{STATES} {states}")))
    return labelled


def _objects(x: Any) -> Any:
    """Return rows of numbers as objects, with the names of their columns; anything else as it is."""
    if not isinstance(x, np.ndarray):
        return x
    names = column_names(x)
    return [
        {name: value for name, value in zip(names, row, strict=True) if value == value} for row in x.tolist()
    ]
