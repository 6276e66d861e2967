"""Precision, recall and F of entities (chunks, segments), equal to those of conlleval.

A label is a tag, or a tag and a type, "B-PER"; what follows the first hyphen is the type. An entity
begins and ends between two neighbouring labels by the rules below, whatever the scheme (IOB1, IOB2,
IOE1, IOE2, IOBES, brackets) and also where labels do not obey any: I after O or after another type
begins an entity. The rules are those of the evaluation script of the CoNLL shared tasks (version of
2004). S, which it does not know, is an entity of its own, and B or S after E begins a new one, as
IOBES means it.
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
    """Whether labels are those of an IOB scheme: "B-PER", "I-PER", "O", or just "B", "I", "O".

    Those that are None, not observed, are skipped.
    """
    try:
        distinct = set(labels) - {None}
    except TypeError as error:
        raise InputError(f"labels must be a list of labels: {error}.") from error
    if not all(isinstance(label, str) and _ENTITY_TAG.fullmatch(label) for label in distinct):
        return False
    return any(str(label)[1:2] == "-" for label in distinct) or {"B", "I", "O"} <= distinct


class EntityScore(NamedTuple):
    """How well entities are found; a quotient 0/0 is 0."""

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
    """Number of entities that begin, end and have their type alike in both."""


class EntityScores(NamedTuple):
    """What conlleval prints, as shares instead of percentages."""

    overall: EntityScore
    """Over entities of all types together."""
    by_type: dict[str, EntityScore]
    """For every type that occurs on either side, sorted; "" for labels without a type."""


class EntityMarks(NamedTuple):
    """What is known of one side at each step from one label to the next."""

    types: Array
    """Type of the label after the step."""
    begins: Array
    """Whether an entity begins after the step."""
    ends: Array
    """Whether an entity, if there is one, ends before the step."""


def entity_scores(y_true: Any, y_pred: Any) -> EntityScores:
    """Precision, recall and F of entities, over all types and for each.

    Parameters
    ----------
    y_true, y_pred : list of sequences of strings
        Labels such as "B-PER", "I-PER", "O", of the same lengths. A prediction that is None
        (abstained) counts as "O". Sequences are cut at true labels that are None or NaN, not observed:
        each run of observed labels is scored as a sequence of its own, so that entities end there.

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
    """F of entities of all types together, as conlleval computes it; see `entity_scores`."""
    return entity_scores(y_true, y_pred).overall.f1


def _parse(pairs: Pairs) -> tuple[Array, Array, list[str]]:
    """Tag and type of every distinct label, then of "O", and the names of the types, sorted."""
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
    """Labels with an "O", which _parse put last, before, between and behind the sequences."""
    assert NO_LABEL == -1
    result = np.full(len(labels) + len(offsets), -1)
    result[np.arange(len(labels)) + np.repeat(np.arange(1, len(offsets)), np.diff(offsets))] = labels
    return result


def _table(rules: dict[str, str], turned: bool) -> Array:
    """Rules as a table, [tag before, tag after]."""
    table = np.zeros((OTHER + 1, OTHER + 1), dtype=bool)
    for tag, others in rules.items():
        table[TAGS.index(tag), [TAGS.index(other) for other in others]] = True
        if others == TAGS:
            table[TAGS.index(tag), OTHER] = True
    return table.T if turned else table


def _find(labels: Array, offsets: Array, tags: Array, types: Array) -> EntityMarks:
    """Where entities begin and end; with the sequence at the latest."""
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
    """Types of the entities that begin and end alike.

    An entity is on trial from a step at which one of the same type begins on both sides, until a
    step at which one side ends or the types differ; it is correct if both sides end there.
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
