"""The settings that a search chose, in words, and whether they lie at the edge of what was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..kernels import RBF

FEW = 3
"""Values of a setting below which an edge means nothing."""


def chosen_words(settings: Mapping[str, Any]) -> str:
    """Return settings as "penalty = 0.1, gamma = 0.02"."""
    pairs = (_named(name, value) for name, value in reversed(list(settings.items())))
    return ", ".join(
        f"{name} = {value:.3g}" if _is_number(value) else f"{name} = {value}" for name, value in pairs
    )


def edge_notes(settings: Mapping[str, Any], grid: Mapping[str, Sequence[Any]]) -> list[str]:
    """Say which of the chosen numbers is the smallest or largest of those tried."""
    found = []
    for name, values in grid.items():
        shown, chosen = _named(name, settings[name])
        numbers = [_named(name, value)[1] for value in values]
        if not all(map(_is_number, numbers)) or len(set(numbers)) < FEW:
            continue
        for end, most, more in (("smallest", min(numbers), "smaller"), ("largest", max(numbers), "larger")):
            if chosen == most:
                found.append(f"{shown} = {chosen:.3g} is the {end} value tried: a {more} one may be better.")
    return found


def _named(name: str, value: Any) -> tuple[str, Any]:
    """Return the name of a setting inside its model, and its number; kernels have their width."""
    if isinstance(value, RBF):
        return "gamma", value.gamma
    return name.rpartition("__")[2], value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
