"""Columns of text: one token per line, an empty line after each sentence.

The form of the CoNLL shared tasks, of CRF++ and of many others. A line has as many columns as the
first one of the file, separated by tabs if that line has a tab, and by spaces otherwise:

    Melbourne NP B-LOC
    ( Fpa O
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..errors import InputError, quoted
from ._lines import Line, Source, read_lines, write_lines

DOCUMENT_MARK = "-DOCSTART-"


class Sentence(NamedTuple):
    """The columns of one sentence, and what stands before it."""

    columns: list[list[str]]
    """columns[c][t] is column c of token t; all columns are equally long."""
    comments: tuple[str, ...] = ()
    """Lines before the first token that begin with "#", as they are."""
    document: str | None = None
    """The line that marks the beginning of a document, before its first sentence; None elsewhere."""


def read_conll(
    source: Source,
    *,
    comments: bool = False,
    document_mark: str | None = DOCUMENT_MARK,
    encoding: str = "utf-8",
) -> Iterator[Sentence]:
    r"""Read sentences one by one.

    Lines end with LF or CRLF; a line of nothing but spaces and tabs is empty. What is malformed is an
    `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    comments : bool
        Whether lines that begin with "#" before the first token of a sentence are comments, as in
        CoNLL-U. Elsewhere "#" may well be a token.
    document_mark : str or None
        First column of the lines that mark the beginning of a document. They are kept apart in
        ``document`` and may have any number of columns; documents without sentences are left out.
        None: such lines are tokens.
    encoding : str
        Anything that contains ASCII.

    Yields
    ------
    Sentence
        With at least one token.

    Examples
    --------
    >>> from io import StringIO
    >>> file = StringIO("Melbourne NP B-LOC\n( Fpa O\n\nSydney NP B-LOC\n")
    >>> [sentence.columns[0] for sentence in read_conll(file)]
    [['Melbourne', '('], ['Sydney']]
    """
    split: Callable[[str], list[str]] | None = None
    first, width = 0, 0
    rows: list[list[str]] = []
    before: list[str] = []
    document: str | None = None
    for line in read_lines(source, encoding):
        mark = _is_mark(line.text, document_mark)
        if mark or not line.text.strip(" \t"):
            if rows:
                yield _sentence(rows, before, document)
                rows, before, document = [], [], None
            document = line.text if mark else document
        elif comments and not rows and line.text.startswith("#"):
            before.append(line.text)
        else:
            split = split or _splitter(line.text)
            row = split(line.text)
            first, width = first or line.number, width or len(row)
            _require_width(row, width, first, line)
            rows.append(row)
    if rows:
        yield _sentence(rows, before, document)


def write_conll(
    sentences: Iterable[Sentence],
    target: Source,
    *,
    separator: str = " ",
    comments: bool = False,
    document_mark: str | None = DOCUMENT_MARK,
    encoding: str = "utf-8",
) -> None:
    r"""Write sentences so that `read_conll` reads the same ones, or refuse.

    Parameters
    ----------
    sentences : iterable of Sentence
        All with the same number of columns.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    separator : " " or "\t"
        With spaces, fields must not be empty nor contain spaces or tabs.
    comments : bool
        Whether sentences may have comments; then none may begin with a token that begins with "#".
    document_mark : str or None
        First column of the lines that mark the beginning of a document.
    encoding : str
        Anything that contains ASCII.
    """
    if separator not in (" ", "\t"):
        raise InputError(f"separator is {separator!r}; it must be a space or a tab.")
    write_lines(_lines(sentences, separator, comments, document_mark), target, encoding)


def _is_mark(text: str, document_mark: str | None) -> bool:
    """Whether a line marks a document: whether that is its first field, however lines are split."""
    if document_mark is None or document_mark not in text:
        return False
    return re.split("[ \t]", text.lstrip(" "), maxsplit=1)[0] == document_mark


def _splitter(text: str) -> Callable[[str], list[str]]:
    """How the lines of a file are split, given the first one."""
    if "\t" in text:
        return lambda line: line.split("\t")
    # Not str.split(), for which other characters, say the no-break space, are spaces too.
    return lambda line: [field for field in line.split(" ") if field]


def _require_width(row: list[str], width: int, first: int, line: Line) -> None:
    if len(row) != width:
        raise line.error(
            f"expected {width} columns, as in line {first}, but found {len(row)}: {quoted(line.text)}."
        )


def _sentence(rows: list[list[str]], comments: list[str], document: str | None) -> Sentence:
    return Sentence([list(column) for column in zip(*rows, strict=True)], tuple(comments), document)


def _lines(
    sentences: Iterable[Sentence], separator: str, comments: bool, document_mark: str | None
) -> Iterator[str]:
    width = None
    for s, sentence in enumerate(sentences):
        width = len(sentence.columns) if width is None else width
        _require_shape(sentence, width, s)
        _require_heading(sentence, comments, document_mark, s)
        if sentence.document is not None:
            yield sentence.document
            yield ""
        yield from sentence.comments
        for t, row in enumerate(zip(*sentence.columns, strict=True)):
            _require_fields(row, separator, f"Sentence {s}, token {t}")
            if _is_mark(row[0], document_mark):
                raise InputError(f"Sentence {s}, token {t}: {row[0]!r} would be taken for a document's mark.")
            if comments and t == 0 and row[0].startswith("#"):
                raise InputError(f"Sentence {s}, token 0: {row[0]!r} would be taken for a comment.")
            yield separator.join(row)
        yield ""


def _require_shape(sentence: Sentence, width: int, s: int) -> None:
    if len(sentence.columns) != width:
        raise InputError(f"Sentence {s} has {len(sentence.columns)} columns, but sentence 0 has {width}.")
    lengths = [len(column) for column in sentence.columns]
    if len(set(lengths)) != 1:
        raise InputError(f"The columns of sentence {s} have different lengths: {lengths}.")
    if lengths[0] == 0:
        raise InputError(f"Sentence {s} has no tokens.")


def _require_heading(sentence: Sentence, comments: bool, document_mark: str | None, s: int) -> None:
    """Comments and document marks that would be read as such."""
    if sentence.comments and not comments:
        raise InputError(f"Sentence {s} has comments; write and read them with comments=True.")
    for comment in sentence.comments:
        if not comment.startswith("#") or _breaks(comment):
            raise InputError(f"Sentence {s}: {comment!r} is no comment, one line that begins with '#'.")
    mark = sentence.document
    if mark is not None and (not _is_mark(mark, document_mark) or _breaks(mark)):
        raise InputError(f"Sentence {s}: {mark!r} is no line that begins with {document_mark!r}.")


def _require_fields(row: tuple[str, ...], separator: str, where: str) -> None:
    """Fields that would be read as they are."""
    tabs = separator == "\t" and len(row) > 1  # a single column has no tab to tell
    for field in row:
        if _breaks(field) or "\t" in field or (not tabs and (" " in field or not field)):
            kind = "a tab" if tabs else "an empty one, a space, a tab"
            raise InputError(f"{where}: {field!r} cannot be a field: {kind} or the end of a line in it.")
    if not separator.join(row).strip(" \t"):
        raise InputError(f"{where}: all fields are empty, which would end the sentence.")


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
