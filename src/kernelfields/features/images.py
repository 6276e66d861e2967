"""Features of small images, one image per position: directions of strokes, and blurred pixels.

Two drawings of one letter rarely share pixels, but share strokes that go in the same direction at about the
same place. Blurring lets a kernel see what is near as alike, by the distance that the blur bridges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..arrays import Array
from ..checks import require_flag, require_not_negative, require_unmasked, require_whole
from ..errors import InputError
from ..parameters import Parameterised

SMALL = 1e-9
"""What lengths of features are kept above."""
TOGETHER = 256
"""Images whose features are computed together."""
WIDEST = 1000
"""Pixels that a blur may have as its standard deviation: more than any image that is small."""


class _ImageFeatures(Parameterised, ABC):
    """Something computed image by image; nothing is learned from them."""

    shape: tuple[int, int]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the settings."""
        self._require_settings()
        return self

    def transform(self, X: Any) -> Any:
        """Return features of images: an array for an array of images, a list for a list of them."""
        self._require_settings()
        if isinstance(X, np.ndarray) and X.ndim == 2:
            return self._features(_images(X, self.shape, "The array"))
        sequences = [_images(x, self.shape, f"Sequence {s}") for s, x in enumerate(X)]
        if len({images.dtype for images in sequences}) != 1:
            return [self._features(images) for images in sequences]
        # Many at once: sequences of a few images would spend their time between computations. Not all:
        # arrays are to stay in caches.
        images, offsets = np.concatenate(sequences), np.cumsum([len(images) for images in sequences])
        parts = [self._features(part) for part in np.array_split(images, 1 + len(images) // TOGETHER)]
        return np.split(np.concatenate(parts), offsets[:-1])

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return features of images."""
        return self.fit(X, y).transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        """Nothing is learned."""
        return True

    def _require_settings(self) -> None:
        height, width = _sides(self.shape)
        require_whole("the first number of shape", height, 1)
        require_whole("the second number of shape", width, 1)

    @abstractmethod
    def _features(self, images: Array) -> Array:
        """Return a row of features for every image."""


class BlurredPixels(_ImageFeatures):
    """Images seen from further away.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the images; rows of pixels follow each other.
    sigma : float
        Standard deviation of the Gaussian blur, in pixels.

    Examples
    --------
    >>> BlurredPixels((1, 3), sigma=0.5).transform(np.array([[0.0, 1.0, 0.0]])).round(2)
    array([[0.08, 0.62, 0.08]])
    """

    def __init__(self, shape: tuple[int, int] = (16, 8), sigma: float = 1.0) -> None:
        self.shape = shape
        self.sigma = sigma

    def _require_settings(self) -> None:
        super()._require_settings()
        _require_blur("sigma", self.sigma)

    def _features(self, images: Array) -> Array:
        return _flat(_blurred(images, self.sigma))


class OrientationChannels(_ImageFeatures):
    """How much of an image changes in each direction, block by block [dalal2005].

    The gradient at every pixel of the blurred image is shared out to the two nearest of ``channels``
    directions, by its length. Every channel is blurred again and read at the centre of every block. Square
    roots let strong strokes count less, as in Hellinger's distance.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the images; rows of pixels follow each other.
    channels : int
        Number of directions, over the full turn: a stroke's two sides differ.
    block : int
        Pixels from one reading to the next.
    blur : float
        Standard deviation of the blur before gradients are taken, in pixels.
    spread : float
        Standard deviation of the blur of the channels: how far strokes may move.
    normalized : bool
        Whether features of every image have length one, whatever its contrast and the number of its strokes.

    Examples
    --------
    >>> image = np.tile([0.0, 0.0, 1.0, 1.0], (4, 1)).reshape(1, -1)  # dark on the left, light on the right
    >>> features = OrientationChannels((4, 4), channels=4).transform(image)
    >>> features.shape, int(features.reshape(4, 16).sum(axis=1).argmax())  # to the right
    ((1, 64), 0)
    """

    def __init__(
        self,
        shape: tuple[int, int] = (16, 8),
        channels: int = 8,
        block: int = 2,
        blur: float = 0.7,
        spread: float = 1.0,
        normalized: bool = False,
    ) -> None:
        self.shape = shape
        self.channels = channels
        self.block = block
        self.blur = blur
        self.spread = spread
        self.normalized = normalized

    def _require_settings(self) -> None:
        super()._require_settings()
        require_whole("channels", self.channels, 2, 64)
        require_whole("block", self.block, 1, min(_sides(self.shape)))
        _require_blur("blur", self.blur)
        _require_blur("spread", self.spread)
        require_flag("normalized", self.normalized)

    def _features(self, images: Array) -> Array:
        # Strokes at the border have an outer side too, which needs room.
        margin = self.block
        wide = _blurred(np.pad(images, ((0, 0), (margin, margin), (margin, margin))), self.blur)
        down, right = np.gradient(wide, axis=(1, 2))
        strength = np.hypot(down, right)
        place = np.arctan2(down, right) * (self.channels / (2 * np.pi)) % self.channels
        shares = (_share(place, channel, self.channels) for channel in range(self.channels))
        features = np.sqrt(np.concatenate([self._read(strength * share) for share in shares], axis=1))
        return _of_length_one(features) if self.normalized else features

    def _read(self, channel: Array) -> Array:
        """Blur one channel, and read it at the centre of every block."""
        wide, first = _blurred(channel, self.spread), (self.block - 1) // 2
        if self.block % 2 == 0:  # the centre lies between four pixels
            wide = (wide[:, :-1, :-1] + wide[:, :-1, 1:] + wide[:, 1:, :-1] + wide[:, 1:, 1:]) / 4
        return _flat(wide[:, first :: self.block, first :: self.block])


def _of_length_one(features: Array) -> Array:
    length = np.sqrt(np.einsum("ij,ij->i", features, features))
    return features / np.maximum(length, SMALL)[:, None]


def _flat(images: Array) -> Array:
    """Return one row per image, of which there may be none."""
    return images.reshape(len(images), images.shape[1] * images.shape[2])


def _share(place: Array, channel: int, channels: int) -> Array:
    """Return how much of directions belongs to a channel: linearly less up to its neighbours."""
    away = np.abs(place - channel)
    return np.maximum(0.0, 1.0 - np.minimum(away, channels - away))


def _blurred(images: Array, sigma: float) -> Array:
    from scipy import ndimage  # takes a tenth of a second to import

    found: Array = ndimage.gaussian_filter(images, (0, sigma, sigma), mode="constant") if sigma else images
    return found


def _require_blur(name: str, value: Any) -> None:
    if require_not_negative(name, value) > WIDEST:
        raise InputError(f"{name} is {value}; it must be at most {WIDEST}.")


def _sides(shape: Any) -> tuple[Any, Any]:
    if not isinstance(shape, Sequence) or len(shape) != 2:
        raise InputError(f"shape is {shape!r}; it must be two numbers, height and width.")
    return shape[0], shape[1]


def _images(x: Any, shape: tuple[int, int], name: str) -> Array:
    """Return rows of pixels as images."""
    require_unmasked(x, name)
    rows = np.asarray(x, dtype=np.result_type(np.asarray(x).dtype, np.float32))
    height, width = shape
    if rows.ndim != 2 or rows.shape[1] != height * width:
        raise InputError(
            f"{name} has shape {rows.shape}; it must have one row of {height}·{width} = {height * width} "
            "pixels per image."
        )
    return rows.reshape(len(rows), height, width)
