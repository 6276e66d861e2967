"""Features of small images against sums written out, and what they must not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from kernelfields import KernelCRF
from kernelfields.datasets import load_letters
from kernelfields.errors import InputError
from kernelfields.features import BlurredPixels, OrientationChannels
from kernelfields.kernels import RBF

SHAPE = (6, 4)


def images(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((count, SHAPE[0] * SHAPE[1]))


def written_out(image: np.ndarray, channels: int, block: int, blur: float, spread: float) -> np.ndarray:
    """One image at a time, pixel by pixel, as the docstring says."""
    wide = ndimage.gaussian_filter(np.pad(image.reshape(SHAPE), block), blur, mode="constant")
    height, width = wide.shape
    tables = np.zeros((channels, height, width))
    for i in range(height):
        for j in range(width):
            up, down = max(i - 1, 0), min(i + 1, height - 1)
            left, right = max(j - 1, 0), min(j + 1, width - 1)
            dy = (wide[down, j] - wide[up, j]) / (down - up)
            dx = (wide[i, right] - wide[i, left]) / (right - left)
            angle = np.arctan2(dy, dx) % (2 * np.pi)
            place = angle / (2 * np.pi) * channels
            low = int(place) % channels
            tables[low, i, j] += np.hypot(dx, dy) * (1 - (place - int(place)))
            tables[(low + 1) % channels, i, j] += np.hypot(dx, dy) * (place - int(place))
    features = []
    for table in tables:
        smooth = ndimage.gaussian_filter(table, spread, mode="constant")
        for i in range(0, height - block + 1, block):
            for j in range(0, width - block + 1, block):
                if block % 2:
                    features.append(smooth[i + block // 2, j + block // 2])
                else:
                    a, b = i + block // 2 - 1, j + block // 2 - 1
                    features.append(smooth[a : a + 2, b : b + 2].mean())
    return np.sqrt(np.array(features))


@pytest.mark.parametrize(("channels", "block"), [(8, 2), (5, 1), (4, 2)])
def test_channels_are_those_written_out(channels: int, block: int) -> None:
    given = images(3)
    found = OrientationChannels(SHAPE, channels, block, 0.6, 0.9).transform(given)
    expected = [written_out(image, channels, block, 0.6, 0.9) for image in given]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_an_image_does_not_depend_on_its_neighbours() -> None:
    given = images(7)
    for features in (OrientationChannels(SHAPE), BlurredPixels(SHAPE)):
        together = features.transform(given)
        alone = np.concatenate([features.transform(given[k : k + 1]) for k in range(7)])
        np.testing.assert_allclose(together, alone, atol=1e-12)


def test_directions_turn_with_the_image() -> None:
    square = np.random.default_rng(1).random((6, 6))
    channels = OrientationChannels((6, 6), channels=4, block=1, blur=0.5, spread=0.5)
    found = channels.transform(square.reshape(1, -1)).reshape(4, 8, 8)
    turned = channels.transform(np.rot90(square).reshape(1, -1)).reshape(4, 8, 8)
    # A quarter turn to the left: what pointed right points up, which is against the rows.
    for channel in range(4):
        np.testing.assert_allclose(turned[(channel + 3) % 4], np.rot90(found[channel]), atol=1e-12)


def test_images_of_length_one() -> None:
    given = images(4)
    found = OrientationChannels(SHAPE, normalized=True).transform(given)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    np.testing.assert_allclose(found, OrientationChannels(SHAPE, normalized=True).transform(5 * given))
    blank = OrientationChannels(SHAPE, normalized=True).transform(np.zeros((1, 24)))
    assert not blank.any()


@pytest.mark.parametrize("kind", [BlurredPixels, OrientationChannels])
def test_inputs_of_all_kinds(kind: type) -> None:
    features = clone(kind(SHAPE))
    given = images(5)
    whole = features.fit_transform(given)
    parts = features.transform([given[:2], given[2:], given[:0]])
    np.testing.assert_allclose(np.concatenate(parts), whole)
    assert parts[2].shape == (0, whole.shape[1])
    single = features.transform([given.astype(np.float32)])[0]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, whole, atol=1e-3)
    bits = (given > 0.5).astype(np.uint8)
    np.testing.assert_allclose(features.transform(bits), features.transform(bits.astype(float)), atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shape": (6, 5)}, r"Sequence 0 has shape \(2, 24\); .* 6·5 = 30 pixels"),
        ({"shape": 24}, "shape is 24; it must be two numbers"),
        ({"shape": (0, 4)}, "first number of shape is 0"),
        ({"channels": 1}, "channels is 1"),
        ({"block": 5}, "block is 5"),
        ({"blur": -1.0}, r"blur is -1\.0"),
        ({"spread": np.nan}, "spread is nan"),
        ({"normalized": "yes"}, "normalized"),
    ],
)
def test_bad_settings_are_one_sentence(settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        OrientationChannels(**{"shape": SHAPE, **settings}).transform([images(2)])


def test_strokes_read_better_than_pixels_in_a_pipeline() -> None:
    X, y = (part[::4] for part in load_letters().split(0))
    X_test, y_test = (part[::8] for part in load_letters().split(1))
    plain = KernelCRF(RBF(0.03), penalty=0.05, tol=1e-2).fit(X, y)
    strokes = make_pipeline(OrientationChannels(), KernelCRF(RBF(0.45), penalty=0.05, tol=1e-2)).fit(X, y)
    assert 1 - strokes.score(X_test, y_test) < 0.75 * (1 - plain.score(X_test, y_test))
