"""The text form of templates, one per line."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import InputError, quoted
from .templates import BEGIN, COLUMN, END, Template, TemplatePart, Templates, Transform

_PART = re.compile(
    rf"(?:(?P<transform>\w+)\(\s*)?(?P<column>{COLUMN.pattern})"
    r"\[\s*(?P<first>[+-]?\d{1,9})\s*(?:\.\.\s*(?P<last>[+-]?\d{1,9})\s*)?\]\s*(?P<close>\))?"
)


class _Range(NamedTuple):
    column: str
    offsets: range
    transform: Transform


def parse_templates(text: str) -> Templates:
    r"""Read templates from text.

    The first line may name the columns, ``columns: w pos``; without it they are numbered, and
    ``0[-1]`` is the first column of the previous token. A line is a conjunction of parts joined with
    ``&``. A part is a column and an offset, ``w[0]``, or a transform of it, ``suffix3(w[0])``, or
    ``begin`` or ``end``; ``bias`` stands alone. One part of a line may have a range of offsets,
    ``w[-2..2]``, which makes one template for each. ``#`` begins a comment.

    Examples
    --------
    >>> templates = parse_templates('''
    ... columns: w pos
    ... w[-1..1]            # three templates
    ... pos[-1] & pos[0]
    ... suffix3(w[0])
    ... bias
    ... ''')
    >>> templates.texts()
    ['w[-1]', 'w[0]', 'w[1]', 'pos[-1]&pos[0]', 'suffix3(w[0])', 'bias']
    """
    columns: tuple[str, ...] | None = None
    found: dict[Template, int] = {}
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = raw.split("#")[0].strip()
        if not line:
            continue
        try:
            if line.startswith("columns:"):
                if columns is not None or found:
                    raise InputError("columns must be named once, before all templates")
                columns = tuple(line.removeprefix("columns:").split())
                Templates(columns, ())
                continue
            for template in _parse_line(line, columns):
                if template in found:
                    raise InputError(
                        f"{quoted(str(template))[1:-1]} occurs already in line {found[template]}"
                    )
                found[template] = number
        except InputError as error:
            reason = str(error).rstrip(".")
            raise InputError(f"Line {number} of the templates, {quoted(line)}: {reason}.") from None
    if not found:
        raise InputError("The text has no templates, but must have at least one.")
    return Templates(columns if columns is not None else _numbered(found), tuple(found))


def _parse_line(line: str, columns: tuple[str, ...] | None) -> list[Template]:
    if line == "bias":
        return [Template()]
    parts = [_parse_part(text.strip(), columns) for text in line.split("&")]
    ranges = [part for part in parts if isinstance(part, _Range)]
    if len(ranges) > 1:
        raise InputError("only one part of a line may have a range of offsets")
    return [
        Template(tuple(TemplatePart(p[0], offset, p[2]) if isinstance(p, _Range) else p for p in parts))
        for offset in (ranges[0].offsets if ranges else range(1))
    ]


def _parse_part(text: str, columns: tuple[str, ...] | None) -> TemplatePart | _Range:
    if text in ("begin", "end"):
        return BEGIN if text == "begin" else END
    match = _PART.fullmatch(text)
    if match is None or bool(match["transform"]) != bool(match["close"]):
        raise InputError(f"{quoted(text)} is not of the form column[offset] or transform(column[offset])")
    transform = _transform(match["transform"] or "word")
    column = _column(match["column"], columns)
    first = int(match["first"])
    if match["last"] is None:
        return TemplatePart(column, first, transform)
    last = int(match["last"])
    if last < first:
        raise InputError(f"the range {first}..{last} is empty")
    return _Range(column, range(first, last + 1), transform)


def _transform(name: str) -> Transform:
    names = [t.name.lower() for t in Transform if not t.of_place]
    if name not in names:
        raise InputError(f"there is no transform {quoted(name)}; there are {', '.join(names)}")
    return Transform[name.upper()]


def _column(name: str, columns: tuple[str, ...] | None) -> str:
    if columns is None:
        if not _is_number(name):
            raise InputError(
                f"column {quoted(name)} is a name, but no line 'columns: ...' before it names columns"
            )
        return str(int(name))
    if name in columns:
        return name
    if _is_number(name) and int(name) < len(columns):
        return columns[int(name)]
    raise InputError(f"there is no column {quoted(name)} among {quoted(', '.join(columns))[1:-1]}")


def _is_number(name: str) -> bool:
    """Return whether a name is a number that Python can read; it refuses thousands of digits."""
    return len(name) < 10 and name.isascii() and name.isdecimal()


def _numbered(templates: dict[Template, int]) -> tuple[str, ...]:
    used = [int(p.column) for template in templates for p in template.parts if p.column]
    if max(used, default=0) > 1000:
        raise InputError(f"Column {max(used)} is too large a number.")
    return tuple(map(str, range(max(used, default=0) + 1)))
