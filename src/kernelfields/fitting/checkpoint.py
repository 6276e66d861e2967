"""Training that survives being killed: the state of a search, in a file."""

from __future__ import annotations

import contextlib
import os
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..io.replacing import remove_leftovers, replacing
from ..solvers import Progress
from .digest import digest


class Checkpoint:
    """Keeps the element reached so far in a file, written at once or not at all.

    A search that finds its file starts from there; the file is removed when the search has ended as it
    should. Every file names the problem it belongs to, and no other takes it up.

    Parameters
    ----------
    path : path
        The file.
    problem : sequence of arrays and texts
        What the problem is made of.
    seconds : float
        Least time between two writes.
    """

    def __init__(self, path: str | os.PathLike[str], problem: list[Any], seconds: float = 30.0) -> None:
        self.path = Path(path)
        self.key = digest(problem)
        self.seconds = seconds
        self._written = time.monotonic()

    def start(self, size: int) -> Array | None:
        """Return the element of this size that was kept; None without a file."""
        remove_leftovers(self.path)
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                key, element = str(saved["key"]), saved["element"]
        except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{self.path} is not a checkpoint: {error}.") from error
        if key != self.key:
            raise InputError(f"{self.path} belongs to other data or settings; remove it to start again.")
        if element.dtype.kind != "f" or element.shape != (size,) or not np.isfinite(element).all():
            raise InputError(f"{self.path} is damaged: it does not hold {size} finite numbers.")
        return element

    def __call__(self, progress: Progress, point: Any) -> None:
        """Write, if it is time."""
        if time.monotonic() - self._written >= self.seconds:
            self.write(point.element)

    def write(self, element: Array) -> None:
        """Replace the file by one with this element."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as file:
            np.savez(file, key=np.array(self.key), element=element)
        self._written = time.monotonic()

    def settle(self, element: Array, converged: bool) -> None:
        """Remove the file of a search that has ended as it should; of another keep where it ended."""
        if converged:
            self.done()
        else:
            self.write(element)

    def done(self) -> None:
        """Remove the file."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()


SETTINGS = ("penalty", "parts", "l1", "structure", "observed_only", "loss")
"""Those of a linear chain that change its problem."""
KERNEL_SETTINGS = (
    "kernel",
    "penalty",
    "parts",
    "structure",
    "loss",
    "basis",
    "random_state",
)
"""Those of a kernel model, with what its elements depend on."""


def checkpoint_of(model: Any, contents: list[Any], names: tuple[str, ...] = SETTINGS) -> Checkpoint:
    """Return the file of a model's search, known by its data and by those of its settings."""
    settings = {name: getattr(model, name) for name in names}
    return Checkpoint(model.run.checkpoint, [*contents, settings], model.run.checkpoint_seconds)
