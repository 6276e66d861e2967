"""Dependency trees: heads and relations that a model answers, beside the true ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..metrics.attachment import Arcs, attachment_scores, read_arcs
from .judged_parses import JudgedParses, part_scores
from .parse_evaluation import Answers, ParseWords
from .plots.arcs import MOST, DrawnArc, plot_arcs
from .tokens import read_texts

WORDS = ParseWords(
    "sentence",
    "arc",
    {
        "uas": ("UAS", "words with the right head"),
        "las": ("LAS", "words with the right head and relation"),
        "uas_without_punctuation": ("UAS without punctuation", "the same over words"),
        "las_without_punctuation": ("LAS without punctuation", "the same over words"),
        "exact": ("whole trees", "sentences whose arcs are all right"),
    },
)


def judge_dependencies(
    X: list[Any], y: Any, outputs: list[Any], marginals: Any, classes: list[Any], tokens: Any, tags: Any
) -> JudgedParses:
    """Compare answers with true trees.

    Parameters
    ----------
    X : list
        Sentences, whose words are shown if ``tokens`` are not given.
    y, outputs : lists of heads, or of pairs (heads, relations)
        True and predicted trees.
    marginals : list of (n, n + 1) or (n, n + 1, L) arrays
        The probability of every arc.
    classes : list
        The L relations.
    tokens, tags : lists of lists of str, optional
        Texts to show, and parts of speech.
    """
    true, found = read_arcs(y, "y"), read_arcs(outputs, "the prediction")
    if len(true) != len(found):
        raise InputError(f"X has {len(found)} sentences, but y has {len(true)}.")
    for s, (a, b) in enumerate(zip(true, found, strict=True)):
        if len(a.heads) != len(b.heads):
            raise InputError(f"Sentence {s} has {len(b.heads)} words in X, but {len(a.heads)} heads in y.")
    scores = attachment_scores(y, outputs, tags)
    labelled = scores.las is not None
    heads = [p.sum(axis=2) if p.ndim == 3 else p for p in map(np.asarray, marginals)]
    index = {label: k for k, label in enumerate(classes)}
    confidence = [_confidence(one, np.asarray(p), index) for one, p in zip(found, marginals, strict=True)]
    right = [_right(a, b, labelled) for a, b in zip(true, found, strict=True)]
    exact = [bool(row.all()) for row in right]
    words = read_texts(tokens, X, [one.heads.tolist() for one in true])
    return JudgedParses(
        structure="dependency",
        words=WORDS,
        sizes=[len(one.heads) for one in true],
        scores={**scores._asdict(), "exact": float(np.mean(exact))},
        log_loss=_log_loss(true, heads),
        answers=Answers(_joined(confidence), _joined(right).astype(bool), _numbers(right)),
        wrong=[int((~row).sum()) for row in right],
        by_label=_by_relation(true, found, right) if labelled else [],
        draw=ArcDrawer(words, tags, true, found, right, confidence),
    )


@dataclass(frozen=True)
class ArcDrawer:
    """Draws sentences with their arcs, as far as they are short enough."""

    words: list[list[str]]
    tags: Any
    true: list[Arcs]
    found: list[Arcs]
    right: list[Array]
    confidence: list[Array]

    def __call__(self, s: int) -> str | None:
        """Draw one sentence."""
        words, tags = self.words[s], None if self.tags is None else self.tags[s]
        if not 0 < len(words) <= MOST:
            return None
        return _drawn(words, tags, self.true[s], self.found[s], self.right[s], self.confidence[s])


def _confidence(arcs: Arcs, p: Array, index: dict[Any, int]) -> Array:
    """Return the probabilities of the arcs of one sentence, with their relations if there are any."""
    words = np.arange(len(arcs.heads))
    if p.ndim == 2 or arcs.relations is None:
        return np.asarray(p[words, arcs.heads])
    return np.asarray(p[words, arcs.heads, [index[label] for label in arcs.relations]])


def _right(true: Arcs, found: Arcs, labelled: bool) -> Array:
    right = np.asarray(true.heads == found.heads, dtype=bool)
    if labelled and true.relations is not None and found.relations is not None:
        names = zip(true.relations, found.relations, strict=True)
        right = right & np.array([a == b for a, b in names], dtype=bool)
    return right


def _log_loss(true: list[Arcs], heads: list[Array]) -> float:
    """−log p(h_m|x) of the true heads, per word."""
    chosen = [p[np.arange(len(one.heads)), one.heads] for one, p in zip(true, heads, strict=True)]
    with np.errstate(divide="ignore"):
        return float(-np.log(_joined(chosen)).mean())


def _by_relation(true: list[Arcs], found: list[Arcs], right: list[Array]) -> Any:
    known, answered = (
        Counter(label for one in side for label in one.relations or []) for side in (true, found)
    )
    good = Counter(
        label
        for one, row in zip(true, right, strict=True)
        for label, fine in zip(one.relations or [], row, strict=True)
        if fine
    )
    return part_scores(known, answered, good)


def _drawn(words: list[str], tags: Any, true: Arcs, found: Arcs, right: Array, confidence: Array) -> str:
    answers, missed = [], []
    for m, head in enumerate(found.heads.tolist(), 1):
        share, fine = float(confidence[m - 1]), bool(right[m - 1])
        relation = "" if found.relations is None else str(found.relations[m - 1])
        said = f"{_name(words, head)} → {words[m - 1]}{relation and f' ({relation})'}: {share:.1%}"
        if not fine:
            known = "" if true.relations is None else f" ({true.relations[m - 1]})"
            said += f"; true: {_name(words, int(true.heads[m - 1]))}{known}"
            name = "" if true.relations is None else str(true.relations[m - 1])
            missed.append(DrawnArc(int(true.heads[m - 1]), m, name, "missed", None, said))
        answers.append(DrawnArc(head, m, relation, "right" if fine else "wrong", share, said))
    return plot_arcs(words, tags, answers, missed)


def _name(words: list[str], head: int) -> str:
    return "root" if head == 0 else words[head - 1]


def _joined(rows: list[Array]) -> Array:
    return np.concatenate([np.zeros(0), *rows])


def _numbers(rows: list[Array]) -> Array:
    return np.repeat(np.arange(len(rows)), [len(row) for row in rows])
