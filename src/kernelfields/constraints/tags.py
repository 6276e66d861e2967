"""Schemes that encode segments (entities, chunks, words) as one tag per position."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ._base import Forbidden, Rule


class Tag(NamedTuple):
    """A label such as "B-PER", taken apart."""

    letter: str
    kind: str
    """What follows the hyphen; empty if there is only a letter."""


@dataclass(frozen=True)
class TagScheme(Rule):
    """Tags of the form letter-hyphen-kind, such as "B-PER", or letters alone if segments have no kinds.

    A segment is one *begin*, then any number of *inside*, then one *end*, all of one kind; or one
    *single*. "O" is outside of segments. In schemes without *end* letters a segment may stop anywhere.

    - A tag that goes on (inside, end) may follow only a begin or inside of its kind, and may not
      come first.
    - Any other tag may not follow a begin or inside, and those may not come last, where there are
      end letters.

    Parameters
    ----------
    name : str
        Name of the scheme in messages.
    begin, inside, end, single : str
        The letter of each role; empty if the scheme does not have the role.

    Examples
    --------
    >>> IOB2.forbidden(["B-LOC", "I-LOC", "I-PER", "O"]).pairs.astype(int).tolist()
    [[0, 0, 1, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 1, 0]]
    """

    name: str
    begin: str
    inside: str
    end: str = ""
    single: str = ""

    def forbidden(self, names: Sequence[Hashable]) -> Forbidden:
        """Return what is forbidden, as masks over these tags; other labels are refused."""
        tags = [self.tag(name) for name in names]
        unfinished = np.array([bool(self.end) and self._open(tag) for tag in tags], dtype=bool)
        goes_on = np.array([self._goes_on(tag) for tag in tags], dtype=bool)
        pairs = np.repeat(unfinished[:, None], len(tags), axis=1)
        for k in np.flatnonzero(goes_on):
            pairs[:, k] = [not (self._open(tag) and tag.kind == tags[k].kind) for tag in tags]
        return Forbidden(pairs, goes_on, unfinished)

    @property
    def letters(self) -> tuple[str, ...]:
        """All letters of segments."""
        return tuple(letter for letter in (self.begin, self.inside, self.end, self.single) if letter)

    def _open(self, tag: Tag) -> bool:
        """Return whether a segment may go on after the tag."""
        return tag.letter in (self.begin, self.inside)

    def _goes_on(self, tag: Tag) -> bool:
        """Return whether the tag needs an open segment."""
        return tag.letter in (self.inside, self.end)

    def continues(self, before: Tag, tag: Tag) -> bool:
        """Return whether two neighbouring tags belong to one segment."""
        return self._open(before) and self._goes_on(tag) and before.kind == tag.kind

    def segments(self, labels: Sequence[Hashable]) -> list[tuple[int, int, str]]:
        """Return start, end and kind of every segment; a tag that has nothing to go on begins one."""
        tags = [self.tag(label) for label in labels]
        found: list[tuple[int, int, str]] = []
        for t, tag in enumerate(tags):
            if t and self.continues(tags[t - 1], tag):
                start, _, kind = found.pop()
                found.append((start, t + 1, kind))
            elif tag.letter != "O":
                found.append((t, t + 1, tag.kind))
        return found

    def tag(self, label: Hashable) -> Tag:
        """Return a label taken apart; what is no tag of this scheme is refused."""
        if isinstance(label, str):
            letter, hyphen, kind = label.partition("-")
            if label == "O" or (letter in self.letters and bool(hyphen) == bool(kind)):
                return Tag(letter, kind)
        forms = ", ".join(f"'{letter}-…'" for letter in self.letters)
        raise InputError(f"Label {label!r} is not a tag of {self.name}, whose tags are {forms} and 'O'.")


IOB2 = TagScheme("IOB2", begin="B", inside="I")
IOBES = TagScheme("IOBES", begin="B", inside="I", end="E", single="S")
BILOU = TagScheme("BILOU", begin="B", inside="I", end="L", single="U")
BMES = TagScheme("BMES", begin="B", inside="M", end="E", single="S")
