"""Settings of experiments: one small TOML file each."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from kernelfields.errors import InputError

FOLDER = Path(__file__).parents[1] / "settings"
"""Has one file for every experiment."""

Settings = TypeVar("Settings")


def load_settings(
    kind: type[Settings], name: str, *, quick: bool = False, folds: bool = False, file: Path | None = None
) -> Settings:
    """Read the settings of an experiment.

    The file has a table ``full`` with all of them; ``folds`` and ``quick`` have those that differ then.

    Parameters
    ----------
    kind : dataclass
        What the settings are.
    name : str
        Name of the experiment.
    quick, folds : bool
        Which further tables count.
    file : path, optional
        Read this file instead of that in `FOLDER`.
    """
    source = FOLDER / f"{name}.toml" if file is None else file
    try:
        tables = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"The settings in {source} cannot be read: {error}.") from error
    if folds and "folds" not in tables:
        raise InputError(f"{name} has no --folds.")
    merged: dict[str, Any] = dict(tables.get("full", {}))
    merged |= tables.get("folds", {}) if folds else {}
    merged |= tables.get("quick", {}) if quick else {}
    known = {item.name for item in fields(kind)}  # type: ignore[arg-type]
    for key in sorted(merged.keys() ^ known):
        raise InputError(f"The settings in {source} {'lack' if key in known else 'do not know'} {key!r}.")
    return kind(**merged)
