"""Settings by name, as scikit-learn's tools expect them of estimators and kernels.

``clone``, ``GridSearchCV``, pipelines and the like ask for ``get_params``, ``set_params`` and tags, which
are here. They are not inherited from scikit-learn because importing it costs two seconds and 90 MB,
more than training many a model; it is imported where it is needed.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Self, cast

import numpy as np

from .checks import shown
from .errors import InputError, UnsupportedError


class Parameterised:
    """Something whose settings are the arguments of its constructor, kept as attributes of their names."""

    @classmethod
    @cache
    def _parameter_names(cls) -> tuple[str, ...]:
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        given = inspect.signature(cls).parameters.values()
        return tuple(parameter.name for parameter in given if parameter.kind in kinds)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all settings; with ``deep`` also those of settings that have some, as ``outer__inner``."""
        result = {name: getattr(self, name) for name in self._parameter_names()}
        return unfold_settings(result) if deep else result

    def set_params(self, **settings: Any) -> Self:
        """Change settings, ``outer__inner`` those of a setting; none if one of them is refused.

        What is frozen is left as it is: the changed copy is returned. Settings of settings are changed in
        copies, which other objects do not share; but estimators within estimators themselves.
        """
        if _is_frozen(self):
            return cast(Self, change_settings(type(self).__name__, self, settings))
        own, nested = split_settings(self, self._parameter_names(), settings)
        for name, inner in nested.items():
            value = own.get(name, getattr(self, name))
            own[name] = change_settings(f"{type(self).__name__}.{name}", value, inner)
        for name, value in own.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """Write the constructor call, leaving out what has its default."""
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn's tools ask before they use an estimator."""
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()


def unfold_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings, and behind them those of settings that have some, as ``outer__inner``."""
    result = dict(settings)
    for name, value in settings.items():
        inner: Mapping[str, Any] = {}
        if hasattr(value, "get_params") and not isinstance(value, type):
            inner = value.get_params()
        elif _is_frozen(value):
            inner = unfold_settings({field: getattr(value, field) for field in _fields(value)})
        result.update({f"{name}__{key}": one for key, one in inner.items()})
    return result


def split_settings(
    owner: Any, known: Collection[str], settings: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the settings of an object, and by their names those of these settings; refuse unknown names."""
    own: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for key, value in settings.items():
        name, separator, inner = key.partition("__")
        if name not in known or (separator and not inner):
            raise lacking(type(owner), name if name not in known else key, known)
        if inner:
            nested.setdefault(name, {})[inner] = value
        else:
            own[name] = value
    return own, nested


def lacking(kind: type, name: str, known: Collection[str]) -> InputError:
    """Return the refusal of a name that no setting has: what to write for an old one, else all that exist."""
    from .renamed import new_setting

    new = new_setting(name, known)
    instead = f"write {new}" if new else f"it has {', '.join(known) or 'none'}"
    return UnsupportedError(f"{kind.__name__} has no parameter {name!r}; {instead}.")


def change_settings(name: str, value: Any, settings: Mapping[str, Any]) -> Any:
    """Return a copy of a value with other settings; an estimator, or a value that has them, itself."""
    if hasattr(value, "set_params") and not isinstance(value, type) and not _is_frozen(value):
        present = value.get_params()
        if all(key in present and present[key] is one for key, one in settings.items()):
            return value
        return (value if hasattr(value, "fit") else copy.copy(value)).set_params(**settings)
    if not _is_frozen(value):
        instead = ": give an object in the place of its name" if isinstance(value, str) else ""
        what = f"which has no parameters; {', '.join(settings)} cannot be set{instead}"
        raise InputError(f"{name} is {shown(value)}, {what}.")
    own, nested = split_settings(value, _fields(value), settings)
    value = replace(value, **own)
    given = {key: change_settings(f"{name}.{key}", getattr(value, key), it) for key, it in nested.items()}
    return replace(value, **given)


def alike(one: Any, other: Any) -> bool:
    """Tell whether two settings are the same: arrays by their numbers, kernels by what they are made of."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if type(one) is not type(other):
        return bool(one == other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, Parameterised):
        return alike(one.get_params(deep=False), other.get_params(deep=False))
    if not _is_frozen(one):
        return bool(one == other)
    return all(alike(getattr(one, name), getattr(other, name)) for name in _fields(one))


def _is_frozen(value: Any) -> bool:
    parameters: Any = getattr(type(value), "__dataclass_params__", None)
    return is_dataclass(value) and not isinstance(value, type) and bool(parameters.frozen)


def _fields(value: Any) -> list[str]:
    """Return the names of what users give to a dataclass; what it does not show is filled in by others."""
    return [field.name for field in fields(value) if field.init and field.repr]


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(repr(value) == repr(default)))
