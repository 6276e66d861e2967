"""What sequences belong to: a person, a recording, a document."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import InputError
from ..io.conll import Sentence
from ..io.csv import Frames
from ..io.jsonl import Record
from .items import Item

KINDS = ("conll", "jsonl", "csv")
"""Formats that can say it."""


def grouped(n: int, item: Item, name: str) -> Item:
    """Return item ``n`` with the group that a column, a key or a comment of a name says."""
    found = _group(item.source, name)
    if found is None or found == "":
        raise InputError(f"Sequence {n} has no {name!r}, which --group asks for.")
    if not isinstance(found, str | int | float):
        raise InputError(f"Sequence {n} has a {name!r} that is neither a text nor a number.")
    return replace(item, group=str(found))


def _group(source: Any, name: str) -> Any:
    if isinstance(source, Frames):
        return source.group
    if isinstance(source, Record):
        return source.other.get(name)
    if isinstance(source, Sentence):
        pairs = (comment.removeprefix("#").partition("=") for comment in source.comments)
        return next((value.strip() for key, _, value in pairs if key.strip() == name), None)
    return None
