"""Trees as plain arrays: what a model file holds of them, and what must be true of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import ModelFormatError

WORDS = 8
"""Words of 32 bits in a set of values from 0 to 255."""


class TreeArrays(NamedTuple):
    """The nodes of all trees, one behind the other, those of a round together, root first in each tree."""

    width: int
    """Trees of a round."""
    sizes: Array
    """Nodes of every tree."""
    values: Array
    """Of leaves."""
    features: Array
    """The column that a node looks at."""
    thresholds: Array
    """Up to which numbers go left; inf where all numbers do."""
    missing_left: Array
    children: Array
    """Left and right, (n, 2), counted from the root of the tree; zeros for leaves."""
    leaves: Array
    categorical: Array
    """Whether a node looks at names."""
    sets: Array
    """Which set of names goes left, counted from the first of the tree."""
    set_counts: Array
    """Sets of every tree."""
    left_sets: Array
    """The sets, (c, 8), as bits."""
    known: Array
    """Names that occurred in training, (columns of names, 8), as bits."""
    places: Array
    """Where those of every column are."""

    def require_sound(self) -> None:
        """Refuse what compiled code would follow out of the arrays, or for ever.

        Children come behind their parents in every tree that was grown; so no path comes back.
        """
        self._require_shapes()
        n_features = len(self.places)
        starts = np.cumsum(self.sizes) - self.sizes
        within = np.arange(len(self.values)) - np.repeat(starts, self.sizes)
        inner = ~self.leaves
        room = np.repeat(self.sizes, self.sizes)
        behind = (self.children > within[:, None]) & (self.children < room[:, None])
        if not behind[inner].all():
            raise ModelFormatError("A tree has a child that does not come behind its parent.")
        looked = self.features[inner]
        if len(looked) and not (looked.min() >= 0 and looked.max() < n_features):
            raise ModelFormatError("A tree looks at a column that there is not.")
        names = inner & self.categorical
        sets = np.repeat(self.set_counts, self.sizes)[names]
        if not ((self.sets[names] >= 0) & (self.sets[names] < sets)).all():
            raise ModelFormatError("A tree has a set of names that there is not.")
        places = self.places[self.features[names]]
        if not ((places >= 0) & (places < len(self.known))).all():
            raise ModelFormatError("A tree looks at names in a column that has none.")

    def _require_shapes(self) -> None:
        if type(self.width) is not int or self.width < 1:
            raise ModelFormatError("Trees have no width.")
        kinds = {
            "sizes": "i",
            "values": "f",
            "features": "i",
            "thresholds": "f",
            "missing_left": "b",
            "children": "i",
            "leaves": "b",
            "categorical": "b",
            "sets": "i",
            "set_counts": "i",
            "left_sets": "u",
            "known": "u",
            "places": "i",
        }
        for name, kind in kinds.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype.kind != kind:
                raise ModelFormatError(f"{name} of trees is no array of its kind.")
        count = len(self.sizes) if self.sizes.ndim == 1 else -1
        if count < 0 or count % self.width or (count and self.sizes.min() < 1):
            raise ModelFormatError("Trees do not come in rounds.")
        n = int(self.sizes.sum())
        shapes: dict[str, tuple[int, ...]] = {"children": (n, 2), "set_counts": (count,)}
        shapes |= dict.fromkeys(("values", "features", "thresholds", "missing_left"), (n,))
        shapes |= dict.fromkeys(("leaves", "categorical", "sets"), (n,))
        fit = all(getattr(self, name).shape == shape for name, shape in shapes.items())
        if not fit or self.places.ndim != 1:
            raise ModelFormatError("The arrays of trees do not fit one another.")
        if count and self.set_counts.min() < 0:
            raise ModelFormatError("A tree has fewer than no sets of names.")
        total = int(self.set_counts.sum())
        if self.left_sets.shape != (total, WORDS) or self.known.shape[1:] != (WORDS,):
            raise ModelFormatError("Sets of names have another shape.")
        if not np.isfinite(self.values).all():
            raise ModelFormatError("A leaf has no finite value.")
