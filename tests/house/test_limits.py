"""The numbers of the package are on the right side of their limits, and close to them."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from .limits import LIMITS, Limit, exceeded, outdated

ROOT = Path(__file__).parents[2]
VALUES = {key: limit.value for key, limit in LIMITS.items()}


@cache
def printed() -> tuple[int, dict[str, float]]:
    """Run the script in a process of its own, where nothing is cached yet."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.house", "--json"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("key", LIMITS)
def test_the_package_does_not_get_worse(key: str) -> None:
    _, values = printed()
    assert key not in exceeded(values), f"{values[key]}: see `python -m tests.house --list {key}`"
    assert key not in outdated(values), f"better than its limit: set the limit to {values[key]}"


def test_exit_says_whether_limits_hold() -> None:
    code, values = printed()
    assert list(values) == list(LIMITS)
    assert code == (1 if exceeded(values) else 0)


def test_one_more_exceeds_a_limit() -> None:
    assert exceeded(VALUES) == []
    assert exceeded({**VALUES, "rooms": VALUES["rooms"] + 1}) == ["rooms"]
    assert exceeded({**VALUES, "comment_lines": VALUES["comment_lines"] - 1}) == ["comment_lines"]


@pytest.mark.parametrize(
    ("limit", "measured", "expected"),
    [
        (Limit(100), 95, False),
        (Limit(100), 94, True),
        (Limit(100, floor=True), 105, False),
        (Limit(100, floor=True), 106, True),
        (Limit(0), 0, False),
    ],
)
def test_a_limit_follows_what_is_better_by_more_than_a_twentieth(
    limit: Limit, measured: float, expected: bool
) -> None:
    assert limit.is_outdated_by(measured) is expected
    assert not limit.excludes(measured)


def test_outdated_limits_are_named() -> None:
    assert outdated(VALUES) == []
    assert outdated({**VALUES, "rooms": 1}) == ["rooms"]
