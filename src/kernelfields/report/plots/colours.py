"""Colours of labels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..markup import element, escape

PALETTE = (
    "#3a7ca5", "#d1603d", "#5b8e3e", "#8e5bb5", "#c9a227",
    "#2a9d8f", "#b5446e", "#6b705c", "#4056a1", "#bc6c25",
)  # fmt: skip
"""Told apart also by those who see red and green as one, as far as ten colours can be."""
UNKNOWN = "#9a9a9a"


def colour_of(label: Hashable, classes: Sequence[Hashable]) -> str:
    """Return the colour of a label; grey for those that the model does not have."""
    return PALETTE[list(classes).index(label) % len(PALETTE)] if label in classes else UNKNOWN


def legend(classes: Sequence[Hashable], used: Sequence[Hashable]) -> str:
    """Say which colour is which label, of those that occur."""
    shown = [label for label in classes if label in set(used)]
    keys = [
        element(
            "svg", element("rect", width=10, height=10, fill=colour_of(label, classes)), width=10, height=10
        )
        + " "
        + escape(label)
        + " "
        for label in shown
    ]
    return element("p", *keys, class_="legend")
