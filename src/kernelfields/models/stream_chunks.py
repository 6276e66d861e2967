"""A stream of sentences: what it is read from, its labels and columns, and chunks that fit into memory."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import shown
from ..errors import InputError
from ..features import CliqueKind, TemplateFeatures, Templates
from ..features.extractor import templates_of
from ..io import BagSentences, stored_sentences
from ..memory import peak_memory

COLUMNS = 2**20
"""Of features of templates by themselves, which are hashed: a vocabulary would take memory of its own."""
COUNTED = 2**15
"""Tokens whose features are counted at a time: enough to be quick, and the rest of memory is for counts."""
BYTES_PER_TOKEN = 1500
"""About what a token takes while its features are made: its words as objects of Python, keys, rows twice."""
VECTORS = 32
"""About how many numbers a search keeps for every weight."""
LEAST = 2**26
"""Bytes that must be left for sentences."""

LabelledTokens = tuple[Any, Sequence[Hashable]]
"""A sentence and its labels."""


def _extractor(features: Any) -> TemplateFeatures:
    """Return what makes features of one sentence after the other; it may have to learn a vocabulary."""
    if isinstance(features, str):
        features = templates_of(features)
    if isinstance(features, str | Templates):
        features = TemplateFeatures(features, n_hash=COLUMNS, dtype=np.float32)
    if not isinstance(features, TemplateFeatures):
        raise InputError(f"features is {shown(features)}; fit_stream needs templates or TemplateFeatures.")
    if features.templates.cliques is not CliqueKind.TOKENS:
        kind = features.templates.cliques.name.lower()
        raise InputError(f"features are templates of {kind}; fit_stream needs templates of tokens.")
    return features


def columns_and_classes(
    model: Any, sentences: Iterable[LabelledTokens], limit: int
) -> tuple[TemplateFeatures, list[Any]]:
    """Return an extractor that knows its columns, and all labels, in the order of their names.

    That takes one pass through all sentences, or none if a user has said both.
    """
    extractor = _extractor(model.features)
    found: set[Any] = set()
    if not extractor.fitted:
        extractor = copy.copy(extractor).fit_chunks(_counted(sentences, found, limit))
    elif model.classes is None:
        for _, labels in sentences:
            found.update(labels)
    if model.classes is not None:
        return extractor, list(model.classes)
    if None in found:
        raise InputError("fit_stream needs every label to be observed; y has None.")
    return extractor, sorted(found)


def _counted(sentences: Iterable[LabelledTokens], found: set[Any], limit: int) -> Iterator[list[Any]]:
    """Yield tokens, a chunk at a time; add their labels to those found."""
    for chunk in _cut(sentences, min(_size(limit, 0, 0), COUNTED)):
        for _, labels in chunk:
            found.update(labels)
        yield [tokens for tokens, _ in chunk]
        _size(limit, 0, 0)  # refuses counts that have grown too many


def _size(limit: int, weights: int, size: int) -> int:
    """Return of how many tokens features are made at a time."""
    needed = peak_memory() + weights * (VECTORS * size + 8)
    if limit < needed + LEAST:
        what = f"{weights} weights" if weights else "counts of features"
        raise InputError(
            f"memory_limit is {limit / 2**20:.0f} MB, but {what} and what the process has already "
            f"take {(needed + LEAST) / 2**20:.0f} MB; raise it, or use fewer columns (n_hash)."
        )
    # A power of two: a run that goes on from a checkpoint must cut alike, although its process may have taken
    # a little more or less so far.
    return 1 << max((limit - needed) // BYTES_PER_TOKEN, 1024).bit_length() - 1


def columns_within(limit: int, labels: int) -> int:
    """Return how many columns features are hashed to: at most `COLUMNS`, with weights in half of the memory.

    By the limit alone: a run that goes on from a checkpoint must have as many.
    """
    columns = COLUMNS
    while columns > 2**12 and labels * columns * (VECTORS + 1) * 8 > limit // 2:
        columns //= 2
    return columns


def chunks_within(
    limit: int, sentences: Iterable[LabelledTokens], weights: int, size: int
) -> Iterator[list[LabelledTokens]]:
    """Yield sentences, a chunk at a time, whose features fit into memory beside so many weights."""
    return _cut(sentences, _size(limit, weights, size))


def _cut(sentences: Iterable[LabelledTokens], tokens: int) -> Iterator[list[LabelledTokens]]:
    """Yield as many sentences as have about so many tokens."""
    chunk: list[LabelledTokens] = []
    count = 0
    for sentence in sentences:
        size = len(sentence[1])
        if count >= tokens and size:  # empty sentences go with those before: nobody learns from them alone
            yield chunk
            chunk, count = [], 0
        chunk.append(sentence)
        count += size
    if chunk:
        yield chunk


def sentences_of(given: Any) -> Iterable[LabelledTokens]:
    """Return what can be gone through twice: the sentences of files, by their paths, or what a user gave."""
    paths = [given] if isinstance(given, str | os.PathLike) else given
    if isinstance(paths, list | tuple) and paths and isinstance(paths[0], str | os.PathLike):
        return stored_sentences([Path(path) for path in paths])
    if hasattr(given, "to_delayed"):
        return BagSentences(given)
    if isinstance(given, Iterator) or not isinstance(given, Iterable):
        raise InputError("sentences must be something that can be gone through twice, such as a list.")
    return given
