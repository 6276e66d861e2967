"""Models fitted to frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .reading import sequences


def fit(
    model: Any,
    frame: Any,
    *,
    features: Sequence[str],
    label: str | None,
    group: str | None = None,
    order: str | None = None,
    **options: Any,
) -> Any:
    """Fit a model to the sequences of a frame; return the model.

    Parameters
    ----------
    model : estimator
        Any that labels sequences.
    frame : pandas or polars frame, or pyarrow table
        A row per position, or a row per sequence with columns of lists.
    features : list of str
        Columns to look at: numbers, texts, or lists of numbers such as embeddings; see `sequences`.
    label : str or None
        The column of labels; missing values are labels that were not observed. None for models that learn
        without labels.
    group : str, optional
        The column that names the sequence of every row; if not given, rows are sequences.
    order : str, optional
        A column to sort the rows of a sequence by.
    options
        Others of the model's `fit`.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernelfields import CRF, frames
    >>> frame = pd.DataFrame({"run": [1, 1, 2, 2], "x": [0.1, 0.9, 0.8, 0.2], "y": ["a", "b", "b", "a"]})
    >>> model = frames.fit(CRF(penalty=0.1), frame, features=["x"], label="y", group="run")
    >>> frames.label(model, frame[["run", "x"]], group="run")["label"].tolist()
    ['a', 'b', 'b', 'a']
    """
    found = sequences(frame, features, group=group, label=label, order=order, model=model)
    return model.fit(found.X, **options) if found.y is None else model.fit(found.X, found.y, **options)
