"""Reads what `Tagger.dump` and ``crfsuite dump`` write."""

from __future__ import annotations

import re

from .info import ParsedDump

__all__ = ["CRFsuiteDumpParser", "ParsedDump"]

_TITLE = re.compile(r"(FILEHEADER|LABELS|ATTRIBUTES|TRANSITIONS|STATE_FEATURES) = {")
_FACT = re.compile(r"(\w+): (.*)")
_WEIGHT = re.compile(r"\(\d+\) (.+) --> (.+): ([+-]?\d+\.\d+)")


class CRFsuiteDumpParser:
    """Takes a dump line by line.

    Attributes
    ----------
    result : ParsedDump
        What was read so far.

    Examples
    --------
    >>> parser = CRFsuiteDumpParser()
    >>> for line in ("TRANSITIONS = {", "  (1) a --> b: 0.500000", "}"):
    ...     parser.feed(line)
    >>> parser.result.transitions
    {('a', 'b'): 0.5}
    """

    def __init__(self) -> None:
        self.state: str | None = None
        self.result = ParsedDump()

    def feed(self, line: str) -> None:
        """Take a line; blanks at the end belong to names."""
        line = line.lstrip().rstrip("\r\n")
        if title := _TITLE.match(line):
            self.state = title.group(1)
        elif line == "}":
            self.state = None
        elif line:
            self._read(line)

    def _read(self, line: str) -> None:
        weights = {"TRANSITIONS": self.result.transitions, "STATE_FEATURES": self.result.state_features}
        facts = {"LABELS": self.result.labels, "ATTRIBUTES": self.result.attributes}
        if self.state in weights and (found := _WEIGHT.match(line)):
            weights[self.state][found.group(1), found.group(2)] = float(found.group(3))
        elif self.state in facts and (found := _FACT.match(line)):
            facts[self.state][found.group(2)] = found.group(1)
        elif self.state == "FILEHEADER" and (found := _FACT.match(line)):
            self.result.header[found.group(1)] = found.group(2)
        else:
            raise ValueError(f"No line of a dump: {line!r}")
