"""Text files, line by line, with errors that name file and line."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from ..errors import InputError
from .opening import opened_file
from .replacing import replacing

Source = str | os.PathLike[str] | IO[bytes] | IO[str]

BYTE_ORDER_MARK = "\ufeff"
LONGEST_LINE = 2**26
"""Bytes; a longer line belongs to a file without line ends rather than to a table or JSON."""
LONGEST_TEXT = 100_000
"""Characters of a token or a label; a model keeps dozens of features of a token, each about as long."""


class TextLine(NamedTuple):
    """A line of a file and its place."""

    file: str
    number: int
    """Counted from 1."""
    text: str
    """Without the line end."""

    def error(self, reason: str) -> InputError:
        """Return an error that names this line."""
        return error_at(self.file, self.number, reason)


def error_at(file: str, number: int, reason: str) -> InputError:
    """Return an error that names a line of a file."""
    return InputError(f"{file}, line {number}: {reason}")


def read_lines(source: Source, encoding: str, longest: int = LONGEST_LINE) -> Iterator[TextLine]:
    """Read lines that end with LF or CRLF; the last one may end without either.

    Other characters that Unicode counts as line ends may occur within words and do not end a line.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    encoding : str
        Encoding of the file; a byte order mark at the start is skipped.
    longest : int
        Bytes that a line may have; a longer one is refused before all of it is read.
    """
    _require_bytewise(encoding)
    name, number = name_of(source), 0
    with _opened(source) as file:
        lines = _limited(file, longest + 2)  # with CRLF
        while True:
            number += 1
            try:
                raw = next(lines, None)
            except UnicodeDecodeError as error:  # a file that was opened as text; it reads ahead
                raise error_at(
                    name, number, f"here or later, not {error.encoding}: {error.reason}."
                ) from error
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise error_at(name, number, f"the compressed file is damaged: {error}.") from error
            if raw is None:
                return
            if (
                len(raw) > longest
                and len(raw.rstrip(b"\r\n" if isinstance(raw, bytes) else "\r\n")) > longest
            ):
                raise error_at(name, number, f"the line has more than {longest:,} bytes, which is the limit.")
            text = _decode(raw, encoding, name, number) if isinstance(raw, bytes) else raw
            text = text.removesuffix("\n").removesuffix("\r")
            yield TextLine(name, number, text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text)


def require_short(text: str, what: str) -> None:
    """Refuse a text that is too long for a token or label."""
    if len(text) > LONGEST_TEXT:
        raise InputError(f"{what} has {len(text):,} characters, more than the limit of {LONGEST_TEXT:,}.")


def write_lines(lines: Iterable[str], target: Source, encoding: str) -> None:
    """Write lines, each followed by LF, to a path or to a file opened for writing.

    A path that ends with .gz is compressed; equal lines always make equal bytes.
    """
    _require_bytewise(encoding)
    name, encoder = name_of(target), codecs.getincrementalencoder(encoding)()
    with _created(target) as file:
        text = _is_text(file)
        for number, line in enumerate(lines, start=1):
            if number == 1 and line.startswith(BYTE_ORDER_MARK):
                raise error_at(name, number, "the first character would be read as a byte order mark.")
            try:
                file.write(line + "\n" if text else encoder.encode(line + "\n"))
            except UnicodeEncodeError as error:
                bad = line[error.start]
                raise error_at(name, number, f"{bad!r} cannot be written as {error.encoding}.") from error


def _require_bytewise(encoding: str) -> None:
    """Refuse encodings in which line ends are not single bytes: lines are split before they are decoded."""
    try:
        known = codecs.lookup(encoding)
        # Punycode and IDNA are no encodings of texts, and "undefined" refuses everything.
        fits = all(text.decode(encoding) == text.decode("ascii") for text in (b"\n", b"a\n", b"a-\n"))
        fits = fits and "\u00e9\n\u00e9".encode(known.name, "replace").count(b"\n") == 1
    except LookupError as error:
        raise InputError(f"The encoding {encoding!r} is not known.") from error
    except UnicodeError:
        fits = False
    if not fits:
        raise InputError(f"The encoding {encoding!r} does not contain ASCII; convert the file to UTF-8.")


def name_of(source: Source) -> str:
    """Return what a source is called in messages."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<input>"))


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    """Open a file to read from; only what was opened here is closed."""
    if not isinstance(source, (str, os.PathLike)):
        yield source
        return
    with opened_file(source) as file:
        if not _is_packed(source):
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield unpacked


def _limited(file: Any, size: int) -> Iterator[Any]:
    """Yield the lines of a file as they arrive, cut at a number of bytes."""
    while line := file.readline(size):
        yield line


@contextmanager
def _created(target: Source) -> Iterator[Any]:
    """Open a file to write to; only what was opened here is closed."""
    if not isinstance(target, (str, os.PathLike)):
        yield target
        return
    with replacing(target) as file:
        if not _is_packed(target):
            yield file
            return
        # Neither name nor time in the header: equal lines make equal bytes.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed


def _is_packed(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith(".gz")


def _is_text(file: Any) -> bool:
    """Return whether a file takes strings rather than bytes."""
    try:
        file.write("")
    except TypeError:
        return False
    return True


def _decode(raw: bytes, encoding: str, name: str, number: int) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        bad = raw[error.start : error.end].hex(" ")
        raise error_at(name, number, f"byte {error.start + 1} ({bad}) is not {encoding}.") from error
