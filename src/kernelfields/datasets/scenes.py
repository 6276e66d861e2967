"""Photographs of scenes, each with one or several labels."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .folder import data_file
from .images import which_part

SCENES = ("beach", "sunset", "fall foliage", "field", "mountain", "urban")


class Scenes(NamedTuple):
    """Rows with several labels."""

    features: Array
    """(n, 294) moments of colours, 0 to 1: six moments, each of 7 × 7 parts of the image, row by row."""
    labels: Array
    """(n, 6) 0 or 1, columns as in ``names``."""
    names: tuple[str, ...]


def load_scene(part: str = "train", folder: str | Path | None = None) -> Scenes:
    """Load the scenes of Boutell and others: 1,211 images to train on, 1,196 to test on, six labels.

    Parameters
    ----------
    part : "train" or "test"
        Which images.
    folder : path, optional
        Folder that has ``scene_multilabel``; the one in KERNELFIELDS_DATA if not given.
    """
    which_part("part", part)
    with np.load(data_file("scene_multilabel", "scene.npz", folder)) as data:
        return Scenes(data[f"X_{part}"].astype(np.float64), data[f"y_{part}"].astype(np.int64), SCENES)
