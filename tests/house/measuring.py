"""All meters, read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .annotations import count_annotations, share_of_any
from .clients import single_client_modules
from .duplicates import duplicate_pairs
from .imports import private_imports
from .layout import comment_lines, count_lines, files_of_largest_folder, layers, rooms
from .loading import modules_loaded
from .names import names_defined_twice
from .prose import documentation, prose_hits
from .sources import Module, read_modules
from .toys import count_parameters, toys
from .walks import Walk, longest, walk_through_commands, walk_through_estimators
from .words import participle_names


class Measured(NamedTuple):
    """The readings.

    Attributes
    ----------
    values : a number for each key of `LIMITS`
    places : what counts, for the numbers that count something
    estimators, commands : the files that each of them enters
    modules : the package
    """

    values: Mapping[str, float]
    places: Mapping[str, Sequence[str]]
    estimators: Mapping[str, Walk]
    commands: Mapping[str, Sequence[str]]
    modules: Sequence[Module]


def measure(package: Path, root: Path) -> Measured:
    """Read all meters of `package`, whose repository is at `root`."""
    estimators = walk_through_estimators(toys(), package)  # first: it looks at every object in memory
    commands = walk_through_commands(package)
    modules = read_modules(package)
    any_counts = count_annotations(modules)
    parameters = {name: count_parameters(type(toy.model)) for name, toy in toys().items()}
    places = {
        "files_fit_max": longest({name: walk.fit for name, walk in estimators.items()}),
        "files_predict_max": longest({name: walk.predict for name, walk in estimators.items()}),
        "files_command_max": longest(commands),
        "modules_loaded": modules_loaded("from kernelfields import CRF", "kernelfields", root),
        "single_client_modules": single_client_modules(modules),
        "largest_folder": files_of_largest_folder(modules),
        "rooms": rooms(modules),
        "layers": layers(root / "pyproject.toml"),
        "duplicates_10_lines": duplicate_pairs(modules),
        "participle_names": participle_names(modules),
        "comment_lines": comment_lines(modules),
        "prose_hits": prose_hits(modules, documentation(root)),
        "names_defined_twice": names_defined_twice(modules),
        "private_imports": private_imports(modules),
    }
    values = {
        **{key: len(found) for key, found in places.items()},
        "largest_constructor": max(parameters.values()),
        "any_share": share_of_any(any_counts.values()),
        "any_share_estimators": share_of_any([any_counts["estimators"]]),
        "lines_package": count_lines(modules),
    }
    places["largest_constructor"] = [f"{name} {count}" for name, count in sorted(parameters.items())]
    return Measured(values, places, estimators, commands, modules)
