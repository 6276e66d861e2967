"""Journals with damaged lines, made readable again."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import InputError
from ..io.lines import error_at
from .journal import NO_JOURNAL, entry_of, read_entries, written
from .locking import lock

LOST = {"do": "lost"}
"""Stands where a damaged line was: what follows may take back changes, and must not take back others."""


def repaired(path: Path) -> list[int]:
    """Leave damaged lines out of a journal, and return their numbers, counted from 1.

    They are appended to a file beside it, whose name ends in ".damaged", each after its number. The first
    line says what the journal is about: without it nothing else can be used.
    """
    with open(path, "r+b") as file:
        if not lock(file):
            raise InputError(f"{path} is in use by another process; end that first.")
        lines = file.read().split(b"\n")
        if entry_of(lines[0]) is None:
            raise error_at(str(path), 1, NO_JOURNAL)
        whole, rest = lines[:-1], lines[-1]
        damaged = {n: line for n, line in enumerate(whole, 1) if entry_of(line) is None}
        if not damaged:
            return []
        kept = [written(LOST) if n in damaged else line + b"\n" for n, line in enumerate(whole, 1)]
        new = b"".join(kept) + rest
        read_entries(new, path)  # refuses a journal of something else
        _add(beside(path), b"".join(b"%d: %b\n" % one for one in damaged.items()))
        _replace(path, new)
        return sorted(damaged)


def beside(path: Path) -> Path:
    """Return where damaged lines of a journal go."""
    return path.with_name(path.name + ".damaged")


def _add(path: Path, content: bytes) -> None:
    with open(path, "ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _replace(path: Path, content: bytes) -> None:
    """Write a file beside and rename it, so that a crash leaves the old one or the new one."""
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
