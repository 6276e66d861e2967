"""Sentences of files that are read again whenever somebody goes through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from .conll import read_conll


@dataclass(frozen=True)
class ConllSentences:
    """Sentences of files in columns, the last of which are labels: pairs of tokens and labels.

    Parameters
    ----------
    paths : tuple of paths
        Files, plain or compressed by gzip.
    encoding : str
        Of all of them.
    """

    paths: tuple[Path, ...]
    encoding: str = "utf-8"

    def __iter__(self) -> Iterator[tuple[list[tuple[str, ...]], list[str]]]:
        """Read one file after the other."""
        for path in self.paths:
            for sentence in read_conll(path, encoding=self.encoding):
                *columns, labels = sentence.columns
                if not columns:
                    raise InputError(f"{path} has one column; labels are the last of at least two.")
                yield list(zip(*columns, strict=True)), labels
