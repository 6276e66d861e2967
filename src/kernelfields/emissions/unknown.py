"""Words that are rare in the training set or unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from ..checks import require_whole
from ..parameters import Parameterised


class WordClass(NamedTuple):
    """A class of words, which is not equal to any word."""

    shape: str
    ending: str = ""


ANY = WordClass("any")
"""The class that every unknown symbol belongs to."""


class UnknownWords(Parameterised):
    """Replaces rare and unknown words by classes of words that look alike.

    A class is a shape (capitals, digits, hyphen) with the last letters of the word. Rare words of the
    training set are counted as their classes, so that classes have emission probabilities like words; an
    unknown word has those of the most specific of its classes that was counted.

    Parameters
    ----------
    rare : int
        Words with at most this count in the training set are replaced by classes.
    ending : int
        Length of the longest ending.
    least : int
        Least number of rare words in a class.
    """

    def __init__(self, rare: int = 1, ending: int = 3, least: int = 5) -> None:
        self.rare = rare
        self.ending = ending
        self.least = least

    def classes(self, symbol: Hashable) -> list[WordClass]:
        """Return the classes of a symbol, the most specific first; only words have shapes."""
        if not isinstance(symbol, str) or not symbol:
            return [ANY]
        shape = _shape(symbol)
        endings = [symbol[-n:].lower() for n in range(min(self.ending, len(symbol) - 1), 0, -1)]
        return [*(WordClass(shape, ending) for ending in endings), WordClass(shape), ANY]

    def replacements(self, counts: Mapping[Hashable, int]) -> dict[Hashable, Hashable]:
        """Return the class of every rare symbol of a training set."""
        for name in ("rare", "ending", "least"):
            require_whole(name, getattr(self, name), 0)
        rare = [symbol for symbol, count in counts.items() if count <= self.rare]
        common = Counter(kind for symbol in rare for kind in self.classes(symbol))
        return {symbol: self.choose(symbol, common, self.least) for symbol in rare}

    def choose(self, symbol: Hashable, known: Mapping[WordClass, int], least: int = 1) -> WordClass:
        """Return the first class with enough words."""
        return next((kind for kind in self.classes(symbol) if known.get(kind, 0) >= least), ANY)


def _shape(word: str) -> str:
    """Return the shape of a word in a few letters, such as "Xx" or "d-": capitals, digits, the rest."""
    marks: Iterable[tuple[str, bool]] = (
        ("d", any(letter.isdigit() for letter in word)),
        ("X", word[0].isupper()),
        ("XX", len(word) > 1 and word.isupper()),
        ("x", any(letter.islower() for letter in word)),
        ("-", "-" in word[1:]),
    )
    return "".join(mark for mark, there in marks if there)
