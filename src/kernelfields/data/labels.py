"""Outputs as users write them, y, and as structures know them: labels of any hashable kind as integers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import DATES, Array, label_array, listed_labels
from ..arrays import index_of as index_of
from ..checks import is_list, require_unmasked
from ..errors import InputError
from ..missing import UNOBSERVED as UNOBSERVED
from ..missing import is_missing
from ..structures import SEQUENCES, Structure, Words
from .inputs import Inputs

UNKNOWN = -2
"""A label that the model has never seen."""


class Encoded(NamedTuple):
    """Observed labels of a training set."""

    labels: Array
    """Index into the classes for every position; −1 where unobserved."""
    classes: Array


def read_labels(y: Any, lengths: Array, what: str = "y", words: Words = SEQUENCES) -> list[list[Hashable]]:
    """Read y, a list of label sequences as long as those of X, or one flat one; None where one is missing.

    NaN and the missing values of pandas are missing labels, too; in the place of a label sequence, these
    and −1 say that all of its labels are missing.
    """
    if not is_list(y):
        raise InputError(f"{what} must be a list of label sequences.")
    require_unmasked_outputs(y, what, words)
    if hasattr(y, "to_numpy"):  # a series or a frame of pandas has an index of its own
        y = y.to_numpy()
    if _flat(y, lengths):
        ends = np.cumsum(lengths)
        y = [y[a:b] for a, b in zip(ends - lengths, ends, strict=True)]
    if len(y) != len(lengths):
        raise InputError(f"X has {len(lengths)} {words.items}, but {what} has {len(y)}.")
    shared: dict[Hashable, Hashable] = {}  # arrays make a new object for every entry
    return [
        _read_sequence(labels, int(length), s, what, words, shared)
        for s, (labels, length) in enumerate(zip(y, lengths, strict=True))
    ]


def unlabelled_items(y: Any, X: Any, lengths: Any = None) -> list[int]:
    """Return the numbers of sequences that have no labels: None, NaN or −1 stands for all of them.

    One flat sequence of labels over all positions has none, whatever its labels are.
    """
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if not is_list(y) or (isinstance(y, np.ndarray) and (y.dtype != object or y.ndim != 1)):
        return []
    given = X if lengths is None else lengths
    if sparse.issparse(given) or not hasattr(given, "__len__") or len(y) != len(given):
        return []  # whoever reads X will say what is wrong with it
    return [s for s, labels in enumerate(y) if labels is None or _is_nothing(labels)]


def _is_nothing(labels: Any) -> bool:
    """Whether something in the place of a label sequence says that there is none."""
    if hasattr(labels, "__len__"):
        return False
    whole = isinstance(labels, int | np.integer) and not isinstance(labels, bool)
    return bool(labels == UNOBSERVED) if whole else is_missing(labels)


def _read_sequence(
    labels: Any, length: int, s: int, what: str, words: Words, shared: dict[Hashable, Hashable]
) -> list[Hashable]:
    if labels is None or _is_nothing(labels):
        return [None] * length
    if not is_list(labels) and not isinstance(labels, str):
        raise InputError(f"{words.name(s, what)} is not a sequence of labels.")
    if len(labels) != length:
        raise InputError(
            f"{words.name(s)} has {length} {words.places} in X, but {len(labels)} labels in {what}."
        )
    named = listed_labels(labels)
    try:
        kinds = {type(label) for label in named}
        if not kinds <= {str, int, bool, type(None)}:
            for label in named if type(np.ma.masked) in kinds else ():
                require_unmasked(label, words.name(s, what), UNKNOWN_LABELS)
            named = [None if is_missing(label) else plain(label) for label in named]
        return [shared.setdefault(label, label) for label in named]
    except TypeError as error:
        raise InputError(f"{words.name(s, what)} holds a label that is not hashable: {error}.") from error


def plain(label: Any) -> Any:
    """Return a number or text of NumPy as Python's; others, dates of NumPy among them, as they are."""
    return label.item() if isinstance(label, np.generic) and label.dtype.kind not in DATES else label


def _flat(y: Any, lengths: Array) -> bool:
    """Whether y is one sequence over all positions."""
    if len(y) != lengths.sum() or (isinstance(y, np.ndarray) and y.ndim != 1):
        return False
    if isinstance(y, np.ndarray) and y.dtype != object:
        return True
    if len(y) == len(lengths):
        return False  # one label a sequence, and one sequence of labels each, look the same
    return all(isinstance(label, str) or not hasattr(label, "__len__") for label in y)


def encode(
    y: list[list[Hashable]],
    known: Sequence[Hashable] | None = None,
    *,
    closed: bool = False,
    words: Words = SEQUENCES,
) -> Encoded:
    """Return the classes of a training set, and its labels as indices into them.

    Classes known before come first; others that occur follow, or are refused if the list is closed.
    """
    distinct = _distinct(y)
    if known is not None:
        given = _read_classes(known)
        if closed:
            _refuse_others(y, given, words)
        distinct = list(dict.fromkeys([*given, *distinct]))
    if len(distinct) < 2:
        raise InputError(f"Training needs at least two labels; y has {len(distinct)}.")
    index = {label: k for k, label in enumerate(distinct)}
    index[None] = UNOBSERVED
    labels = np.fromiter(map(index.__getitem__, chain.from_iterable(y)), np.int32, sum(map(len, y)))
    return Encoded(labels, label_array(distinct))


def _read_classes(classes: Any) -> list[Hashable]:
    """Read a list of labels, none of them twice, none of them missing."""
    if isinstance(classes, (str, bytes)) or not hasattr(classes, "__iter__"):
        raise InputError(f"classes is {classes!r}; it must be a list of labels.")
    require_unmasked(classes, "classes", "leave out what is no label")
    named = listed_labels(classes)
    try:
        repeated = len(set(named)) < len(named)
    except TypeError as error:
        raise InputError(f"classes holds a label that is not hashable: {error}.") from error
    if repeated or any(is_missing(label) for label in named):
        raise InputError("classes must name every label once, and nothing that stands for a missing label.")
    return named


def _refuse_others(y: list[list[Hashable]], classes: list[Hashable], words: Words) -> None:
    known = {None, *classes}
    for s, labels in enumerate(y):
        for t, label in enumerate(labels):
            if label not in known:
                raise InputError(
                    f"{words.name(s, 'y')} has, at {words.place} {t}, {label!r}, which classes lacks."
                )


def _distinct(y: list[list[Hashable]]) -> list[Hashable]:
    """Labels that occur, sorted if they can be."""
    seen = dict.fromkeys(chain.from_iterable(y))
    seen.pop(None, None)
    try:
        return sorted(seen)  # type: ignore[type-var]
    except TypeError:
        return list(seen)


def lookup(y: list[list[Hashable]], classes: Array) -> Array:
    """Labels as indices into known classes; −1 where one is missing, −2 where the model has never seen it."""
    index = {**index_of(classes), None: UNOBSERVED}
    return np.fromiter((index.get(label, UNKNOWN) for labels in y for label in labels), np.int32)


def read_allowed(allowed: Any, classes: Array, lengths: Array, words: Words = SEQUENCES) -> Array:
    """Read which labels each position may take, as an (N, L) mask.

    One entry per sequence: None (all), or one entry per position: None (all), a label, or a list or
    set of labels; or a (T, L) array of booleans.
    """
    if isinstance(allowed, (str, bytes)) or not hasattr(allowed, "__len__"):
        raise InputError(f"allowed must be a list with one entry per {words.item}.")
    if len(allowed) != len(lengths):
        raise InputError(f"X has {len(lengths)} {words.items}, but allowed has {len(allowed)}.")
    index = index_of(classes)
    mask = np.ones((int(lengths.sum()), len(classes)), dtype=bool)
    start = 0
    for s, (entry, length) in enumerate(zip(allowed, lengths, strict=True)):
        if entry is not None:
            require_unmasked(entry, words.name(s, "allowed"), "write False for labels that are not allowed")
            if not hasattr(entry, "__len__") or len(entry) != length:
                found = f"{len(entry)} in allowed" if hasattr(entry, "__len__") else f"{entry!r} in allowed"
                raise InputError(f"{words.name(s)} has {length} {words.places} in X, but {found}.")
            for t, choice in enumerate(entry):
                mask[start + t] = _choice(choice, index, words, s, t)
        start += length
    return mask


def _choice(choice: Any, index: dict[Hashable, int], words: Words, s: int, t: int) -> Array:
    """One position's mask."""
    if choice is None:
        return np.ones(len(index), dtype=bool)
    if isinstance(choice, np.ndarray) and choice.dtype == bool:
        if choice.shape != (len(index),):
            raise InputError(
                f"{words.name(s, 'allowed')} has a mask of shape {choice.shape} at {words.place} {t}, "
                f"expected ({len(index)},): one entry per label."
            )
        mask = choice
    else:
        mask = np.zeros(len(index), dtype=bool)
        for label in choice if isinstance(choice, (list, set, frozenset)) else [choice]:
            if not isinstance(label, Hashable) or label not in index:
                raise InputError(
                    f"{words.name(s, 'allowed')} has the unknown label {label!r} at {words.place} {t}."
                )
            mask[index[label]] = True
    if not mask.any():
        raise InputError(f"{words.name(s, 'allowed')} has no label at {words.place} {t}.")
    return mask


def require_sequences(structure: Structure, name: str) -> None:
    """Refuse labels that are no sequences, where an estimator reads them itself."""
    if not structure.in_sequences:
        raise InputError(
            f"{name} takes one label sequence per item, which {type(structure).__name__} has not."
        )


def encode_outputs(
    structure: Structure, y: Any, inputs: Inputs, known: Sequence[Hashable] | None = None, classes: Any = None
) -> Encoded:
    """Read the outputs of a training set, and what answers can be.

    Labels ``known`` before come first, and others may follow; ``classes`` are all there are.
    """
    if not structure.labelling:
        return Encoded(known_outputs(structure, y, inputs), label_array(structure.alphabet))
    named = read_outputs(structure, y, inputs)
    if structure.alphabet:
        if classes is not None:
            raise InputError(
                f"{type(structure).__name__} says itself which labels there are: leave out classes."
            )
        classes, known = structure.alphabet, None
    return encode(
        named, known if classes is None else classes, closed=classes is not None, words=structure.words
    )


def read_outputs(structure: Structure, y: Any, inputs: Any, what: str = "y") -> list[list[Hashable]]:
    """Read labels in the form that users of a structure write them in."""
    require_unmasked_outputs(y, what, structure.words)  # what makes lists of them drops masks
    flat = structure.flattened(y, inputs.links, what)
    return read_labels(flat, np.diff(inputs.offsets), what, structure.words)


def look_up_outputs(structure: Structure, y: Any, inputs: Any, classes: Array) -> Array:
    """Read outputs with the answers of a fitted model; labels that are missing or unknown are negative."""
    if not structure.labelling:
        return _encoded(structure, y, inputs)
    return lookup(read_outputs(structure, y, inputs), classes)


def name_outputs(structure: Structure, outputs: Array, batch: Any, classes: Array, links: Any) -> Any:
    """Return outputs as users write them; labels by name, None where a decoder abstained."""
    if not structure.labelling:
        return structure.decode(outputs, batch)
    names = [*classes.tolist(), None]  # −1 is the last
    flat = [names[k] for k in outputs.tolist()]
    shaped = structure.shaped([flat[a:b] for a, b in pairwise(batch.offsets.tolist())], links)
    if structure.in_sequences or not isinstance(shaped, list):
        return shaped
    # an array made of no labels has no type of labels
    return [_typed(one, classes) for one in shaped]


def _typed(labels: Any, classes: Array) -> Any:
    empty = isinstance(labels, np.ndarray) and labels.size == 0
    return np.empty(labels.shape, classes.dtype) if empty else labels


def known_outputs(structure: Structure, y: Any, inputs: Any, what: str = "y") -> Array:
    """Read outputs that are no labellings; one with an answer that the structure does not know is refused."""
    outputs = _encoded(structure, y, inputs, what)
    unknown = np.flatnonzero(outputs < 0)
    if unknown.size:
        ends = structure.on(inputs.offsets, inputs.links, len(structure.alphabet)).output_offsets
        s = int(np.searchsorted(ends, unknown[0], side="right")) - 1
        raise InputError(
            f"{structure.words.name(s, what)} has, at place {unknown[0] - ends[s]}, an answer that is none "
            f"of the {len(structure.alphabet)} known ones."
        )
    return outputs


def _encoded(structure: Structure, y: Any, inputs: Any, what: str = "y") -> Array:
    require_unmasked_outputs(y, what, structure.words)
    return np.ascontiguousarray(structure.encode(y, inputs.offsets, inputs.links), dtype=np.int32)


UNKNOWN_LABELS = "write None in the place of labels that are not known"


def require_unmasked_outputs(y: Any, what: str = "y", words: Words = SEQUENCES) -> None:
    """Refuse outputs with masked entries, in one array, in an item, or in a part of one: heads, say."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        require_unmasked(y, what, UNKNOWN_LABELS)
    elif is_list(y) and not hasattr(y, "to_numpy"):
        for s, item in enumerate(y):
            for part in item if isinstance(item, tuple) else (item,):
                if isinstance(part, np.ma.MaskedArray):
                    require_unmasked(part, words.name(s, what), UNKNOWN_LABELS)
