"""Classes of other packages that model files may hold."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib.metadata import entry_points
from typing import Any, TypeVar

import numpy as np

from ..errors import InputError
from ..parameters import Parameterised
from .objects import Check, Parts, StoredClass, stored_by_fields, stored_by_settings

Class = TypeVar("Class", bound=type)
GROUP = "kernelfields.plugins"
"""Entry points of installed packages: modules that register classes when they are imported."""

_by_name: dict[str, StoredClass] = {}
_searched: list[bool] = []


def register(name: str) -> Callable[[Class], Class]:
    """Let model files hold objects of a class of your own: a kernel, decoder, loss or structure.

    A file stores the name and the settings of such an object, never code. The class must therefore be
    registered, that is its module imported, before `load` reads the file. The `kf` commands find the modules
    that installed packages name as entry points in the group ``kernelfields.plugins``.

    Parameters
    ----------
    name : str
        The name in files, with a dot, such as ``"yourpackage.RationalQuadratic"``. Files written under one
        name cannot be read under another: keep it when you rename or move the class.

    Returns
    -------
    decorator
        Returns the class unchanged.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from kernelfields import register
    >>> from kernelfields.decoders import Viterbi
    >>> @register("example.Hasty")
    ... @dataclass(frozen=True)
    ... class Hasty(Viterbi):
    ...     share: float = 0.5
    """
    if (
        not isinstance(name, str)
        or not all(part.isidentifier() for part in name.split("."))
        or "." not in name
    ):
        raise InputError(f"{name!r} is not a name like 'yourpackage.YourKernel', which files need.")

    def add(cls: Class) -> Class:
        row = _row(cls, name)
        known = _by_name.get(name)
        if known is not None and not _reloaded(known.kind, cls):
            raise InputError(f"{name!r} is registered already, for {known.kind}.")
        _by_name[name] = row
        return cls

    return add


def registered_class(cls: type) -> StoredClass | None:
    """Return the row of a registered class; None if it is not registered."""
    return next((row for row in _by_name.values() if row.kind is cls), None)


def registered_name(name: str) -> StoredClass | None:
    """Return the row registered under a name, if need be by a plug-in of an installed package."""
    if name not in _by_name and "." in name and not _searched:
        _searched.append(True)
        for plugin in entry_points(group=GROUP):
            plugin.load()
    return _by_name.get(name)


def _row(cls: Any, name: str) -> StoredClass:
    """Return how objects of a class are taken apart: by their fields, or by their parameters."""
    if not isinstance(cls, type):
        raise InputError(f"Only classes can be registered, not {cls!r}.")
    if issubclass(cls, Parameterised):
        return stored_by_settings(cls, name)
    if not is_dataclass(cls):
        raise InputError(
            f"{cls.__name__} is neither a kernel nor a dataclass: a file needs to know its settings."
        )
    extra = [field.name for field in fields(cls) if field.name not in inspect.signature(cls).parameters]
    if extra:
        raise InputError(f"The constructor of {cls.__name__} does not take its field {extra[0]!r}.")
    return stored_by_fields(cls, name)


def _reloaded(old: type | str, new: type) -> bool:
    """Tell whether a class is a later version of another, as after a module or a notebook cell ran again."""
    return isinstance(old, type) and (old.__module__, old.__qualname__) == (new.__module__, new.__qualname__)


def _random_parts(found: np.random.RandomState) -> Parts:
    name, key, *rest = found.get_state(legacy=True)
    if name != "MT19937":
        raise InputError("random_state is a generator other than MT19937, which a model file cannot hold.")
    return {"key": key, "rest": [int(rest[0]), int(rest[1]), float(rest[2])]}


def _random_state(parts: Parts, _: Check) -> np.random.RandomState:
    result = np.random.RandomState(0)
    result.set_state(("MT19937", parts["key"], *parts["rest"]))
    return result


RANDOM_STATE = StoredClass("RandomState", np.random.RandomState, _random_parts, _random_state)
