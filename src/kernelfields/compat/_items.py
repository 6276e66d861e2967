"""Features of a sequence, prepared once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import InputError


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

    def __init__(self, pyseq: Iterable[Any]) -> None:
        if isinstance(pyseq, ItemSequence):
            self._attributes: list[list[tuple[str, float]]] = pyseq._attributes
        else:
            self._attributes = [list(_attributes(item)) for item in pyseq]

    def items(self) -> list[dict[str, float]]:
        """Give one dictionary per item."""
        return [dict(pairs) for pairs in self._attributes]

    def summed(self) -> list[dict[str, float]]:
        """Give the same, values added up where an item has an attribute twice."""
        result = []
        for pairs in self._attributes:
            item: dict[str, float] = {}
            for name, value in pairs:
                item[name] = item.get(name, 0.0) + value
            result.append(item)
        return result

    def __len__(self) -> int:
        return len(self._attributes)

    def __repr__(self) -> str:
        """Say how long it is."""
        return f"<ItemSequence of size {len(self)}>"


def plain(xseq: Any) -> Any:
    """Give items as the extractor reads them."""
    if isinstance(xseq, ItemSequence):
        return xseq.summed()
    return xseq if isinstance(xseq, list | tuple) else list(xseq)


def _attributes(item: Any) -> Iterator[tuple[str, float]]:
    if isinstance(item, str) or not hasattr(item, "__iter__"):
        raise ItemError(f"An item is a dictionary or a collection of strings, not {item!r}.")
    if not isinstance(item, dict):
        for name in item:
            yield _text(name), 1.0
        return
    for key, value in item.items():
        name = _text(key)
        if isinstance(value, str | bytes):
            yield f"{name}:{_text(value)}", 1.0
        elif isinstance(value, dict | list | tuple | set | frozenset):
            for inner, number in _attributes(value):
                yield f"{name}:{inner}", number
        else:
            yield name, _number(value, name)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise ItemError(f"expected bytes, {type(value).__name__} found")
    return value


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except TypeError as error:
        raise ItemError(f"The value of {name!r}, {value!r}, is no string, number or collection.") from error
