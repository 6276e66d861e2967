"""What a first model says of the same words elsewhere, as columns for a second one [krishnan2006]."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Tokens = list[list[tuple[str, ...]]]
NOBODY, PLAIN = "none", "-"
"""Columns of capitalised words that occur nowhere else, and of all other words."""


def cross_fitted(
    make: Callable[[], Any], X: Tokens, y: Sequence[Sequence[str]], folds: int, seed: int
) -> list[list[str]]:
    """Return what models say of every part of a training set who have not seen it.

    Parts are made of stretches of neighbouring sentences, which are of one text.
    """
    stretches = np.array_split(np.arange(len(X)), 5 * folds)
    order = np.random.default_rng(seed).permutation(len(stretches))
    found: list[list[str]] = [[] for _ in X]
    for fold in range(folds):
        held = np.concatenate([stretches[k] for k in order[fold::folds]])
        rest = np.setdiff1d(np.arange(len(X)), held)
        model = make().fit([X[i] for i in rest], [y[i] for i in rest])
        for i, labels in zip(held, model.predict([X[i] for i in held]), strict=True):
            found[i] = labels
    return found


def with_elsewhere(
    X: Tokens, labels: Sequence[Sequence[str]], texts: Sequence[int] | None, reach: int
) -> Tokens:
    """Return tokens with three columns more: their first label, and what the same word mostly is elsewhere.

    Parameters
    ----------
    X : list of sentences
        Whose tokens begin with the word.
    labels : label sequences
        Of the first model.
    texts : sequence of int, optional
        The text that each sentence is from. If not given, sentences up to ``reach`` away are of the same.
    reach : int
        Number of sentences.
    """
    places: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for s, (sentence, tags) in enumerate(zip(X, labels, strict=True)):
        for t, (token, tag) in enumerate(zip(sentence, tags, strict=True)):
            if token[0][:1].isupper():
                places[token[0]].append((s, t, tag))

    def near(s: int, other: int) -> bool:
        return abs(s - other) <= reach if texts is None else texts[s] == texts[other]

    def most(word: str, s: int, t: int, everywhere: bool) -> str:
        if not word[:1].isupper():
            return PLAIN
        count = Counter(tag for i, j, tag in places[word] if (i, j) != (s, t) and (everywhere or near(s, i)))
        return min(count, key=lambda tag: (-count[tag], tag)) if count else NOBODY

    return [
        [
            (*token, tag, most(token[0], s, t, everywhere=False), most(token[0], s, t, everywhere=True))
            for t, (token, tag) in enumerate(zip(sentence, tags, strict=True))
        ]
        for s, (sentence, tags) in enumerate(zip(X, labels, strict=True))
    ]
