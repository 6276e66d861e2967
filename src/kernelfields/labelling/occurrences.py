"""Where the same words occur again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


class Occurrences:
    """All tokens of some sequences, to find runs of them.

    Examples
    --------
    >>> found = Occurrences([["New", "York", "New"], ["New", "York"]])
    >>> found.of(["New", "York"]), found.of(["york"])
    ([(0, 0), (1, 0)], [])
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.texts = texts
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for item, words in enumerate(texts):
            for at, word in enumerate(words):
                self._places[word].append((item, at))

    def of(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Return (sequence, position) of all runs of these words that do not overlap."""
        found: list[tuple[int, int]] = []
        for item, at in self._places.get(words[0], []) if words else []:
            end = found[-1][1] + len(words) if found and found[-1][0] == item else 0
            if at >= end and list(self.texts[item][at : at + len(words)]) == list(words):
                found.append((item, at))
        return found
