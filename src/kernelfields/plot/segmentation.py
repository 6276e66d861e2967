"""Labels as colours over an image."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_share
from ..errors import InputError
from .axes import axes, label_colours, legend_of


def segmentation(
    labels: Any,
    image: Any = None,
    *,
    regions: Any = None,
    classes: Sequence[Hashable] | None = None,
    opacity: float = 0.55,
    ax: Any = None,
) -> Any:
    """Draw the labels of pixels, or of the vertices of a graph that stand for regions, over their image.

    Parameters
    ----------
    labels : (H, W) array, or (V,) labels
        Of pixels, as `predict` returns them for a grid; or of regions. None is not coloured.
    image : (H, W) or (H, W, 3) array, optional
        Grey or red, green and blue, from 0 to 1 or whole numbers up to 255; drawn in grey below.
    regions : (H, W) array of int, optional
        The number of the vertex that each pixel belongs to, from 0 on; −1 for none.
    classes : sequence, optional
        All labels, so that colours are those of other pictures; those that occur if not given.
    opacity : float
        Of the colours, where there is an image.
    ax : Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    Axes
        The last image has the colours.
    """
    opacity = require_share("opacity", opacity)
    named = _of_pixels(labels, regions)
    below = None if image is None else _grey(image)
    if below is not None and below.shape != named.shape:
        raise InputError(f"image has {below.shape} pixels, but the labels are of {named.shape}.")
    flat = named.ravel().tolist()
    used = {label for label in flat if label is not None}
    known = sorted(used, key=str) if classes is None else list(classes)
    ax = axes(ax, 4.4, 4.4 * named.shape[0] / max(named.shape[1], 1))
    colours = np.zeros((*named.shape, 4))
    colours[..., :3] = label_colours(known, flat).reshape(*named.shape, 3)
    there = np.array([label is not None for label in flat]).reshape(named.shape)
    colours[..., 3] = np.where(there, 1.0 if below is None else opacity, 0.0)
    if below is not None:
        ax.imshow(below, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.imshow(colours, interpolation="nearest")
    ax.set_axis_off()
    legend_of(ax, known, used)
    return ax


def _of_pixels(labels: Any, regions: Any) -> Array:
    """Return an (H, W) array of labels."""
    if regions is None:
        named = np.asarray(labels, dtype=object)
        if named.ndim != 2:
            raise InputError(f"labels have shape {named.shape}, not (H, W); of vertices, give regions, too.")
        return named
    where = np.asarray(regions)
    if where.ndim != 2 or where.dtype.kind not in "iu":
        raise InputError("regions must be an (H, W) array of whole numbers.")
    given = [*(labels.tolist() if isinstance(labels, np.ndarray) else labels), None]
    if where.size and (where.min() < -1 or where.max() >= len(given) - 1):
        raise InputError(
            f"regions name vertices from {where.min()} to {where.max()}; {len(given) - 1} have labels."
        )
    named = np.empty(len(given), dtype=object)
    named[:] = given
    return np.asarray(named[where])


def _grey(image: Any) -> Array:
    """Return brightness from 0 to 1."""
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (3, 4)):
        raise InputError(f"image has shape {pixels.shape}, neither (H, W) nor (H, W, 3).")
    scale = 255.0 if pixels.dtype.kind in "iu" else 1.0
    values = pixels / scale
    return values if values.ndim == 2 else np.asarray(values[..., :3] @ [0.299, 0.587, 0.114])
