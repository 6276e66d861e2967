"""What transformers of sequences return: arrays, or frames with names of columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from ..arrays import Array
from ..checks import shown
from ..errors import InputError

CONTAINERS = ("default", "pandas", "polars")


class FrameOutput(ABC):
    """A transformer of lists of arrays that can return frames instead of arrays."""

    @abstractmethod
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of columns."""

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: "pandas" or "polars" frames, or arrays ("default").

        The setting of ``sklearn.set_config(transform_output=)`` counts where nothing was chosen.
        """
        if transform is not None and transform not in CONTAINERS:
            raise InputError(f"transform is {shown(transform)}; it must be one of {', '.join(CONTAINERS)}.")
        if transform is not None:
            vars(self)["_output"] = transform
        return self

    def _contained(self, arrays: list[Any]) -> list[Any]:
        kind = vars(self).get("_output")
        if kind is None:
            from sklearn import get_config

            kind = get_config()["transform_output"]
        if kind == "default":
            return arrays
        names = self.get_feature_names_out().tolist()
        return [_frame(kind, array, names) for array in arrays]


def _frame(kind: str, array: Any, names: list[str]) -> Any:
    if not isinstance(array, np.ndarray):
        raise InputError(f"{kind} frames cannot hold sparse matrices; use set_output(transform='default').")
    if kind == "polars":
        import polars

        return polars.DataFrame(array, schema=names, orient="row")
    import pandas

    return pandas.DataFrame(array, columns=names)
