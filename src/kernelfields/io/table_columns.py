"""What the columns of a table are, by their names."""

from __future__ import annotations

from typing import NamedTuple


class TableColumns(NamedTuple):
    """Names that somebody gave to columns of tables; None, and none, for the usual ones."""

    sequence: str | None = None
    """The column that says which sequence a row belongs to."""
    label: str | None = None
    """The column of labels."""
    drop: tuple[str, ...] = ()
    """Columns that are no features."""

    def otherwise(self, usual: TableColumns) -> TableColumns:
        """Return what is said here and, where nothing is, what is said there; what both drop is dropped."""
        return TableColumns(
            usual.sequence if self.sequence is None else self.sequence,
            usual.label if self.label is None else self.label,
            tuple(dict.fromkeys((*usual.drop, *self.drop))),
        )

    @property
    def required(self) -> tuple[str, ...]:
        """Columns that a table must have, because somebody named them."""
        named = (self.sequence, self.label)
        return (*(name for name in named if name is not None), *self.drop)


USUAL = TableColumns()
"""Nobody has said anything."""
