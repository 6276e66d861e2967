"""Names that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import reduce
from importlib import import_module
from typing import Any

PACKAGE = __name__.partition(".")[0]


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose names are those of its modules.

    A function with the name of its module must be imported at once instead: else whoever imports the module
    first puts that in its place.

    Parameters
    ----------
    package : str
        Its `__name__`.
    homes : dict
        From modules, relative to the package, to names, separated by blanks.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name in home_of:
            found = getattr(import_module(f".{home_of[name]}", package), name)
        else:
            found = submodule(package, name)
        setattr(sys.modules[package], name, found)
        return found

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return find, listed


def submodule(package: str, name: str) -> Any:
    """Return a module of a package, imported now, or raise the error for a name that is unknown."""
    full = f"{package}.{name}"
    unknown = AttributeError(f"module {package!r} has no attribute {name!r}")
    if name.startswith("__"):
        raise unknown
    try:
        return import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:  # something else is missing, inside of it
            raise
        raise unknown from None


def found_at(place: str) -> Any:
    """Return what "module:name" stands for, imported now; with a dot in front, the module is of this package.

    Examples
    --------
    >>> found_at(".losses.log:LogLoss").__name__
    'LogLoss'
    """
    module, _, name = place.partition(":")
    return reduce(getattr, name.split("."), import_module(module, PACKAGE))


def class_at(kind: type | str) -> Any:
    """Return a class, imported now if it is given as "module:name"."""
    return found_at(kind) if isinstance(kind, str) else kind


class Later:
    """An object that is imported when it is first asked for.

    Parameters
    ----------
    place : str
        Its "module:name"; of a class, an object of it is meant.
    settings : dict
        What the class is called with.
    """

    def __init__(self, place: str, **settings: Any) -> None:
        self.place = place
        self.settings = settings

    def __call__(self) -> Any:
        """Return the object, a new one of a class."""
        found = found_at(self.place)
        return found(**self.settings) if isinstance(found, type) else found
