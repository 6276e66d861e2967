"""Read all meters and compare them with their limits; exit with 1 if a limit is exceeded.

python -m tests.house [--json] [--list METER]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import kernelfields

from .limits import LIMITS, exceeded
from .measuring import measure
from .printing import limit_table, phrase_table, room_table, walk_table

PACKAGE = Path(kernelfields.__file__).parent
ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if a limit is exceeded, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.house")
    parser.add_argument(
        "--json", action="store_true", help="print the numbers as one object, on the last line"
    )
    parser.add_argument(
        "--list", metavar="METER", choices=LIMITS, help="print only the places that one meter counts"
    )
    options = parser.parse_args(arguments)
    measured = measure(PACKAGE, ROOT)
    if options.list:
        print(*measured.places.get(options.list, ()), sep="\n")
    else:
        for table in (walk_table, room_table, phrase_table, limit_table):
            print(*table(measured), sep="\n", end="\n\n")
    if options.json:
        print(json.dumps({key: measured.values[key] for key in LIMITS}))
    return 1 if exceeded(measured.values) else 0


if __name__ == "__main__":
    sys.exit(main())
