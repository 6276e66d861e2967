"""Settings by name, as scikit-learn's tools expect them of estimators and kernels.

``clone``, ``GridSearchCV``, pipelines and the like ask for ``get_params``, ``set_params`` and tags, which
are here. They are not inherited from scikit-learn because importing it costs two seconds and 90 MB,
more than training many a model; it is imported where it is needed.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, Self


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
        if deep:
            for name, value in list(result.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    result.update({f"{name}__{inner}": v for inner, v in value.get_params().items()})
        return result

    def set_params(self, **settings: Any) -> Self:
        """Change settings, ``outer__inner`` those of a setting."""
        nested: dict[str, dict[str, Any]] = {}
        for key, value in settings.items():
            name, _, inner = key.partition("__")
            if name not in self._parameter_names():
                known = ", ".join(self._parameter_names())
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {known}.")
            if inner:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner_settings in nested.items():
            getattr(self, name).set_params(**inner_settings)
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


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(repr(value) == repr(default)))
