"""Objects of a model file: how their classes are written down, and made again.

A file names a class; the table of a `Registry` says what makes an object of it. Nothing else is made.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ..errors import ModelFormatError
from ..lazy import PACKAGE, class_at
from .savable import Savable

Parts = dict[str, Any]
Check = Callable[[type, Parts], Parts]
"""Refuses settings that the constructor of a class does not take; returns the others."""
Kinds = Mapping[str, type | str | tuple[type, ...]]


class StoredClass(NamedTuple):
    """How objects of a class are taken apart, and made again."""

    name: str
    """In files; it never changes, even if that of the class does."""
    kind: type | str
    """The class, or "module:name" of one that is imported when it is needed: ".kernels.rbf:RBF"."""
    parts: Callable[[Any], Parts]
    make: Callable[[Parts, Check], Any]


def stored_by_settings(kind: type | str, name: str = "") -> StoredClass:
    """Return the row of a class whose objects are their parameters, as `get_params` returns them."""
    return StoredClass(name or _name_of(kind), kind, settings_of, _maker(kind))


def stored_by_fields(kind: type | str, name: str = "") -> StoredClass:
    """Return the row of a dataclass or named tuple."""
    return StoredClass(name or _name_of(kind), kind, fields_of, _maker(kind))


def settings_of(value: Any) -> Parts:
    """Return the parameters of an object by name."""
    return value.get_params(deep=False)


def fields_of(value: Any) -> Parts:
    """Return the fields of a dataclass or a named tuple by name, but for those marked as not saved."""
    if not is_dataclass(value):
        return dict(value._asdict())
    return {one.name: getattr(value, one.name) for one in fields(value) if one.metadata.get("saved", True)}


def _maker(kind: type | str) -> Callable[[Parts, Check], Any]:
    def make(parts: Parts, check: Check) -> Any:
        cls = class_at(kind)
        return cls(**check(cls, parts))

    return make


def full_name(kind: type | str) -> str:
    """Return module and name of a class, with a dot between them."""
    if isinstance(kind, type):
        return f"{kind.__module__}.{kind.__qualname__}"
    return f"{PACKAGE if kind.startswith('.') else ''}{kind.replace(':', '.')}"


def _name_of(kind: type | str) -> str:
    return full_name(kind).rpartition(".")[2]


@dataclass(frozen=True)
class Registry:
    """Everything that a model file may hold."""

    recipes: Mapping[str, str]
    """Estimators, each as "module:name", by their names in files."""
    stored: tuple[StoredClass, ...]
    kinds: Kinds
    """What annotations of settings stand for; others promise nothing."""
    versions: Callable[[], Mapping[str, str]]
    """Of what computes; files tell them."""

    def class_of(self, value: Any) -> StoredClass | None:
        """Return the row of an object; None if it has none."""
        return self._by_kind.get(full_name(type(value)))

    def class_named(self, name: Any) -> StoredClass | None:
        """Return a row by its name in files; None if there is none."""
        return self._by_name.get(name) if isinstance(name, str) else None

    def recipe_of(self, model: Savable) -> str | None:
        """Return the name of an estimator in files; None if it has none."""
        known = full_name(type(model))
        return next((name for name, kind in self.recipes.items() if full_name(kind) == known), None)

    def estimator_named(self, name: str) -> type[Savable] | None:
        """Return the class of an estimator by its name in files; None if there is none."""
        place = self.recipes.get(name)
        return None if place is None else class_at(place)

    def checked(self, cls: type, parts: Mapping[str, Any]) -> Parts:
        """Refuse settings that a constructor does not have, and those of another type than it says."""
        known = inspect.signature(cls).parameters
        for name, value in parts.items():
            if name not in known:
                raise ModelFormatError(f"{cls.__name__} has no setting {name!r}.")
            annotation = known[name].annotation
            annotation = str(getattr(annotation, "__forward_arg__", annotation))  # named tuples wrap it
            kinds = [self.kinds.get(word) for word in _words(annotation)]
            named = "dict[str, " not in annotation or _has_names(value)
            if not named or (None not in kinds and not _is_one_of(value, kinds)):
                raise ModelFormatError(
                    f"{cls.__name__} takes {name} of type {annotation}, not {type(value).__name__}."
                )
        return dict(parts)

    @cached_property
    def _by_kind(self) -> Mapping[str, StoredClass]:
        return {full_name(row.kind): row for row in self.stored}

    @cached_property
    def _by_name(self) -> Mapping[str, StoredClass]:
        return {row.name: row for row in self.stored}


def _words(annotation: str) -> list[str]:
    """Split ``A | B[C]`` into its parts, without brackets."""
    return [part.strip() for part in re.sub(r"\[.*\]", "", annotation).split("|")]


def _has_names(value: Any) -> bool:
    return not isinstance(value, dict) or all(isinstance(name, str) for name in value)


def _is_one_of(value: Any, kinds: list[Any]) -> bool:
    """Tell whether a value is of some kind; those that have to be imported come last."""
    return any(
        isinstance(value, class_at(kind) if isinstance(kind, str) else kind)
        for kind in sorted(kinds, key=lambda kind: isinstance(kind, str))
    )
