"""Columns of text: one token per line, an empty line after each sentence.

The form of the CoNLL shared tasks, of CRF++ and of many others. A line has as many columns as the
first one of the file, separated by tabs if that line has a tab, and by spaces otherwise:

    Melbourne NP B-LOC
    ( Fpa O
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from ..errors import InputError, quoted
from .lines import LONGEST_TEXT, Source, TextLine, read_lines, require_short, write_lines

DOCUMENT_MARK = "-DOCSTART-"
LONGEST_LINE = 2**20
"""Bytes of all columns of a token."""
COMMENT = re.compile(r"#\s*(\w\S*\s+)?\w\S*\s*=(\s|$)|#\s*new(doc|par)\s*$")
"""Comments of CoNLL-U that may have as many words as a token has columns."""


class Sentence(NamedTuple):
    """The columns of one sentence, and what stands before it."""

    columns: list[list[str]]
    """columns[c][t] is column c of token t; all columns are equally long."""
    comments: tuple[str, ...] = ()
    """Lines before the first token that begin with "#", as they are."""
    document: str | None = None
    """The line that marks the beginning of a document, before its first sentence; None elsewhere."""
    tabs: bool = False
    """Whether tabs separated the columns, not spaces."""


def read_conll(
    source: Source,
    *,
    comments: bool | None = False,
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
    comments : bool or None
        Whether lines that begin with "#" before the first token of a sentence are comments, as in
        CoNLL-U. Elsewhere "#" may well be a token. None: those of them that have another number of
        columns than the first other line of the file, or the form ``# name = value``, ``# newdoc`` or
        ``# newpar``; the rest are tokens.
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
    lines = read_lines(source, encoding, LONGEST_LINE)
    form: _Form | None = None
    if comments is None:
        form, lines = _look_ahead(lines, document_mark)
    rows: list[list[str]] = []
    before: list[str] = []
    document: str | None = None
    for line in lines:
        mark = _is_mark(line.text, document_mark)
        if mark or not line.text.strip(" \t"):
            if rows:
                yield _sentence(rows, before, document, form)
                rows, before, document = [], [], None
            document = line.text if mark else document
        elif not rows and _is_comment(line.text, comments, form):
            before.append(line.text)
        else:
            form = form or _Form.of(line)
            rows.append(form.row(line))
    if rows:
        yield _sentence(rows, before, document, form)


def write_conll(
    sentences: Iterable[Sentence],
    target: Source,
    *,
    separator: str = " ",
    comments: bool | None = False,
    document_mark: str | None = DOCUMENT_MARK,
    encoding: str = "utf-8",
) -> None:
    r"""Write sentences so that `read_conll` reads the same ones, or refuse.

    Parameters
    ----------
    sentences : iterable of Sentence
        All with the same number of columns; ``tabs`` is the business of ``separator``.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    separator : " " or "\t"
        With spaces, fields must not be empty nor contain spaces or tabs.
    comments : bool or None
        Whether sentences may have comments; then none may begin with a token that begins with "#", or,
        if None, with one that would be taken for a comment.
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


class _Form(NamedTuple):
    """How the lines of a file are split, and into how many columns."""

    tabs: bool
    width: int
    first: int
    """The line that says so."""

    @staticmethod
    def of(line: TextLine) -> _Form:
        """Take the form of a line."""
        tabs = "\t" in line.text
        return _Form(tabs, len(_fields(line.text, tabs)), line.number)

    def row(self, line: TextLine) -> list[str]:
        """Take a line apart."""
        row = _fields(line.text, self.tabs)
        if len(row) != self.width:
            raise line.error(
                f"expected {self.width} columns, as in line {self.first}, but found {len(row)}: "
                f"{quoted(line.text)}."
            )
        if len(line.text) > LONGEST_TEXT:
            for field in row:
                try:
                    require_short(field, "a field")
                except InputError as error:
                    raise line.error(str(error)) from None
        return row


def _fields(text: str, tabs: bool) -> list[str]:
    # Not str.split(), for which other characters, say the no-break space, are spaces too.
    return text.split("\t") if tabs else [field for field in text.split(" ") if field]


def _look_ahead(
    lines: Iterator[TextLine], document_mark: str | None
) -> tuple[_Form | None, Iterator[TextLine]]:
    """Return the form of the first line that can be no comment, and all lines.

    Where all lines begin with "#", the last one is a token.
    """
    seen: list[TextLine] = []
    for line in lines:
        seen.append(line)
        if (
            line.text.strip(" \t")
            and not line.text.startswith("#")
            and not _is_mark(line.text, document_mark)
        ):
            return _Form.of(line), chain(seen, lines)
    last = next((line for line in reversed(seen) if line.text.startswith("#")), None)
    return None if last is None else _Form.of(last), iter(seen)


def _is_comment(text: str, comments: bool | None, form: _Form | None) -> bool:
    """Whether a line before the first token of a sentence is a comment."""
    if comments is False or not text.startswith("#"):
        return False
    if comments or form is None:  # without a form there is no line at all
        return bool(comments)
    return len(_fields(text, form.tabs)) != form.width or COMMENT.match(text) is not None


def _sentence(
    rows: list[list[str]], comments: list[str], document: str | None, form: _Form | None
) -> Sentence:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return Sentence(columns, tuple(comments), document, form is not None and form.tabs)


def _lines(
    sentences: Iterable[Sentence], separator: str, comments: bool | None, document_mark: str | None
) -> Iterator[str]:
    width = None
    for s, sentence in enumerate(sentences):
        width = len(sentence.columns) if width is None else width
        _require_shape(sentence, width, s)
        form = _Form(separator == "\t" and width > 1, width, 0)
        _require_heading(sentence, comments, document_mark, form, s)
        if sentence.document is not None:
            yield sentence.document
            yield ""
        yield from sentence.comments
        for t, row in enumerate(zip(*sentence.columns, strict=True)):
            _require_fields(row, separator, f"Sentence {s}, token {t}")
            if _is_mark(row[0], document_mark):
                raise InputError(f"Sentence {s}, token {t}: {row[0]!r} would be taken for a document's mark.")
            if t == 0 and _is_comment(separator.join(row), comments, form):
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


def _require_heading(
    sentence: Sentence, comments: bool | None, document_mark: str | None, form: _Form, s: int
) -> None:
    """Comments and document marks that would be read as such."""
    if sentence.comments and comments is False:
        raise InputError(f"Sentence {s} has comments; write and read them with comments=True.")
    for comment in sentence.comments:
        if not _is_comment(comment, comments, form) or _breaks(comment):
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
