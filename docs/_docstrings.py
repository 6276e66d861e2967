"""Docstrings are written for readers of the source; this makes reStructuredText of them.

Names that end with an underscore are no links, bars and stars are no markup, and an indented block before
the first section is a formula, to be shown as it stands.
"""

from __future__ import annotations

import re
from typing import Any

_CODE = re.compile(r"(``.+?``|`[^`]+`)")
_TRAILING = re.compile(r"(?<=\w)_(?!\w)")
_UNDERLINE = re.compile(r"-{3,}")


def plain(line: str) -> str:
    """Escape what would be markup, outside backquotes."""
    pieces = _CODE.split(line)
    pieces[::2] = [
        _TRAILING.sub(r"\\_", piece.replace("|", r"\|").replace("*", r"\*")) for piece in pieces[::2]
    ]
    return "".join(pieces)


def rewritten(lines: list[str]) -> list[str]:
    """Give the docstring with formulas marked and markup escaped; examples stay as they are."""
    result: list[str] = []
    described, formula, example = True, False, False
    for line, following in zip(lines, [*lines, ""][1:], strict=True):
        described = described and not _UNDERLINE.fullmatch(following.strip())
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        indented = line.startswith("    ")
        if described and indented and not formula and not result[-1].strip():
            result += ["::", ""]
            formula = True
        elif described and formula and line.strip() and not indented:
            formula = False
        result.append(line if formula or example else plain(line))
    return result


def process(app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """Change a docstring before napoleon reads its sections."""
    lines[:] = rewritten(lines)


def setup(app: Any) -> dict[str, bool]:
    """Connect."""
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True}
