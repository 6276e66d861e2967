"""A constituency tree above its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import count

from ...io.phrases import Phrase, PhraseTree, is_leaf, leaves_of
from ..markup import element, escape
from .words import centres_of, sized, word_row

STEP, TEXT, ROW = 38.0, 16.0, 22.0
FAINTEST = 0.25
"""How visible a phrase remains that is not probable at all."""
MOST = 60
"""Words of a tree that is drawn."""
DEEPEST = 40
"""Phrases above each other in a tree that is drawn."""


def plot_phrase_tree(
    tree: PhraseTree,
    probabilities: Mapping[Phrase, float],
    right: Set[Phrase] | None = None,
    missed: Sequence[Phrase] = (),
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
    missed : list of phrases
        True ones that the tree does not have, drawn below the words.
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
    head = foot + 2 * TEXT + 10
    levels = rows_of(missed)
    parts += [_bar(phrase, places, head + ROW * row) for phrase, row in zip(missed, levels, strict=True)]
    return sized(width, head + ROW * (max(levels, default=-1) + 1), *parts, about=about)


def rows_of(phrases: Sequence[Phrase]) -> list[int]:
    """Return rows in which phrases stand side by side without overlapping, short phrases first."""
    taken: list[set[int]] = []
    rows = [0] * len(phrases)
    for n in sorted(range(len(phrases)), key=lambda n: phrases[n].end - phrases[n].start):
        words = set(range(phrases[n].start, phrases[n].end))
        rows[n] = next((row for row, others in enumerate(taken) if not words & others), len(taken))
        if rows[n] == len(taken):
            taken.append(set())
        taken[rows[n]] |= words
    return rows


def _bar(phrase: Phrase, places: list[float], y: float) -> str:
    """Draw a bar under the words of a phrase that was missed."""
    a, b = places[phrase.start] - 14, places[phrase.end - 1] + 14
    note = element("title", escape(f"missed: {phrase.label}, words {phrase.start} to {phrase.end - 1}"))
    way = element(
        "polyline",
        points=f"{a:.1f},{y - 4:.1f} {a:.1f},{y:.1f} {b:.1f},{y:.1f} {b:.1f},{y - 4:.1f}",
        class_="way",
    )
    name = element(
        "text", escape(phrase.label), x=(a + b) / 2, y=y + 10, text_anchor="middle", class_="relation"
    )
    return element("g", note, way, name, class_="arc missed")


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
    # Slanted down to the height of the highest child, then straight: lines of different phrases do not cross.
    lines = [
        element(
            "polyline",
            points=f"{x:.1f},{y + 6:.1f} {a:.1f},{y + STEP - 11:.1f} {a:.1f},{b:.1f}",
            class_="way",
        )
        for a, b in ((child[0], child[1] - (11 if child[1] < foot else 1)) for child in below)
    ]
    name = element("text", escape(phrase.label or "·"), x=x, y=y + 2, text_anchor="middle", class_="phrase")
    strength = 1.0 if share is None else max(share, FAINTEST)
    note = element("title", escape(said))
    parts.append(element("g", note, *lines, name, class_=f"arc {kind}", opacity=strength))
    return x, y, phrase.start, phrase.end
