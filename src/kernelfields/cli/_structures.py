"""Which structure a model gets: what a user said, or what the data have."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import InputError
from ..models.model import fitted_structure
from ..tables import STRUCTURES, structure_of
from ._data import FileData

StructureName = Annotated[
    str | None,
    typer.Option(
        "--structure",
        help="chain, chain2 (pairs and triples of labels) or tree; by whether data have parents.",
    ),
]


def shaped(data: FileData, name: str | None) -> FileData:
    """Return data as a structure takes them; chains, if a user wants them, take trees for sequences."""
    if name is None:
        return data
    if name not in STRUCTURES:
        raise InputError(f"There is no structure {name!r}; choose one of {', '.join(STRUCTURES)}.")
    if not STRUCTURES[name].linked:
        return data.flat()
    if not data.linked:
        raise InputError(
            f"--structure {name} needs parents, and the data have none: "
            'JSON lines have them as "parents", columns of text by --parents.'
        )
    return data


def name_for(data: FileData, name: str | None) -> str:
    """Return the name of the structure for data that were shaped by it."""
    return name or ("tree" if data.linked else "chain")


def labels_trees(model: Any) -> bool:
    """Whether a model, fitted or about to be, takes trees."""
    if hasattr(model, "classes_"):
        return fitted_structure(model).linked
    return structure_of(getattr(model, "structure", "chain")).linked
