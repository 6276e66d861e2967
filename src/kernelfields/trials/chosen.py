"""The settings that a search chose, in words, and whether they lie at the edge of what was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..kernels import RBF

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
