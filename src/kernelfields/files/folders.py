"""Folders of files that are read one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import InputError
from .kinds import ending_of, kind_of_name
from .options import Reading

MARKED = ("ann", "txt")
"""Endings of files in folders of brat, which are read as a whole."""


def files_of(paths: Iterable[Path], reading: Reading) -> list[Path]:
    """Return files, and those inside folders, in the order of their names; folders of brat stay as they are.

    A folder must hold files of one format, unless a format is said.
    """
    return [file for path in paths for file in (_inside(path, reading) if path.is_dir() else [path])]


def _inside(folder: Path, reading: Reading) -> list[Path]:
    files = sorted(one for one in folder.iterdir() if one.is_file() and not one.name.startswith("."))
    if reading.format is not None:
        return [folder] if reading.format == "brat" else files
    if not files or any(ending_of(one.name) in MARKED for one in files):
        return [folder]
    kinds = {kind_of_name(one.name) for one in files}
    if len(kinds) > 1 or None in kinds:
        raise InputError(
            f"{folder} has files of several formats, or of none that is known: name the files, or --format."
        )
    return files
