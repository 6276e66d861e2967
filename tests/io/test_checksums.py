"""Check sums against zlib's."""

import zlib

import numpy as np
import pytest

from kernelfields import native
from kernelfields.io.checksums import crc32


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 4095, 4096, 4160, 5000, 100_003])
@pytest.mark.parametrize("before", [0, 1, 0xDEADBEEF])
def test_the_same_as_those_of_zlib(rng, size: int, before: int) -> None:
    data = rng.integers(0, 256, size, dtype=np.uint8).tobytes()
    assert crc32(data, before) == zlib.crc32(data, before)
    assert crc32(memoryview(data)[: size // 2], before) == zlib.crc32(data[: size // 2], before)


@pytest.mark.skipif(not native.folds_checksums(), reason="The processor does not multiply polynomials.")
@pytest.mark.parametrize("blocks", [1, 2, 3, 17])
def test_blocks_of_the_core(rng, blocks: int) -> None:
    data = rng.integers(0, 256, 64 * blocks, dtype=np.uint8)
    assert native.folded_checksum(data, 7) == zlib.crc32(data.tobytes(), 7)
    for size in (0, 63, 65):
        with pytest.raises(ValueError, match=f"{size} entries"):
            native.folded_checksum(np.zeros(size, np.uint8), 0)
