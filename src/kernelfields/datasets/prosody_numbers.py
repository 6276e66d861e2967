"""Numbers of words that tell where accents fall: how likely words are, how long, where they stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import exp, log
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .prosody import NOTHING, Prosody

_TEXT = """
a about after all also although am an and any are as at be because been before being both but by can
could did do does during each either every for from had has have he her here hers him his how i if
in into is it its may me might mine must my neither no nor not of off on one or our ours out over
shall she should since so some such than that the their theirs them then there these they this those
though through thus to too under until up upon us was we were what when where which while who whom
whose why will with within without would yet you your yours
"""
FUNCTION_WORDS = frozenset(_TEXT.split())
VOWELS = re.compile(r"[aeiouy]+")
EDGE = "<s>"
"""The word before the first and after the last of a sentence."""
FEW = 2.0
"""Weight of the share of all words in that of one word which is accented."""


class ProsodyLanguage(NamedTuple):
    """What is known of words from sentences outside a sample: how often they occur, and are accented."""

    words: Counter[str]
    pairs: Counter[tuple[str, str]]
    accented: Counter[str]

    @classmethod
    def of(cls, corpus: Prosody) -> ProsodyLanguage:
        """Count words, neighbours and accents."""
        texts = [[token[0] for token in sentence] for sentence in corpus.sentences]
        marked = zip(texts, corpus.labels, strict=True)
        return cls(
            Counter(word for text in texts for word in (*text, EDGE)),
            Counter(pair for text in texts for pair in pairwise((EDGE, *text, EDGE))),
            Counter(
                word
                for text, labels in marked
                for word, label in zip(text, labels, strict=True)
                if label == "accented"
            ),
        )

    def log_probability(self, word: str) -> float:
        """Return log p(w); every word has been seen once more than it was."""
        return log((self.words[word] + 1) / (self.words.total() + len(self.words) + 1))

    def log_next(self, before: str, word: str) -> float:
        """Return log p(w | word before), mixed with p(w)."""
        return self._log_conditional((before, word), word, before)

    def log_previous(self, word: str, after: str) -> float:
        """Return log p(w | word after), mixed with p(w)."""
        return self._log_conditional((word, after), word, after)

    def _log_conditional(self, pair: tuple[str, str], word: str, known: str) -> float:
        return log((self.pairs[pair] + exp(self.log_probability(word))) / (self.words[known] + 1))

    def accent_ratio(self, word: str) -> float:
        """Return the share of the word's occurrences that are accented, near that of all if it is rare."""
        everywhere = self.accented.total() / max(self.words.total() - self.words[EDGE], 1)
        return (self.accented[word] + FEW * everywhere) / (self.words[word] + FEW)


def prosody_numbers(corpus: Prosody, language: ProsodyLanguage) -> list[Array]:
    """Return a row of numbers for every word of a corpus, which ``language`` has not seen.

    log p(w), log p(w | word before), log p(w | word after), accent ratio, syllables, whether it is a function
    word, its place from the beginning and from the end of the sentence, whether punctuation follows, and the
    strength of the boundary after it and before it.
    """
    return [
        _rows([token[0] for token in sentence], [token[3] for token in sentence], boundary, language)
        for sentence, boundary in zip(corpus.sentences, corpus.boundaries, strict=True)
    ]


def _rows(words: Sequence[str], after: Sequence[str], boundary: Array, language: ProsodyLanguage) -> Array:
    padded, T = (EDGE, *words, EDGE), len(words)
    columns: Iterable[Iterable[float]] = (
        (language.log_probability(word) for word in words),
        (language.log_next(padded[t], padded[t + 1]) for t in range(T)),
        (language.log_previous(padded[t + 1], padded[t + 2]) for t in range(T)),
        (language.accent_ratio(word) for word in words),
        (float(syllables(word)) for word in words),
        (float(word in FUNCTION_WORDS) for word in words),
        (log(1 + t) for t in range(T)),
        (log(T - t) for t in range(T)),
        (float(mark != NOTHING) for mark in after),
        boundary,
        np.concatenate([[0.0], boundary[:-1]]),
    )
    return np.array([list(column) for column in columns]).T


def syllables(word: str) -> int:
    """Return about how many syllables an English word has: groups of vowels, but for a silent e.

    Examples
    --------
    >>> [syllables(word) for word in ("prominent", "stroke", "the", "little")]
    [3, 1, 1, 2]
    """
    groups = len(VOWELS.findall(word))
    silent = word.endswith("e") and not word.endswith("le") and groups > 1
    return max(1, groups - silent)
