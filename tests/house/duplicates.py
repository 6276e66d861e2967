"""Equal lines in two places."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from .sources import Module

LEAST = 10
"""Smallest number of equal lines that makes two places a pair."""


class Line(NamedTuple):
    """One line that is compared: its number in the file, and its text without indentation."""

    number: int
    text: str


def duplicate_pairs(everything: Sequence[Module]) -> list[str]:
    """Return the pairs of places with at least `LEAST` equal lines in a row, each run as long as possible.

    Blank lines, imports and comments are left out before lines are compared, and indentation does not
    matter. Docstrings count, because they have to be kept equal like code. Three places with
    the same text are three pairs. Two places in one file may not overlap.
    """
    texts = [_lines(module) for module in everything]
    places: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for file, lines in enumerate(texts):
        words = [line.text for line in lines]
        for start in range(len(words) - LEAST + 1):
            places[tuple(words[start : start + LEAST])].append((file, start))
    pairs = sorted(pair for starts in places.values() for pair in combinations(starts, 2))
    found = []
    for (file, start), (other, begin) in pairs:
        left, right = texts[file][start:], texts[other][begin:]
        if start and begin and texts[file][start - 1].text == texts[other][begin - 1].text:
            continue  # the run began before
        if file == other:
            left = left[: begin - start]
        count = _equal_at_start(left, right)
        if count >= LEAST:
            where = [f"{everything[file].path.as_posix()}:{left[0].number}"]
            where += [f"{everything[other].path.as_posix()}:{right[0].number}"]
            found.append(f"{count} lines: {' and '.join(where)}")
    return found


def _lines(module: Module) -> list[Line]:
    """Return the lines of a module that are compared."""
    imports = {
        number
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    stripped = (Line(number, line.strip()) for number, line in enumerate(module.text.splitlines(), 1))
    return [
        line
        for line in stripped
        if line.text and line.number not in imports and not line.text.startswith("#")
    ]


def _equal_at_start(left: Sequence[Line], right: Sequence[Line]) -> int:
    """Return how many lines two texts have in common before the first that differs."""
    for count, (one, two) in enumerate(zip(left, right, strict=False)):
        if one.text != two.text:
            return count
    return min(len(left), len(right))
