"""Where data go that a command gives: a file, which appears when it is complete, or the standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, TextIO

from ..errors import InputError
from ..io.replacing import keep_part, replacing_text
from ._errors import end
from ._interrupts import code_of


@contextmanager
def data_output(path: Path | None) -> Iterator[TextIO]:
    """Open a file, or take the standard output; both in UTF-8, as data are read, whatever the locale says."""
    try:
        if path is not None:
            with replacing_text(path) as file:
                yield file
            return
        with suppress(AttributeError):  # a stream without an encoding
            sys.stdout.reconfigure(  # type: ignore[union-attr]
                encoding="utf-8", errors="strict", newline=""
            )
        yield sys.stdout
        sys.stdout.flush()
    except UnicodeEncodeError as error:
        bad = error.object[error.start]
        raise InputError(f"{path or 'The standard output'}: {bad!r} cannot be written as UTF-8.") from error


class Answered:
    """How far the answers in an output go, so that an interrupted command can keep those that are complete.

    Parameters
    ----------
    file : text file
        Where they go, opened by `data_output`.
    path : path or None
        Its name; None for the standard output.
    noun : str
        What was answered, in the plural.
    """

    def __init__(self, file: TextIO, path: Path | None, noun: str) -> None:
        self._file, self._path, self._noun = file, path, noun
        self._kept = path is not None and file.seekable()
        self.count, self._place = 0, 0

    def add(self, count: int) -> None:
        """Count answers, after which the output is complete as far as it goes."""
        self.count += count
        self._place = self._file.tell() if self._kept else 0

    def end(self, interrupt: KeyboardInterrupt, finish: Callable[[], None] = lambda: None) -> NoReturn:
        """Exit; a file keeps its old contents, and what is complete of the new ones gets another name.

        ``finish`` writes what ends an output.
        """
        if self._path is not None and not self.count:
            raise interrupt
        if self._kept:
            self._file.seek(self._place)
            self._file.truncate()
        finish()
        self._file.flush()
        kept = None if self._path is None else keep_part(self._path, self._file)
        where = "" if kept is None else f", in {kept}; {self._path} is as it was"
        end(f"Interrupted; {self.count} {self._noun} are done{where}.", code_of(interrupt))
