"""Count, compare with the limits, and list what counts; exit with 1 if a limit is broken.

python -m tests.house [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import kernelfields

from .entered import files_entered
from .imports import private_imports
from .names import names_defined_twice
from .toys import kernel_fit, linear_fit

LIMITS = {
    "files_kernel_fit": 30,
    "files_linear_fit": 22,
    "estimator_files": 25,
    "names_defined_twice": 0,
    "private_imports": 0,
}
PACKAGE = Path(kernelfields.__file__).parent


def measure() -> dict[str, list[str]]:
    """Return, for every limit, what counts against it."""
    return {
        "files_kernel_fit": files_entered(kernel_fit(), PACKAGE),
        "files_linear_fit": files_entered(linear_fit(), PACKAGE),
        "estimator_files": sorted(path.name for path in (PACKAGE / "estimators").rglob("*.py")),
        "names_defined_twice": names_defined_twice(PACKAGE),
        "private_imports": private_imports(PACKAGE),
    }


def broken(values: dict[str, int], limits: dict[str, int]) -> list[str]:
    """Return the limits that are exceeded."""
    return [key for key, limit in limits.items() if values[key] > limit]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print everything, and tell by 1 that a limit is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.house")
    parser.add_argument(
        "--json", action="store_true", help="print the numbers as one object, on the last line"
    )
    options = parser.parse_args(arguments)
    found = measure()
    values = {key: len(items) for key, items in found.items()}
    too_many = broken(values, LIMITS)
    for key, items in found.items():
        print(f"\n{key}", *items, sep="\n    ")
    print(f"\n{'':22}{'value':>6}{'limit':>7}")
    for key, value in values.items():
        print(f"{key:22}{value:6}{LIMITS[key]:7}  {'too many' if key in too_many else 'kept'}")
    if options.json:
        print(json.dumps(values))
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
