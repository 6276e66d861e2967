"""The folder of data sets that do not come with the package."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import MissingDataError

VARIABLE = "KERNELFIELDS_DATA"
BESIDE = Path("..") / "shared" / "data"
"""Where data sets are looked for if the variable is not set."""

_REPOSITORY = Path(__file__).resolve().parents[3]


def data_folder() -> Path:
    """Return the folder that KERNELFIELDS_DATA names, or one beside the working directory or repository."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    for base in (Path.cwd(), _REPOSITORY):
        if (base / BESIDE).is_dir():
            return (base / BESIDE).resolve()
    raise MissingDataError(f"No folder of data sets was found: set {VARIABLE} to one.")


def data_file(data_set: str, name: str, folder: str | Path | None = None) -> Path:
    """Return the path of a file of a data set, in ``folder`` or `data_folder`; refuse if it is missing."""
    path = (data_folder() if folder is None else Path(folder)) / data_set / name
    if not path.is_file():
        raise MissingDataError(
            f"The data set {data_set} is missing: there is no file {path}; "
            f"set {VARIABLE} to the folder of data sets."
        )
    return path
