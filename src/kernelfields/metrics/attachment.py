"""Right heads and relations of dependency trees."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import is_list, require_flag, require_unmasked, shown
from ..errors import InputError
from .pairs import require_positions
from .sequences import read_row, read_sequences

PUNCTUATION = frozenset({"PUNCT", "``", "''", ",", ".", ":"})
"""Tags of punctuation in Universal Dependencies and in the Penn Treebank."""


class AttachmentScores(NamedTuple):
    """Shares of words; None where there are no relations, no tags, or no words but punctuation."""

    uas: float
    """Words with the right head."""
    las: float | None
    """Words with the right head and the right relation."""
    uas_without_punctuation: float | None
    """The same over words that are not punctuation."""
    las_without_punctuation: float | None


class Arcs(NamedTuple):
    """The heads of one sentence, and their relations where there are any."""

    heads: Array
    relations: list[Hashable] | None


def attachment_scores(
    y_true: Any,
    y_pred: Any,
    tags: Any = None,
    *,
    punctuation: Collection[Hashable] = PUNCTUATION,
    subtypes: bool = True,
) -> AttachmentScores:
    """Return unlabelled and labelled attachment scores, with and without punctuation.

    UAS = Σ_s Σ_m [ĥ_m = h_m] / Σ_s n_s, and LAS the same with [ĥ_m = h_m and r̂_m = r_m]: over words, not
    over sentences.

    Parameters
    ----------
    y_true, y_pred : list of heads, or of pairs (heads, relations)
        The head of every word, 0 for the root, as `Dependency` has them.
    tags : list of lists of tags or of booleans, optional
        The part of speech of every word, or True where it is punctuation.
    punctuation : collection of tags
        Those of punctuation; by default "PUNCT" of Universal Dependencies and five of the Penn Treebank.
    subtypes : bool
        Whether relations are compared as a whole; if not, up to their first colon, as the scorer of the CoNLL
        2018 shared task does: "nsubj:pass" equals "nsubj".

    Examples
    --------
    >>> true = [([2, 0, 2], ["det", "root", "punct"])]
    >>> predicted = [([2, 0, 1], ["amod", "root", "punct"])]
    >>> scores = attachment_scores(true, predicted, [["DET", "NOUN", "PUNCT"]])
    >>> round(scores.uas, 2), round(scores.las, 2), scores.uas_without_punctuation
    (0.67, 0.33, 1.0)
    """
    require_flag("subtypes", subtypes)
    true, predicted = read_arcs(y_true, "y_true"), read_arcs(y_pred, "y_pred")
    if len(true) != len(predicted):
        raise InputError(f"y_true has {len(true)} sentences, but y_pred has {len(predicted)}.")
    for s, (a, b) in enumerate(zip(true, predicted, strict=True)):
        if len(a.heads) != len(b.heads):
            raise InputError(
                f"Sentence {s} has {len(a.heads)} heads in y_true, but {len(b.heads)} in y_pred."
            )
    marks = None if tags is None else ~_marks(tags, true, punctuation)
    right = _stacked([a.heads == b.heads for a, b in zip(true, predicted, strict=True)])
    require_positions(len(right))
    labelled = _labelled(true, predicted, subtypes)
    both = None if labelled is None else right & labelled
    las = None if both is None else float(both.mean())
    return AttachmentScores(float(right.mean()), las, _mean(right, marks), _mean(both, marks))


def read_arcs(y: Any, name: str) -> list[Arcs]:
    """Read heads, or pairs of heads and relations, of which all sentences or none have the latter."""
    if not is_list(y):
        raise InputError(f"{name} must be a list with the heads of every sentence.")
    arcs = [_arcs(item, f"Sentence {s} of {name}") for s, item in enumerate(y)]
    bare = [s for s, one in enumerate(arcs) if one.relations is None and len(one.heads)]
    if bare and any(one.relations is not None for one in arcs):
        raise InputError(f"Sentence {bare[0]} of {name} has no relations, but others have.")
    return arcs


def _arcs(item: Any, what: str) -> Arcs:
    if not is_list(item):
        raise InputError(f"{what} is {shown(item)}, not a list of heads.")
    paired = len(item) == 2 and all(map(is_list, item))
    heads = _heads(item[0] if paired else item, what)
    odd = np.flatnonzero((heads < 0) | (heads > len(heads)))
    if len(odd):
        m = int(odd[0])
        raise InputError(
            f"{what}: the head of word {m + 1} is {heads[m]}, expected 0 (the root) to {len(heads)}."
        )
    if not paired:
        return Arcs(heads, None)
    relations = read_row(item[1], f"The second part of {what[0].lower()}{what[1:]}")
    if len(relations) != len(heads):
        raise InputError(f"{what} has {len(heads)} heads, but {len(relations)} relations.")
    return Arcs(heads, relations)


def _heads(given: Any, what: str) -> Array:
    require_unmasked(given, what)
    try:
        heads = np.asarray(given)
    except ValueError:  # lists of several lengths
        heads = np.zeros((0, 0))
    if heads.ndim != 1 or (heads.size and heads.dtype.kind not in "iu"):
        raise InputError(f"{what} has heads that are not whole numbers: {shown(given)}.")
    return heads.astype(np.int64)


def _marks(tags: Any, arcs: list[Arcs], punctuation: Collection[Hashable]) -> Array:
    """Return where punctuation is."""
    if isinstance(punctuation, str) or not isinstance(punctuation, Collection):
        raise InputError(f"punctuation is {shown(punctuation)}; it must be a collection of tags.")
    rows = read_sequences(tags, "tags")
    if len(rows) != len(arcs):
        raise InputError(f"y_true has {len(arcs)} sentences, but tags has {len(rows)}.")
    for s, (row, one) in enumerate(zip(rows, arcs, strict=True)):
        if len(row) != len(one.heads):
            raise InputError(f"Sentence {s} has {len(one.heads)} heads in y_true, but {len(row)} tags.")
    if all(isinstance(tag, bool | np.bool_) for row in rows for tag in row):
        return _stacked(rows)
    return _stacked([[tag in punctuation for tag in row] for row in rows])


def _labelled(true: list[Arcs], predicted: list[Arcs], subtypes: bool) -> Array | None:
    """Return where relations are equal; None where a side has none."""
    sides = [[one.relations for one in side if one.relations is not None] for side in (true, predicted)]
    if not all(sides):
        return None
    flat = [[_kept(name, subtypes) for row in side for name in row] for side in sides]
    return np.array([a is not None and a == b for a, b in zip(*flat, strict=True)], dtype=bool)


def _kept(relation: Hashable, subtypes: bool) -> Hashable:
    return relation.partition(":")[0] if isinstance(relation, str) and not subtypes else relation


def _stacked(rows: list[Any]) -> Array:
    return np.concatenate([np.zeros(0, dtype=bool), *(np.asarray(row, dtype=bool) for row in rows)])


def _mean(right: Array | None, chosen: Array | None) -> float | None:
    """Return the mean over the chosen words, if there are any."""
    if right is None or chosen is None or not chosen.any():
        return None
    return float(right[chosen].mean())
