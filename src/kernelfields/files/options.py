"""How files are to be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..io.npz import LIMIT
from ..io.table_columns import USUAL, TableColumns
from .kinds import kind_of_file, require_kind


@dataclass(frozen=True)
class Reading:
    """Options for reading files."""

    format: str | None = None
    encoding: str = "utf-8"
    missing: str = "_"
    """The label in columns of text that stands for none; no label if empty."""
    columns: tuple[int, ...] | None = None
    """Columns of text to take, counted from 1."""
    parents: int | None = None
    """Column of text with the number of a token's parent, counted from 1; 0 for roots."""
    limit: int = LIMIT
    """Bytes that arrays may take."""

    spans: str = "refuse"
    """What happens to spans of texts that tags cannot tell: "refuse", "mend" or "drop"."""
    offsets: str = "characters"
    """What offsets of doccano count: "characters" or "utf-16"."""
    labels: Path | None = None
    """A file with the labels of a FASTA file or of profiles."""
    types: tuple[str, ...] | None = None
    """Types of features of a GFF3 file of labels that count."""
    group: str | None = None
    """Name of the column, key or comment that says what a sequence belongs to."""
    dense: str | None = None
    """A file with numbers of tokens, or the ending of the one beside each file of tokens."""
    table: TableColumns = USUAL
    """Names of columns that a user gave: tables must have them."""
    usual: TableColumns = USUAL
    """Names of columns where a user gave none, as a model remembers them: tables may have them."""

    @property
    def named(self) -> TableColumns:
        """Names of columns, whoever gave them."""
        return self.table.otherwise(self.usual)

    def kind(self, path: Path | str) -> str:
        """Tell the format by the end of a name and, of JSON, by the first line; else columns of text."""
        if self.format is not None:
            return require_kind(self.format)
        return kind_of_file(path, self.named.sequence or "sequence")
