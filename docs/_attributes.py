"""What numpydoc's section of attributes becomes: one entry per attribute, to be linked to and searched for.

Several names before one colon share a text; Sphinx would take all but the last for a type.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from _docstrings import plain

_HEAD = re.compile(r"^(\w+(?:, \w+)*)(?: : (.*))?$")


def section_of(lines: list[str], title: str) -> tuple[int, int] | None:
    """Return where a section begins, at its title, and where it ends."""
    for n in range(len(lines) - 1):
        if lines[n].strip() == title and re.fullmatch(r"-{3,}", lines[n + 1].strip()):
            rest = range(n + 2, len(lines) - 1)
            ends = (m for m in rest if lines[m].strip() and re.fullmatch(r"-{3,}", lines[m + 1].strip()))
            return n, next(ends, len(lines))
    return None


def entries(lines: list[str], kind: Any) -> list[str]:
    """Return directives for the lines of a section; what the class defines itself has its entry there."""
    result: list[str] = []
    for line in lines:
        found = None if line.startswith(" ") or not line.strip() else _HEAD.match(line)
        if found is None:
            result.append(plain(line))
            continue
        names, shape = found[1].split(", "), found[2]
        own = any(inspect.getattr_static(kind, name, None) is not None for name in names)
        result += ["", f".. py:attribute:: {names[0]}"]
        result += [f"                  {name}" for name in names[1:]]
        result += ["   :no-index:"] * own
        result += ["", *([f"    *{plain(shape)}*", ""] if shape else [])]
    return result


def taken_out(lines: list[str], kind: Any) -> tuple[list[str], list[str]]:
    """Return a docstring without its attributes, and these as directives."""
    place = section_of(lines, "Attributes")
    if place is None:
        return lines, []
    begin, end = place
    listed = [".. rubric:: Attributes", *entries(lines[begin + 2 : end], kind), ""]
    return [*lines[:begin], *lines[end:]], listed


def put_in(lines: list[str], listed: list[str]) -> list[str]:
    """Return a docstring that napoleon has read, with attributes before its notes and examples."""
    later = (n for n, line in enumerate(lines) if line.startswith(".. rubric::"))
    place = next(later, len(lines))
    return [*lines[:place], "", *listed, *lines[place:]]


class Process:
    """Keeps the attributes of a class apart while napoleon reads its other sections."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[str]] = {}

    def before(self, app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
        """Take the attributes out of a docstring."""
        if what == "class":
            lines[:], self.waiting[name] = taken_out(lines, obj)

    def after(self, app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
        """Put them in again."""
        if listed := self.waiting.pop(name, []):
            lines[:] = put_in(lines, listed)


def signature(
    app: Any, what: str, name: str, obj: Any, options: Any, given: str | None, returned: str | None
) -> tuple[str, str | None] | None:
    """Return the signature that a class shows to callers; its constructor is wrapped to refuse options."""
    if what != "class" or given is None or "**settings" not in given:
        return None
    real = inspect.signature(obj)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in real.parameters.values()]
    return str(real.replace(parameters=plain, return_annotation=inspect.Signature.empty)), None


def setup(app: Any) -> dict[str, bool]:
    """Connect."""
    process = Process()
    app.connect("autodoc-process-docstring", process.before, priority=90)
    app.connect("autodoc-process-docstring", process.after, priority=900)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True}
