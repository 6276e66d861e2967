"""The state of the labelling: what the events of a journal have made of blank sheets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import InputError
from .changes import ChangeLog, Entry
from .sheets import Sheet, TagState
from .tags import Tag, Tags

LOST: dict[int, Sheet] = {}
"""Stands for the change of a line of the journal that was damaged: undoing it changes nothing."""


class Session:
    """Sheets that events change, and that undoing changes back.

    Methods with the names of events make one and refuse what cannot be done; `apply` does it. Between the two
    it is written to the journal, so that nothing is done that is not kept.

    Parameters
    ----------
    tags : Tags
        What there is to choose from.
    sheets : list of Sheet
        What is written before the first event: labels that came with the data.
    """

    def __init__(self, tags: Tags, sheets: Sequence[Sheet]) -> None:
        self.tags = tags
        self.sheets = list(sheets)
        self.points: list[Entry] = []
        """The curve of errors, as events."""
        self.before: list[tuple[int, int]] = []
        """Errors of the model, and of how many, in sequences that it was about to learn from."""
        self.accepted: list[int] = []
        """Sequences in the order in which they were accepted."""
        self.log = ChangeLog()
        """Who changed what."""
        self.version = 0
        """Number of changes."""
        self._past: list[tuple[dict[int, Sheet], int, int]] = []

    @property
    def n_done(self) -> int:
        """Number of sequences that were accepted."""
        return sum(sheet.done for sheet in self.sheets)

    def sheet(self, item: int) -> Sheet:
        """Return the sheet of a sequence; refuse a number that none has."""
        if type(item) is not int or not 0 <= item < len(self.sheets):
            raise InputError(f"There is no sequence {item}; they are numbered 0 to {len(self.sheets) - 1}.")
        return self.sheets[item]

    def set(self, item: int, at: int, length: int, name: str | None) -> Entry:
        """Return the event that gives a run of positions a label, or takes it away."""
        sheet = self.sheet(item)
        if length < 1 or at < 0 or at + length > len(sheet.tags):
            raise InputError(
                f"Sequence {item} has {len(sheet.tags)} positions, but {at} to {at + length - 1} were marked."
            )
        return {"do": "set", "item": item, "at": at, "tags": self.tags.run(name, length)}

    def accept(self, item: int, shown: Sequence[Any], before: tuple[int, int] | None = None) -> Entry:
        """Return the event that accepts a sequence as it is shown; what people set stays.

        ``before`` is the number of errors of the model before it learns from this, and of how many.
        """
        sheet = self.sheet(item)
        if len(shown) != len(sheet.tags):
            raise InputError(
                f"Sequence {item} has {len(sheet.tags)} positions, but {len(shown)} labels came."
            )
        accepted = self.tags.require(shown, f"Sequence {item}")
        own = [said is not None for said in sheet.states]
        tags = [mine if is_own else one for mine, one, is_own in zip(sheet.tags, accepted, own, strict=True)]
        tags = self.tags.mended(tags)
        states = [
            said if said is not None else None if tag is None else TagState.REVIEWED
            for said, tag in zip(sheet.states, tags, strict=True)
        ]
        entry = {"do": "accept", "item": item, "tags": tags, "states": states}
        return entry if before is None else {**entry, "before": list(before)}

    def skip(self, item: int) -> Entry:
        """Return the event that puts a sequence aside."""
        self.sheet(item)
        return {"do": "skip", "item": item}

    def mark(self, places: Sequence[tuple[int, int]], length: int, name: str | None) -> Entry:
        """Return the event that gives runs in several sequences one label; those with labels stay."""
        free = [list(place) for place in places if self._is_free(*place, length)]
        return {"do": "mark", "places": free, "tags": self.tags.run(name, length)}

    def labels(self, tags: Tags) -> Entry:
        """Return the event that changes what there is to choose from; what was ever given stays."""
        every = [*self.sheets, *(sheet for past in self._past for sheet in past[0].values())]
        given = {tag for sheet in every for tag in sheet.tags if tag is not None}
        lost = next((tag for tag in sorted(given) if tag not in tags.classes), None)
        if lost is not None:
            raise InputError(f"The label {lost!r} has been given to something; it cannot be left out.")
        return {"do": "labels", "names": list(tags.names), "spans": tags.spans}

    def undo(self) -> Entry:
        """Return the event that takes back the last one that was not taken back."""
        if not self._past:
            raise InputError("There is nothing to undo.")
        if self._past[-1][0] is LOST:
            raise InputError(
                "The last change was lost with a damaged line of the journal: it cannot be undone."
            )
        return {"do": "undo"}

    def apply(self, entry: Entry) -> list[int]:
        """Do what an event says; return the sequences that it changed."""
        if entry["do"] == "point":
            self.points.append(entry)
            return []
        self.version += 1
        if entry["do"] == "labels":
            self.tags = Tags(tuple(entry["names"]), bool(entry["spans"]))
            return []
        if entry["do"] == "undo":
            sheets, known, accepted = self._past.pop()
            del self.before[known:], self.accepted[accepted:]
        else:
            sheets = self._changed(entry)
            then = LOST if entry["do"] == "lost" else {item: self.sheets[item] for item in sheets}
            self._past.append((then, len(self.before), len(self.accepted)))
            if entry["do"] == "accept":
                self.accepted.append(entry["item"])
            if entry.get("before"):
                wrong, of = entry["before"]
                self.before.append((wrong, of))
        for item, sheet in sheets.items():
            self.sheets[item] = sheet
        self.log.note(entry, list(sheets), self.version)
        return list(sheets)

    def replay(self, entries: Sequence[Entry], where: str) -> None:
        """Do what a whole journal says; an event that does not fit is named."""
        for number, entry in enumerate(entries, 2):
            try:
                self.apply(entry)
            except (LookupError, TypeError, ValueError) as error:
                raise InputError(
                    f"{where}, line {number}: the event does not fit the data: {error!r}."
                ) from None

    def _changed(self, entry: Entry) -> dict[int, Sheet]:
        """Return the sheets as an event leaves them."""
        if entry["do"] == "mark":
            found: dict[int, Sheet] = {}
            for item, at in entry["places"]:
                found[item] = self._with_run(found.get(item, self.sheet(item)), at, entry["tags"])
            return found
        if entry["do"] == "lost":
            return {}
        item = entry["item"]
        sheet = self.sheet(item)
        if entry["do"] == "set":
            return {item: self._with_run(sheet, entry["at"], entry["tags"])}
        if entry["do"] == "skip":
            return {item: replace(sheet, skipped=True, done=False)}
        if entry["do"] != "accept":
            raise ValueError(entry["do"])
        states = tuple(None if state is None else TagState(state) for state in entry["states"])
        if not len(entry["tags"]) == len(states) == len(sheet.tags):
            raise ValueError(f"{len(sheet.tags)} positions")
        return {item: Sheet(tuple(entry["tags"]), states, done=True)}

    def _with_run(self, sheet: Sheet, at: int, tags: list[Tag]) -> Sheet:
        if at < 0 or at + len(tags) > len(sheet.tags):
            raise ValueError(f"{len(sheet.tags)} positions")
        placed = [*sheet.tags[:at], *tags, *sheet.tags[at + len(tags) :]]
        return sheet.with_run(at, tags, self.tags.mended(placed))

    def _is_free(self, item: int, at: int, length: int) -> bool:
        sheet = self.sheet(item)
        return not sheet.done and not any(sheet.states[at : at + length])
