"""Check sums of arrays and files: CRC-32, as zlib computes it, at the speed of memory where it can be had."""

from __future__ import annotations

import zlib

import numpy as np

from .. import native

_BLOCK = 64
_WORTH = 4096


def crc32(data: memoryview | bytes, before: int = 0) -> int:
    """Return the checksum of contiguous bytes that follow on others with the checksum ``before``.

    The core takes whole blocks, where the processor multiplies polynomials; zlib takes the rest.
    """
    whole = len(data) // _BLOCK * _BLOCK if len(data) >= _WORTH and native.folds_checksums() else 0
    if whole:
        before = native.folded_checksum(np.frombuffer(data, np.uint8, whole), before)
    return zlib.crc32(data[whole:], before)
