"""Constituency trees: phrases that a model answers, beside the true ones."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..io.phrases import Leaf, Phrase, PhraseTree, leaves_of, phrases_of
from ..metrics import bracket_scores
from ..metrics.brackets import read_trees
from ..structures import with_leaves
from ..structures.phrases import JOIN
from .judged_parses import JudgedParses, part_scores
from .parse_evaluation import Answers, ParseWords
from .plots.phrase_tree import DEEPEST, MOST, depth_of, plot_phrase_tree

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
