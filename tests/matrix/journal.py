"""What became of every case so far: hours of cases may come in several runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Journal:
    """The cases of one estimator, a line of JSON each; nothing is kept without a path."""

    path: Path | None
    behind: int = 0
    """The number of the first case that is not in it."""

    @classmethod
    def of(cls, folder: Path | None, name: str) -> Journal:
        """Return that of an estimator in a folder, which is made if need be."""
        if folder is None:
            return cls(None)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder / f"{name}.jsonl")

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the cases of earlier runs; a line that was cut off is that of a case to be run again."""
        if self.path is None or not self.path.exists():
            return
        whole = [line for line in self.path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        self.path.write_text("".join(whole))
        for line in whole:
            said = json.loads(line)
            self.behind = said["number"] + 1
            yield said

    def write(self, said: dict[str, Any]) -> None:
        """Add a case."""
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps(said) + "\n")
