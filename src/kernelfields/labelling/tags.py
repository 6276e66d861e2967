"""The labels to choose from, and the tags they become: spans of tokens, or one for every position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, quoted

OUTSIDE = "O"
COMMANDS = "*?/.,"
"""Keys that the page uses itself."""
Tag = str | None
"""A tag; None where it is not known."""


@dataclass(frozen=True)
class Tags:
    """The labels that users choose from.

    With spans, a label is a kind of span: its first token has the tag B-label, the others I-label, and tokens
    outside of all spans O (the scheme IOB2). Otherwise every position has one of the labels.
    """

    names: tuple[str, ...]
    spans: bool = False

    def __post_init__(self) -> None:
        if not self.names:
            raise InputError("There are no labels to choose from.")
        for name in self.names:
            if not name.strip() or name != name.strip() or not name.isprintable():
                raise InputError(f"{quoted(name)} cannot be a label: it is empty, or has spaces around it.")
        if len(set(self.names)) < len(self.names):
            double = next(name for k, name in enumerate(self.names) if name in self.names[:k])
            raise InputError(f"The label {quoted(double)} is given twice.")
        if self.spans and OUTSIDE in self.names:
            raise InputError("O cannot be a kind of span: it is the tag of tokens outside of spans.")

    @property
    def classes(self) -> tuple[str, ...]:
        """All tags."""
        if not self.spans:
            return self.names
        return (OUTSIDE, *(f"{first}-{name}" for name in self.names for first in "BI"))

    @property
    def blank(self) -> Tag:
        """The tag of what a user leaves blank: outside of spans, or not known."""
        return OUTSIDE if self.spans else None

    def run(self, name: str | None, length: int) -> list[Tag]:
        """Return the tags of a run of positions with one label; those of a blank run for None.

        Examples
        --------
        >>> Tags(("LOC", "PER"), spans=True).run("LOC", 3)
        ['B-LOC', 'I-LOC', 'I-LOC']
        """
        if name is None:
            return [self.blank] * length
        if name not in self.names:
            raise InputError(f"There is no label {quoted(name, 40)}; there are {', '.join(self.names)}.")
        if not self.spans:
            return [name] * length
        return [f"{'I' if t else 'B'}-{name}" for t in range(length)]

    def mended(self, tags: Sequence[Tag]) -> list[Tag]:
        """Return tags in which no span lacks its beginning; what is not known may have been one.

        Examples
        --------
        >>> Tags(("LOC", "PER"), spans=True).mended(["I-LOC", "I-PER", None, "I-PER"])
        ['B-LOC', 'B-PER', None, 'I-PER']
        """
        result = list(tags)
        if not self.spans:
            return result
        for t, tag in enumerate(result):
            before = result[t - 1] if t else OUTSIDE
            if tag is not None and tag[0] == "I" and before is not None and before[2:] != tag[2:]:
                result[t] = "B" + tag[1:]
        return result

    def allowed(self, tags: Sequence[Tag]) -> list[Any]:
        """Return what a model may say of every position; a span that somebody marked does not go on.

        Examples
        --------
        >>> Tags(("LOC",), spans=True).allowed([None, "B-LOC", None, None])
        [None, 'B-LOC', ['O', 'B-LOC'], None]
        """
        if not self.spans:
            return list(tags)
        begins = [tag for tag in self.classes if tag[0] != "I"]
        before = [None, *tags[:-1]]
        return [
            begins if tag is None and last is not None else tag
            for tag, last in zip(tags, before, strict=True)
        ]

    def require(self, tags: Sequence[object], what: str) -> list[Tag]:
        """Return tags, all of which must be known ones or None."""
        for t, tag in enumerate(tags):
            if tag is not None and tag not in self.classes:
                raise InputError(f"{what} has the label {quoted(str(tag), 40)} at position {t}, not in use.")
        return [None if tag is None else str(tag) for tag in tags]


def keys_of(names: Sequence[str]) -> list[str]:
    """Return a key for every label: itself, one of its letters, or a digit; "" once all are taken.

    Examples
    --------
    >>> keys_of(["PER", "ORG", "LOC", "POL"]), keys_of(["b", "B"])
    (['p', 'o', 'l', '1'], ['b', 'B'])
    """
    keys = [name if len(name) == 1 and name not in COMMANDS else "" for name in names]
    for k, name in enumerate(names):
        free = (c for c in (*name.lower(), *"123456789") if c not in keys and c.isascii() and c.isalnum())
        keys[k] = keys[k] or next(free, "")
    return keys
