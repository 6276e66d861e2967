"""Storage of large matrices, in memory or in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import Check, Checked, optional, whole


@dataclass(frozen=True)
class Storage(Checked):
    """Storage in memory, or in a mapped file that is deleted with the array.

    Parameters
    ----------
    memory_limit : int, optional
        Bytes beyond which a matrix is kept in a file; no limit if not given. Every product then reads the
        file once, from the system's cache as far as it fits there.
    scratch : path, optional
        Folder of such files; the system's folder for temporary files if not given.
    """

    memory_limit: int | None = None
    scratch: str | Path | None = None
    _checks: ClassVar[Mapping[str, Check]] = {"memory_limit": optional(whole(0, 2**63 - 1))}

    def empty(self, shape: tuple[int, int], dtype: npt.DTypeLike) -> Array:
        """Return a matrix whose entries are yet to be written."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self.memory_limit is None or size <= self.memory_limit:
            return np.empty(shape, dtype)
        with tempfile.TemporaryFile(dir=self.scratch, prefix="kernelfields-") as file:
            # The mapping outlives the file's name and its descriptor.
            return np.memmap(file, dtype=dtype, mode="w+", shape=shape)
