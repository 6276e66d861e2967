"""Names of the columns of the tables that a model was trained on, kept in its file."""

from __future__ import annotations

from typing import Any

from ..errors import ModelFormatError
from ..io.table_columns import USUAL, TableColumns

KEY = "table"
"""In the header of a file; older versions do not look at it."""
ATTRIBUTE = "_table_columns"


def remember_columns(model: Any, columns: TableColumns) -> None:
    """Let a fitted model remember names of columns, if there are any to remember."""
    if columns != USUAL:
        vars(model)[ATTRIBUTE] = columns


def remembered_columns(model: Any) -> TableColumns:
    """Return the names of columns that a model remembers."""
    found: TableColumns = vars(model).get(ATTRIBUTE, USUAL)
    return found


def encoded_columns(model: Any) -> dict[str, Any]:
    """Return what a header says about columns, if anything."""
    found = remembered_columns(model)
    return {} if found == USUAL else {KEY: {**found._asdict(), "drop": list(found.drop)}}


def decoded_columns(header: dict[str, Any]) -> TableColumns:
    """Return the names that a header says; refuse what are none."""
    if KEY not in header:
        return USUAL
    told = header[KEY]
    fields = TableColumns._fields
    if not isinstance(told, dict) or set(told) != set(fields) or not isinstance(told["drop"], list):
        raise ModelFormatError("The file does not say which columns of tables are meant.")
    names = [name for name in (told["sequence"], told["label"]) if name is not None]
    if not all(isinstance(name, str) for name in (*names, *told["drop"])):
        raise ModelFormatError("The file has columns of tables whose names are no texts.")
    return TableColumns(told["sequence"], told["label"], tuple(told["drop"]))
