"""Checks of single arguments: one sentence that has the name, the value and what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Real
from operator import le
from reprlib import Repr
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from .arrays import Array
from .errors import InputError
from .lazy import Later, class_at

Choice = TypeVar("Choice")

Check = Callable[[str, Any], object]
"""Takes a name and a value; refuses the value or returns it."""

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80

FEW = 32
"""Numbers up to which a list is read faster than an array."""

ARRAYS = (list, tuple, np.ndarray)
"""What the rows of nested lists may be."""

NO_ARRAYS = {list, tuple, int, float, str, bool, type(None)}
"""Types of most of what lists hold."""

MOST_WHOLE = 2**63 - 1
"""The largest whole number that the compiled core takes."""


def shown(value: object) -> str:
    """Return a value as it is written in messages, in one line; what is long by its beginning and its end."""
    return re.sub(r"\s*\n\s*", " ", _SHORT.repr(value))


def is_list(value: object) -> bool:
    """Return whether a value has a length and an order, and is no text; strings would pass for both."""
    if isinstance(value, str | bytes | Mapping | Set | type) or getattr(value, "nnz", None) is not None:
        return False
    return hasattr(value, "__len__") and getattr(value, "shape", None) != ()  # arrays without dimensions


def as_list(X: Any) -> Any:
    """Return a series of pandas, or an array of objects, as a list of sequences; others as they are."""
    objects = isinstance(X, np.ndarray) and X.dtype == object
    return X.tolist() if (objects or hasattr(X, "to_numpy")) and getattr(X, "ndim", 0) == 1 else X


def _holds_masks(value: Any) -> bool:
    """Whether an array has masked entries, or one in a list of arrays; numbers are not looked at."""
    if isinstance(value, np.ndarray):
        return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))
    if not isinstance(value, list | tuple) or not value:
        return False
    if not set(map(type, value)) <= NO_ARRAYS and any(
        _holds_masks(row) for row in value if isinstance(row, np.ndarray)
    ):
        return True
    nested = isinstance(value[0], list | tuple) and value[0]
    return bool(nested) and isinstance(value[0][0], ARRAYS) and any(map(_holds_masks, value))


def require_unmasked(value: Any, what: str, instead: str = "fill in what they should be") -> None:
    """Refuse masked entries of an array, or of arrays in a list; ``instead`` says what to write for them."""
    if type(value) is not np.ndarray and _holds_masks(value):
        raise InputError(f"{what} has masked entries, which would be read as if they were not: {instead}.")


def require_whole(name: str, value: Any, least: int = 1, most: int = MOST_WHOLE) -> int:
    """Return a whole number between two bounds, both included."""
    if _is_whole(value) and least <= value <= most:
        return int(value)
    unbounded = most >= 2**31 - 1 and not (_is_whole(value) and value > most)
    wanted = f"from {least} on" if unbounded else f"from {least} to {most}"
    raise InputError(f"{name} is {shown(value)}; it must be a whole number {wanted}.")


def require_number(name: str, value: Any) -> float:
    """Return a finite number."""
    return _number(name, value, lambda _: True, "a finite number")


def require_positive(name: str, value: Any) -> float:
    """Return a finite number above zero."""
    return _number(name, value, lambda number: number > 0, "a finite number above 0")


def require_not_negative(name: str, value: Any) -> float:
    """Return a finite number from zero on."""
    return _number(name, value, lambda number: number >= 0, "a finite number, not negative")


def require_share(name: str, value: Any, *, zero: bool = True) -> float:
    """Return a number from 0 (or above it) to 1."""
    if zero:
        return _number(name, value, lambda number: 0 <= number <= 1, "a number from 0 to 1")
    return _number(name, value, lambda number: 0 < number <= 1, "a number above 0 and at most 1")


def require_flag(name: str, value: Any) -> bool:
    """Return True or False; anything else, though Python would find it true or false, is a mistake."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} is {shown(value)}; it must be True or False.")
    return bool(value)


def require_function(name: str, value: Any) -> Callable[..., Any]:
    """Return something that can be called."""
    if not callable(value):
        raise InputError(f"{name} is {shown(value)}; it must be a function, or None.")
    return value


def all_finite(values: Array) -> bool:
    """Whether no number is NaN or infinite.

    The least and the largest say so without an array of answers; of a few numbers a list is read faster.
    """
    if values.size < FEW:
        return all(map(isfinite, values.ravel().tolist()))
    return isfinite(values.min()) and isfinite(values.max())


def never_falls(numbers: Array) -> bool:
    """Whether each number of a vector is at least the one before."""
    if len(numbers) < FEW:
        given = numbers.tolist()
        return all(map(le, given, given[1:]))
    return bool((numbers[1:] >= numbers[:-1]).all())


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _number(name: str, value: Any, fits: Callable[[float], bool], wanted: str) -> float:
    """A Python float: NumPy's would turn arithmetic in single precision into double."""
    try:
        if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
            number = float(value)
            if isfinite(number) and fits(number):
                return number
    except OverflowError:  # an integer beyond the largest float
        pass
    raise InputError(f"{name} is {shown(value)}; it must be {wanted}.")


def whole(least: int = 1, most: int = 2**31 - 1) -> Check:
    """Return a check that something is a whole number between two bounds."""
    return lambda name, value: require_whole(name, value, least, most)


def optional(check: Check) -> Check:
    """Return the same check for what may be None."""
    return lambda name, value: None if value is None else check(name, value)


def proper_share(name: str, value: Any) -> float:
    """Return a part of something, which cannot be nothing."""
    return require_share(name, value, zero=False)


def require_offsets(offsets: npt.ArrayLike) -> Array:
    """Return the offsets of a ragged batch as int64, from 0 on and never falling."""
    result = whole_numbers("offsets", offsets)
    if len(result) == 0 or result[0] != 0 or not never_falls(result):
        raise InputError("offsets must start with 0 and never fall.")
    return result


def require_weights(weights: npt.ArrayLike | None, instances: int) -> Array | None:
    """Return one weight for every instance, in double; None stays None."""
    if weights is None:
        return None
    require_unmasked(weights, "The list of weights", "give 0 for what is not to count")
    given = np.asarray(weights)
    if given.dtype.kind not in "biuf" or given.shape != (instances,):
        raise InputError(
            f"weights are {given.dtype} of shape {given.shape}, expected numbers of shape ({instances},)."
        )
    return np.ascontiguousarray(given, dtype=np.float64)


def require_ids(ids: npt.ArrayLike, instances: int) -> Array:
    """Return numbers of instances."""
    result = whole_numbers("ids", ids)
    wrong = np.flatnonzero((result < 0) | (result >= instances))
    if wrong.size:
        raise InputError(f"ids have the instance {result[wrong[0]]}, expected 0 to {instances - 1}.")
    return result


def whole_numbers(name: str, given: npt.ArrayLike) -> Array:
    """Return a vector of whole numbers as int64; an empty one may be of any type."""
    result = np.asarray(given)
    if result is not given:
        require_unmasked(given, f"The list of {name}")
    if result.ndim != 1 or (result.size and result.dtype.kind not in "iu"):
        raise InputError(f"{name} are {shown(given)}; they must be a vector of whole numbers.")
    if result.dtype == np.uint64 and result.size and result.max() > np.iinfo(np.int64).max:
        raise InputError(f"{name} have {result.max()}, which is more than {np.iinfo(np.int64).max}.")
    return np.ascontiguousarray(result, dtype=np.int64)


def unknown_name(what: str, given: object, names: Collection[str], otherwise: str = "") -> InputError:
    """Return the refusal of a name: which one was probably meant, all that there are, what else may be given.

    Examples
    --------
    >>> print(unknown_name("solver", "lbgfs", ["lbfgs", "newton-cg"]))
    solver='lbgfs' is not known; did you mean 'lbfgs'? Choose one of 'lbfgs', 'newton-cg'.
    """
    near = get_close_matches(given.lower(), names, 1) if isinstance(given, str) else []
    known = f"one of {', '.join(map(repr, names))}{otherwise}."
    if near:
        return InputError(f"{what}={shown(given)} is not known; did you mean {near[0]!r}? Choose {known}")
    return InputError(f"{what}={shown(given)} is not known; choose {known}")


class Table(Mapping[str, Choice]):
    """Objects by name, and the kinds of object that may be given instead of a name.

    Parameters
    ----------
    kinds : type or str
        Classes, or "module:name" of those that are imported when somebody gives no name.
    entries : dict
        Objects, or `Later` ones.
    """

    def __init__(self, *kinds: Any, entries: Mapping[str, Choice | Later]) -> None:
        self.entries = dict(entries)
        self._kinds = kinds

    def __getitem__(self, name: str) -> Choice:
        """Return an object, made now if it has not been."""
        found = self.entries[name]
        if isinstance(found, Later):
            found = self.entries[name] = found()
        return found

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self.entries)

    def __len__(self) -> int:
        """Count names."""
        return len(self.entries)

    @property
    def kinds(self) -> tuple[type, ...]:
        """The classes, imported now."""
        return tuple(map(class_at, self._kinds))


def choose(table: Table[Choice], name: str | Choice, what: str) -> Choice:
    """Look a name up; an object of the kind is its own name."""
    if isinstance(name, str):
        if name in table.entries:
            return table[name]
        raise unknown_name(what, name, table)
    if not isinstance(name, table.kinds):
        names = ", ".join(map(repr, table))
        kinds = "".join(f" or a{'n' * (kind.__name__[0] in 'AEIOU')} {kind.__name__}" for kind in table.kinds)
        raise InputError(f"{what} is {shown(name)}; it must be one of {names}{kinds}.")
    return name


def each(check: Check) -> Check:
    """Return the same check for one value, or for every one of a list: a penalty, or one for each kernel."""

    def checked(name: str, value: Any) -> None:
        if isinstance(value, list | tuple):
            for k, one in enumerate(value):
                check(f"{name}[{k}]", one)
        else:
            check(name, value)

    return checked


def one_of(names: Collection[str]) -> Check:
    """Return a check that a setting is one of some names."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or value not in names:
            raise unknown_name(name, value, names)

    return check


def chosen(table: Table[Any]) -> Check:
    """Return a check that a setting is in a table, or of its kinds."""
    return lambda name, value: choose(table, value, name)


def precision(name: str, value: Any) -> None:
    """Check the type of the numbers of a Gram matrix."""
    try:
        known = value is not None and np.dtype(value) in (np.float32, np.float64)
    except (TypeError, ValueError):
        known = False
    if not known:
        raise InputError(f"{name} is {shown(value)}; it must be 'float32' or 'float64'.")


def require_settings(settings: Mapping[str, Any], checks: Mapping[str, Check]) -> None:
    """Refuse settings that mean nothing, by name; those that no check is about are let through."""
    for name, check in checks.items():
        if name in settings:
            check(name, settings[name])


class Checked:
    """A dataclass of settings, which are checked when they are given."""

    _checks: ClassVar[Mapping[str, Check]] = {}
    """By name, what a field may be."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name, check in self._checks.items():
            check(name, getattr(self, name))
