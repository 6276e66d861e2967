"""Entities as spans, read by the rules of `entities`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ..errors import InputError
from .entities import BEGINS, ENDS, OUTSIDE, TAGS
from .sequences import read_sequences


class EntitySpan(NamedTuple):
    """An entity of one sequence: positions from ``start`` up to, not including, ``stop``."""

    start: int
    stop: int
    kind: str
    """Its type, such as "PER"; "" for labels without one."""


class EntityRules(NamedTuple):
    """Where entities begin and end between two labels; the last label of all tables is "O"."""

    kinds: list[str]
    """(L + 1,) types of the labels."""
    begins: Array
    """(L + 1, L + 1) whether an entity begins with the second label after the first."""
    ends: Array
    """(L + 1, L + 1) whether an entity, if there is one, ends with the first label before the second."""

    @classmethod
    def of(cls, labels: Sequence[Hashable]) -> EntityRules:
        """Return the rules of these labels."""
        halves = [_halves(label) for label in [*labels, "O"]]
        tags, kinds = np.array([tag for tag, _ in halves]), [kind for _, kind in halves]
        inside = np.array([tag == "" or tag not in OUTSIDE for tag in tags])
        numbers = np.unique(kinds, return_inverse=True)[1]
        changes = numbers[:, None] != numbers[None, :]
        begins = _table(BEGINS, tags).T | (inside[None, :] & changes)
        return cls(kinds, begins, _table(ENDS, tags) | (inside[:, None] & changes))

    def spans(self, labels: Array) -> list[EntitySpan]:
        """Return the entities of one sequence of label numbers, −1 for none."""
        around = np.concatenate([[-1], labels, [-1]])
        begins, ends = self.begins[around[:-1], around[1:]], self.ends[around[:-1], around[1:]]
        ends[-1] = True  # at the latest with its sequence
        starts, stops = np.flatnonzero(begins[:-1]), np.flatnonzero(ends)
        until = stops[np.searchsorted(stops, starts, side="right")]
        return [EntitySpan(int(a), int(b), self.kinds[labels[a]]) for a, b in zip(starts, until, strict=True)]


def entity_spans(y: Any) -> list[list[EntitySpan]]:
    """Return the entities of label sequences, in order.

    Parameters
    ----------
    y : list of sequences of strings
        Labels such as "B-PER", "I-PER", "O"; None (abstained, or not observed) counts as "O".

    Examples
    --------
    >>> entity_spans([["B-PER", "I-PER", "O", "B-LOC"]])
    [[EntitySpan(start=0, stop=2, kind='PER'), EntitySpan(start=3, stop=4, kind='LOC')]]
    """
    sequences = read_sequences(y, "y")
    known = sorted({str(label) for labels in sequences for label in labels if label is not None})
    rules, index = EntityRules.of(known), {label: k for k, label in enumerate(known)}
    for s, labels in enumerate(sequences):
        for t, label in enumerate(labels):
            if label is not None and not isinstance(label, str):
                raise InputError(
                    f"Sequence {s} has the label {label!r} at position {t}; entities need strings."
                )
    flat = np.array([-1 if one is None else index[str(one)] for labels in sequences for one in labels], int)
    offsets = offsets_of([len(labels) for labels in sequences])
    return [rules.spans(flat[a:b]) for a, b in pairwise(offsets)]


def _halves(label: Hashable) -> tuple[str, str]:
    if not isinstance(label, str):
        raise InputError(f"There is the label {label!r}; entities need strings.")
    tag, _, kind = label.partition("-")
    return tag if len(tag) == 1 and tag in TAGS else "", kind


def _table(rules: dict[str, str], tags: Array) -> Array:
    """Return whether a rule of the first tag has the second; any other tag is in those that have all."""
    follows = [[b in rules.get(a, "") if b else rules.get(a) == TAGS for b in tags] for a in tags]
    return np.array(follows, dtype=bool)
