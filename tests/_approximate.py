"""A structure of labelled graphs whose inference is a setting, for estimators."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernelfields.arrays import Array
from kernelfields.structures import Structure


@dataclass(frozen=True)
class AnyGraph(Structure):
    """An item of X is (features, edges)."""

    inference: Any
    linked: ClassVar[bool] = True

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        return [item[0] for item in X], [item[1] for item in X]

    def links(self, parts: Any, offsets: Array) -> Array:
        rows = [
            np.asarray(edges, dtype=int).reshape(-1, 2) + o for edges, o in zip(parts, offsets, strict=False)
        ]
        return np.concatenate([np.empty((0, 2), dtype=int), *rows])

    def on(self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()) -> Any:
        return self.inference.on(offsets, links, n_labels, shared_edges="edge" not in own)
