"""Results as notebooks show them: tables of an evaluation, of tuning, of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .card import CELL, FRAME
from .markup import element, escape

MOST = 20
"""Rows of a table."""


def evaluation_card(found: Any) -> str:
    """Return the numbers of a test, then those of entities, or of labels."""
    numbers = [
        ("wrong labels", f"{found.token_error:.2%}"),
        (f"{found.noun}s with a wrong label", f"{found.sequence_error:.2%}"),
        ("−log p per position", f"{found.nll:.4f}"),
        ("Brier score", f"{found.brier:.4f}"),
        ("calibration error", f"{found.ece:.2%}"),
    ]
    head = f"{found.model} on {found.n_tokens:,} positions of {found.n_sequences:,} {found.noun}s"
    if found.entities is None:
        return _framed(head, [_table((), numbers)], [found.warning])
    numbers.insert(0, ("entity F1", f"{found.entities.overall.f1:.2%}"))
    rows = [
        (name, f"{one.precision:.1%}", f"{one.recall:.1%}", f"{one.f1:.1%}")
        for name, one in found.entities.by_type.items()
    ]
    return _framed(
        head, [_table((), numbers), _table(("entity", "precision", "recall", "F1"), rows)], [found.warning]
    )


def tuning_card(found: Any) -> str:
    """Return the settings that were tried, best first."""
    rows = [
        (one.label, f"{one.mean:.4f}", "scouting" if one.folds == 0 else one.folds, f"{one.seconds:.1f} s")
        for one in found.tried
    ]
    head = f"Chosen: {found.tried[0].label}"
    return _framed(head, [_table(("settings", found.criterion, "folds", "time"), rows)], found.notes)


def comparison_card(found: Any) -> str:
    """Return the models that were compared, best first, and those that refused the data."""
    rows = [
        (
            name,
            f"{one.token_error:.2%} ± {one.standard_error:.2%}",
            f"{one.above_best:+.2%}",
            one.folds,
            f"{one.seconds:.1f} s",
            one.note,
        )
        for name, one in found.models.items()
    ]
    refused = [f"{name}: {why}" for name, why in found.refused.items()]
    header = ("model", "wrong labels", "above the best", "folds", "time of a fit", "")
    return _framed(
        f"Best: {next(iter(found.models), 'none')}", [_table(header, rows)], [*refused, *found.notes]
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; first columns are text, others numbers."""
    lines = [element("tr", *(element("th", escape(name), style=CELL) for name in header))] if header else []
    lines += [
        element("tr", *(element("td", escape(cell), style=CELL) for cell in row)) for row in rows[:MOST]
    ]
    if len(rows) > MOST:
        lines.append(element("tr", element("td", escape(f"… and {len(rows) - MOST} more"), style=CELL)))
    return element("table", *lines, style="border-collapse:collapse;margin:.3em 0;background:none")


def _framed(head: str, tables: Sequence[str], notes: Sequence[str | None]) -> str:
    said = "".join(element("div", escape(note)) for note in notes if note)
    title = element("strong", escape(head))
    return element("div", title, *tables, said, class_="kernelfields-result", style=FRAME)
