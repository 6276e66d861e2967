"""What the page shows of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from .learner import LabelGuess
from .material import Look, Material
from .sheets import Sheet, TagState
from .tags import Tag, Tags

CURVES = 64
"""Columns of numbers that can be drawn."""
SUMMARY = 160
"""Characters that remind of a sequence."""


def shown_sheet(sheet: Sheet, guess: LabelGuess | None, tags: Tags) -> dict[str, Any]:
    """Return the labels of a sequence: those that people gave, else those of the model, else blanks."""
    own = [state is not None for state in sheet.states]
    guessed: list[Tag] = [None] * len(own) if guess is None or sheet.done else [*guess.tags]
    rest = [tags.blank if sheet.is_open and tag is None else tag for tag in guessed]
    auto = [None if tag is None else TagState.AUTO for tag in guessed]
    sure = [None] * len(own) if guess is None else [round(float(p), 4) for p in guess.probability]
    return {
        "tags": [mine if is_own else one for mine, one, is_own in zip(sheet.tags, rest, own, strict=True)],
        "states": [mine or one for mine, one in zip(sheet.states, auto, strict=True)],
        "probability": [None if is_own else p for p, is_own in zip(sure, own, strict=True)],
        "done": sheet.done,
        "skipped": sheet.skipped,
    }


def shown_content(material: Material, item: int) -> dict[str, Any]:
    """Return what there is to look at."""
    found = material.data.items[item]
    if material.look is Look.TOKENS:
        columns = [list(map(str, token[1:])) if isinstance(token, tuple) else [] for token in found.x]
        return {"texts": found.texts, "more": columns if any(columns) else None}
    numbers = np.asarray(found.x, dtype=np.float64)
    if material.look is Look.IMAGES:
        most = max(float(np.nanmax(numbers, initial=0.0)), 1e-9)
        return {"images": np.round(np.nan_to_num(numbers) / most * 255).astype(int).tolist()}
    rows = [[None if x != x else float(f"{x:.5g}") for x in column] for column in numbers.T[:CURVES].tolist()]
    names = column_names(found.x)
    return {"curves": rows, "columns": names[:CURVES], "width": len(names)}


def summary_of(material: Material, item: int, tags: Sequence[Tag]) -> str:
    """Return a line that reminds of a sequence and its labels."""
    if material.look is Look.IMAGES:
        names = [tag or "·" for tag in tags]
        return ("" if all(len(name) == 1 for name in names) else " ").join(names)[:SUMMARY]
    if material.look is Look.TOKENS:
        return " ".join(material.data.items[item].texts)[:SUMMARY]
    runs = [(name or "–", len(list(run))) for name, run in groupby(tags)]
    return ", ".join(f"{name} {count}" for name, count in runs)[:SUMMARY]


def column_names(numbers: Any) -> list[str]:
    """Return the names of columns of numbers."""
    given = getattr(numbers, "columns", None)
    return list(given) if given is not None else [f"x{d}" for d in range(numbers.shape[1])]
