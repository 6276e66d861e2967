"""English sentences with parts of speech: a sample of the Penn Treebank, and the English Web Treebank."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .folder import data_file

PTB_SAMPLE, UD_EWT = "ptb_sample", "ud_english_ewt"


class TaggedSentences(NamedTuple):
    """Sentences with the part of speech of every word."""

    sentences: list[list[str]]
    """Words."""
    labels: list[list[str]]
    """Tags of the Penn Treebank."""


def load_ptb_sample(folder: str | Path | None = None) -> TaggedSentences:
    """Read the sample of the Penn Treebank, in the order of its documents: 3,914 sentences, 45 tags.

    For non-commercial use only.

    Parameters
    ----------
    folder : path, optional
        Folder of data sets instead of that in KERNELFIELDS_DATA.
    """
    return _tagged(data_file(PTB_SAMPLE, "pos.tsv.gz", folder), "# doc = ")


def load_ud_ewt(part: str = "train", folder: str | Path | None = None) -> TaggedSentences:
    """Read the English Web Treebank with the treebank-specific tags (XPOS): 12,544 sentences to train on.

    Parameters
    ----------
    part : "train", "dev" or "test"
        Which file.
    folder : path, optional
        Folder of data sets instead of that in KERNELFIELDS_DATA.
    """
    return _tagged(data_file(UD_EWT, f"{part}.tsv.gz", folder), "# sent_id = ")


def _tagged(path: Path, mark: str) -> TaggedSentences:
    tokens = list(read_columns(path, mark))
    return TaggedSentences(
        [[token[0] for token in sentence] for sentence in tokens],
        [[token[-1] for token in sentence] for sentence in tokens],
    )


def read_columns(path: Path, mark: str) -> Iterator[list[list[str]]]:
    """Yield the columns of every token, by sentence; "#" is a word: only ``mark`` begins a comment."""
    sentence: list[list[str]] = []
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            text = line.rstrip("\n")
            if text.startswith(mark) and "\t" not in text:
                continue
            if text:
                sentence.append(text.split("\t"))
            elif sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence
