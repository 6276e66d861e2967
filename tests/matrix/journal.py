"""What became of every case so far: hours of cases may come in several runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Journal:
    """The cases of one estimator, a line of JSON each; nothing is kept without a path."""

    path: Path | None

    @classmethod
    def of(cls, folder: Path | None, name: str) -> Journal:
        """Return that of an estimator in a folder, which is made if need be."""
        if folder is None:
            return cls(None)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder / f"{name}.jsonl")

    def read(self, *, again: bool = False) -> list[dict[str, Any]]:
        """Return the cases of earlier runs, but for those to be run again.

        A line that was cut off is that of such a case, and so is one that failed if ``again`` says so.
        """
        if self.path is None or not self.path.exists():
            return []
        lines = [line for line in self.path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        kept = [line for line in lines if not (again and json.loads(line)["failures"])]
        self.path.write_text("".join(kept))
        return [json.loads(line) for line in kept]

    def write(self, said: dict[str, Any]) -> None:
        """Add a case."""
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps(said) + "\n")
