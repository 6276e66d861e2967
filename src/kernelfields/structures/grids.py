"""Grids as a setting: images whose pixels have labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, label_array
from ..checks import Check, as_list, is_list, require_flag, require_unmasked, shown
from ..errors import InputError
from .graph import GraphBatch
from .graph_links import GraphLinks, engine_of, graph_batch, together
from .settings import Structure
from .words import GRIDS, Words

STEPS = {"right": (0, 1), "down": (1, 0), "down_right": (1, 1), "down_left": (1, -1)}
"""From a pixel to its neighbours: rows, columns."""


def _require_connectivity(name: str, value: Any) -> None:
    if isinstance(value, bool) or value not in (4, 8):
        raise InputError(f"{name} is {shown(value)}; it must be 4 or 8.")


def _require_directions(name: str, value: Any) -> None:
    if not is_list(value):
        require_flag(name, value)
        return
    for k, one in enumerate(value):
        if one not in STEPS or list(value).index(one) < k:
            raise InputError(f"{name}[{k}] is {shown(one)}; it must be one of {', '.join(STEPS)}, each once.")


@dataclass(frozen=True)
class Grid(Structure):
    """Grids: the label of a pixel depends on those of its neighbours.

    An item of X is an (H, W, D) array of features, its labels are an (H, W) array or nested lists, and so
    are predictions; marginals are (H, W, L). Items may be of different sizes.

    Parameters
    ----------
    connectivity : 4 or 8
        Whether neighbours are those beside and above a pixel, or the diagonal ones, too.
    directions : bool or list of str
        Whether each direction has label-pair scores of its own: "right" from a pixel to the one on its
        right, "down" to the one below, "down_right" and "down_left"; or which of them have, so that a pixel
        depends on no others. If not, all neighbours share one table, and it does not matter which of
        two comes first.
    inference : "exact" or settings of another way
        How to sum over labellings, as in `Graph`. Exact sums are for narrow grids: time and memory grow
        with L to the power of the shorter side.
    """

    connectivity: int = 4
    directions: bool | Sequence[str] = False
    inference: Any = "exact"

    linked: ClassVar[bool] = True
    in_sequences: ClassVar[bool] = False
    words: ClassVar[Words] = GRIDS
    _checks: ClassVar[Mapping[str, Check]] = {
        "connectivity": _require_connectivity,
        "directions": _require_directions,
    }

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        super().__post_init__()
        engine_of(self.inference)
        for name in self.steps:
            if name not in self.possible_steps:
                raise InputError(f"directions has {name!r}, which is for connectivity=8.")

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return the features of all pixels of every item, row by row, and its height and width."""
        if lengths is not None:
            raise InputError("lengths= is for sequences; an item of X is an (H, W, D) array.")
        X = as_list(X)
        if isinstance(X, str | bytes) or not isinstance(X, Sequence | np.ndarray):
            raise InputError("X must be a list of (H, W, D) arrays.")
        arrays = [_image(s, item) for s, item in enumerate(X)]
        return [one.reshape(-1, one.shape[2]) for one in arrays], [one.shape[:2] for one in arrays]

    def links(self, parts: Any, offsets: Array) -> GraphLinks:
        """Return the edges between neighbours, and the sizes of all grids."""
        names = self.steps
        every = [_neighbours(*shape) for shape in parts]
        found = {name: together([one[name] for one in every], offsets, 2) for name in names}
        shapes = np.array(parts, dtype=np.int64).reshape(-1, 2)
        nothing = np.empty((0, 2), dtype=np.int64)
        if is_list(self.directions) or self.directions:
            return GraphLinks(nothing, factors=found, shapes=shapes)
        both = [_both_ways([one[name] for name in names]) for one in every]
        return GraphLinks(together(both, offsets, 2), shapes=shapes)

    @property
    def possible_steps(self) -> tuple[str, ...]:
        """The directions in which pixels can have neighbours."""
        return tuple(STEPS)[: 2 if self.connectivity == 4 else 4]

    @property
    def steps(self) -> tuple[str, ...]:
        """The directions in which they have."""
        return self.possible_steps if isinstance(self.directions, bool) else tuple(self.directions)

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> GraphBatch:
        """Return grids that are summed over in the way of the settings."""
        return graph_batch(self.inference, offsets, links, n_labels, words=self.words, own=own)

    def flattened(self, y: Any, links: Any, what: str) -> Any:
        """Return labels row by row."""
        if not is_list(y) or len(y) != len(links.shapes):
            return y  # whoever reads it will say what is wrong
        pairs = zip(y, links.shapes.tolist(), strict=True)
        return [_row_by_row(f"Grid {s} of {what}", *pair) for s, pair in enumerate(pairs)]

    def item(self, features: Any, part: Any) -> Array:
        """Return an image with other features."""
        return np.reshape(features.toarray() if hasattr(features, "toarray") else features, (*part, -1))

    def shaped(self, outputs: Sequence[Any], links: Any) -> list[Any]:
        """Return what belongs to pixels in rows and columns."""
        pairs = zip(outputs, links.shapes.tolist(), strict=True)
        return [_in_shape(one, shape) for one, shape in pairs]


def _image(s: int, item: Any) -> Array:
    require_unmasked(item, f"Grid {s} of X")
    try:
        array = np.asarray(item)
    except ValueError:
        array = np.empty(0)
    if array.ndim != 3 or array.dtype == object:
        raise InputError(f"Grid {s} of X has shape {array.shape}, expected (height, width, features).")
    return array


def _row_by_row(name: str, labels: Any, shape: list[int]) -> Any:
    """Return the rows of one grid, as long and as many as those of X, one behind the other."""
    if labels is None:
        return None
    rows = list(labels)
    if not all(is_list(row) for row in rows):
        raise InputError(f"{name} must have rows.")
    odd = next((len(row) for row in rows if len(row) != shape[1]), shape[1])
    if len(rows) != shape[0] or odd != shape[1]:
        found = f"{len(rows)} rows" if odd == shape[1] else f"a row of {odd}"
        raise InputError(f"{name} has {found}, expected {shape[0]} rows of {shape[1]}.")
    return [label for row in rows for label in row]


def _in_shape(values: Any, shape: list[int]) -> Array:
    array = values if isinstance(values, np.ndarray) else label_array(values)
    return array.reshape(*shape, *array.shape[1:])


@lru_cache(maxsize=256)
def _neighbours(height: int, width: int) -> dict[str, Array]:
    """Return the pixels and their neighbours in every direction."""
    pixels = np.arange(height * width).reshape(height, width)
    result = {}
    for name, (down, right) in STEPS.items():
        here = pixels[: height - down, max(-right, 0) : width - max(right, 0)]
        there = pixels[down:, max(right, 0) : width - max(-right, 0)]
        result[name] = np.stack([here.ravel(), there.ravel()], axis=1)
        result[name].setflags(write=False)
    return result


def _both_ways(edges: list[Array]) -> Array:
    ends = np.concatenate(edges)
    return np.stack([ends, ends[:, ::-1]], axis=1).reshape(-1, 2)
