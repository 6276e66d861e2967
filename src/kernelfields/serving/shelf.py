"""Models by name, read again when their files change."""

from __future__ import annotations

import errno
import logging
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from .served import MakeAdapter, ServedModel

EVERY = 1.0
"""Seconds between two looks at the files."""
BLOCK = 2**20
"""Bytes of a file that are copied at once."""
log = logging.getLogger(__name__)

Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class ServedFile:
    """A name and the file of its model."""

    name: str
    path: Path


class Shelf:
    """The models that are served.

    A file that changes is read again, and the new model takes the place of the old one between two requests.
    One that cannot be read changes nothing; `health` has the reason.

    Parameters
    ----------
    files : sequence of ServedFile
        Which models, by name.
    read : callable
        Reads a model from a path.
    adapt : callable
        Makes adapters of inputs for a model.
    """

    def __init__(self, files: Sequence[ServedFile], read: Callable[[Path], Any], adapt: MakeAdapter) -> None:
        self._read, self._adapt = read, adapt
        self._places = {file.name: _Place(file, *self._opened(file.path)) for file in files}
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def __getitem__(self, name: str) -> ServedModel:
        return self._places[name].served

    def __contains__(self, name: str) -> bool:
        return name in self._places

    @property
    def names(self) -> list[str]:
        """Names of models, as they were given."""
        return list(self._places)

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        return sum(place.reloads for place in self._places.values())

    def health(self) -> dict[str, dict[str, Any]]:
        """Return, for every model, since when it is served and what is wrong with its file now."""
        return {name: place.health() for name, place in self._places.items()}

    def watch(self, every: float = EVERY) -> None:
        """Look at the files from time to time, in a thread, until `close`."""
        self._thread = threading.Thread(target=self._watch, args=(every,), name="kf-reload", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look at the files no more."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    def refresh(self) -> None:
        """Read all files that have changed and were left alone since the last look."""
        for place in self._places.values():
            self._refresh(place)

    def _watch(self, every: float) -> None:
        while not self._end.wait(every):
            self.refresh()

    def _refresh(self, place: _Place) -> None:
        try:
            now = stamp_of(place.file.path)
        except OSError as error:
            place.fail(f"{place.file.path}: {error.strerror or error}.")
            return
        settled, place.seen = now == place.seen, now
        if now == place.stamp:
            place.error = None  # the file that is served is back
        elif settled and now != place.tried:
            place.tried = now  # once, whatever comes of it
            try:
                place.replace(*self._opened(place.file.path))
            except Exception as error:  # the old model stays, whatever the file holds
                place.fail(str(error) or type(error).__name__)

    def _opened(self, path: Path) -> tuple[ServedModel, Stamp]:
        """Read a model and say which version of its file it is.

        What is read is a copy: somebody may overwrite the file in place meanwhile, and copying takes less
        time than reading.
        """
        try:
            stamp = stamp_of(path)
            with tempfile.TemporaryDirectory(prefix="kf-serve-", ignore_cleanup_errors=True) as folder:
                copy = Path(folder) / "model.kf"
                _copied(path, copy)
                return ServedModel(self._named(copy, path), self._adapt), stamp
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}.") from None

    def _named(self, copy: Path, path: Path) -> Any:
        """Read a copy; messages name the file that users know."""
        try:
            return self._read(copy)
        except ValueError as error:
            raise InputError(str(error).replace(str(copy), str(path))) from error


class _Place:
    """One place on the shelf."""

    def __init__(self, file: ServedFile, served: ServedModel, stamp: Stamp) -> None:
        self.file, self.served = file, served
        self.stamp = stamp
        """Of the file that is served."""
        self.seen = self.tried = stamp
        """Of the file at the last look, and when it was last read."""
        self.since = time.time()
        self.reloads = 0
        self.failures = 0
        self.error: str | None = None

    def replace(self, served: ServedModel, stamp: Stamp) -> None:
        """Take another model."""
        self.served, self.stamp, self.since, self.error = served, stamp, time.time(), None
        self.reloads += 1
        log.warning("%s was read again.", self.file.path)

    def fail(self, reason: str) -> None:
        """Keep the model, and the reason why its file is of no use."""
        if self.error != reason:
            self.error = reason
            self.failures += 1
            log.error("%s is kept as it was: %s", self.file.name, reason)

    def health(self) -> dict[str, Any]:
        """Return the state of this place."""
        return {"since": self.since, "reloads": self.reloads, "failures": self.failures, "error": self.error}


def _copied(path: Path, copy: Path) -> None:
    """Copy a file, no more of it than it had at the beginning; a device or a pipe has no end."""
    with path.open("rb") as source, copy.open("wb") as target:
        left = os.fstat(source.fileno()).st_size
        while left and (block := source.read(min(left, BLOCK))):
            target.write(block)
            left -= len(block)


def stamp_of(path: Path) -> Stamp:
    """Return what changes when a file does."""
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file")
    return found.st_mtime_ns, found.st_size, found.st_ino


def model_files(arguments: Sequence[str]) -> list[ServedFile]:
    """Return models by name: PATH, which is named by the file, or NAME=PATH."""
    found = [_model_file(argument) for argument in arguments]
    first: Mapping[str, ServedFile] = {file.name: file for file in reversed(found)}
    for file in found:
        if first[file.name] is not file:
            raise InputError(
                f"{first[file.name].path} and {file.path} have the same name, {file.name}: write NAME=PATH."
            )
    return found


def _model_file(argument: str) -> ServedFile:
    name, separator, path = argument.partition("=")
    given = ServedFile(name, Path(path)) if separator else ServedFile(Path(argument).stem, Path(argument))
    if not given.name or not all(c.isascii() and (c.isalnum() or c in "._-") for c in given.name):
        raise InputError(
            f"{given.name!r} is no name for a model: write NAME=PATH, with letters, digits, dots, - and _."
        )
    if given.name in (".", ".."):
        raise InputError(f"{given.name!r} is no name for a model.")
    return given
