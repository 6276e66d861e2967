"""Values as JSON with references to arrays.

JSON has no tuples, no sets, no types of numbers and no arrays: what it lacks is an object with one marked
name, ``{"$tuple": [1, 2]}``. Objects are taken apart as the table of a `Registry` says.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import DATES, Array
from ..errors import InputError
from ..io.strings import pack_strings
from .objects import Registry
from .registered import registered_class
from .savable import Savable


class FileEncoder:
    """Gathers arrays while values become JSON."""

    def __init__(self, registry: Registry, write_model: Callable[[FileEncoder, Any, str], Any]) -> None:
        self.registry = registry
        self.arrays: dict[str, Array] = {}
        self._names: dict[int, tuple[str, Array]] = {}  # with the arrays, lest others get their ids
        self._write_model = write_model

    def encode(self, value: Any, where: str) -> Any:
        """Return the JSON of a value; ``where`` names it, in the file and in messages."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$float": str(value)}
        if isinstance(value, np.generic):
            plain = int(value.astype(np.int64)) if value.dtype.kind in DATES else value.item()
            return {"$scalar": [value.dtype.str, self.encode(plain, where)]}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sparse.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, Mapping) and self.registry.class_of(value) is None:
            pairs = enumerate(value.items())
            return {"$dict": [[self.encode(k, where), self.encode(v, f"{where}.{n}")] for n, (k, v) in pairs]}
        return self._other(value, where)

    def _other(self, value: Any, where: str) -> Any:
        if isinstance(value, Savable):
            return {"$model": self._write_model(self, value, where)}
        row = self.registry.class_of(value) or registered_class(type(value))
        if row is not None:
            parts = row.parts(value)
            return {
                "$object": row.name,
                "parts": {name: self.encode(part, f"{where}.{name}") for name, part in parts.items()},
            }
        for kind, mark in ((list, None), (tuple, "$tuple"), (set, "$set"), (frozenset, "$frozenset")):
            if type(value) is kind:
                items = [self.encode(item, f"{where}.{n}") for n, item in enumerate(value)]
                return items if mark is None else {mark: items}
        if isinstance(value, bytes):
            return {"$bytes": value.hex()}
        if isinstance(value, slice):
            return {"$slice": [self.encode(part, where) for part in (value.start, value.stop, value.step)]}
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic | float)):
            return {"$dtype": np.dtype(value).str}
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if callable(value) and (inspect.isroutine(value) or isinstance(value, type)):
            raise InputError(f"{where} is a function, which a model file cannot hold.")
        raise InputError(
            f"{where} is of type {type(value).__name__}, which a model file cannot hold unless "
            "kernelfields.register has made it known."
        )

    def _array(self, array: Array, where: str) -> Any:
        if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8 and array.dtype != np.float16:
            return self._numbers(array, where)
        if array.dtype.kind not in "UO" or array.ndim != 1:
            raise InputError(f"{where} is an array of {array.dtype}, which a model file cannot hold.")
        items = array.tolist()
        if not all(type(item) is str for item in items):
            return {"$objects": [self.encode(item, f"{where}.{n}") for n, item in enumerate(items)]}
        table = pack_strings(items)
        kind = "$strings" if array.dtype == object else "$texts"
        return {kind: [self._put(table.text, f"{where}.text"), self._put(table.ends, f"{where}.ends")]}

    def _numbers(self, array: Array, where: str) -> Any:
        """Axes go in the order they have in memory: sums then come out the same to the last bit."""
        missing = array.dtype.kind == "f" and bool(np.isnan(array).any())
        if missing and not holds_observations(where):
            raise InputError(f"{where} holds NaN, which a model file cannot hold.")
        axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        result: dict[str, Any] = {"$array": self._put(array, where, axes)}
        if axes != sorted(axes):
            result["axes"] = axes
        if array.dtype.kind == "f" and np.isinf(array).any():
            result["infinite"] = True
        if missing:
            result["missing"] = True
        return result

    def _put(self, array: Array, where: str, axes: list[int] | None = None) -> str:
        """Keep an array, once if it comes again."""
        if id(array) in self._names:
            return self._names[id(array)][0]
        assert where not in self.arrays
        self.arrays[where] = array if axes is None else array.transpose(axes)
        self._names[id(array)] = (where, array)
        return where

    def _sparse(self, matrix: Any, where: str) -> Any:
        matrix = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
        names = ("data", "indices", "indptr")
        parts = [self.encode(getattr(matrix, name), f"{where}.{name}") for name in names]
        return {"$sparse": matrix.format, "shape": list(matrix.shape), "parts": parts}


def holds_observations(where: str) -> bool:
    """Tell by the name of an array whether it has observations, whose numbers may be missing."""
    return where.rpartition(".")[2] in ("basis_", "basis")


def encode_labels(encoder: FileEncoder, classes: Array) -> list[Any]:
    """Labels one by one, so that each keeps its type."""
    return [encoder.encode(label, f"Label {label!r}") for label in classes.tolist()]
