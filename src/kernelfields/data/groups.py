"""Folds of sequences, relatives together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_unmasked
from ..errors import InputError
from ..structures import SEQUENCES, Words
from .seeds import random_state
from .types import Groups, Seed


def fold_numbers(
    count: int, folds: int | None, groups: Groups, seed: Seed, words: Words = SEQUENCES
) -> Array:
    """Give every sequence the number of its fold, from 0; sequences of one group share one.

    Groups are shuffled and dealt out in turn. Without ``folds`` every group is a fold of its own;
    without groups every sequence is a group.

    Parameters
    ----------
    count : int
        Number of sequences.
    folds : int or None
        Number of folds, at most that of groups.
    groups : (S,) sequence or None
        Group of every sequence.
    seed : int, RandomState or None
        Of the shuffle.
    words : Words
        What messages call sequences.
    """
    group = np.arange(count) if groups is None else _numbered(groups, count, words)
    n_groups = int(group.max()) + 1
    if folds is None:
        if groups is None:
            raise InputError("Without a number of folds, fit needs groups: every group is a fold.")
        folds, place = n_groups, np.arange(n_groups)
    else:
        place = random_state(seed).permutation(n_groups)
    if not 2 <= folds <= n_groups:
        raise InputError(
            f"There are {folds} folds for {n_groups} groups of {words.items}; use 2 to {n_groups}."
        )
    return np.asarray(place[group] % folds)


def pick(sequences: Sequence[Any], ids: Array) -> list[Any]:
    """Some sequences."""
    return [sequences[i] for i in ids]


def _numbered(groups: Any, count: int, words: Words) -> Array:
    require_unmasked(groups, "groups", "give every one a group")
    if len(groups) != count:
        raise InputError(f"X has {count} {words.items}, but groups has {len(groups)}.")
    return np.unique(np.asarray(groups), return_inverse=True)[1]
