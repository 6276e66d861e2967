"""Sequences of a frame, as models take them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..checks import is_list, shown
from ..errors import InputError
from ..estimators import HMM
from ..features import ArrayTokens, DictFeatures, TokensAndArrays
from ..files.items import NamedColumns
from ..missing import is_missing
from ..models.vertex_kernels import takes_objects
from .positions import Positions, open_frame, read_positions


class FrameSequences(NamedTuple):
    """The sequences of a frame."""

    X: list[Any]
    """As the model takes them."""
    y: list[list[Any]] | None
    """Labels, None where one is missing; None without a column of labels."""
    ids: list[Any]
    """Values of the group column, in the order of X; numbers of rows if these are sequences."""


def sequences(
    frame: Any,
    features: Sequence[str],
    *,
    group: str | None = None,
    label: str | None = None,
    order: str | None = None,
    model: Any = None,
) -> FrameSequences:
    """Return the sequences of a frame as a model takes them.

    Columns of numbers, and of lists of numbers (embeddings), become (T, D) arrays; columns of text become
    tokens: strings of one column, tuples of several, dictionaries for models that read these (``features=``
    left out). Both together are dictionaries or, for `TokensAndArrays`, tokens with an array.

    Parameters
    ----------
    frame : pandas or polars frame, or pyarrow table
        A row per position, or a row per sequence with columns of lists.
    features : list of str
        Columns to look at, in this order.
    group : str, optional
        The column that names the sequence of every row, which need not be together; sequences are in the
        order in which they begin. If not given, rows are sequences.
    label : str, optional
        The column of labels.
    order : str, optional
        A column to sort the rows of a sequence by, such as a time; else they are in the order of the frame.
    model : estimator, optional
        What the sequences are for; without it, numbers beside texts are refused.
    """
    found = read_positions(open_frame(frame), column_names(features), group, order, label)
    return cut_sequences(found, list(features), label, model)


def column_names(features: Any) -> list[str]:
    """Refuse what is no list of names."""
    if not is_list(features) or not len(features) or not all(isinstance(name, str) for name in features):
        raise InputError(f"features is {shown(features)}; it must be a list of names of columns.")
    return list(features)


def known_columns(model: Any) -> list[str] | None:
    """Return the names of the columns that a model was fitted to; in a pipeline, a transformer saw them."""
    first = vars(model).get("transformers_", ())[:1]
    for one in (model, *first, vars(model).get("estimator_")):
        names = getattr(one, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
    return None


def cut_sequences(found: Positions, features: list[str], label: str | None, model: Any) -> FrameSequences:
    """Return the sequences of columns that were read."""
    values = {name: found.columns[name] for name in features}
    numbers = {name: one for name, one in values.items() if isinstance(one, np.ndarray)}
    texts = {name: one for name, one in values.items() if name not in numbers}
    y = None
    if label is not None:
        flat = found.columns[label]
        flat = flat.tolist() if isinstance(flat, np.ndarray) else flat
        y = found.cut([None if is_missing(one) else one for one in flat])
    return FrameSequences(_inputs(found, numbers, texts, model), y, found.ids)


def _inputs(found: Positions, numbers: dict[str, Any], texts: dict[str, Any], model: Any) -> list[Any]:
    extractor = getattr(model, "features", None)
    if isinstance(extractor, TokensAndArrays):
        if not numbers or not texts:
            raise InputError("TokensAndArrays needs columns of text and columns of numbers.")
        tokens, arrays = _tokens(found, texts, _reads_dictionaries(extractor.tokens)), _arrays(found, numbers)
        return [ArrayTokens(*pair) for pair in zip(tokens, arrays, strict=True)]
    if not texts:
        return _arrays(found, numbers)
    dictionaries = model is not None and _takes_dictionaries(model, texts)
    if not numbers:
        return _tokens(found, texts, dictionaries)
    if not dictionaries:
        raise InputError(
            f"{next(iter(texts))!r} holds texts and {next(iter(numbers))!r} numbers: "
            "give the model features=TokensAndArrays(...), or none."
        )
    wide = next((name for name, one in numbers.items() if one.ndim > 1), None)
    if wide is not None:
        raise InputError(f"{wide!r} holds lists of numbers: give the model features=TokensAndArrays(...).")
    return _tokens(found, {**texts, **{name: one.tolist() for name, one in numbers.items()}}, True)


def _takes_dictionaries(model: Any, texts: dict[str, Any]) -> bool:
    """Whether tokens are dictionaries; hidden Markov models and kernels of texts take one column as it is."""
    if isinstance(model, HMM):
        return False
    kernel = getattr(model, "kernel", None)
    verbatim = len(texts) == 1 and kernel is not None and takes_objects(kernel)
    return not verbatim and _reads_dictionaries(getattr(model, "features", None))


def _reads_dictionaries(features: Any) -> bool:
    return features is None or isinstance(features, DictFeatures)


def _arrays(found: Positions, numbers: dict[str, Any]) -> list[Any]:
    """Return (T, D) arrays; with the names of columns, if every column is one."""
    blocks = [one if one.ndim == 2 else one[:, None] for one in numbers.values()]
    rows = np.concatenate(blocks, axis=1)
    parts = found.cut(rows)
    return parts if rows.shape[1] != len(numbers) else [NamedColumns.of(x, list(numbers)) for x in parts]


def _tokens(found: Positions, texts: dict[str, Any], dictionaries: bool) -> list[Any]:
    columns = list(texts.values())
    if dictionaries:
        names = list(texts)
        rows: Any = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    else:
        rows = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    return [rows[a:b] for a, b in pairwise(found.offsets.tolist())]
