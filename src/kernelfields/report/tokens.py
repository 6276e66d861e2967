"""Texts that stand for positions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ..checks import is_list, shown
from ..errors import InputError


def read_texts(tokens: Any, X: list[Any], y: list[list[Hashable]]) -> list[list[str]]:
    """Return a text for every position: those given, or those of X, or numbers."""
    if tokens is None:
        return [_texts(x, len(labels)) for x, labels in zip(X, y, strict=True)]
    if not is_list(tokens):
        raise InputError(f"tokens is {shown(tokens)}, not a list of lists of texts.")
    for s, sequence in enumerate(tokens):
        if not is_list(sequence) and not isinstance(sequence, str):
            raise InputError(f"Sequence {s} of tokens is {shown(sequence)}, not a list of texts.")
    result = [[str(token) for token in sequence] for sequence in tokens]
    if len(result) != len(y):
        raise InputError(f"tokens has {len(result)} sequences, but y has {len(y)}.")
    for s, (texts, labels) in enumerate(zip(result, y, strict=True)):
        if len(texts) != len(labels):
            raise InputError(f"Sequence {s} has {len(texts)} texts in tokens, but {len(labels)} labels in y.")
    return result


def read_names(names: Any, count: int) -> list[str] | None:
    """Return the names of sequences, if they were given."""
    if names is None:
        return None
    if not is_list(names) or len(names) != count:
        raise InputError(f"names is {shown(names)}; it must be a list of {count} names.")
    return [str(name) for name in names]


def _texts(x: Any, length: int) -> list[str]:
    """Tokens, or the first column of tokens; numbers from 0 where there are neither."""
    if isinstance(x, (list, tuple)) and len(x) == length:
        if all(isinstance(token, str) for token in x):
            return list(x)
        if all(_is_row(token) for token in x):
            return [token[0] for token in x]
    return [str(t) for t in range(length)]


def _is_row(token: Any) -> bool:
    return isinstance(token, Sequence) and len(token) > 0 and isinstance(token[0], str)
