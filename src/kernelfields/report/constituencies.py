"""Constituency trees: phrases that a model answers, beside the true ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..io.phrases import Leaf, Phrase, PhraseTree, is_leaf, leaves_of, phrases_of
from ..metrics import bracket_scores
from ..metrics.brackets import read_trees
from ..structures import with_leaves
from ..structures.phrases import JOIN
from .judged_parses import JudgedParses, part_scores
from .markup import element, escape
from .parse_evaluation import Answers, ParseWords
from .plots.words import centres_of, sized, word_row

WORDS = ParseWords(
    "sentence",
    "phrase",
    {
        "f1": ("bracket F1", "labelled brackets, as evalb counts them"),
        "precision": ("bracket precision", "of the brackets answered, those right"),
        "recall": ("bracket recall", "of the true brackets, those found"),
        "exact": ("whole trees", "sentences whose brackets are all right"),
    },
)


def judge_constituencies(y: Any, outputs: list[Any], marginals: Any, classes: list[str]) -> JudgedParses:
    """Compare answers with true trees.

    Parameters
    ----------
    y : list of trees
        True ones, with words or with their numbers as leaves.
    outputs : list of trees
        Predicted ones, with numbers of words as leaves.
    marginals : list of (n(n + 1)/2, L) arrays
        The probability of every label of every span.
    classes : list of str
        The L labels of spans, those of chains joined.
    """
    true = read_trees(y, "y")
    if len(true) != len(outputs):
        raise InputError(f"X has {len(outputs)} sentences, but y has {len(true)}.")
    leaves = [_words(tree) for tree in true]
    for s, (words, output) in enumerate(zip(leaves, outputs, strict=True)):
        if len(leaves_of(output)) != len(words):
            raise InputError(f"Sentence {s} has {len(leaves_of(output))} words in X, but {len(words)} in y.")
    found = [with_leaves(tree, words) for tree, words in zip(outputs, leaves, strict=True)]
    scores = bracket_scores(true, found)
    known = [Counter(phrases_of(tree)) for tree in true]
    answered = [Counter(phrases_of(tree)) for tree in found]
    both = [a & b for a, b in zip(known, answered, strict=True)]
    shares = [
        {one: share_of(one, np.asarray(p), classes) for one in phrases}
        for phrases, p in zip(answered, marginals, strict=True)
    ]
    missed = [list((a - b).elements()) for a, b in zip(known, answered, strict=True)]
    return JudgedParses(
        structure="constituency",
        words=WORDS,
        sizes=[len(words) for words in leaves],
        scores={name: getattr(scores, name) for name in WORDS.scores},
        log_loss=None,
        answers=_answers(answered, both, shares),
        wrong=[(a - c).total() + (b - c).total() for a, b, c in zip(known, answered, both, strict=True)],
        by_label=part_scores(*(Counter(_labels(side)) for side in (known, answered, both))),
        draw=TreeDrawer(found, shares, both, missed),
    )


@dataclass(frozen=True)
class TreeDrawer:
    """Draws trees, as far as they are small enough."""

    trees: list[PhraseTree]
    shares: list[dict[Phrase, float]]
    right: list[Counter[Phrase]]
    missed: list[list[Phrase]]

    def __call__(self, s: int) -> str | None:
        """Draw one tree."""
        tree = self.trees[s]
        if not 0 < len(leaves_of(tree)) <= MOST or depth_of(tree) > DEEPEST:
            return None
        return plot_phrase_tree(tree, self.shares[s], set(self.right[s]), self.missed[s])


def share_of(phrase: Phrase, marginals: Array, classes: list[str]) -> float:
    """Return the probability of a phrase: that of all chains over its span that have its label."""
    n = (math.isqrt(8 * len(marginals) + 1) - 1) // 2  # words of a sentence with n(n + 1)/2 spans
    row = phrase.start * (2 * n - phrase.start - 1) // 2 + phrase.end - 1
    chains = [k for k, label in enumerate(classes) if phrase.label in label.split(JOIN)]
    return min(float(marginals[row, chains].sum()), 1.0)


def _words(tree: PhraseTree) -> list[tuple[str, str]]:
    return [(leaf.tag, leaf.word) if isinstance(leaf, Leaf) else ("", str(leaf)) for leaf in leaves_of(tree)]


def _answers(
    answered: list[Counter[Phrase]], right: list[Counter[Phrase]], shares: list[dict[Phrase, float]]
) -> Answers:
    """Return all phrases that were answered; of those that occur twice, as many are right as are true."""
    rows = [
        (shares[s][one], n < right[s][one], s)
        for s, phrases in enumerate(answered)
        for one, count in phrases.items()
        for n in range(count)
    ]
    confidence, good, items = zip(*rows, strict=True) if rows else ((), (), ())
    return Answers(np.array(confidence, float), np.array(good, bool), np.array(items, np.int64))


def _labels(side: list[Counter[Phrase]]) -> list[str]:
    return [phrase.label for phrases in side for phrase in phrases.elements()]


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
