"""Pixels as vertices: what is around each, which are neighbours, and pictures of their labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelfields.arrays import Array


def around(image: Array, reach: int, outside: float) -> Array:
    """Return for every pixel the values in the square around it, (H, W, (2 reach + 1)² D).

    Pixels beyond the border have the value ``outside``.
    """
    height, width = image.shape[:2]
    wide = np.pad(image, ((reach, reach), (reach, reach), (0, 0)), constant_values=outside)
    side = range(2 * reach + 1)
    return np.concatenate([wide[r : r + height, c : c + width] for r in side for c in side], axis=2)


def neighbours(height: int, width: int) -> dict[str, Array]:
    """Return pairs of pixels, counted row by row: each with the one on its right, and with the one below."""
    pixels = np.arange(height * width).reshape(height, width)
    return {
        "right": np.stack([pixels[:, :-1].ravel(), pixels[:, 1:].ravel()], axis=1),
        "down": np.stack([pixels[:-1].ravel(), pixels[1:].ravel()], axis=1),
    }


def show(panel: Any, picture: Any, title: str = "", **options: Any) -> None:
    """Draw an image, or numbers in rows and columns, without axes."""
    panel.imshow(np.asarray(picture), interpolation="nearest", **options)
    panel.set_axis_off()
    panel.set_title(title, fontsize=8)
