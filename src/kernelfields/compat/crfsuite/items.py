"""Features of a sequence, prepared once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import InputError
from ...native import ItemRows


class ItemError(InputError, TypeError):
    """Items that cannot be read; python-crfsuite raises a ``TypeError``, here it is an `InputError` too."""


class ItemSequence:
    """The features of all items of a sequence as attributes with values.

    Items are dictionaries or collections of strings, as `features.DictFeatures` reads them: values may be
    numbers, booleans, strings, lists and sets of strings, and dictionaries of all these.

    Examples
    --------
    >>> ItemSequence([["foo"], {"bar": {"baz": 1}, "word": "the"}]).items()
    [{'foo': 1.0}, {'bar:baz': 1.0, 'word:the': 1.0}]
    """

    rows: ItemRows

    def __init__(self, pyseq: Iterable[Any]) -> None:
        if isinstance(pyseq, ItemSequence):
            self.rows = pyseq.rows
            return
        try:
            self.rows = ItemRows(pyseq)
        except ValueError as error:
            raise ItemError(str(error)) from None

    def items(self) -> list[dict[str, float]]:
        """Return one dictionary per item; where it has an attribute twice, the last value."""
        return self.rows.items()

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        """Say how long it is."""
        return f"<ItemSequence of size {len(self)}>"


def plain(xseq: Any) -> Any:
    """Return items as the core reads them, with a length."""
    if isinstance(xseq, ItemSequence):
        return xseq.rows
    return xseq if isinstance(xseq, list | tuple) else list(xseq)
