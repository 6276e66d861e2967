"""Tables of trials as text, the same in Python and on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SHOWN = 8
"""Settings in a table."""
TUNING = ("settings", "value", "chosen, same folds", "folds", "seconds")
COMPARISON = ("model", "token error", "± s.e.", "above the best", "p", "folds", "seconds a fit", "note")


def tuning_rows(tried: Sequence[Any], folds: int) -> list[tuple[str, ...]]:
    """Return a row for each of the best settings, beside the chosen ones on the same folds."""
    return [
        (
            one.label,
            f"{one.mean:.4f}",
            f"{one.chosen_mean:.4f}",
            _folds(one.folds, folds),
            f"{one.seconds:.1f}",
        )
        for one in tried[:SHOWN]
    ]


def comparison_rows(models: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each model; errors on fewer folds than others have are in brackets."""
    most = max((row.folds for row in models.values()), default=0)
    found: list[tuple[str, ...]] = []
    for name, row in models.items():
        errors = (f"{row.token_error:.2%}", f"{row.standard_error:.2%}")
        if row.folds < most:
            errors = (f"({errors[0]})", f"({errors[1]})")
        more = (f"{row.above_best:.2%}", f"{row.p_value:.3f}", _folds(row.folds, most), f"{row.seconds:.1f}")
        found.append((name, *errors, *more, row.note))
    return found


def text_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows in columns of equal width, the first and the last to the left."""
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = []
    for row in (names, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append(
            "  ".join([row[0].ljust(widths[0]), *cells[1:-1], row[-1].rjust(len(cells[-1]))]).rstrip()
        )
    return "\n".join(lines)


def _folds(count: int, every: int) -> str:
    if count == 0:
        return "scouting only"
    return str(count) if count >= every else f"{count} of {every}"
