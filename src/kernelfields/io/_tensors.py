"""The table of contents of a safetensors file, read without trusting it.

The format: 8 bytes, the length of a JSON object; the object, with the type, shape and place of every tensor,
and texts by name under ``__metadata__``; then the bytes of all tensors, without gaps.
"""

from __future__ import annotations

import json
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import ModelFormatError

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
