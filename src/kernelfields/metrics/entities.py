"""Precision, recall and F1 of entities (chunks, segments), equal to those of conlleval.

A label is a tag, or a tag and a type, such as "B-PER", whose type follows the first hyphen. The rules below
decide between which two labels an entity begins and ends, in all schemes (IOB1, IOB2, IOE1, IOE2, IOBES,
brackets) and also where labels obey no scheme: I after O or after another type begins an entity. The rules
are those of the evaluation script of the CoNLL shared tasks (version of 2004). S, which the script does not
know, is an entity of one position, and B or S after E begins a new entity, as in IOBES.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .pairs import NO_LABEL, Pairs, ratio, read_pairs, runs_of

TAGS = "BIOES.[]"
OTHER = len(TAGS)  # any other tag

# After which tags of the same type a tag begins an entity.
BEGINS = {"B": "BIOES", "I": "OES", "E": "OES", "S": TAGS, "[": TAGS, "]": TAGS}
# Before which tags of the same type an entity ends. A bracket is an entity of length one.
ENDS = {"B": "BOS", "I": "BOS", "E": "BEIOS", "S": TAGS, "[": TAGS, "]": TAGS}
# Tags outside of entities: types are not compared.
OUTSIDE = "O."

_ENTITY_TAG = re.compile(r"O|[BIES](-.+)?", re.DOTALL)


def has_entities(labels: Iterable[Hashable]) -> bool:
    """Return whether labels are those of an IOB scheme: "B-PER", "I-PER", "O", or just "B", "I", "O".

    Labels that are None (not observed) are skipped.
    """
    try:
        distinct = set(labels) - {None}
    except TypeError as error:
        raise InputError(f"labels must be a list of labels: {error}.") from error
    if not all(isinstance(label, str) and _ENTITY_TAG.fullmatch(label) for label in distinct):
        return False
    return any(str(label)[1:2] == "-" for label in distinct) or {"B", "I", "O"} <= distinct


class EntityScore(NamedTuple):
    """Precision, recall and F1 of entities; a quotient 0/0 is 0."""

    precision: float
    """P = n_correct / n_predicted."""
    recall: float
    """R = n_correct / n_true."""
    f1: float
    """2 P R / (P + R)."""
    n_true: int
    """Number of entities in y_true."""
    n_predicted: int
    """Number of entities in y_pred."""
    n_correct: int
    """Number of entities with the same beginning, end and type in both."""


class EntityScores(NamedTuple):
    """The numbers that conlleval prints, as shares instead of percentages."""

    overall: EntityScore
    """Over entities of all types together."""
    by_type: dict[str, EntityScore]
    """For every type that occurs on either side, sorted; "" for labels without a type."""


class EntityMarks(NamedTuple):
    """The entities of one side, at each step from one label to the next."""

    types: Array
    """Type of the label after the step."""
    begins: Array
    """Whether an entity begins after the step."""
    ends: Array
    """Whether an entity, if there is one, ends before the step."""


def entity_scores(y_true: Any, y_pred: Any) -> EntityScores:
    """Return precision, recall and F1 of entities, over all types and for each type.

    Parameters
    ----------
    y_true, y_pred : list of sequences of strings
        Labels such as "B-PER", "I-PER", "O", of the same lengths. A prediction that is None
        (abstained) counts as "O". Sequences are split at true labels that are None or NaN (not observed):
        each run of observed labels is scored as a separate sequence, so that entities end there.

    Examples
    --------
    >>> scores = entity_scores([["B-PER", "I-PER", "O", "B-LOC"]], [["I-PER", "I-PER", "O", "B-ORG"]])
    >>> scores.overall.f1, scores.by_type["PER"].f1
    (0.5, 1.0)
    """
    pairs = read_pairs(y_true, y_pred)
    tags, types, names = _parse(pairs)
    pairs = runs_of(pairs)
    true = _find(pairs.true, pairs.offsets, tags, types)
    predicted = _find(pairs.predicted, pairs.offsets, tags, types)
    n_true = np.bincount(true.types[true.begins], minlength=len(names))
    n_predicted = np.bincount(predicted.types[predicted.begins], minlength=len(names))
    n_correct = np.bincount(_correct(true, predicted), minlength=len(names))
    by_type = {
        name: _score(n_true[k], n_predicted[k], n_correct[k])
        for k, name in enumerate(names)
        if n_true[k] + n_predicted[k] > 0
    }
    return EntityScores(_score(n_true.sum(), n_predicted.sum(), n_correct.sum()), by_type)


def entity_f1(y_true: Any, y_pred: Any) -> float:
    """Return F1 over entities of all types, as conlleval computes it; see `entity_scores`."""
    return entity_scores(y_true, y_pred).overall.f1


def _parse(pairs: Pairs) -> tuple[Array, Array, list[str]]:
    """Return tag and type of every distinct label, then of "O", and the sorted names of the types."""
    halves = [_string(label, pairs).partition("-") for label in [*pairs.labels, "O"]]
    names = sorted({name for _, _, name in halves})
    number = {name: k for k, name in enumerate(names)}
    tags = [TAGS.index(tag) if len(tag) == 1 and tag in TAGS else OTHER for tag, _, _ in halves]
    return np.array(tags), np.array([number[name] for _, _, name in halves]), names


def _string(label: Hashable, pairs: Pairs) -> str:
    if isinstance(label, str):
        return label
    k = pairs.labels.index(label)
    s, t = pairs.place(int(np.flatnonzero((pairs.true == k) | (pairs.predicted == k))[0]))
    raise InputError(f"Sequence {s} has the label {label!r} at position {t}; entities need strings.")


def _spread(labels: Array, offsets: Array) -> Array:
    """Return labels with an "O" (the last one, by `_parse`) before, between and after the sequences."""
    assert NO_LABEL == -1
    result = np.full(len(labels) + len(offsets), -1)
    result[np.arange(len(labels)) + np.repeat(np.arange(1, len(offsets)), np.diff(offsets))] = labels
    return result


def _table(rules: dict[str, str], turned: bool) -> Array:
    """Return rules as a table over [tag before, tag after]."""
    table = np.zeros((OTHER + 1, OTHER + 1), dtype=bool)
    for tag, others in rules.items():
        table[TAGS.index(tag), [TAGS.index(other) for other in others]] = True
        if others == TAGS:
            table[TAGS.index(tag), OTHER] = True
    return table.T if turned else table


def _find(labels: Array, offsets: Array, tags: Array, types: Array) -> EntityMarks:
    """Return where entities begin and end, at the latest with their sequence."""
    spread = _spread(labels, offsets)
    tag, type_ = tags[spread], types[spread]
    before, after = tag[:-1], tag[1:]
    changes = type_[:-1] != type_[1:]
    inside = np.array([name not in OUTSIDE for name in TAGS] + [True])
    begins = _table(BEGINS, turned=True)[before, after] | (inside[after] & changes)
    ends = _table(ENDS, turned=False)[before, after] | (inside[before] & changes)
    ends[offsets[1:] + np.arange(len(offsets) - 1)] = True
    return EntityMarks(type_[1:], begins, ends)


def _correct(true: EntityMarks, predicted: EntityMarks) -> Array:
    """Return the types of the entities that begin and end alike.

    A candidate starts at a step where entities of the same type begin on both sides, and lasts until one
    side ends or the types differ; it is correct if both sides end there.
    """
    n = len(true.begins)
    step = np.arange(n)
    alike = true.types == predicted.types
    opened = np.where(true.begins & predicted.begins & alike, step, -1)
    closed = np.where(true.ends | predicted.ends | ~alike, step, -1)
    last_opened, last_closed = np.maximum.accumulate(opened), np.maximum.accumulate(closed)
    on_trial = (last_opened >= 0) & (last_opened >= last_closed)  # closing comes first within a step
    correct = on_trial[:-1] & true.ends[1:] & predicted.ends[1:]
    return true.types[:-1][correct]


def _score(n_true: int, n_predicted: int, n_correct: int) -> EntityScore:
    precision, recall = ratio(np.array([n_correct, n_correct]), np.array([n_predicted, n_true]))
    f1 = ratio(np.array(2 * n_correct), np.array(n_true + n_predicted))
    return EntityScore(
        float(precision), float(recall), float(f1), int(n_true), int(n_predicted), int(n_correct)
    )
