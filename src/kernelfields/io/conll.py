"""Columns of text: one token per line, an empty line after each sentence.

The format of the CoNLL shared tasks, of CRF++ and of many others. Every line has as many columns as the
first of the file, separated by tabs if that line has a tab, and by spaces otherwise:

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
    """The columns of one sentence, and the lines before it."""

    columns: list[list[str]]
    """columns[c][t] is column c of token t; all columns are equally long."""
    comments: tuple[str, ...] = ()
    """Lines before the first token that begin with "#", unchanged."""
    document: str | None = None
    """The line before this sentence that marks the beginning of a document, if there is one."""
    tabs: bool = False
    """Whether tabs separated the columns, instead of spaces."""
    every: list[list[str]] | None = None
    """Of CoNLL-U, the columns of all lines, those that are no words too; None if all are words."""
    line: int | None = None
    """The line of the first token, counted from 1, if it was read from a file."""


def read_conll(
    source: Source,
    *,
    comments: bool | None = False,
    document_mark: str | None = DOCUMENT_MARK,
    encoding: str = "utf-8",
) -> Iterator[Sentence]:
    r"""Read sentences one by one.

    Lines end with LF or CRLF; a line with only spaces and tabs is empty. Malformed input raises an
    `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    comments : bool or None
        Whether lines that begin with "#" before the first token of a sentence are comments, as in
        CoNLL-U. Elsewhere "#" may be a token. If None, such a line is a comment if it differs in the number
        of columns from the first other line of the file, or has the form ``# name = value``, ``# newdoc``
        or ``# newpar``; otherwise it is a token.
    document_mark : str or None
        First column of the lines that mark the beginning of a document. They are kept in ``document`` and
        may have any number of columns; documents without sentences are dropped. If None, such lines are
        tokens.
    encoding : str
        Any encoding that contains ASCII.

    Yields
    ------
    Sentence
        A sentence with at least one token.

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
    first = 0
    for line in lines:
        mark = _is_mark(line.text, document_mark)
        if mark or not line.text.strip(" \t"):
            if rows:
                yield _sentence(rows, before, document, form, first)
                rows, before, document = [], [], None
            document = line.text if mark else document
        elif not rows and _is_comment(line.text, comments, form):
            before.append(line.text)
        else:
            form, first = form or _Form.of(line), first if rows else line.number
            rows.append(form.row(line))
    if rows:
        yield _sentence(rows, before, document, form, first)


def write_conll(
    sentences: Iterable[Sentence],
    target: Source,
    *,
    separator: str = " ",
    comments: bool | None = False,
    document_mark: str | None = DOCUMENT_MARK,
    encoding: str = "utf-8",
) -> None:
    r"""Write sentences so that `read_conll` reads the same ones; refuse what it would read differently.

    Parameters
    ----------
    sentences : iterable of Sentence
        All with the same number of columns; ``tabs`` is ignored in favour of ``separator``.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    separator : " " or "\t"
        With spaces, fields must not be empty nor contain spaces or tabs.
    comments : bool or None
        Whether sentences may have comments. If so, the first token of a sentence may not begin with "#";
        if None, it may not look like a comment.
    document_mark : str or None
        First column of the lines that mark the beginning of a document.
    encoding : str
        Any encoding that contains ASCII.
    """
    if separator not in (" ", "\t"):
        raise InputError(f"separator is {separator!r}; it must be a space or a tab.")
    write_lines(_lines(sentences, separator, comments, document_mark), target, encoding)


def _is_mark(text: str, document_mark: str | None) -> bool:
    """Return whether the first field of a line marks a document, however lines are split."""
    if document_mark is None or document_mark not in text:
        return False
    return re.split("[ \t]", text.lstrip(" "), maxsplit=1)[0] == document_mark


class _Form(NamedTuple):
    """The separator and the number of columns of a file."""

    tabs: bool
    width: int
    first: int
    """The line that they were taken from."""

    @staticmethod
    def of(line: TextLine) -> _Form:
        """Return the form of a line."""
        tabs = "\t" in line.text
        return _Form(tabs, len(_fields(line.text, tabs)), line.number)

    def row(self, line: TextLine) -> list[str]:
        """Split a line into columns."""
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
    # Not str.split(), which also splits at other characters, such as the no-break space.
    return text.split("\t") if tabs else [field for field in text.split(" ") if field]


def _look_ahead(
    lines: Iterator[TextLine], document_mark: str | None
) -> tuple[_Form | None, Iterator[TextLine]]:
    """Return the form of the first line that cannot be a comment, and all lines.

    If all lines begin with "#", the last one is a token.
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
    """Return whether a line before the first token of a sentence is a comment."""
    if comments is False or not text.startswith("#"):
        return False
    if comments or form is None:  # without a form there is no line at all
        return bool(comments)
    return len(_fields(text, form.tabs)) != form.width or COMMENT.match(text) is not None


def _sentence(
    rows: list[list[str]], comments: list[str], document: str | None, form: _Form | None, line: int
) -> Sentence:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return Sentence(columns, tuple(comments), document, form is not None and form.tabs, line=line)


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
                raise InputError(
                    f"Sentence {s}, token {t}: {row[0]!r} would be read as the mark of a document."
                )
            if t == 0 and _is_comment(separator.join(row), comments, form):
                raise InputError(f"Sentence {s}, token 0: {row[0]!r} would be read as a comment.")
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
    """Refuse comments and document marks that would not be read back as such."""
    if sentence.comments and comments is False:
        raise InputError(f"Sentence {s} has comments; write and read them with comments=True.")
    for comment in sentence.comments:
        if not _is_comment(comment, comments, form) or _breaks(comment):
            raise InputError(
                f"Sentence {s}: {comment!r} is not a comment, which is one line that begins with '#'."
            )
    mark = sentence.document
    if mark is not None and (not _is_mark(mark, document_mark) or _breaks(mark)):
        raise InputError(f"Sentence {s}: {mark!r} is not a line that begins with {document_mark!r}.")


def _require_fields(row: tuple[str, ...], separator: str, where: str) -> None:
    """Refuse fields that would not be read back as they are."""
    tabs = separator == "\t" and len(row) > 1  # a single column has no tab to tell
    for field in row:
        if _breaks(field) or "\t" in field or (not tabs and (" " in field or not field)):
            kind = "contain a tab" if tabs else "be empty or contain a space, a tab"
            raise InputError(
                f"{where}: {field!r} cannot be a field, which may not {kind} or the end of a line."
            )
    if not separator.join(row).strip(" \t"):
        raise InputError(f"{where}: all fields are empty, which would end the sentence.")


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
