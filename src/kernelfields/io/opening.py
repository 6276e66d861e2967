"""Input files, opened as often as need be and read once.

A pipe (``<(command)``, a FIFO, /dev/stdin) can be read only once, but a format may have to be told by the
first line before a file is read, and some readers go through a file twice. Within `reading_once`, what was
read from a pipe is kept in an unnamed temporary file, and everybody who opens the pipe sees it from the
beginning.
"""

from __future__ import annotations

import io
import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import IO, Any, NamedTuple

from .replacing import naming


class _Pipe:
    """A pipe, and a copy of what has been read from it."""

    def __init__(self, path: str | os.PathLike[str], stack: ExitStack) -> None:
        self._source = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        stack.callback(os.close, self._source)
        copy = tempfile.TemporaryFile(prefix="kernelfields-")  # noqa: SIM115 (the stack closes it)
        self._copy = stack.enter_context(copy)
        self._size, self._ended, self._lock = 0, False, threading.Lock()

    def read(self, start: int, most: int) -> bytes:
        """Return bytes from a place on, as soon as there are any; none at the end."""
        with self._lock:
            while self._size <= start and not self._ended:
                self._pull(most)
            self._copy.seek(start)
            return self._copy.read(most)

    def size(self) -> int:
        """Read to the end, and return how much there was."""
        with self._lock:
            while not self._ended:
                self._pull(io.DEFAULT_BUFFER_SIZE)
            return self._size

    def _pull(self, most: int) -> None:
        found = os.read(self._source, most)
        with naming(tempfile.gettempdir()):
            self._copy.seek(self._size)
            self._copy.write(found)
            self._copy.flush()
        self._size, self._ended = self._size + len(found), not found


class _PipeReader(io.RawIOBase):
    """Someone who reads a pipe from the beginning, and may go back."""

    def __init__(self, pipe: _Pipe) -> None:
        self._pipe, self._place = pipe, 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def seekable(self) -> bool:
        """Return that one may go back."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes, as soon as there are any."""
        found = self._pipe.read(self._place, len(buffer))
        buffer[: len(found)] = found
        self._place += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._place}
        self._place = max(0, offset + (origin[whence] if whence in origin else self._pipe.size()))
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place


class _Pipes(NamedTuple):
    """All pipes that were opened, by their identity, and what closes them."""

    known: dict[tuple[int, int], _Pipe]
    stack: ExitStack


_pipes: ContextVar[_Pipes | None] = ContextVar("pipes", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Let pipes be opened several times until the end, though each is read once."""
    if _pipes.get() is not None:
        yield
        return
    with ExitStack() as stack:
        token = _pipes.set(_Pipes({}, stack))
        try:
            yield
        finally:
            _pipes.reset(token)


@contextmanager
def opened_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for reading; a pipe from its beginning, within `reading_once`."""
    with naming(path):
        pipe = _pipe(path)
        with open(path, "rb") if pipe is None else io.BufferedReader(_PipeReader(pipe)) as file:
            yield file


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to something that can be read only once."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _pipe(path: str | os.PathLike[str]) -> _Pipe | None:
    """Return the pipe of a path, opened if it is new; None for files, and outside of `reading_once`."""
    pipes = _pipes.get()
    if pipes is None or not is_pipe(path):
        return None
    found = os.stat(path)
    key = (found.st_dev, found.st_ino)
    if key not in pipes.known:
        pipes.known[key] = _Pipe(path, pipes.stack)
    return pipes.known[key]
