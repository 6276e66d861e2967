"""Labels of entities that are at odds with their scheme: found, said, and repaired if a user wants it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..constraints import IOB2, Rule
from ..errors import InputError
from ..files.items import FileData
from ..metrics import has_entities
from ..tables import CONSTRAINTS

REPAIR = "repair"
"""Of tags of IOB2: I-X that has nothing to go on becomes B-X."""
IOB2_NAME = "iob2"


def checked_tags(data: FileData, constraints: str | None, say: Callable[[str], None]) -> FileData:
    """Return data whose labels obey the constraints that a user named, repaired if that was the wish.

    Where none were named, say why those of entities are left out.
    """
    if data.structure != "chain":
        return data
    if constraints == REPAIR:
        return _repaired(data, say)
    if constraints is None:
        note = broken_note(data)
        if note is not None:
            say(note)
    elif constraints in CONSTRAINTS:
        broken = CONSTRAINTS[constraints].broken_by(data.labels)
        if broken:
            how = (
                f"; --constraints {REPAIR} makes it {_begun(str(broken[0].label))}"
                if constraints == IOB2_NAME
                else ""
            )
            raise InputError(f"{_first(data, CONSTRAINTS[constraints])}, which {constraints} forbids{how}.")
    return data


def broken_note(data: FileData) -> str | None:
    """Say which label is the reason that a model of entities gets no constraints, if one is."""
    if data.structure != "chain" or not has_entities(data.known) or len(data.known) < data.n_positions:
        return None
    known = [(name, rule) for name, rule in CONSTRAINTS.items() if _knows(rule, data)]
    broken = {name: len(rule.broken_by(data.labels)) for name, rule in known}
    if not broken or min(broken.values()) == 0:
        return None
    name = min(broken, key=lambda one: broken[one])
    more = f" and {broken[name] - 1:,} more" if broken[name] > 1 else ""
    repair = (
        f"--constraints {REPAIR} makes I- that has nothing to go on B-" if name == IOB2_NAME else "mend it"
    )
    return (
        f"{_first(data, CONSTRAINTS[name])}, which {name} forbids{more}: the model is trained without "
        f"constraints, and may predict the like; {repair}."
    )


def _repaired(data: FileData, say: Callable[[str], None]) -> FileData:
    broken = IOB2.broken_by(data.labels)
    if not broken:
        return data
    items = list(data.items)
    for one in broken:
        labels = list(items[one.sequence].y or [])
        labels[one.position] = _begun(str(one.label))
        items[one.sequence] = replace(items[one.sequence], y=labels)
    total = f"{len(broken):,} of {data.n_positions:,} labels"
    now = f"{_first(data, IOB2)} is {_begun(str(broken[0].label))} now"
    say(f"Repaired {total}, I- that had nothing to go on: {now}.")
    return replace(data, items=items)


def _begun(label: str) -> str:
    return f"{IOB2.begin}{label[len(IOB2.inside) :]}"


def _first(data: FileData, rule: Rule) -> str:
    """Return where a rule is broken first, and how."""
    one = rule.broken_by(data.labels)[0]
    place = data.items[one.sequence].place
    where = f"Sequence {one.sequence}, position {one.position}" if place is None else place.at(one.position)
    return f"{where}: {one}"


def _knows(rule: Rule, data: FileData) -> bool:
    try:
        rule.forbidden(list(dict.fromkeys(data.known)))
    except InputError:
        return False
    return True
