"""What a paper says, as a bound that our own figure keeps or does not."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any


@dataclass(frozen=True)
class Claim:
    """A measured value and the bound it must meet, an upper or a lower one."""

    name: str
    value: float
    paper: float | None = None
    """The paper's figure, where it gives one."""
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError(f"The claim {self.name} needs either at_least or at_most.")

    @property
    def holds(self) -> bool:
        """Whether the bound holds; it does not for a value that is not a number."""
        if self.at_least is not None:
            return self.value >= self.at_least
        assert self.at_most is not None
        return self.value <= self.at_most

    @property
    def bound(self) -> str:
        """The bound as it is printed."""
        return f"≥ {self.at_least:g}" if self.at_least is not None else f"≤ {self.at_most:g}"

    def as_json(self) -> dict[str, Any]:
        """Return name, value, the paper's value, and the bound as a dictionary."""
        bound = {"at_least": self.at_least} if self.at_least is not None else {"at_most": self.at_most}
        value = self.value if isfinite(self.value) else None
        return {"name": self.name, "value": value, "paper": self.paper, **bound}
