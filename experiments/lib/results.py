"""What an experiment found, and the files that keep it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelfields.io.replacing import write_file

from .claims import Claim

Row = Mapping[str, Any]

RESULT, TABLE, FIGURE = "result.json", "table.md", "figure.png"


@dataclass(frozen=True)
class Outcome:
    """The claims, the table of results beside the paper's, and further measurements."""

    experiment: str
    claims: Sequence[Claim]
    rows: Sequence[Row]
    """The lines of the table, by column."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Numbers, strings and lists by name; what figures are drawn from."""
    notes: Sequence[str] = ()
    """Sentences below the table: how the comparison is to be read."""

    def as_json(self) -> dict[str, Any]:
        """Return the outcome in the form that all experiments share."""
        claims = [claim.as_json() for claim in self.claims]
        details = {**self.details, "rows": list(self.rows), "notes": list(self.notes)}
        return {"experiment": self.experiment, "claims": claims, "details": details}

    def as_markdown(self) -> str:
        """Return the results and the claims as tables."""
        claims = [
            {
                "claim": claim.name,
                "value": claim.value,
                "paper": claim.paper,
                "bound": claim.bound,
                "holds": "yes" if claim.holds else "**no**",
            }
            for claim in self.claims
        ]
        parts = [f"# {self.experiment}", _markdown(self.rows), _markdown(claims), *self.notes]
        return "\n\n".join(parts) + "\n"


def write(outcome: Outcome, folder: Path) -> None:
    """Write the result and its table into a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / RESULT, json.dumps(outcome.as_json(), indent=1) + "\n")
    write_file(folder / TABLE, outcome.as_markdown())


def last_result(folder: Path) -> dict[str, Any] | None:
    """Return what was written there, if anything was."""
    try:
        found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "claims" in found else None


def claims_of(result: Mapping[str, Any]) -> list[Claim]:
    """Read claims back; one without a value does not hold."""
    return [
        Claim(**{**claim, "value": float("nan") if claim["value"] is None else claim["value"]})
        for claim in result["claims"]
    ]


def text_of(value: object) -> str:
    """Return an entry of a table, with four digits."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def columns_of(rows: Sequence[Row]) -> list[str]:
    """Return the columns of a table, in order of first appearance."""
    return list(dict.fromkeys(column for row in rows for column in row))


def _markdown(rows: Sequence[Row]) -> str:
    columns = columns_of(rows)
    lines = [columns, ["---"] * len(columns)]
    lines += [[text_of(row.get(column)) for column in columns] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
