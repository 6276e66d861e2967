"""Sentences of files that are read again whenever somebody goes through them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from .conll import read_conll
from .parquet import ENDINGS, ParquetSentences


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


@dataclass(frozen=True)
class BagSentences:
    """Sentences of a bag of Dask, pairs of tokens and labels, one partition after the other."""

    bag: Any

    def __iter__(self) -> Iterator[Any]:
        """Compute one partition at a time: a bag that is gone through itself would be here as a whole."""
        for partition in self.bag.to_delayed():
            yield from partition.compute()


def stored_sentences(paths: Sequence[Path]) -> ConllSentences | ParquetSentences:
    """Return the sentences of files: Parquet or Arrow if their names say so, else columns of text."""
    stored = [path for path in paths if path.suffix.lower() in ENDINGS]
    if not stored:
        return ConllSentences(tuple(paths))
    other = next((path for path in paths if path not in stored), None)
    if other is not None:
        raise InputError(f"{stored[0]} and {other} are in different formats; name files of one format.")
    return ParquetSentences(tuple(paths))
