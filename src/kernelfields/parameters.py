"""Settings by name, as scikit-learn's tools expect them of estimators and kernels.

``clone``, ``GridSearchCV``, pipelines and the like ask for ``get_params``, ``set_params`` and tags, which
are here. They are not inherited from scikit-learn because importing it costs two seconds and 90 MB,
more than training many a model; it is imported where it is needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Self

from .checks import shown
from .errors import InputError


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
        """Change settings, ``outer__inner`` those of a setting; frozen ones are replaced."""
        own, nested = split_settings(self, self._parameter_names(), settings)
        for name, value in own.items():
            setattr(self, name, value)
        for name, inner in nested.items():
            setattr(self, name, change_settings(f"{type(self).__name__}.{name}", getattr(self, name), inner))
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
            what = name if name not in known else key
            raise InputError(
                f"{type(owner).__name__} has no parameter {what!r}; it has {', '.join(known) or 'none'}."
            )
        if inner:
            nested.setdefault(name, {})[inner] = value
        else:
            own[name] = value
    return own, nested


def change_settings(name: str, value: Any, settings: Mapping[str, Any]) -> Any:
    """Return a value with other settings: a copy of one that is frozen, any other itself."""
    if hasattr(value, "set_params") and not isinstance(value, type) and not _is_frozen(value):
        return value.set_params(**settings)
    if not _is_frozen(value):
        inner = ", ".join(settings)
        raise InputError(f"{name} is {shown(value)}, which has no parameters; {inner} cannot be set.")
    own, nested = split_settings(value, _fields(value), settings)
    value = replace(value, **own)
    replaced = {
        key: change_settings(f"{name}.{key}", getattr(value, key), one) for key, one in nested.items()
    }
    return replace(value, **replaced)


def _is_frozen(value: Any) -> bool:
    parameters: Any = getattr(type(value), "__dataclass_params__", None)
    return is_dataclass(value) and not isinstance(value, type) and bool(parameters.frozen)


def _fields(value: Any) -> list[str]:
    """Return the names of what users give to a dataclass; what it does not show is filled in by others."""
    return [field.name for field in fields(value) if field.init and field.repr]


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(repr(value) == repr(default)))
