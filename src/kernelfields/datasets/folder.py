"""Where data sets are that do not come with the package."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import MissingDataError

VARIABLE = "KERNELFIELDS_DATA"
BESIDE = Path("..") / "shared" / "data"
"""Where data are sought without the variable: beside the working directory, then beside the repository."""

_REPOSITORY = Path(__file__).resolve().parents[3]


def data_folder() -> Path:
    """The folder that KERNELFIELDS_DATA names, or one beside the working directory or repository."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    for base in (Path.cwd(), _REPOSITORY):
        if (base / BESIDE).is_dir():
            return (base / BESIDE).resolve()
    raise MissingDataError(f"There is no folder of data sets: set {VARIABLE} to one.")


def data_file(data_set: str, name: str, folder: str | Path | None = None) -> Path:
    """Return a file of a data set, in the folder given or in `data_folder`, or say what is missing."""
    path = (data_folder() if folder is None else Path(folder)) / data_set / name
    if not path.is_file():
        raise MissingDataError(
            f"The data set {data_set} is missing: {path} is no file (set {VARIABLE} to the folder it is in)."
        )
    return path
