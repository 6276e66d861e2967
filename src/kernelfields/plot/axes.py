"""Axes to draw into, and how pictures look."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from ..arrays import Array
from ..checks import shown
from ..errors import InputError
from ..report.plots.colours import colour_of

GREY = "#7b8088"
"""Readable on white and on black."""
RIGHT, WRONG = "#3a7ca5", "#d1603d"
STYLE = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "savefig.bbox": "tight",
    "legend.framealpha": 0.0,
    "font.size": 10,
    **dict.fromkeys(
        ["text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "xtick.color", "ytick.color"],
        GREY,
    ),
    "axes.spines.top": False,
    "axes.spines.right": False,
}
"""For ``matplotlib.rc_context(STYLE)``: no background, and a grey to be read on light and dark pages."""
MISSING = "Pictures need matplotlib: pip install 'kernelfields[plot]'."


def axes(ax: Any, width: float = 6.4, height: float = 3.6) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        if not hasattr(ax, "add_patch"):
            raise InputError(f"ax is {shown(ax)}; it must be axes of matplotlib.")
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(MISSING) from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def cells(ax: Any, strength: Array, colours: Array | str) -> Any:
    """Draw a matrix as cells of a colour, or of one each, the more opaque the larger the number."""
    import numpy as np
    from matplotlib.colors import to_rgba

    image = np.empty((*strength.shape, 4))
    if isinstance(colours, str):
        image[:] = to_rgba(colours)
    else:
        image[..., :3] = colours
    image[..., 3] = np.clip(strength, 0.0, 1.0)
    return ax.imshow(image, aspect="auto", interpolation="nearest")


def name_ticks(axis: Any, names: Iterable[Any], *, most: int = 60, upright: bool = False) -> None:
    """Write a name at every position; none where there are too many to read."""
    names = [str(name) for name in names]
    if len(names) <= most:
        axis.set_ticks(range(len(names)), names, rotation=90 if upright else 0)


def label_colours(classes: Sequence[Hashable], labels: Iterable[Hashable]) -> Array:
    """Return red, green and blue of labels."""
    import numpy as np
    from matplotlib.colors import to_rgb

    known = list(classes)
    return np.array([to_rgb(colour_of(label, known)) for label in labels]).reshape(-1, 3)


def legend_of(ax: Any, classes: Sequence[Hashable], used: Iterable[Hashable]) -> None:
    """Say which colour is which label, of those that occur."""
    from matplotlib.patches import Patch

    known, occurring = list(classes), set(used)
    shown_labels = [label for label in known if label in occurring]
    patches = [Patch(color=colour_of(label, known), label=str(label)) for label in shown_labels]
    ax.legend(handles=patches, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
