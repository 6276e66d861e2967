"""Windows of frames."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields import InputError
from kernelfields.features import stack_windows


def by_hand(frames, width, stride, weights, padding):
    """Number by number."""
    T, D = frames.shape
    result = np.zeros((T, width * D))
    for t in range(T):
        for k in range(width):
            s = t + stride * (k - width // 2)
            if padding == "edge":
                found = frames[min(max(s, 0), T - 1)]
            else:
                found = frames[s] if 0 <= s < T else np.full(D, padding)
            result[t, k * D : (k + 1) * D] = found * (1 if weights is None else weights[k])
    return result


@pytest.mark.parametrize("padding", [0.0, "edge", -2.5, np.nan])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("stride", [1, 2, 5])
@pytest.mark.parametrize("width", [1, 3, 7])
def test_windows_are_neighbours(width, stride, weighted, padding, rng):
    sequences = [rng.normal(size=(T, 2)).astype(np.float32) for T in (0, 1, 2, 9)]
    weights = rng.random(width) if weighted else None
    found = stack_windows(sequences, width, stride=stride, weights=weights, padding=padding)
    for frames, windows in zip(sequences, found, strict=True):
        assert windows.dtype == np.float32
        np.testing.assert_allclose(windows, by_hand(frames, width, stride, weights, padding), rtol=1e-6)


@pytest.mark.parametrize("padding", [0, "edge"])
@pytest.mark.parametrize("weights", [None, [0.5, 1.0, 2.0]])
def test_sparse_frames_make_sparse_windows(weights, padding, rng):
    frames = [rng.integers(0, 2, size=(T, 4)).astype(float) for T in (0, 1, 6)]
    given = [sparse.csr_matrix(x) for x in frames]
    found = stack_windows(given, 3, stride=2, weights=weights, padding=padding)
    for x, windows in zip(frames, found, strict=True):
        assert windows.format == "csr"
        np.testing.assert_array_equal(windows.toarray(), by_hand(x, 3, 2, weights, padding))


def test_types_of_frames_stay_if_they_can():
    for kind in (bool, np.int8, np.float32, np.float64):
        frames = [np.ones((3, 1), dtype=kind)]
        assert stack_windows(frames, 3)[0].dtype == kind
        assert stack_windows([sparse.csr_matrix(frames[0])], 3)[0].dtype == kind
        assert stack_windows(frames, 3, weights=[1, 1, 1])[0].dtype.kind == "f"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"width": 4}, "width is 4; it must be odd"),
        ({"width": 0}, "width is 0"),
        ({"width": 2.5}, "width is 2.5"),
        ({"width": 3, "stride": 0}, "stride is 0"),
        ({"width": 3, "weights": [1.0, 2.0]}, "weights must be 3 finite numbers"),
        ({"width": 3, "weights": [1.0, np.nan, 2.0]}, "weights must be 3 finite numbers"),
        ({"width": 3, "weights": ["a", "b", "c"]}, "weights are not numbers"),
        ({"width": 3, "padding": "reflect"}, "padding is 'reflect'"),
        ({"width": 3, "padding": np.inf}, "padding is inf"),
        ({"width": 3, "padding": None}, "padding is None"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        stack_windows([np.ones((2, 1))], **arguments)


def test_frames_that_are_none_are_refused():
    with pytest.raises(InputError, match="Sequence 1 has 1 dimensions"):
        stack_windows([np.ones((2, 1)), np.ones(3)], 3)
    with pytest.raises(InputError, match="with sparse matrices it must be 0 or 'edge'"):
        stack_windows([sparse.eye(3, format="csr")], 3, padding=1.0)
