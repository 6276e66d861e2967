"""Tokens instead of arrays: which extractor turns them into features."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import offsets_of
from ..checks import as_list
from ..errors import InputError
from ..features import DictFeatures, TemplateFeatures, Templates
from ..features.sets import chunking, ner, pos
from .inputs import Inputs


class Verbatim:
    """Takes tokens as they are, for kernels that compare other things than numbers."""

    def fit_transform(self, X: Any) -> tuple[Any, list[int]]:
        """Nothing is learnt."""
        return self.transform(X)

    def transform(self, X: Any) -> tuple[Any, list[int]]:
        """Return the tokens of all sequences, one behind the other, as an array of objects."""
        tokens = [token for sequence in X for token in sequence]
        result = np.empty(len(tokens), dtype=object)
        result[:] = tokens
        return result, [len(sequence) for sequence in X]


Extractor = TemplateFeatures | DictFeatures | Verbatim

SETS: Mapping[str, Callable[[], Templates]] = {"chunking": chunking, "ner": ner, "pos": pos}


def extractor_for(features: Any, X: Any, *, verbatim: bool = False) -> Extractor | None:
    """Return a new extractor: the one asked for; one for dictionaries if X has them; none for arrays.

    With ``verbatim``, strings are observations themselves.
    """
    if isinstance(features, TemplateFeatures | DictFeatures):
        return copy.copy(features)
    if isinstance(features, Templates):
        return TemplateFeatures(features, dtype=np.float32)
    if isinstance(features, str):
        templates = SETS[features]() if features in SETS else features
        return TemplateFeatures(templates, dtype=np.float32)
    if features is not None:
        raise InputError(
            f"features={features!r} is neither the name of a set, nor templates, nor an extractor."
        )
    token = _first_token(X)
    if isinstance(token, str) and verbatim:
        return Verbatim()
    if isinstance(token, str):
        raise InputError(
            "X holds plain strings: say with features= what to look at, for example features='pos'."
        )
    return DictFeatures(dtype=np.float32) if _attributes(token) else None


def _first_token(X: Any) -> Any:
    X = as_list(X)
    if not isinstance(X, list | tuple):
        return None
    return next((sentence[0] for sentence in X if isinstance(sentence, list | tuple) and sentence), None)


def _attributes(token: Any) -> bool:
    """Whether a token is a dictionary or a collection of strings."""
    if isinstance(token, dict | set | frozenset):
        return True
    return isinstance(token, list | tuple) and bool(token) and all(isinstance(item, str) for item in token)


def read_tokens(extractor: Extractor, X: Any, *, fit: bool) -> Inputs:
    """Return the features of sentences, which the extractor also learns from if asked to."""
    if isinstance(X, list | tuple):
        for s, sentence in enumerate(X):
            if hasattr(sentence, "columns") or sparse.issparse(sentence):
                kind = type(sentence).__name__
                raise InputError(
                    f"Sequence {s} of X is a {kind}; with features= it must be a list of tokens."
                )
    matrix, lengths = extractor.fit_transform(X) if fit else extractor.transform(X)
    return Inputs(matrix, offsets_of(lengths), None)


def read_rows(extractor: Extractor | None, X: Any) -> Inputs:
    """Return the features of sentences to predict, as rows."""
    assert isinstance(extractor, TemplateFeatures | DictFeatures)
    rows = extractor.rows(X)
    return Inputs(rows, rows.offsets, None)
