"""Names that were seen in a training set, as further columns of tokens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from ..checks import require_whole
from ..constraints import IOB2
from ..errors import InputError
from ..parameters import Parameterised

Token = tuple[str, ...]
UNKNOWN, OUTSIDE = "?", "O"
"""Columns of words that were never seen, and of those in no known phrase."""
SURE = 0.9
"""Share of a word's occurrences in its most frequent kind from which on it is marked with an "!"."""


class Gazetteer(Parameterised):
    """Phrases that were labelled as segments, and of what kind words were most often.

    Tokens get two more columns: the tag of the longest known phrase that covers them ("B-PER", "I-PER",
    "O"), and the kind of segments in which the word occurred most ("PER", "PER!" if nearly always, "O", "?"
    for new words). Templates look at them as at any other column.

    A list of names knows all names of the text that it was made from, which would teach a model to believe in
    it too much. `fit_transform` therefore marks every part of the training set by the other parts alone, as
    new text is marked.

    Parameters
    ----------
    folds : int
        Number of parts.
    longest : int
        Words of the longest phrase.

    Examples
    --------
    >>> names = Gazetteer(folds=2).fit([["Ana", "Ruiz", "ríe"]], [["B-PER", "I-PER", "O"]])
    >>> names.transform([["Ana", "Ruiz", "y", "Ana"]])[0]
    [('Ana', 'B-PER', 'PER!'), ('Ruiz', 'I-PER', 'PER!'), ('y', 'O', '?'), ('Ana', 'O', 'PER!')]
    """

    def __init__(self, folds: int = 10, longest: int = 8) -> None:
        self.folds = folds
        self.longest = longest

    def fit(self, sentences: Sequence[Any], labels: Sequence[Sequence[str]]) -> Self:
        """Learn the segments of labelled sentences, whose tags are those of IOB2."""
        self._require_settings()
        if len(sentences) != len(labels):
            raise InputError(f"There are {len(sentences)} sentences, but {len(labels)} label sequences.")
        phrases: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        words: dict[str, Counter[str]] = defaultdict(Counter)
        for s, (sentence, tags) in enumerate(zip(sentences, labels, strict=True)):
            if len(sentence) != len(tags):
                raise InputError(f"Sentence {s} has {len(sentence)} tokens, but {len(tags)} labels.")
            texts = [_columns(token)[0] for token in sentence]
            for word, tag in zip(texts, tags, strict=True):
                words[word][IOB2.tag(tag).kind or OUTSIDE] += 1
            for start, stop, kind in IOB2.segments(tags):
                phrases[tuple(texts[start:stop])][kind] += 1
        self.phrases_ = {phrase: _most(kinds) for phrase, kinds in phrases.items()}
        self.words_ = {word: _kind(kinds) for word, kinds in words.items()}
        return self

    def transform(self, sentences: Sequence[Any]) -> list[list[Token]]:
        """Return sentences whose tokens have two columns more."""
        if not hasattr(self, "phrases_"):
            raise InputError("The gazetteer is not fitted; call fit first.")
        return [self._marked([_columns(token) for token in sentence]) for sentence in sentences]

    def fit_transform(self, sentences: Sequence[Any], labels: Sequence[Sequence[str]]) -> list[list[Token]]:
        """Fit; return the same sentences, each marked by what the other parts of the training set know."""
        self._require_settings()
        parts = np.array_split(np.arange(len(sentences)), self.folds)
        result: list[list[Token]] = []
        for part in parts:
            others = np.setdiff1d(np.arange(len(sentences)), part)
            self.fit([sentences[i] for i in others], [labels[i] for i in others])
            result += self.transform([sentences[i] for i in part])
        self.fit(sentences, labels)
        return result

    def _require_settings(self) -> None:
        require_whole("folds", self.folds, 2)
        require_whole("longest", self.longest, 1)

    def _marked(self, tokens: list[Token]) -> list[Token]:
        texts, tags, t = tuple(token[0] for token in tokens), [OUTSIDE] * len(tokens), 0
        while t < len(tokens):
            size = self._covered(texts, t)
            for k in range(size):
                tags[t + k] = f"{'I' if k else 'B'}-{self.phrases_[texts[t : t + size]]}"
            t += max(size, 1)
        kinds = (self.words_.get(text, UNKNOWN) for text in texts)
        return [(*token, tag, kind) for token, tag, kind in zip(tokens, tags, kinds, strict=True)]

    def _covered(self, texts: tuple[str, ...], t: int) -> int:
        """Return the length of the longest known phrase that begins here; 0 if there is none."""
        most = min(self.longest, len(texts) - t)
        return next((size for size in range(most, 0, -1) if texts[t : t + size] in self.phrases_), 0)


def _columns(token: Any) -> Token:
    return (token,) if isinstance(token, str) else tuple(token)


def _most(kinds: Mapping[str, int]) -> str:
    """Return the most frequent kind; of equals the first by name."""
    return min(kinds, key=lambda kind: (-kinds[kind], kind))


def _kind(kinds: Mapping[str, int]) -> str:
    most = _most(kinds)
    return f"{most}!" if kinds[most] > SURE * sum(kinds.values()) else most
