"""Declarations of what an estimator learns, and what a file must hold for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import ModelFormatError
from ..lazy import class_at

Sizes = dict[str, int]
"""Letters of shapes: L labels, D features; others are known from the first array that has them."""


@dataclass(frozen=True, kw_only=True)
class Field(ABC):
    """What an attribute must be."""

    needed: bool = True
    """Whether it must be there and not None."""
    large: bool = True
    """Whether reading it may wait until it is used."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse a value of another kind."""
        if value is None and not self.needed:
            return
        reason = self.objection(value, sizes)
        if reason:
            raise ModelFormatError(f"{name} {reason}.")

    @abstractmethod
    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say what is wrong with a value; nothing if nothing is."""


@dataclass(frozen=True)
class Kind(Field):
    """An object of some classes."""

    kinds: type | str | tuple[type | str, ...]
    """Classes, or "module:name" of those that are imported when there is something to check."""
    large: bool = field(default=False, kw_only=True)
    each: type = object
    """The class of the items of a list."""

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if it is of another class, or one of its items is."""
        kinds = self.kinds if isinstance(self.kinds, tuple) else (self.kinds,)
        known = any(isinstance(value, class_at(kind)) for kind in kinds)
        if not known or (type(value) is bool and bool not in kinds):
            return f"is of type {type(value).__name__}"
        if isinstance(value, list) and not all(isinstance(one, self.each) for one in value):
            return f"has items that are no {self.each.__name__}"
        return ""


@dataclass(frozen=True)
class Numbers(Field):
    """An array, its axes given by letters: "L D"."""

    axes: str
    kinds: str = "f"
    """Kinds of NumPy's types."""
    sparsely: bool = False
    """Whether it may be a sparse matrix, with columns one behind the other."""

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if type or shape are others."""
        if sparse.issparse(value):
            if not self.sparsely or value.format != "csc":
                return "is a sparse matrix, or one of another format"
        elif not isinstance(value, np.ndarray):
            return "is no array"
        if value.dtype.kind not in self.kinds:
            return f"is an array of {value.dtype}"
        return shape_objection(value.shape, self.axes.split(), sizes)


@dataclass(frozen=True)
class Observations(Field):
    """Rows of numbers, n of them, dense or sparse; or n objects."""

    needed: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if type or shape are others."""
        if not sparse.issparse(value) and not isinstance(value, np.ndarray):
            return "is neither an array nor a sparse matrix"
        if value.dtype == object:
            return shape_objection(value.shape, ["n"], sizes)
        if value.dtype.kind != "f":
            return f"is an array of {value.dtype}"
        return shape_objection(value.shape, ["n", "D"], sizes)


@dataclass(frozen=True)
class Models(Field):
    """A list of fitted estimators, at least one, whose labels are among those there are."""

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if it is another list, or none."""
        fits = isinstance(value, list) and value and all(hasattr(one, "predict_marginals") for one in value)
        return "" if fits else "is no list of models"


@dataclass(frozen=True)
class Rules(Field):
    """Masks over labels: what rules forbid."""

    needed: bool = False
    large: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if masks are none, or of other shapes."""
        if not isinstance(value, tuple) or len(value) != 3:
            return "is not made of three masks"
        for mask, axes in zip(value, (["L", "L"], ["L"], ["L"]), strict=True):
            if not isinstance(mask, np.ndarray) or mask.dtype != bool:
                return "is not made of masks"
            reason = shape_objection(mask.shape, axes, sizes)
            if reason:
                return reason
        return ""


def shape_objection(shape: tuple[int, ...], letters: list[str], sizes: Sizes) -> str:
    """Say if a shape is not the one that letters stand for."""
    if len(shape) != len(letters):
        return f"has {len(shape)} axes, expected {len(letters)}"
    expected = tuple(sizes.setdefault(letter, n) for letter, n in zip(letters, shape, strict=True))
    return "" if shape == expected else f"has shape {shape}, expected {expected}"
