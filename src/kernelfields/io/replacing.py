"""Files that appear when they are complete: written beside, then renamed.

Every file that a model, a command or a checkpoint writes goes through `replacing`, so that whoever fails,
runs out of disk or is killed leaves the old file as it was.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, TextIO

PART = ".part"
"""What names of unfinished files end with."""
STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
"""Names of what is open already, perhaps to append to; a rename would take its place."""
_waiting: ContextVar[dict[Path, Path] | None] = ContextVar("waiting", default=None)
"""Complete files that wait for others, and the places that they will take."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes the place of ``path`` at the end, once it is on disk.

    After an error the old file is untouched and nothing is left beside it. A killed process may leave a file
    that ends in ``.part``, which the next one to write to ``path`` removes. Devices and pipes are written to
    directly, and symbolic links stay links.
    """
    with naming(path):
        if _is_stream(path):
            with open(path, "wb") as stream:
                yield stream
            return
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(None, "it is a folder", os.fspath(path))
        remove_leftovers(target)
        beside = target.with_name(f"{target.name}.{os.getpid()}.{threading.get_ident()}{PART}")
        waiting = _waiting.get()
        try:  # before there is a file: a signal may come at once
            with _created(beside) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            with suppress(OSError):  # a file that is new has the usual permissions
                shutil.copymode(target, beside)
            if waiting is None:
                _place(beside, target)
            else:
                waiting[beside] = target
        finally:
            if waiting is None or beside not in waiting:
                beside.unlink(missing_ok=True)


@contextmanager
def replacing_together() -> Iterator[None]:
    """Let files that `replacing` writes take their places at the end, once all of them are complete."""
    waiting: dict[Path, Path] = {}
    token = _waiting.set(waiting)
    try:
        yield
        for beside, target in waiting.items():
            with naming(target):
                _place(beside, target)
    finally:
        _waiting.reset(token)
        for beside in waiting:
            beside.unlink(missing_ok=True)


@contextmanager
def replacing_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a text file as `replacing` does: UTF-8, and line ends as they are written."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        try:
            yield text
            text.flush()
        finally:
            with suppress(OSError):  # after an error nothing of the file remains
                text.detach()


def keep_part(path: str | os.PathLike[str], file: TextIO) -> Path | None:
    """Give the unfinished file that is to replace ``path`` a name that stays: ``path`` with .part behind it.

    Returns
    -------
    path or None
        The name; None for devices and pipes, which have what was written.
    """
    if _is_stream(path):
        return None
    file.flush()
    target = Path(os.path.realpath(path))
    place = target.with_name(target.name + PART)
    try:
        os.replace(file.buffer.name, place)
    except PermissionError:  # Windows moves no file that is open
        shutil.copyfile(file.buffer.name, place)
    return Path(path).with_name(place.name) if target == Path(path).absolute() else place


def write_file(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a whole file, texts in UTF-8."""
    with replacing(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files, none of which takes its place before all are written."""
    with replacing_together():
        for path, content in contents.items():
            write_file(path, content)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors of the system name a file: those of reading and writing an open one do not."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or str(error.filename).endswith(PART)):
            error.filename = os.fspath(path)
        raise


def remove_leftovers(target: Path) -> None:
    """Remove unfinished files of processes that have ended without finishing them."""
    with suppress(OSError):
        for one in target.parent.iterdir():
            owner = one.name.removeprefix(f"{target.name}.").removesuffix(PART)
            if one.name == f"{target.name}.{owner}{PART}" and all(
                number.isdecimal() for number in owner.split(".")
            ):
                _remove_unowned(one)


def _remove_unowned(beside: Path) -> None:
    """Remove a file that nobody has locked; elsewhere than on Unix, files in use cannot be removed."""
    with suppress(OSError), beside.open("rb") as file:
        if _locked(file):
            beside.unlink(missing_ok=True)
            return
    if os.name == "nt":
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _created(beside: Path) -> IO[bytes]:
    """Return a new file, locked as long as it is open."""
    while True:
        file = beside.open("wb")
        _locked(file)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(beside)):
                return file
        file.close()  # another process took it for a leftover before it was locked


def _locked(file: IO[Any]) -> bool:
    """Lock a file as long as it is open, if nobody else has, and return whether that is so."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _place(beside: Path, target: Path) -> None:
    """Let a complete file take its place."""
    beside.replace(target)
    _sync_folder(target.parent)


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to something other than a file that a rename could replace."""
    if os.path.abspath(path).startswith(STREAMS):
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _sync_folder(folder: Path) -> None:
    """Write the new name to disk too, on systems where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
