"""The files that every estimator and five commands enter."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .commands import commands
from .entered import files_entered
from .toys import Toy


class Walk(NamedTuple):
    """The files that an estimator enters."""

    fit: list[str]
    predict: list[str]


def walk_through_estimators(toys: Mapping[str, Toy], package: Path) -> dict[str, Walk]:
    """Fit every estimator, and predict with it what it was fitted to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # toys are too small for some estimators to converge
        return {
            name: Walk(
                files_entered(partial(model.fit, *data), package),
                files_entered(partial(model.predict, data[0]), package),
            )
            for name, (model, data) in sorted(toys.items())
        }


def walk_through_commands(package: Path) -> dict[str, list[str]]:
    """Run every command on toy files."""
    with tempfile.TemporaryDirectory() as folder:
        return {name: files_entered(run, package) for name, run in commands(Path(folder)).items()}


def longest(walks: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the files of the longest walk, each preceded by the name of its estimator or command."""
    name = max(walks, key=lambda name: len(walks[name]))
    return [f"{name}: {file}" for file in walks[name]]
