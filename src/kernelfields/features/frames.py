"""Data frames with one token per row to sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import InputError

if TYPE_CHECKING:
    import pandas as pd


class FrameSentences(NamedTuple):
    """The sentences of a data frame."""

    sentences: list[dict[str, list[str]]]
    """One dictionary of columns each: what ``TemplateFeatures`` reads."""
    labels: list[list[object]] | None
    """One list each, if a column of labels was named; None in it where a label is missing."""
    ids: list[object]
    """What the column of sequences says."""


def sentences_of(
    frame: pd.DataFrame, sequence: str, columns: Sequence[str], label: str | None = None
) -> FrameSentences:
    """Cut a data frame with one token per row into sentences.

    Rows with the same value in the column ``sequence`` are one sentence, in the order of the frame, even
    if other rows are between them; sentences are in the order in which they begin.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per token.
    sequence : str
        The column that says to which sentence a token belongs; it may not be missing.
    columns : list of str
        The columns to take, whose values become strings.
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
