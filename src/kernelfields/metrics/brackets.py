"""Labelled brackets of constituency trees, counted as evalb counts them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..checks import is_list, shown
from ..errors import InputError, quoted
from ..io.phrases import Leaf, Phrase, PhraseTree, leaves_of, phrases_of, require_tree
from .pairs import ratio

DELETED_TAGS = frozenset({"-NONE-", ",", ":", "``", "''", "."})
"""Tags of words that do not count: traces and punctuation."""
IGNORED_LABELS = frozenset({"", "TOP", "ROOT", "S1"})
"""Labels of the bracket around a whole sentence."""
EQUAL_LABELS: Mapping[str, str] = {"PRT": "ADVP"}
"""Labels that stand for another."""


class BracketScores(NamedTuple):
    """Precision, recall and F1 of brackets over all sentences; a quotient 0/0 is 0."""

    precision: float
    """P = n_correct / n_predicted."""
    recall: float
    """R = n_correct / n_true."""
    f1: float
    """2 P R / (P + R)."""
    exact: float
    """Share of the sentences whose brackets are all right, none missing."""
    n_true: int
    n_predicted: int
    n_correct: int


def bracket_scores(
    y_true: Any,
    y_pred: Any,
    *,
    deleted_tags: Collection[str] = DELETED_TAGS,
    ignored_labels: Collection[str] = IGNORED_LABELS,
    equal_labels: Mapping[str, str] = EQUAL_LABELS,
) -> BracketScores:
    """Return PARSEVAL scores [black1991] of constituency trees, as evalb counts them.

    A bracket is a label with the first and the last of its words. Words with a deleted tag are taken out
    first, and so are brackets that are empty then. Function tags do not count: labels are cut at their first
    "-" or "=". Brackets around single words, (tag, word), do not count. Brackets of equal label and span
    count as often as they occur in both trees.

    Parameters
    ----------
    y_true, y_pred : list of trees
        Nested tuples (label, child, …) whose leaves are (tag, word), with the same words; tags may differ.
        One of the two may have numbers of words as leaves, as predictions have: it then has the words and
        tags of the other. Lists are taken for tuples.
    deleted_tags : collection of str
        By default traces and the Penn Treebank's punctuation; () for none.
    ignored_labels : collection of str
        Labels, after they were cut, whose brackets do not count. evalb ignores "TOP" only; that brackets
        without a label, "ROOT" and "S1" do not count either makes trees comparable whatever stands around
        them.
    equal_labels : mapping from str to str
        Labels that count as another, by default PRT as ADVP; {} for none.

    Examples
    --------
    >>> true = ("S", ("NP", ("DT", "the"), ("NN", "dog")), ("VP", ("VBZ", "barks")), (".", "."))
    >>> predicted = ("S", ("NP", ("DT", "the")), ("VP", ("NN", "dog"), ("VBZ", "barks")), (".", "."))
    >>> bracket_scores([true], [predicted]).f1.__round__(3)
    0.333
    """
    _require_texts("deleted_tags", deleted_tags)
    _require_texts("ignored_labels", ignored_labels)
    if not isinstance(equal_labels, Mapping):
        raise InputError(f"equal_labels is {shown(equal_labels)}; it must be a mapping of labels.")
    true, predicted = read_trees(y_true, "y_true"), read_trees(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise InputError(f"y_true has {len(true)} trees, but y_pred has {len(predicted)}.")
    rules = BracketRules(frozenset(deleted_tags), frozenset(ignored_labels), equal_labels)
    counts = []
    for s, pair in enumerate(zip(true, predicted, strict=True)):
        leaves = _leaves(pair, s)
        a, b = (JudgedTree.of(tree, words, rules) for tree, words in zip(pair, leaves, strict=True))
        _require_words(a, b, s)
        if a.words:
            counts.append(_counts(a, b))
    if not counts:
        raise InputError("There is nothing to score: y_true has no words, or none that counts.")
    return _scores(np.array(counts))


class BracketRules(NamedTuple):
    """What counts."""

    deleted: frozenset[str]
    ignored: frozenset[str]
    equal: Mapping[str, str]

    def label(self, label: str) -> str:
        """Return a label without function tags, or the one that it stands for."""
        cut = re.split("[-=]", label, maxsplit=1)[0]
        return self.equal.get(cut, cut)


class JudgedTree(NamedTuple):
    """The words and brackets of a tree that count."""

    words: list[str]
    brackets: Counter[Phrase]

    @classmethod
    def of(cls, tree: PhraseTree, leaves: list[Leaf], rules: BracketRules) -> JudgedTree:
        """Take out what does not count."""
        kept = [leaf.tag not in rules.deleted for leaf in leaves]
        place = np.concatenate([[0], np.cumsum(kept)]).tolist()
        spans = (
            Phrase(rules.label(label), place[start], place[end]) for label, start, end in phrases_of(tree)
        )
        found = Counter(one for one in spans if one.start < one.end and one.label not in rules.ignored)
        return cls([leaf.word for leaf, keep in zip(leaves, kept, strict=True) if keep], found)


def read_trees(y: Any, name: str) -> list[PhraseTree]:
    """Read a list of trees."""
    if not is_list(y):
        raise InputError(f"{name} must be a list of trees.")
    return [require_tree(tree, f"Tree {s} of {name}") for s, tree in enumerate(y)]


def _leaves(pair: tuple[PhraseTree, PhraseTree], s: int) -> list[list[Leaf]]:
    """Return the words of two trees; where one has numbers, the words of the other."""
    sides = [leaves_of(tree) for tree in pair]
    numbered = [any(isinstance(leaf, int) for leaf in leaves) for leaves in sides]
    if all(numbered):
        return [[Leaf("", str(leaf)) for leaf in leaves] for leaves in sides]
    if any(numbered):
        if len(sides[0]) != len(sides[1]):
            raise InputError(f"Tree {s} has {len(sides[0])} words in y_true, but {len(sides[1])} in y_pred.")
        return [sides[numbered.index(False)]] * 2
    return sides


def _require_words(true: JudgedTree, predicted: JudgedTree, s: int) -> None:
    """Refuse trees of different sentences."""
    if len(true.words) != len(predicted.words):
        sizes = f"{len(true.words)} words that count in y_true, but {len(predicted.words)} in y_pred"
        raise InputError(f"Tree {s} has {sizes}.")
    for t, (a, b) in enumerate(zip(true.words, predicted.words, strict=True)):
        if a != b:
            raise InputError(
                f"Tree {s} has {quoted(a, 40)} as word {t} in y_true, but {quoted(b, 40)} in y_pred."
            )


def _counts(true: JudgedTree, predicted: JudgedTree) -> tuple[int, int, int]:
    both = true.brackets & predicted.brackets
    return true.brackets.total(), predicted.brackets.total(), both.total()


def _scores(counts: Any) -> BracketScores:
    n_true, n_predicted, n_correct = counts.sum(axis=0).tolist()
    exact = (counts[:, 0] == counts[:, 2]) & (counts[:, 1] == counts[:, 2])
    precision, recall, f1 = ratio(
        np.array([n_correct, n_correct, 2 * n_correct]), np.array([n_predicted, n_true, n_true + n_predicted])
    ).tolist()
    return BracketScores(precision, recall, f1, float(exact.mean()), n_true, n_predicted, n_correct)


def _require_texts(name: str, given: Any) -> None:
    if isinstance(given, str) or not isinstance(given, Collection):
        raise InputError(f"{name} is {shown(given)}; it must be a collection of texts.")
