"""The text form of templates."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import InputError, quoted
from .templates import BEGIN, BETWEEN, COLUMN, END, CliqueKind, Template, TemplatePart, Templates, Transform

_PLACE = r"(?:(?P<{0}_anchor>[a-z])\s*(?P<{0}_step>[+-]\s*\d{{1,9}})?|(?P<{0}>[+-]?\d{{1,9}}))\s*"
_PART = re.compile(
    rf"(?:(?P<transform>\w+)\(\s*)?(?P<column>{COLUMN.pattern})"
    rf"\[\s*{_PLACE.format('first')}(?:\.\.\s*{_PLACE.format('last')})?\]\s*(?P<close>\))?"
)
_BETWEEN = re.compile(rf"between\(\s*(?P<column>{COLUMN.pattern})\s*\)")
BARE = {
    "begin": BEGIN,
    "end": END,
    **{t.name.lower(): TemplatePart("", 0, t) for t in Transform if t.of_anchors},
}
"""Parts that look at no column."""


class _Range(NamedTuple):
    column: str
    offsets: range
    transform: Transform
    anchor: str


def parse_templates(text: str) -> Templates:
    r"""Read templates from text.

    The first line may name the columns, ``columns: w pos``; without it they are numbered, and
    ``0[-1]`` is the first column of the previous token. A line is a conjunction of parts joined with
    ``&``. A part is a column and an offset, ``w[0]``, or a transform of it, ``suffix3(w[0])``, or
    ``begin`` or ``end``; ``bias`` stands alone. One part of a line may have a range of offsets,
    ``w[-2..2]``, which makes one template for each. ``#`` begins a comment.

    After a line ``cliques: arcs`` (or ``spans`` or ``pairs``), templates are those of a `CliqueKind`, and
    places are counted from their anchors: ``pos[h]`` and ``pos[m-1]`` of arcs, ``w[i]`` and ``w[j+1]`` of
    spans and of pairs, where i is in the first sentence and j in the second. ``between(pos)`` stands for one
    feature for every different tag strictly between the anchors, ``distance`` for how far the second anchor
    is behind the first (1, 2, 3, 4, 5, 6 to 10, 11 to 20, 21 to 40, more, and the same to the left),
    ``steps`` for the same without bins, up to 100, ``direction`` for left or right, and ``relative``, of
    pairs, for how far j is in its sentence compared to i, in tenths.

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
    >>> arcs = parse_templates('''
    ... columns: w pos
    ... cliques: arcs
    ... pos[h] & pos[m] & distance
    ... w[m-1..m+1]
    ... ''')
    >>> arcs.texts()
    ['pos[h]&pos[m]&distance', 'w[m-1]', 'w[m]', 'w[m+1]']
    """
    columns: tuple[str, ...] | None = None
    cliques = CliqueKind.TOKENS
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
            if line.startswith("cliques:"):
                if cliques is not CliqueKind.TOKENS or found:
                    raise InputError("cliques must be named once, before all templates")
                cliques = _cliques(line.removeprefix("cliques:").strip())
                continue
            for template in _parse_line(line, columns):
                Templates(columns or _numbered({template: 0}), (template,), cliques)
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
    return Templates(columns if columns is not None else _numbered(found), tuple(found), cliques)


def _cliques(name: str) -> CliqueKind:
    known = {kind.name.lower(): kind for kind in CliqueKind}
    if name not in known:
        raise InputError(f"there are no cliques {quoted(name)}; there are {', '.join(known)}")
    return known[name]


def _parse_line(line: str, columns: tuple[str, ...] | None) -> list[Template]:
    if line == "bias":
        return [Template()]
    parts = [_parse_part(text.strip(), columns) for text in line.split("&")]
    ranges = [part for part in parts if isinstance(part, _Range)]
    if len(ranges) > 1:
        raise InputError("only one part of a line may have a range of offsets")
    return [
        Template(tuple(TemplatePart(p.column, offset, *p[2:]) if isinstance(p, _Range) else p for p in parts))
        for offset in (ranges[0].offsets if ranges else range(1))
    ]


def _parse_part(text: str, columns: tuple[str, ...] | None) -> TemplatePart | _Range:
    if text in BARE:
        return BARE[text]
    if (between := _BETWEEN.fullmatch(text)) is not None:
        return TemplatePart(_column(between["column"], columns), anchor=BETWEEN)
    match = _PART.fullmatch(text)
    if match is None or bool(match["transform"]) != bool(match["close"]):
        raise InputError(f"{quoted(text)} is not of the form column[offset] or transform(column[offset])")
    transform = _transform(match["transform"] or "word")
    column = _column(match["column"], columns)
    first, anchor = _offset(match, "first"), match["first_anchor"] or ""
    if match["last"] is None and match["last_anchor"] is None:
        return TemplatePart(column, first, transform, anchor)
    last = _offset(match, "last")
    if (match["last_anchor"] or "") != anchor:
        raise InputError("a range begins and ends at one anchor")
    if last < first:
        raise InputError(f"the range {first}..{last} is empty")
    return _Range(column, range(first, last + 1), transform, anchor)


def _offset(match: re.Match[str], which: str) -> int:
    """Return how far a place is behind its anchor: 0 if that is the anchor itself."""
    return int("".join((match[which] or match[f"{which}_step"] or "0").split()))


def _transform(name: str) -> Transform:
    names = [t.name.lower() for t in Transform if not t.of_place and not t.of_anchors]
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
