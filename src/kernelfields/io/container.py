"""Files of named arrays with a JSON header: safetensors, written atomically and read at once.

Both the header and the arrays have a checksum (CRC-32), which finds accidental damage; it is not a
signature.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array
from ..errors import ModelFormatError
from .opening import opened_file
from .replacing import replacing

HEADER = "kernelfields"
CHECK_OF_HEADER, CHECK_OF_DATA = "header_crc32", "data_crc32"
LONGEST_HEADER = 2**26
"""Bytes of the longest header; large data belong into tensors."""
ALIGNMENT = 64


def write_container(path: str | os.PathLike[str], arrays: Mapping[str, Array], header: Any) -> None:
    """Write arrays of numbers and a header of JSON values; replace a file of this name.

    The file appears when it is complete and on disk (`replacing`).
    """
    # Large numbers first: each tensor then begins at a multiple of the size of its numbers.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    parts = [np.ascontiguousarray(arrays[name], arrays[name].dtype.newbyteorder("<")) for name in order]
    start = _start_of_file(dict(zip(order, parts, strict=True)), json.dumps(header))
    with replacing(path) as file:
        file.write(start)
        for part in parts:
            file.write(_bytes(part))


def _start_of_file(parts: Mapping[str, Array], header: str) -> bytes:
    """Return everything before the tensors."""
    table: dict[str, Any] = {}
    end, check = 0, 0
    for name, part in parts.items():
        place = [end, end + part.nbytes]
        table[name] = {"dtype": tensor_name(part.dtype), "shape": list(part.shape), "data_offsets": place}
        end, check = place[1], native.checksum(part.reshape(-1).view(np.uint8), check)
    texts = {HEADER: header, CHECK_OF_DATA: f"{check:08x}"}
    texts[CHECK_OF_HEADER] = _check_of_header(table, texts)
    text = json.dumps({METADATA: texts, **table}, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    if len(text) > LONGEST_HEADER:
        raise ValueError(f"The header takes {len(text)} bytes, more than the limit of {LONGEST_HEADER}.")
    return len(text).to_bytes(8, "little") + text


def _check_of_header(table: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    whole = json.dumps([table, texts[HEADER], texts[CHECK_OF_DATA]], sort_keys=True)
    return f"{zlib.crc32(whole.encode()):08x}"


def _bytes(part: Array) -> memoryview:
    return part.reshape(-1).view(np.uint8).data


class Container:
    """A file of arrays, open for reading.

    Opening reads the file and checks the header; arrays are views of what was read. `check` compares them
    with their checksum. A file that is mapped to memory instead would change under its readers, or end them,
    where somebody copies another over it.

    Parameters
    ----------
    path : path
        The file. Whatever happens to it later, the arrays remain as they were.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with opened_file(self.path) as file:
            begin = file.read(8)
            if len(begin) < 8:
                raise ModelFormatError(f"The file has {len(begin)} bytes, too few for a model.")
            length = int.from_bytes(begin, "little")
            text = file.read(length) if length <= LONGEST_HEADER else b""
            if len(text) < length:
                raise ModelFormatError(f"The header should take {length} bytes: not a model, or cut off.")
            table = parse_json(text, "The header")  # before the rest is read, which may be without end
            # Writable: compiled code of other packages asks for arrays that it could write to.
            self._data = bytearray(begin + text)
            self._data += file.read()
        self.size = len(self._data)
        self._start = 8 + length
        self._checked = False
        texts = table.pop(METADATA, None) if isinstance(table, dict) else None
        if not isinstance(texts, dict) or not all(
            isinstance(texts.get(name), str) for name in (HEADER, CHECK_OF_HEADER, CHECK_OF_DATA)
        ):
            raise ModelFormatError("The file was not written by kernelfields.")
        if texts[CHECK_OF_HEADER] != _check_of_header(table, texts):
            raise ModelFormatError("The header does not match its checksum: the file is damaged.")
        self._tensors = read_tensors(table, self.size - self._start)
        self._check = texts[CHECK_OF_DATA]
        self.header = parse_json(texts[HEADER], "The description of the model")

    @property
    def data_size(self) -> int:
        """Total size of all arrays in bytes."""
        return self.size - self._start

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """Types and shapes of all arrays."""
        return self._tensors

    def array(self, name: Any) -> Array:
        """Return an array by name."""
        if not isinstance(name, str) or name not in self._tensors:
            raise ModelFormatError(f"The file has no tensor {name!r}.")
        tensor = self._tensors[name]
        count = (tensor.end - tensor.start) // tensor.dtype.itemsize
        if count == 0:
            return np.zeros(tensor.shape, tensor.dtype)
        flat = np.frombuffer(self._data, tensor.dtype, count, self._start + tensor.start)
        return flat.reshape(tensor.shape)

    def check(self) -> None:
        """Compare the arrays with their checksum, once."""
        if self._checked:
            return
        whole = np.frombuffer(self._data, np.uint8)
        found = native.checksum(whole[self._start :], 0)
        if f"{found:08x}" != self._check:
            raise ModelFormatError("The arrays do not match their checksum: the file is damaged.")
        self._checked = True


METADATA = "__metadata__"
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
"""Types of numbers, by their names in the file."""
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
MOST_AXES = 8


class Tensor(NamedTuple):
    """The place of one array."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    """In bytes, counted from the end of the header."""
    end: int


def tensor_name(dtype: npt.DTypeLike) -> str:
    """Return the name of a type of numbers."""
    return NAMES[np.dtype(dtype).newbyteorder("<")]


def parse_json(text: bytes | str, what: str) -> Any:
    """Read JSON; refuse repeated names, NaN and infinity."""
    try:
        return json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{what} is not valid JSON: {error}.") from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a name occurs twice")
    return result


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def read_tensors(table: dict[str, Any], size: int) -> dict[str, Tensor]:
    """Check that tensors follow each other and take ``size`` bytes, and return them."""
    found = {name: _tensor(name, entry) for name, entry in table.items()}
    end = 0
    for name, tensor in sorted(found.items(), key=lambda item: (item[1].start, item[1].end)):
        if tensor.start != end:
            raise ModelFormatError(f"Tensor {name!r} begins at byte {tensor.start}, expected {end}.")
        end = tensor.end
    if end != size:
        raise ModelFormatError(f"The tensors take {end} bytes, but {size} bytes follow the header.")
    return found


def _tensor(name: str, entry: Any) -> Tensor:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFormatError(f"Tensor {name!r} is not described by dtype, shape and data_offsets.")
    code, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in DTYPES:
        raise ModelFormatError(f"Tensor {name!r} has the unknown type {code!r}.")
    if not _whole(shape) or len(shape) > MOST_AXES or not _whole(place) or len(place) != 2:
        raise ModelFormatError(f"Tensor {name!r} has an invalid shape or place.")
    dtype, (start, end) = np.dtype(DTYPES[code]), place
    if end - start != prod(shape) * dtype.itemsize:
        raise ModelFormatError(f"Tensor {name!r} of shape {tuple(shape)} does not fit into its bytes.")
    if start % dtype.itemsize:
        raise ModelFormatError(f"Tensor {name!r} begins in the middle of a number.")
    return Tensor(dtype, tuple(shape), start, end)


def _whole(numbers: Any) -> bool:
    """Return whether a value is a list of whole numbers from 0 to 2⁶³ − 1."""
    return isinstance(numbers, list) and all(type(n) is int and 0 <= n < 2**63 for n in numbers)
