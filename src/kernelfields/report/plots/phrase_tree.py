"""A constituency tree above its words."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import count

from ...io.phrases import Phrase, PhraseTree, is_leaf, leaves_of
from ..markup import element, escape
from .words import centres_of, sized, word_row

STEP, TEXT = 38.0, 16.0
FAINTEST = 0.25
"""How visible a phrase remains that is not probable at all."""
MOST = 60
"""Words of a tree that is drawn."""
DEEPEST = 40
"""Phrases above each other in a tree that is drawn."""


def plot_phrase_tree(
    tree: PhraseTree, probabilities: Mapping[Phrase, float], right: Set[Phrase] | None = None
) -> str:
    """Draw a tree, phrases paler where they are less probable, and red where they are wrong.

    Parameters
    ----------
    tree : nested tuples
        (label, child, …), whose leaves are (tag, word).
    probabilities : mapping from phrases to numbers
        Those that are not there are drawn in full.
    right : set of phrases, optional
        All others are wrong.
    """
    leaves = leaves_of(tree)
    *places, width = centres_of([leaf.word for leaf in leaves])
    depth = depth_of(tree)
    foot = STEP * depth + 10
    parts: list[str] = []
    _draw(tree, count(), places, foot, probabilities, right, parts)
    parts += word_row([leaf.tag for leaf in leaves], places, foot + TEXT - 4, "tag")
    parts += word_row([leaf.word for leaf in leaves], places, foot + 2 * TEXT)
    about = "A constituency tree over the words " + " ".join(leaf.word for leaf in leaves) + "."
    return sized(width, foot + 2 * TEXT + 8, *parts, about=about)


def depth_of(tree: PhraseTree) -> int:
    """Return how many phrases are above each other, at most; 0 for a single word."""
    deepest, waiting = 0, [(tree, 0)]
    while waiting:
        top, depth = waiting.pop()
        deepest = max(deepest, depth)
        if not is_leaf(top):
            waiting += [(child, depth + 1) for child in top[1:]]
    return deepest


def _draw(
    tree: PhraseTree,
    words: count[int],
    places: list[float],
    foot: float,
    probabilities: Mapping[Phrase, float],
    right: Set[Phrase] | None,
    parts: list[str],
) -> tuple[float, float, int, int]:
    """Draw a subtree of at most `DEEPEST` levels; return the place of its top and its span."""
    if is_leaf(tree):
        t = next(words)
        return places[t], foot, t, t + 1
    below = [_draw(child, words, places, foot, probabilities, right, parts) for child in tree[1:]]
    x, y = (below[0][0] + below[-1][0]) / 2, min(child[1] for child in below) - STEP
    phrase = Phrase(tree[0], below[0][2], below[-1][3])
    share = probabilities.get(phrase)
    kind = "right" if right is None or phrase in right else "wrong"
    said = f"{phrase.label or 'whole sentence'}, words {phrase.start} to {phrase.end - 1}"
    said += "" if share is None else f": {share:.1%}"
    lines = [
        element(
            "line", x1=x, y1=y + 6, x2=child[0], y2=child[1] - (11 if child[1] < foot else 1), class_="way"
        )
        for child in below
    ]
    name = element("text", escape(phrase.label or "·"), x=x, y=y + 2, text_anchor="middle", class_="phrase")
    strength = 1.0 if share is None else max(share, FAINTEST)
    note = element("title", escape(said))
    parts.append(element("g", note, *lines, name, class_=f"arc {kind}", opacity=strength))
    return x, y, phrase.start, phrase.end
