"""Which structure a model gets: what a user said, or what the data have."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import InputError
from ..files.items import LINKS, FileData
from ..models.model import fitted_structure
from ..tables import STRUCTURES, structure_of
from ._completion import structures

WHERE = {
    "tree": 'JSON lines have them as "parents", columns of text by --parents',
    "graph": 'JSON lines have them as "edges"',
}
"""Which files have what a structure needs."""

StructureName = Annotated[
    str | None,
    typer.Option(
        "--structure",
        autocompletion=structures,
        help="chain, chain2 (label triples), segments (lengths of runs), tree or graph, by what data have; "
        "or dependency (CoNLL-U), constituency (Penn brackets), matching (pairs of sentences).",
    ),
]


def shaped(data: FileData, name: str | None) -> FileData:
    """Return data as a structure takes them; chains, if a user wants them, take all for sequences."""
    if name is None:
        return data
    if name not in STRUCTURES:
        raise InputError(f"There is no structure {name!r}; choose one of {', '.join(STRUCTURES)}.")
    if not STRUCTURES[name].linked:
        return data.flat()
    if data.structure != name:
        raise InputError(f"--structure {name} needs {LINKS[name]}, and the data have none: {WHERE[name]}.")
    return data


def name_for(data: FileData, name: str | None) -> str:
    """Return the name of the structure for data that were shaped by it."""
    return name or data.structure


def structure_named(model: Any) -> str:
    """Return what items a model takes, fitted or about to be: "tree", "graph", or "chain" for sequences."""
    found = (
        fitted_structure(model)
        if hasattr(model, "classes_")
        else structure_of(getattr(model, "structure", "chain"))
    )
    return next((name for name in LINKS if type(STRUCTURES[name]) is type(found)), "chain")
