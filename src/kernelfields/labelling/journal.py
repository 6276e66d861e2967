"""An append-only file of events, each of which is on the disk before anybody is told that it is kept.

Every line is a JSON object, a tab, and the CRC-32 of the object in hexadecimal; the first line says what
the journal is about. A line that a crash cut short was never acknowledged: it is removed when the journal
is opened again. Damage anywhere else is refused with its line; `repaired` leaves such lines out.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..errors import InputError
from ..io.lines import error_at
from .locking import lock

Entry = dict[str, Any]
NAME, FORMAT = "kf label", 1
LOST = "the journal was moved, deleted or replaced while it was open; put it back, or start kf label again"
CHANGED = "another program has changed the journal while it was open; start kf label again"
NO_JOURNAL = "this is not a journal of kf label, or it is damaged here."


class Contents(NamedTuple):
    """What a journal holds."""

    header: Entry
    """What it is about."""
    entries: list[Entry]
    """All events, in order."""
    size: int
    """Bytes of whole lines; what is behind them was cut short."""


class Journal:
    """A journal that is open for one process; others are refused.

    Parameters
    ----------
    path : path
        The file, which is made if it does not exist.
    about : mapping
        What a new journal is about.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path = path
        self._size = 0
        self._file: BinaryIO = open(path, "a+b", buffering=0)  # noqa: SIM115 closed by close()
        try:
            if not lock(self._file):
                raise InputError(f"{path} is in use by another process, which labels the same data.")
            self._file.seek(0)
            raw = self._file.read()
            self.mended = 0
            """Bytes of a line that a crash had cut short."""
            if _is_new(raw):
                self._begin(about)
                raw = b""
            found = read_entries(raw, path) if raw else Contents({**about}, [], self._size)
        except BaseException:
            self._file.close()
            raise
        self.header, self.entries = found.header, found.entries
        self._size = found.size
        if raw and found.size < len(raw):
            self.mended = len(raw) - found.size
            self._cut()

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write an event; on return it is on the disk, in the file that the path names.

        If that fails, the journal is as it was.
        """
        line = written(entry)
        self._require_own(self._size)
        try:
            self._write(line)
            self._require_own(self._size + len(line))
        except OSError:
            self._cut()
            raise
        self._size += len(line)

    @property
    def trouble(self) -> str | None:
        """Why the path does not lead to what was written, in one sentence; None if it does."""
        try:
            self._require_own(self._size)
        except OSError as error:
            return f"{self.path}: {error.strerror or error}."
        return None

    def close(self) -> None:
        """Close the file, and with that unlock it."""
        self._file.close()

    def _begin(self, about: Mapping[str, Any]) -> None:
        self._file.truncate(0)  # a first line that was cut short
        self.append({"journal": NAME, "format": FORMAT, **about})
        if os.name == "posix":  # the name of a new file is on the disk once its folder is
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) :]
        os.fsync(self._file.fileno())

    def _require_own(self, size: int) -> None:
        """Refuse to go on in a file that nobody will find, or that others have written to."""
        own = os.fstat(self._file.fileno())
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            found = None
        if found is None or not os.path.samestat(found, own):
            raise OSError(errno.ENOENT, LOST, str(self.path))
        if own.st_size != size:
            raise OSError(errno.EIO, CHANGED, str(self.path))

    def _cut(self) -> None:
        """Remove what is behind the last whole line."""
        if os.fstat(self._file.fileno()).st_size > self._size:
            self._file.truncate(self._size)
        os.fsync(self._file.fileno())


def read_journal(path: Path) -> Contents:
    """Read a journal that another process may be writing to, without locking it."""
    return read_entries(path.read_bytes(), path)


def read_entries(raw: bytes, path: Path) -> Contents:
    """Return what the lines of a journal say; a last line that is cut short counts for nothing."""
    lines = raw.split(b"\n")
    entries: list[Entry] = []
    size = 0
    for number, line in enumerate(lines[:-1], 1):
        entry = entry_of(line)
        if entry is None:
            if number == len(lines) - 1 > 1 and not lines[-1] and b"\0" in line:
                break  # its end reached the disk before its beginning did
            reason = "the journal is damaged here: the line fails its checksum; --repair leaves it out."
            raise error_at(str(path), number, reason if number > 1 else NO_JOURNAL)
        entries.append(entry)
        size += len(line) + 1
    if not entries or entries[0].get("journal") != NAME:
        raise error_at(str(path), 1, NO_JOURNAL)
    if entries[0].get("format") != FORMAT:
        raise error_at(str(path), 1, f"the journal has format {entries[0].get('format')}, expected {FORMAT}.")
    return Contents(entries[0], entries[1:], size)


def written(entry: Mapping[str, Any]) -> bytes:
    """Return the line of an event."""
    text = json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return text + b"\t%08x\n" % zlib.crc32(text)


def entry_of(line: bytes) -> Entry | None:
    """Return the event of a line; None if it is not as it was written."""
    text, tab, checksum = line.rpartition(b"\t")
    if not tab or checksum != b"%08x" % zlib.crc32(text):
        return None
    try:
        entry = json.loads(text)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _is_new(raw: bytes) -> bool:
    """Return whether nothing was kept yet: an empty file, or a first line that was cut short."""
    return not raw or (b"\n" not in raw and raw.startswith(b'{"journal":"kf label"'[: len(raw)]))
