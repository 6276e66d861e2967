"""Values from JSON and the arrays of a file, as `FileEncoder` wrote them.

Objects are rebuilt from the table of a `Registry` and no other way, so that reading a file calls nothing
that is not in that table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import DATES, Array, falls, label_array
from ..errors import ModelFormatError
from ..io.container import Container
from ..io.strings import Strings, unpack_strings
from .encoder import holds_observations
from .objects import Registry
from .registered import registered_name

DEEPEST = 40
"""Objects within objects."""
SPREAD = 64
"""An array of strings gives each as much room as the longest needs: so many times the bytes of the file."""
FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class FileDecoder:
    """Makes values of JSON and the arrays of a file."""

    def __init__(
        self, container: Container, registry: Registry, read_model: Callable[[FileDecoder, Any], Any]
    ) -> None:
        self.registry = registry
        self.container = container
        self._read_model = read_model
        self._depth = 0
        self._known: dict[str, Array] = {}

    def decode(self, node: Any) -> Any:
        """Return the value."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if self._depth >= DEEPEST:
            raise ModelFormatError(f"Values are nested more than {DEEPEST} deep.")
        self._depth += 1
        try:
            return self._list(node) if isinstance(node, list) else self._marked(node)
        finally:
            self._depth -= 1

    def _list(self, node: Any) -> list[Any]:
        if not isinstance(node, list):
            raise ModelFormatError("Something is no list that ought to be one.")
        return [self.decode(item) for item in node]

    def _marked(self, node: dict[str, Any]) -> Any:
        mark = next(iter(node), "")
        if mark not in READERS:
            raise ModelFormatError(f"There are no values of the kind {mark!r}.")
        return READERS[mark](self, node)

    def _dict(self, node: dict[str, Any]) -> dict[Any, Any]:
        pairs = self._list(node["$dict"])
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ModelFormatError("A dictionary is not made of pairs.")
        return dict(pairs)

    def _float(self, node: dict[str, Any]) -> float:
        return FLOATS[node["$float"]]

    def _scalar(self, node: dict[str, Any]) -> Any:
        code, value = self._list(node["$scalar"])
        dtype = np.dtype(_text(code))
        if dtype.kind in DATES and type(value) is int:
            return dtype.type(value, np.datetime_data(dtype))
        if dtype.kind not in "biufU" or not isinstance(value, bool | int | float | str):
            raise ModelFormatError(f"{code!r} is no type of a single value.")
        return dtype.type(value)

    def _bytes(self, node: dict[str, Any]) -> bytes:
        return bytes.fromhex(_text(node["$bytes"]))

    def _dtype(self, node: dict[str, Any]) -> Any:
        dtype = np.dtype(_text(node["$dtype"]))
        if dtype.kind not in "biuf":
            raise ModelFormatError(f"{node['$dtype']!r} is no type of numbers.")
        return dtype

    def _object(self, node: dict[str, Any]) -> Any:
        name = node["$object"]
        row = self.registry.class_named(name) or (registered_name(name) if isinstance(name, str) else None)
        if row is None:
            advice = " Import the module that registers it first." if "." in str(name) else ""
            raise ModelFormatError(f"The file has an object of the unknown class {name!r}.{advice}")
        if not isinstance(node.get("parts"), dict):
            raise ModelFormatError(f"{row.name} lacks its parts.")
        parts = {name: self.decode(part) for name, part in node["parts"].items()}
        return row.make(parts, self.registry.checked)

    def _numbers(self, node: dict[str, Any]) -> Array:
        """Return an array; what was one array when it was written is one again."""
        key = repr(node)
        if key not in self._known:
            self._known[key] = self._checked_array(node)
        return self._known[key]

    def _checked_array(self, node: dict[str, Any]) -> Array:
        array = self.container.array(node["$array"])
        if array.dtype.kind == "f":
            missing = node.get("missing") is True and holds_observations(node["$array"])
            values = np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf) if missing else array
            _require_numbers(values, node["$array"], infinite=node.get("infinite") is True)
        if array.dtype == bool and len(array) and array.view(np.uint8).max() > 1:
            raise ModelFormatError(f"Tensor {node['$array']!r} has booleans that are none.")
        axes = node.get("axes")
        if axes is None:
            return array
        if sorted(axes) != list(range(array.ndim)):
            raise ModelFormatError(f"Tensor {node['$array']!r} has other axes than {axes!r}.")
        return array.transpose(np.argsort(axes))

    def _strings(self, node: dict[str, Any], mark: str = "$strings") -> list[str]:
        text, ends = node[mark]
        return unpack_strings(Strings(self.container.array(text), self.container.array(ends)))

    def _texts(self, node: dict[str, Any]) -> Array:
        strings = self._strings(node, "$texts")
        room = 4 * len(strings) * max(map(len, strings), default=0)
        if room > SPREAD * self.container.size:
            raise ModelFormatError("One string is too long for an array with so many others.")
        return np.array(strings, dtype=np.str_)

    def _sparse(self, node: dict[str, Any]) -> Any:
        data, indices, indptr = self._list(node["parts"])
        shape = tuple(node["shape"])
        if len(shape) != 2 or not all(type(n) is int and 0 <= n < 2**63 for n in shape):
            raise ModelFormatError("A sparse matrix has a shape that is none.")
        major, minor = shape if node["$sparse"] == "csr" else shape[::-1]
        _require_compressed(data, indices, indptr, major, minor)
        make = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}[node["$sparse"]]
        return make((data, indices, indptr), shape=shape, copy=False)


READERS: Mapping[str, Callable[[FileDecoder, dict[str, Any]], Any]] = {
    "$array": FileDecoder._numbers,
    "$bytes": FileDecoder._bytes,
    "$dict": FileDecoder._dict,
    "$dtype": FileDecoder._dtype,
    "$float": FileDecoder._float,
    "$frozenset": lambda decoder, node: frozenset(decoder._list(node["$frozenset"])),
    "$object": FileDecoder._object,
    "$model": lambda decoder, node: decoder._read_model(decoder, node["$model"]),
    "$objects": lambda decoder, node: _objects(decoder._list(node["$objects"])),
    "$scalar": FileDecoder._scalar,
    "$set": lambda decoder, node: set(decoder._list(node["$set"])),
    "$slice": lambda decoder, node: slice(*decoder._list(node["$slice"])),
    "$sparse": FileDecoder._sparse,
    "$strings": lambda decoder, node: _objects(decoder._strings(node)),
    "$texts": FileDecoder._texts,
    "$tuple": lambda decoder, node: tuple(decoder._list(node["$tuple"])),
}


def decode_labels(decoder: FileDecoder, node: Any) -> Array:
    """Return the labels, all different."""
    labels = decoder._list(node)
    if len(set(labels)) < len(labels) or None in labels:
        raise ModelFormatError("A label occurs twice, or is none.")
    longest = max((len(label) for label in labels if isinstance(label, str)), default=0)
    if 4 * longest * len(labels) > SPREAD * decoder.container.size:
        raise ModelFormatError("One label is too long for an array with so many others.")
    return label_array(labels)


def _objects(items: list[Any]) -> Array:
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 2**20:
        raise ModelFormatError(f"{value!r} is no text.")
    return value


def _require_numbers(array: Array, name: str, infinite: bool) -> None:
    """Refuse NaN, and infinity unless it was announced."""
    flat = array.reshape(-1)
    for start in range(0, len(flat), 2**16):
        some = flat[start : start + 2**16]
        if np.isnan(some).any() if infinite else not np.isfinite(some).all():
            raise ModelFormatError(f"Tensor {name!r} holds NaN or infinity.")


def _require_compressed(data: Any, indices: Any, indptr: Any, major: int, minor: int) -> None:
    """Refuse what compiled code would follow out of the arrays."""
    parts = (data, indices, indptr)
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts):
        raise ModelFormatError("A sparse matrix is not made of three arrays.")
    if (
        indices.dtype not in (np.int32, np.int64)
        or indptr.dtype != indices.dtype
        or data.dtype.kind not in "bf"
    ):
        raise ModelFormatError("A sparse matrix has arrays of the wrong type.")
    fits = len(indptr) == major + 1 and len(data) == len(indices) and indptr[0] == 0
    if not fits or indptr[-1] != len(indices) or falls(indptr):
        raise ModelFormatError("The rows of a sparse matrix do not fit its entries.")
    if len(indices) and not (indices.min() >= 0 and indices.max() < minor):
        raise ModelFormatError("A sparse matrix has entries outside of its shape.")
