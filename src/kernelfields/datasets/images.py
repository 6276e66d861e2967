"""Images whose pixels have labels: snakes that were drawn, and photographs of horses."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import one_of
from .folder import data_file

PARTS = ("train", "test")
which_part = one_of(PARTS)


class LabelledImages(NamedTuple):
    """Images of any sizes, with a label for every pixel."""

    images: list[Array]
    """(H, W, 3) red, green and blue, 0 to 255."""
    labels: list[Array]
    """(H, W) numbers."""


def load_snakes(part: str = "train", folder: str | Path | None = None) -> LabelledImages:
    """Load drawn images of a snake each: 200 to train on, 100 to test on, from 4 × 4 to 10 × 11 pixels.

    Labels are 0 for the background and 1 to 10 along the snake. Each pixel of a snake has the colour of the
    direction in which the next one lies, so that a label depends on colours far away, pixel by pixel.

    Parameters
    ----------
    part : "train" or "test"
        Which images.
    folder : path, optional
        Folder that has ``snakes``; the one in KERNELFIELDS_DATA if not given.
    """
    which_part("part", part)
    with np.load(data_file("snakes", "snakes.npz", folder)) as data:
        found = {name: data[f"{part}_{name}"] for name in ("shape", "offsets", "rgb", "label")}
    return _cut(found["shape"], found["offsets"], found["rgb"], found["label"].astype(np.int64))


def load_horses(part: str = "train", folder: str | Path | None = None) -> LabelledImages:
    """Load the Weizmann horses with at most 80 pixels a side: 278 images to train on, 49 to test on.

    Labels are 1 for the horse, about a quarter of all pixels, and 0 for what is around it.

    Parameters
    ----------
    part : "train" or "test"
        Which images.
    folder : path, optional
        Folder that has ``weizmann_horses``; the one in KERNELFIELDS_DATA if not given.
    """
    which_part("part", part)
    with np.load(data_file("weizmann_horses", "horses80.npz", folder)) as data:
        rgb, packed, wanted = data["rgb"], data["mask"], data["split"] == PARTS.index(part)
        every = _cut(data["shape"], data["offsets"], rgb, np.unpackbits(packed)[: len(rgb)].astype(np.int64))
    chosen = np.flatnonzero(wanted)
    return LabelledImages([every.images[i] for i in chosen], [every.labels[i] for i in chosen])


def _cut(shapes: Array, offsets: Array, rgb: Array, labels: Array) -> LabelledImages:
    """Return the images one by one, in rows and columns."""
    places = list(zip(shapes.tolist(), offsets[:-1], offsets[1:], strict=True))
    return LabelledImages(
        [rgb[a:b].reshape(*shape, 3) for shape, a, b in places],
        [labels[a:b].reshape(shape) for shape, a, b in places],
    )
