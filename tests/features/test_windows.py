"""Windows of frames."""

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.features import stack_windows


@pytest.mark.parametrize("width", [1, 3, 7])
def test_windows_are_neighbours(width, rng):
    sequences = [rng.normal(size=(T, 2)).astype(np.float32) for T in (0, 1, 2, 9)]
    for frames, found in zip(sequences, stack_windows(sequences, width), strict=True):
        assert found.dtype == np.float32
        assert found.shape == (len(frames), 2 * width)
        for t in range(len(frames)):
            for k in range(width):
                s = t + k - width // 2
                expected = frames[s] if 0 <= s < len(frames) else np.zeros(2)
                np.testing.assert_array_equal(found[t, 2 * k : 2 * k + 2], expected)


def test_even_widths_are_refused():
    with pytest.raises(InputError, match="width of windows is 4"):
        stack_windows([], 4)
