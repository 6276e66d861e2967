"""Sentences from data frames with one token per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import InputError

if TYPE_CHECKING:
    import pandas as pd


class FrameSentences(NamedTuple):
    """The sentences of a data frame."""

    sentences: list[dict[str, list[str]]]
    """One dictionary of columns per sentence, as `TemplateFeatures` reads them."""
    labels: list[list[object]] | None
    """One list per sentence, with None where a label is missing; None without a column of labels."""
    ids: list[object]
    """The values of the column of sequences."""


def sentences_of(
    frame: pd.DataFrame, sequence: str, columns: Sequence[str], label: str | None = None
) -> FrameSentences:
    """Split a data frame with one token per row into sentences.

    Rows with the same value in the column ``sequence`` form one sentence, in the order of the frame, even
    if other rows are between them; sentences are in the order in which they begin.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per token.
    sequence : str
        The column with the sentence of each token; its values may not be missing.
    columns : list of str
        The columns to use; their values become strings.
    label : str, optional
        The column of labels.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"doc": [1, 1, 2], "w": ["The", "dog", "No"], "y": ["D", "N", "D"]})
    >>> sentences_of(frame, "doc", ["w"], "y").sentences
    [{'w': ['The', 'dog']}, {'w': ['No']}]
    """
    import pandas as pd

    for name in [sequence, *columns, *([label] if label is not None else [])]:
        if name not in frame.columns:
            raise InputError(f"The data frame has no column {name!r}.")
    for name in [sequence, *columns]:
        missing = frame[name].isna().to_numpy()
        if missing.any():
            raise InputError(f"Column {name!r} has no value in row {int(missing.argmax())}.")
    codes, ids = pd.factorize(frame[sequence], sort=False)
    order = codes.argsort(kind="stable")
    ends = pd.Series(codes).value_counts(sort=False).sort_index().cumsum().tolist()
    spans = list(zip([0, *ends[:-1]], ends, strict=True)) if ends else []
    texts = {name: frame[name].astype(str).to_numpy()[order].tolist() for name in columns}
    sentences = [{name: texts[name][a:b] for name in columns} for a, b in spans]
    labels = None
    if label is not None:
        known = frame[label].notna().to_numpy()[order]
        flat = frame[label].to_numpy()[order].tolist()
        flat = [y if there else None for y, there in zip(flat, known, strict=True)]
        labels = [flat[a:b] for a, b in spans]
    return FrameSentences(sentences, labels, list(ids))
