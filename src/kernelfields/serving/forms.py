"""What the sequences of a model are made of, by its features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, quoted
from ..io.jsonl import kind_of
from ._base import Form
from .limits import LARGEST

TEXT = {"type": "string"}
NUMBER = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}


@dataclass(frozen=True)
class WordForm(Form):
    """Tokens: words, or their columns."""

    columns: tuple[str, ...]
    """Their names; the first is that of the word."""
    name = "tokens"

    def read(self, tokens: list[Any]) -> Any:
        """Return words as they are, and columns as tuples."""
        if set(map(type, tokens)) <= {str}:
            return tokens
        return [token if type(token) is str else self._token(t, token) for t, token in enumerate(tokens)]

    def _token(self, t: int, token: Any) -> Any:
        if isinstance(token, dict):
            return self._named(t, token)
        if not isinstance(token, list) or not set(map(type, token)) <= {str}:
            raise InputError(f"position {t}: a token must be a string, or a list of strings.")
        if len(token) not in (1, len(self.columns)):
            raise InputError(
                f"position {t}: the token has {len(token)} columns, but the model was trained on "
                f"{len(self.columns)}: {', '.join(self.columns)}."
            )
        return tuple(token)

    def _named(self, t: int, token: dict[str, Any]) -> dict[str, Any]:
        """Return an object of columns; the word is needed, and nothing that the model does not know."""
        for key, value in token.items():
            if key not in self.columns:
                known = ", ".join(self.columns)
                raise InputError(f"position {t}: there is no column {quoted(key, 40)}, only {known}.")
            if not isinstance(value, str):
                raise InputError(f"position {t}: column {quoted(key, 40)} is {kind_of(value)}, not a string.")
        if self.columns[0] not in token:
            raise InputError(
                f"position {t}: the object has no {quoted(self.columns[0], 40)}, the token itself."
            )
        return token

    def schema(self) -> dict[str, Any]:
        """Return that of a string, of lists of strings, and of an object that names columns."""
        lists = [{"type": "array", "items": TEXT, "minItems": n, "maxItems": n} for n in self._widths()]
        named = {
            "type": "object",
            "properties": dict.fromkeys(self.columns, TEXT),
            "required": [self.columns[0]],
            "additionalProperties": False,
        }
        return {"anyOf": [TEXT, *lists, named]}

    def _widths(self) -> list[int]:
        return sorted({1, len(self.columns)})


@dataclass(frozen=True)
class SymbolForm(Form):
    """Symbols, which are compared and not looked into."""

    name = "symbols"

    def read(self, tokens: list[Any]) -> Any:
        """Return strings as they are."""
        odd = [] if set(map(type, tokens)) <= {str} else [type(token) is not str for token in tokens]
        if odd:
            t = odd.index(True)
            raise InputError(f"position {t}: a symbol must be a string, not {kind_of(tokens[t])}.")
        return tokens

    def schema(self) -> dict[str, Any]:
        """Return that of a string."""
        return TEXT


@dataclass(frozen=True)
class AttributeForm(Form):
    """Objects of features, as users of CRFsuite write them."""

    name = "features"

    def read(self, tokens: list[Any]) -> Any:
        """Return objects, and lists of strings, as they are."""
        for t, token in enumerate(tokens):
            if isinstance(token, dict):
                for key, value in token.items():
                    self._require_value(t, key, value)
            elif not _is_texts(token):
                raise InputError(
                    f"position {t}: features must be an object or a list of strings, not {kind_of(token)}."
                )
        return tokens

    @staticmethod
    def _require_value(t: int, key: str, value: Any) -> None:
        if isinstance(value, str | bool) or _is_texts(value):
            return
        if not _is_number(value):
            raise InputError(
                f"position {t}: feature {quoted(key, 40)} must be a string, a number, a boolean or a list "
                f"of strings, not {_shown(value)}."
            )

    def schema(self) -> dict[str, Any]:
        """Return that of an object, and of a list of strings."""
        texts = {"type": "array", "items": TEXT}
        values = {"anyOf": [TEXT, NUMBER, {"type": "boolean"}, texts]}
        return {"anyOf": [{"type": "object", "additionalProperties": values}, texts]}


@dataclass(frozen=True)
class RowForm(Form):
    """Rows of numbers."""

    width: int | None
    """Numbers in a row, if the model says that."""
    missing: bool
    """Whether null stands for a number that is missing."""
    name = "numbers"

    def read(self, tokens: list[Any]) -> Any:
        """Return a matrix, NaN where a number is missing."""
        width = self.width
        for t, row in enumerate(tokens):
            if not isinstance(row, list):
                raise InputError(f"position {t}: a row must be a list of numbers, not {kind_of(row)}.")
            width = len(row) if width is None else width
            if len(row) != width:
                raise InputError(f"position {t}: the row has {len(row)} numbers, expected {width}.")
            for d, number in enumerate(row):
                if not (_is_number(number) or (self.missing and number is None)):
                    raise InputError(f"position {t}: number {d} of the row is {_shown(number)}.")
        return np.array(tokens, dtype=np.float64).reshape(len(tokens), width or 0)

    def schema(self) -> dict[str, Any]:
        """Return that of a row."""
        number = {"anyOf": [NUMBER, {"type": "null"}]} if self.missing else NUMBER
        size = {} if self.width is None else {"minItems": self.width, "maxItems": self.width}
        return {"type": "array", "items": number, **size}


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST


def _shown(value: Any) -> str:
    """Return what is wrong with a number."""
    if type(value) not in (int, float):
        return kind_of(value)
    if type(value) is float and not math.isfinite(value):
        return "not finite"
    return f"beyond {LARGEST:g}"
