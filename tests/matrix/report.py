"""What became of all cases of an estimator, counted and put into words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

SHOWN = 3
"""Cases shown of each kind of failure."""


@dataclass
class Tally:
    """Counts of one estimator."""

    name: str
    fits: int = 0
    refusals: int = 0
    failed: int = 0
    refused_with: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[str]] = field(default_factory=dict)
    """Cases that failed in the same way, by what that was."""
    fitted: set[str] = field(default_factory=set)
    """Settings that were part of some fit."""

    def add(self, line: dict[str, Any]) -> None:
        """Count one case."""
        if line["failures"]:
            self.failed += 1
        elif line["refusal"] is None:
            self.fits += 1
        else:
            self.refusals += 1
        if line["refusal"] is None:
            self.fitted.update(line["case"].split()[2:])
        else:
            self.refused_with[_kind_of(line["refusal"])] += 1
        for check, reason in line["failures"].items():
            self.failures.setdefault(f"{check}: {_kind_of(reason)}", []).append(line["case"])

    @property
    def cases(self) -> int:
        """How many cases there were."""
        return self.fits + self.refusals + self.failed

    def text(self, settings: list[str]) -> str:
        """Counts in a line, then every kind of failure with commands that show it again."""
        lines = [f"{self.name:26}{self.cases:8}{self.fits:8}{self.refusals:10}{self.failed:10}"]
        for what, cases in sorted(self.failures.items(), key=lambda item: -len(item[1])):
            lines.append(f"  {len(cases)} × {what}")
            lines += [f"      python -m tests.matrix {case}" for case in cases[:SHOWN]]
        never = [setting for setting in settings if setting not in self.fitted]
        return "\n".join([*lines, f"  always refused: {', '.join(never)}"] if never else lines)


HEAD = f"{'estimator':26}{'cases':>8}{'fits':>8}{'refusals':>10}{'failures':>10}"


def _kind_of(reason: str) -> str:
    """A reason without its numbers, so that the same ones fall together."""
    return re.sub(r"-?\d[\d.e+-]*", "#", reason)[:300]
