"""Checksums of the core against zlib's."""

import zlib

import numpy as np
import pytest

from kernelfields import native


@pytest.mark.parametrize("size", [0, 1, 7, 8, 63, 64, 65, 200, 4096, 100_003])
@pytest.mark.parametrize("before", [0, 1, 0xDEADBEEF])
@pytest.mark.parametrize("checksum", [native.checksum, native.plain_checksum], ids=["folded", "plain"])
def test_the_same_as_those_of_zlib(rng, checksum, size: int, before: int) -> None:
    data = rng.integers(0, 256, size, dtype=np.uint8)
    assert checksum(data, before) == zlib.crc32(data.tobytes(), before)
