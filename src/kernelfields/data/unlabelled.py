"""Sequences without labels among those of a training set, and beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import as_list, is_list, require_unmasked, shown
from ..errors import InputError
from ..structures import Structure, Words
from .inputs import FILLED, Inputs, read_lengths
from .labels import unlabelled_items
from .reading import Extractor, extractor_for, read_to_predict
from .sample_weights import read_weights


class Given(NamedTuple):
    """X as users give it: a list of sequences, or one flat matrix with their lengths."""

    X: Any
    lengths: Any = None
    name: str = "X"
    """What messages call it."""


class SetAside(NamedTuple):
    """A training set apart from its sequences without labels.

    Both keep all sequences, those of the other without positions: numbers of sequences stay what they are.
    """

    labelled: Given
    y: Any
    unlabelled: Given | None
    """None if all sequences have labels."""
    kept: Array | None = None
    """Which sequences have labels; None if all have."""

    def weights(self, sample_weight: Any, words: Words) -> Any:
        """Return the weights of sequences, zero for those without labels."""
        if self.kept is None or sample_weight is None:
            return sample_weight
        return np.where(self.kept, read_weights(sample_weight, len(self.kept), words), 0.0)

    def rest(self, X_unlabelled: Any, looks: bool) -> list[Given]:
        """Return all that has no labels, where kernels look at it; what could change nothing is refused."""
        if X_unlabelled is not None and not looks:
            raise InputError(
                "X_unlabelled is for kernels that look at observations before they compare any, such as"
                " GraphKernel, and for losses that learn from it; this model has none."
            )
        if not looks:
            return []
        more = None if X_unlabelled is None else Given(X_unlabelled, name="X_unlabelled")
        return [part for part in (self.unlabelled, more) if part is not None]

    def extractor(
        self, structure: Structure, features: Any, rest: Sequence[Given], *, verbatim: bool
    ) -> Extractor | None:
        """Return an extractor that has learnt from all tokens; None for arrays, or if there is no rest."""
        parts = [self.labelled, *rest]
        if not rest or any(part.lengths is not None or not is_list(part.X) for part in parts):
            return None  # whoever reads what is no list will say so
        sentences = [tokens for part in parts for tokens in structure.split(as_list(part.X))[0]]
        found = extractor_for(features, sentences, verbatim=verbatim)
        if found is not None:
            found.fit_transform(sentences)
        return found


def set_aside(structure: Structure, X: Any, y: Any, lengths: Any) -> SetAside:
    """Put sequences without labels aside: loss and gradient of what has no positions are zero."""
    missing = set(unlabelled_items(y, X, lengths))
    if not missing:
        return SetAside(Given(X, lengths), y, None)
    if len(missing) == len(y):
        raise InputError(f"y has no labels: there are none for any of {len(y)} {structure.words.items}.")
    labels = [[] if s in missing else one for s, one in enumerate(as_list(y))]
    kept = np.array([s not in missing for s in range(len(labels))])
    if lengths is not None:
        counts = read_lengths(lengths)
        return SetAside(_rows(X, counts, kept), labels, _rows(X, counts, ~kept), kept)
    items = list(as_list(X))
    parts = [
        Given([item if keep else structure.emptied(item) for item, keep in zip(items, one, strict=True)])
        for one in (kept, ~kept)
    ]
    return SetAside(parts[0], labels, parts[1], kept)


def joined(X: Any, y: Any, lengths: Any, sample_weight: Any, X_unlabelled: Any) -> tuple[Any, Any, Any]:
    """Return X, y and weights with further sequences behind them, for losses that are about these, too."""
    X = as_list(X)
    if lengths is not None or not is_list(X) or not is_list(y) or not is_list(X_unlabelled):
        raise InputError(
            "A loss that learns from X_unlabelled needs lists of sequences, for X and y as for X_unlabelled."
        )
    more = list(as_list(X_unlabelled))
    weights = None if sample_weight is None else [*sample_weight, *np.ones(len(more))]
    return [*X, *more], [*as_list(y), *(None for _ in more)], weights


def _rows(X: Any, lengths: Any, kept: Any) -> Given:
    """Return the rows of some sequences of a flat matrix."""
    chosen = np.flatnonzero(np.repeat(kept, lengths))
    if lengths.sum() != (X.shape[0] if hasattr(X, "shape") else len(X)):
        raise InputError(f"lengths add up to {lengths.sum()}, but X has {len(X)} rows.")
    if hasattr(X, "iloc"):
        rows = X.iloc[chosen]
    elif hasattr(X, "tocsr"):
        rows = X.tocsr()[chosen]
    else:
        require_unmasked(X, "X", FILLED)
        rows = np.asarray(X)[chosen]
    return Given(rows, np.where(kept, lengths, 0))


def read_unlabelled(
    structure: Structure,
    extractor: Extractor | None,
    rest: Sequence[Given],
    like: Inputs,
    *,
    missing: bool = False,
) -> tuple[Inputs, ...]:
    """Read sequences without labels as the training set was; ``missing`` lets NaN through."""
    return tuple(_read(structure, extractor, part, like, missing) for part in rest)


def _read(
    structure: Structure, extractor: Extractor | None, part: Given, like: Inputs, missing: bool
) -> Inputs:
    if part.lengths is None and not is_list(part.X):
        raise InputError(f"{part.name} is {shown(part.X)}; it must be a list of {structure.words.items}.")
    width = like.features.shape[1] if like.features.ndim == 2 else 1
    try:
        return read_to_predict(structure, extractor, part.X, part.lengths, width, like.names, missing=missing)
    except InputError as error:
        if part.name == "X":
            raise
        raise InputError(f"{part.name} cannot be read: {error}") from error
