"""What an estimator is that can be saved to a file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from ..arrays import Array
from ..parameters import Parameterised
from .fields import Field


class Savable(Parameterised, ABC):
    """An estimator whose fitted state is a set of declared attributes.

    A final class declares them in ``_learnt`` and has a line in the registry of estimators. A model that was
    loaded from a large file has its arrays when they are first asked for: they are checked then.
    """

    classes_: Array
    _learnt: ClassVar[Mapping[str, Field]]
    _transient: ClassVar[tuple[str, ...]] = ()
    """What only goes on with training, and is not saved."""
    _mirrored: ClassVar[tuple[str, ...]] = ()
    """What it shows of a model that it has learnt, and is saved with that."""
    _heeds: ClassVar[frozenset[str]] = frozenset()
    """Names of settings of ``run`` that a fit heeds."""
    _fit_sets: ClassVar[frozenset[str]]
    """The names of all attributes that a fit may set."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        own = {"classes_", "_waiting", "_previous", "_table_columns"}
        cls._fit_sets = frozenset({*own, *getattr(cls, "_learnt", ()), *cls._transient, *cls._mirrored})

    def _state(self) -> dict[str, Any]:
        """Return the fitted attributes by name, but ``classes_``; refuse to forget others that a fit set."""
        require_fitted(self)
        known = self.__getstate__()
        state = {name: known[name] for name in self._learnt if name in known}
        other = known.keys() - state.keys() - self._fit_sets - {*self._parameter_names(), "_metadata_request"}
        forgotten = sorted(name for name in other if name.startswith("_") or name.endswith("_"))
        if forgotten:
            raise TypeError(f"{type(self).__name__} does not declare {forgotten[0]} in _learnt.")
        return state

    def _settle(self, state: Mapping[str, Any]) -> None:
        """Take over some or all of what `_state` gave."""
        vars(self).update(state)

    @abstractmethod
    def _rehearse(self) -> None:
        """Predict nothing for no sequences: fails where attributes do not fit one another."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, which `kernelfields.load` reads.

        The file has the safetensors format and holds no code. It appears at once or not at all.
        ``callback`` and ``checkpoint`` of ``run`` are left out; a kernel or a base measure that is a Python
        function cannot be saved.
        """
        from .files import save

        save(self, path)

    def _repr_html_(self) -> str:
        """Return what notebooks show: of a fitted model what it learnt, else scikit-learn's diagram."""
        if not hasattr(self, "classes_"):
            from sklearn.utils import estimator_html_repr

            return str(estimator_html_repr(self))
        # By name: what describes models is made of layers above this one, and loaded when it is asked for.
        return str(import_module("kernelfields.report.result_cards").card(self))

    if not TYPE_CHECKING:  # else every name would pass for an attribute

        def __getattr__(self, name: str) -> Any:
            waiting: Callable[[], None] | None = vars(self).get("_waiting")
            if waiting is not None and not name.startswith("__"):
                waiting()
            if name in vars(self):  # else, perhaps, another thread was first
                return vars(self)[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        waiting = vars(self).get("_waiting")
        if waiting is not None:
            waiting()
        return {name: value for name, value in vars(self).items() if name != "_previous"}


def require_fitted(model: Savable) -> None:
    """Refuse a model that knows no labels yet."""
    if not hasattr(model, "classes_"):
        raise no_fit(model)


def no_fit(model: Savable) -> Exception:
    """Return the refusal of a model that knows no labels yet."""
    from sklearn.exceptions import NotFittedError

    return NotFittedError(f"This {type(model).__name__} is not fitted yet; call fit first.")
