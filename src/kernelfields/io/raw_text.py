"""Plain texts, nothing marked: every line that is not empty is a document."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import InputError
from .lines import Source, read_lines
from .text_documents import TextDocument, checked_document


def read_text(source: Source, *, encoding: str = "utf-8") -> Iterator[TextDocument]:
    """Read a document from every line that is not empty.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    encoding : str
        Any encoding that contains ASCII.
    """
    for line in read_lines(source, encoding):
        if line.text.strip():
            where = f"{line.file}, line {line.number}"
            try:
                yield checked_document(TextDocument(line.text, None, where=where))
            except InputError as error:
                raise line.error(str(error)) from None
