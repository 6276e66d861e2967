"""Settings to choose from, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from ..checks import shown
from ..errors import InputError
from ..kernels import RBF, as_kernel
from .preparing import inner, prefix_of

PENALTIES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
WIDTHS = (0.25, 1.0, 4.0)
"""Factors of γ."""
PENALTY = "penalty"


def usual_grid(model: Any) -> dict[str, list[Any]]:
    """Return penalties, and Gaussian kernels of several widths where the model has one.

    Penalties go from the largest to the smallest: fits start where the last one ended. Where the model has a
    penalty above 1, they are multiples of it.
    """
    name, known = type(inner(model)).__name__, inner(model).get_params(deep=False)
    if PENALTY not in known:
        raise InputError(f"{name} has no penalty to tune; say which settings to try.")
    prefix, kernel = prefix_of(model), known.get("kernel")
    kernel = as_kernel(kernel) if isinstance(kernel, str) else kernel
    grid: dict[str, list[Any]] = {}
    if isinstance(kernel, RBF):
        grid[f"{prefix}kernel"] = [_narrowed(kernel, factor) for factor in WIDTHS]
    given = known[PENALTY]
    factor = max(given, 1.0) if isinstance(given, int | float) else 1.0
    return {**grid, f"{prefix}{PENALTY}": [factor * penalty for penalty in PENALTIES]}


def _narrowed(kernel: RBF, factor: float) -> RBF:
    """Return a kernel with a multiple of γ: of the number, or of what observations make of it."""
    if kernel.looks_first:
        return RBF(kernel.gamma, factor=kernel.factor * factor)
    return RBF(gamma=kernel.inverse_width * factor)


def combinations(model: Any, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of settings; refuse names that the model does not have."""
    known = model.get_params(deep=True)
    for name, values in grid.items():
        if name not in known:
            raise InputError(f"settings has {name!r}, which {type(model).__name__} does not have.")
        if not isinstance(values, list | tuple) or not values:
            raise InputError(f"settings[{name!r}] is {shown(values)}; it must be a list of values to try.")
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def label_of(settings: Mapping[str, Any]) -> str:
    """Return settings in words: "γ 0.1, λ 0.3"."""
    return ", ".join(
        _label(name.rpartition("__")[2], value) for name, value in reversed(list(settings.items()))
    )


def _label(name: str, value: Any) -> str:
    if isinstance(value, RBF) and value.looks_first:
        return f"γ {value.factor:.3g} × {value.gamma}"
    if isinstance(value, RBF):
        return f"γ {value.inverse_width:.3g}"
    shown_name = "λ" if name == PENALTY else name
    return f"{shown_name} {value:.3g}" if isinstance(value, int | float) else f"{shown_name} {value}"


FEW = 3
"""Values of a setting below which an edge means nothing."""


def chosen_words(settings: Mapping[str, Any]) -> str:
    """Return settings as "penalty = 0.1, gamma = 0.25 × median"."""
    pairs = (_named(name, value) for name, value in reversed(list(settings.items())))
    return ", ".join(f"{name} = {_words(value, rule)}" for name, value, rule in pairs)


def edge_notes(settings: Mapping[str, Any], grid: Mapping[str, Sequence[Any]]) -> list[str]:
    """Say which of the chosen numbers is the smallest or largest of those tried."""
    found = []
    for name, values in grid.items():
        shown, chosen, rule = _named(name, settings[name])
        _, numbers, rules = zip(*(_named(name, value) for value in values), strict=True)
        if not all(map(_is_number, numbers)) or len(set(numbers)) < FEW or len(set(rules)) > 1:
            continue
        for end, most, more in (("smallest", min(numbers), "smaller"), ("largest", max(numbers), "larger")):
            if chosen == most:
                words = f"{shown} = {_words(chosen, rule)}"
                found.append(f"{words} is the {end} value tried: a {more} one may be better.")
    return found


def _named(name: str, value: Any) -> tuple[str, Any, str | None]:
    """Return the name of a setting inside its model, its number, and what that is a multiple of, if anything.

    Kernels have their width; where a rule finds it, several candidates differ in the factor alone.
    """
    if isinstance(value, RBF) and isinstance(value.gamma, str):
        return "gamma", value.factor, value.gamma
    if isinstance(value, RBF):
        return "gamma", value.inverse_width, None
    return name.rpartition("__")[2], value, None


def _words(value: Any, rule: str | None) -> str:
    words = f"{value:.3g}" if _is_number(value) else f"{value}"
    return words if rule is None else f"{words} × {rule}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
