"""Templates: which tokens around a position, or around two anchors, make features, and by which properties.

`parse_templates` reads their text form, one template per line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ..checks import require_whole
from ..errors import InputError, quoted

SHOWN = 3
"""Number of templates that a repr shows."""
COLUMN = re.compile(r"[^\s\[\]()&=:,#]+")


class Transform(IntEnum):
    """The property of a token that a template uses. The numbers are those of transforms.hpp.

    ``PREFIX1`` to ``SUFFIX5`` count characters (code points); a shorter word has no value, hence no
    feature. ``SHAPE`` writes X, x, d for upper-case letters, other letters and digits and keeps the
    rest (McDonald-77 becomes XxXxxxxx-dd), ``SHORT_SHAPE`` writes each run once (XxXx-d), ``DIGITS``
    writes 0 for every digit. ``LOWER`` converts single characters. The predicates ``IS_...`` and
    ``HAS_...`` make a feature only where they hold: ``IS_TITLE`` means that the first character and no
    other is an upper-case letter, ``IS_UPPER`` (``IS_LOWER``) that there are letters of that case and none
    of the other case. ``BEGIN`` and ``END`` hold at the first and last token of a sentence. ``DISTANCE``,
    ``DIRECTION``, ``RELATIVE`` and ``STEPS`` are those of the second anchor of a clique from the first.
    ``CLUSTER`` is the path of a word's Brown cluster, ``CLUSTER4`` to ``CLUSTER20`` its first bits, or
    all of them if there are fewer; words without a cluster have no value. They need
    ``TemplateFeatures(..., clusters=...)``.
    """

    WORD = 0
    LOWER = 1
    SHAPE = 2
    SHORT_SHAPE = 3
    DIGITS = 4
    IS_DIGITS = 10
    HAS_DIGIT = 11
    IS_TITLE = 12
    IS_UPPER = 13
    IS_LOWER = 14
    HAS_HYPHEN = 15
    IS_PUNCTUATION = 16
    PREFIX1 = 21
    PREFIX2 = 22
    PREFIX3 = 23
    PREFIX4 = 24
    PREFIX5 = 25
    SUFFIX1 = 31
    SUFFIX2 = 32
    SUFFIX3 = 33
    SUFFIX4 = 34
    SUFFIX5 = 35
    BEGIN = 40
    END = 41
    DISTANCE = 42
    DIRECTION = 43
    RELATIVE = 44
    STEPS = 45
    CLUSTER = 50
    CLUSTER4 = 54
    CLUSTER6 = 56
    CLUSTER8 = 58
    CLUSTER10 = 60
    CLUSTER12 = 62
    CLUSTER16 = 66
    CLUSTER20 = 70

    @property
    def of_place(self) -> bool:
        """Whether the transform depends on the place of a token instead of its columns."""
        return self in (Transform.BEGIN, Transform.END)

    @property
    def of_anchors(self) -> bool:
        """Whether the transform depends on the places of two anchors instead of their columns."""
        return Transform.DISTANCE <= self <= Transform.STEPS

    @property
    def of_cluster(self) -> bool:
        """Whether the transform asks for the Brown cluster of a word."""
        return self >= Transform.CLUSTER


class CliqueKind(IntEnum):
    """What has features: tokens, or cliques of two or three anchors. The numbers are those of cliques.hpp.

    ``ARCS`` join a head h and a word m of a sentence of n words; h may also be the root, which is the place
    before the first word, ``__BOS1__``. A sentence has n(n + 1) rows: all heads of word 1, the root first,
    then those of word 2, and so on, as `Dependency` reads them; a word as its own head has no features.
    ``SPANS`` go from a word i to a word j ≥ i, both included: n(n + 1)/2 rows, all j of the first i, then
    those of the second, and so on. ``PAIRS`` are a word i of one sentence and a word j of another, of m
    words: n·m rows, all j of the first i, then those of the second, and so on. ``SIBLINGS`` are a head h, a
    word m, and the word s before m on the way from h that has the same head; rows are listed with every
    sentence. Where m is the first one, s is the place behind the last word, ``__EOS1__``.
    """

    TOKENS = 0
    ARCS = 1
    SPANS = 2
    PAIRS = 3
    SIBLINGS = 4

    @property
    def anchors(self) -> tuple[str, ...]:
        """Names of the anchors in the text form."""
        names = {CliqueKind.TOKENS: ("",), CliqueKind.ARCS: ("h", "m"), CliqueKind.SIBLINGS: ("h", "m", "s")}
        return names.get(self, ("i", "j"))


BETWEEN = "between"
"""The anchor of parts that look at all tokens strictly between two others."""


@dataclass(frozen=True)
class TemplatePart:
    """A property of one token, ``transform(column[anchor + offset])``, or of all tokens between two.

    The anchor of tokens is the current token, without a name. With the anchor ``BETWEEN`` there is one
    feature for every different value of the tokens between both anchors of a clique.
    """

    column: str
    offset: int = 0
    transform: Transform = Transform.WORD
    anchor: str = ""

    def __post_init__(self) -> None:
        require_whole("offset", self.offset, -100, 100)
        name = self.transform.name.lower()
        if self.bare and (self.column or self.offset or self.anchor):
            raise InputError(f"{name} takes neither column nor offset.")
        if self.anchor == BETWEEN and (self.offset or self.transform is not Transform.WORD):
            raise InputError("between takes a column, and neither an offset nor a transform.")

    @property
    def bare(self) -> bool:
        """Whether the part looks at no column."""
        return self.transform.of_place or self.transform.of_anchors

    def __str__(self) -> str:
        if self.bare:
            return self.transform.name.lower()
        if self.anchor == BETWEEN:
            return f"between({self.column})"
        offset = f"{self.offset:+d}" if self.offset else ""
        place = f"{self.column}[{self.anchor}{offset}]" if self.anchor else f"{self.column}[{self.offset}]"
        return place if self.transform is Transform.WORD else f"{self.transform.name.lower()}({place})"


BEGIN = TemplatePart("", 0, Transform.BEGIN)
END = TemplatePart("", 0, Transform.END)


@dataclass(frozen=True)
class Template:
    """A conjunction of parts: one feature for each combination of their values.

    A position has the feature of its values there, or no feature if a part has no value; one that looks
    between anchors may have several. A template without parts is a bias, which holds everywhere.
    """

    parts: tuple[TemplatePart, ...] = ()

    def __str__(self) -> str:
        return "&".join(map(str, self.parts)) or "bias"


@dataclass(frozen=True)
class Templates:
    """A list of templates over named columns; ``str`` returns the text that ``parse_templates`` reads.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns of a token, in order.
    templates : tuple of Template
        The templates, without duplicates.
    cliques : CliqueKind
        What has features: tokens, unless said otherwise.
    """

    columns: tuple[str, ...]
    templates: tuple[Template, ...]
    cliques: CliqueKind = CliqueKind.TOKENS

    def __post_init__(self) -> None:
        for name in self.columns:
            if not COLUMN.fullmatch(name) or self.columns.count(name) > 1:
                raise InputError(f"{quoted(name)} cannot be the name of a column, or names two columns.")
        for template in self.templates:
            for part in template.parts:
                self._require_part(part)
            if sum(part.anchor == BETWEEN for part in template.parts) > 1:
                raise InputError(f"{quoted(str(template))[1:-1]} looks between anchors twice.")
        if len(set(self.templates)) < len(self.templates):
            raise InputError("A template occurs twice.")

    def _require_part(self, part: TemplatePart) -> None:
        """Refuse a part of no column, or one that is not for such cliques."""
        if not part.bare and part.column not in self.columns:
            known = quoted(", ".join(self.columns))[1:-1]
            raise InputError(f"{quoted(str(part))[1:-1]} uses a column that is not among {known}.")
        kind, transform = self.cliques, part.transform
        if transform.of_place:
            fits = kind is CliqueKind.TOKENS
        elif transform.of_anchors:
            fits = kind is CliqueKind.PAIRS or (
                kind is not CliqueKind.TOKENS and transform is not Transform.RELATIVE
            )
        else:
            between = part.anchor == BETWEEN and kind not in (CliqueKind.TOKENS, CliqueKind.PAIRS)
            fits = between or part.anchor in kind.anchors
        if not fits:
            raise InputError(f"{quoted(str(part))[1:-1]} is not for templates of {kind.name.lower()}.")

    @staticmethod
    def of(columns: str, templates: Iterable[Template]) -> Templates:
        """Return templates over columns whose names are separated by spaces."""
        return Templates(tuple(columns.split()), tuple(templates))

    def codes(self) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        """Return rows of template, column, offset, transform and anchor, for the core."""
        anchors = {"": 0, BETWEEN: 2, **dict(zip(self.cliques.anchors, (0, 1, 3), strict=False))}
        rows = [
            (j, self.columns.index(p.column) if p.column else -1, p.offset, p.transform, anchors[p.anchor])
            for j, template in enumerate(self.templates)
            for p in template.parts
        ]
        return np.array(rows, dtype=np.int32).reshape(-1, 5)

    @property
    def of_clusters(self) -> bool:
        """Whether a template asks for the Brown cluster of a word."""
        return any(part.transform.of_cluster for template in self.templates for part in template.parts)

    def texts(self) -> list[str]:
        """Return the text of each template."""
        return [str(template) for template in self.templates]

    def __str__(self) -> str:
        kind = [] if self.cliques is CliqueKind.TOKENS else [f"cliques: {self.cliques.name.lower()}"]
        return "\n".join([f"columns: {' '.join(self.columns)}", *kind, *self.texts()])

    def __repr__(self) -> str:
        """Return the columns and the first templates, of which there may be hundreds."""
        texts = self.texts()
        shown = texts if len(texts) <= SHOWN + 1 else [*texts[:SHOWN], f"… {len(texts)} in all"]
        kind = "" if self.cliques is CliqueKind.TOKENS else f" of {self.cliques.name.lower()}"
        return f"Templates(columns {', '.join(self.columns)}{kind}: {', '.join(shown)})"


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

    After a line ``cliques: arcs`` (or ``spans``, ``pairs`` or ``siblings``), templates are those of a
    `CliqueKind`, and places are counted from their anchors: ``pos[h]`` and ``pos[m-1]`` of arcs, ``w[i]`` and
    ``w[j+1]`` of spans and of pairs, where i is in the first sentence and j in the second; siblings have
    ``pos[s]``, too, and are otherwise like the arc from h to m. ``between(pos)`` stands for one
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
