"""Beginning to label, or going on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files.items import FileData, Item
from ..io.jsonl import Record
from ..metrics import has_entities
from .desk import Desk
from .journal import Journal, read_journal
from .material import Material
from .session import Session
from .settings import CHECK, DeskSettings
from .sheets import Sheet, TagState
from .tags import OUTSIDE, Tags

TAGGED = re.compile(r"[BI]-(.+)")


def tags_for(material: Material, names: Sequence[str] | None, spans: bool | None = None) -> Tags:
    """Return the labels to choose from: those that are given, or else those that the data have.

    Labels of tokens are kinds of spans unless something else is said, or the data have other labels. Labels
    with B- and I- say that themselves.
    """
    present = {str(label) for label in material.data.known}
    given = sorted(present, key=_natural) if names is None else list(names)
    if not given:
        raise InputError("Say which labels there are, as in --labels PER,ORG,LOC: the data have none.")
    tagged = all(name == OUTSIDE or TAGGED.fullmatch(name) for name in given) and set(given) != {OUTSIDE}
    if spans is None:
        flat = material.data.is_text and material.structure == "chain"
        spans = flat and (tagged or (has_entities(list(present)) if present else names is not None))
    if spans and tagged:
        kinds = [found[1] for name in given if (found := TAGGED.fullmatch(name))]
        return Tags(tuple(dict.fromkeys(kinds)), True)
    return Tags(tuple(given), spans)


def sheets_of(data: FileData, tags: Tags) -> list[Sheet]:
    """Return what the data say already: labels that people gave, unless they are marked as the model's."""
    return [_sheet(item, f"Sequence {n}", tags) for n, item in enumerate(data.items)]


def open_desk(
    material: Material,
    path: Path,
    tags: Callable[[], Tags],
    settings: DeskSettings | None = None,
    *,
    check: float | None = None,
    tell: Callable[[dict[str, Any]], None] = lambda _: None,
) -> Desk:
    """Open a journal, or begin one, and the desk of what it says.

    Parameters
    ----------
    material : Material
        What is labelled; a journal about other sequences is refused.
    path : path
        The journal.
    tags : callable
        Returns the labels of a new journal; one that goes on may get more.
    settings : DeskSettings, optional
        How to ask.
    check : float, optional
        Share of the questions that check the model; the journal keeps the first that was given.
    tell : callable
        As for `Desk`.
    """
    known = read_journal(path).header if path.exists() and path.stat().st_size else None
    share = CHECK if check is None else check
    if known is not None and "check" in known:
        if check is not None and check != known["check"]:
            raise InputError(f"{path} holds out {known['check']:g} of the sequences; that cannot change.")
        share = known["check"]
    settings = replace(settings or DeskSettings(), check=share)
    wanted = tags()
    if known is None:
        sheets_of(material.data, wanted)  # labels of the data that are not among them are refused
    journal = Journal(path, _about(material, wanted, share))
    try:
        session = session_of(material, journal.header, journal.entries, str(path))
        if set(wanted.names) != set(session.tags.names) or wanted.spans != session.tags.spans:
            entry = session.labels(wanted)
            journal.append(entry)
            session.apply(entry)
        return Desk(material, session, journal, settings, tell)
    except BaseException:
        journal.close()
        raise


def session_of(material: Material, header: dict[str, Any], entries: Sequence[Any], where: str) -> Session:
    """Return what a journal says about some material."""
    if header.get("data") != material.digest:
        raise InputError(f"{where} is about other data; name another journal by --journal.")
    first = {"names": header["labels"], "spans": header["spans"]}
    last = next((one for one in reversed(entries) if one.get("do") == "labels"), first)
    tags = Tags(tuple(last["names"]), bool(last["spans"]))
    session = Session(tags, sheets_of(material.data, tags))
    session.replay(entries, where)
    return session


def _about(material: Material, tags: Tags, check: float) -> dict[str, Any]:
    return {
        "data": material.digest,
        "sequences": len(material),
        "labels": list(tags.names),
        "spans": tags.spans,
        "check": check,
    }


def _sheet(item: Item, what: str, tags: Tags) -> Sheet:
    length = len(item.x)
    if item.y is None or not length:
        return Sheet.blank(length)
    other = item.source.other if isinstance(item.source, Record) else {}
    given = tags.require(item.y, what)
    states: Any = other.get("states")
    if not isinstance(states, list) or len(states) != length:
        states = [TagState.MANUAL] * length
    human = (TagState.REVIEWED, TagState.MANUAL)
    own = [tag is not None and state in human for tag, state in zip(given, states, strict=True)]
    return Sheet(
        tuple(tag if is_own else None for tag, is_own in zip(given, own, strict=True)),
        tuple(TagState(state) if is_own else None for state, is_own in zip(states, own, strict=True)),
        done=other["status"] == "accepted" if "status" in other else all(own),
        skipped=other.get("status") == "skipped",
    )


def _natural(name: str) -> tuple[float, str]:
    """Order numbers by their size."""
    try:
        return float(name), name
    except ValueError:
        return float("inf"), name
