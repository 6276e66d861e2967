"""Many strings as two arrays: their concatenated bytes, and the end of each."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import falls
from ..errors import ModelFormatError


class Strings(NamedTuple):
    """A table of strings."""

    text: npt.NDArray[np.uint8]
    """UTF-8."""
    ends: npt.NDArray[np.int64]


def pack_strings(strings: Iterable[str]) -> Strings:
    """Put strings into a table."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
    return Strings(np.frombuffer(b"".join(encoded), np.uint8), ends)


def unpack_strings(table: Strings) -> list[str]:
    """Read a table after checking that it is one."""
    text, ends = table
    if text.dtype != np.uint8 or ends.dtype != np.int64 or text.ndim != 1 or ends.ndim != 1:
        raise ModelFormatError("A table of strings has arrays of the wrong type.")
    bounds = np.concatenate([[0], ends])
    if falls(bounds) or bounds[-1] != len(text):
        raise ModelFormatError("The ends of strings do not fit their bytes.")
    whole = text.tobytes()
    try:
        return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds.tolist())]
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"A string is not UTF-8: {error}.") from None
