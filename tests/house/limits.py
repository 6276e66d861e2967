"""The limits of all meters, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

SLACK = 0.05
"""How much better than its limit a number may be, as a share of the limit."""


class Limit(NamedTuple):
    """Limit of one number.

    Attributes
    ----------
    value : the worst number that is allowed
    target : the number to reach in the end, for information
    floor : whether the number must not fall, instead of not rise
    """

    value: float
    target: float | None = None
    floor: bool = False

    def excludes(self, measured: float) -> bool:
        """Tell whether a number is on the wrong side of this limit."""
        return measured < self.value if self.floor else measured > self.value

    def is_outdated_by(self, measured: float) -> bool:
        """Tell whether a number is better by more than `SLACK`, so that the limit must follow."""
        better = measured - self.value if self.floor else self.value - measured
        return better > SLACK * self.value


LIMITS = {
    "files_fit_max": Limit(67, target=30),
    "files_predict_max": Limit(28, target=16),
    "files_command_max": Limit(96),
    "modules_loaded": Limit(140, target=150),
    "single_client_modules": Limit(89, target=60),
    "largest_constructor": Limit(18, target=18),
    "any_share": Limit(0.111),
    "any_share_estimators": Limit(0.039, target=0.12),
    "largest_folder": Limit(71, target=40),
    "rooms": Limit(42, target=15),
    "layers": Limit(36, target=12),
    "lines_package": Limit(104_400, target=82_000),
    "duplicates_10_lines": Limit(35),
    "participle_names": Limit(738),
    "comment_lines": Limit(115, floor=True),
    "prose_hits": Limit(1102),
    "names_defined_twice": Limit(0, target=0),
    "private_imports": Limit(0, target=0),
}
"""Limits only fall (floors only rise), in the same commit that improves the number."""


def exceeded(values: Mapping[str, float]) -> list[str]:
    """Return the meters whose limit does not hold."""
    return [key for key, limit in LIMITS.items() if limit.excludes(values[key])]


def outdated(values: Mapping[str, float]) -> list[str]:
    """Return the meters whose limit has to be lowered, or the floor raised."""
    return [key for key, limit in LIMITS.items() if limit.is_outdated_by(values[key])]
