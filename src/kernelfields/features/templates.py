"""Templates: which tokens around a position make its features, and which of their properties."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

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
    of the other case. ``BEGIN`` and ``END`` hold at the first and last token of a sentence.
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

    @property
    def of_place(self) -> bool:
        """Whether the transform depends on the place of a token instead of its columns."""
        return self >= Transform.BEGIN


@dataclass(frozen=True)
class TemplatePart:
    """A property of one token: ``transform(column[offset])``, where offset 0 is the current token."""

    column: str
    offset: int = 0
    transform: Transform = Transform.WORD

    def __post_init__(self) -> None:
        require_whole("offset", self.offset, -100, 100)
        if self.transform.of_place and (self.column or self.offset):
            raise InputError(f"{self.transform.name.lower()} takes neither column nor offset.")

    def __str__(self) -> str:
        if self.transform.of_place:
            return self.transform.name.lower()
        place = f"{self.column}[{self.offset}]"
        return place if self.transform is Transform.WORD else f"{self.transform.name.lower()}({place})"


BEGIN = TemplatePart("", 0, Transform.BEGIN)
END = TemplatePart("", 0, Transform.END)


@dataclass(frozen=True)
class Template:
    """A conjunction of parts: one feature for each combination of their values.

    A position has the feature of its values there, or no feature if a part has no value. A template without
    parts is a bias, which holds everywhere.
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
    """

    columns: tuple[str, ...]
    templates: tuple[Template, ...]

    def __post_init__(self) -> None:
        for name in self.columns:
            if not COLUMN.fullmatch(name) or self.columns.count(name) > 1:
                raise InputError(f"{quoted(name)} cannot be the name of a column, or names two columns.")
        for template in self.templates:
            for part in template.parts:
                if not part.transform.of_place and part.column not in self.columns:
                    known = quoted(", ".join(self.columns))[1:-1]
                    raise InputError(f"{quoted(str(part))[1:-1]} uses a column that is not among {known}.")
        if len(set(self.templates)) < len(self.templates):
            raise InputError("A template occurs twice.")

    @staticmethod
    def of(columns: str, templates: Iterable[Template]) -> Templates:
        """Return templates over columns whose names are separated by spaces."""
        return Templates(tuple(columns.split()), tuple(templates))

    def codes(self) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        """Return rows of template, column, offset and transform, for the core."""
        rows = [
            (j, self.columns.index(p.column) if p.column else -1, p.offset, p.transform)
            for j, template in enumerate(self.templates)
            for p in template.parts
        ]
        return np.array(rows, dtype=np.int32).reshape(-1, 4)

    def texts(self) -> list[str]:
        """Return the text of each template."""
        return [str(template) for template in self.templates]

    def __str__(self) -> str:
        return "\n".join([f"columns: {' '.join(self.columns)}", *self.texts()])

    def __repr__(self) -> str:
        """Return the columns and the first templates, of which there may be hundreds."""
        texts = self.texts()
        shown = texts if len(texts) <= SHOWN + 1 else [*texts[:SHOWN], f"… {len(texts)} in all"]
        return f"Templates(columns {', '.join(self.columns)}: {', '.join(shown)})"
