"""English sentences with dependency trees: the English Web Treebank."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .folder import data_file
from .parts_of_speech import UD_EWT, read_columns

FORM, UPOS, XPOS, HEAD, RELATION = range(5)


class ParsedSentences(NamedTuple):
    """Sentences with the part of speech, the head and the relation of every word."""

    sentences: list[list[str]]
    """Words."""
    labels: list[list[str]]
    """Universal parts of speech, 17 of them."""
    parents: list[list[int]]
    """Number of each word's head within the sentence, counted from 0; −1 for the root."""
    relations: list[list[str]]
    """Relation of each word to its head, with its subtype, as in ``nmod:poss``."""
    tags: list[list[str]]
    """Parts of speech of the Penn Treebank (XPOS), 49 of them."""


def load_ud_trees(part: str = "train", folder: str | Path | None = None) -> ParsedSentences:
    """Read the English Web Treebank with its dependency trees, one root in each: 12,544 to train on.

    Parameters
    ----------
    part : "train", "dev" or "test"
        Which file.
    folder : path, optional
        Folder of data sets instead of that in KERNELFIELDS_DATA.
    """
    rows = list(read_columns(data_file(UD_EWT, f"{part}.trees.tsv.gz", folder), "# sent_id = "))
    return ParsedSentences(
        [[word[FORM] for word in sentence] for sentence in rows],
        [[word[UPOS] for word in sentence] for sentence in rows],
        [[int(word[HEAD]) - 1 for word in sentence] for sentence in rows],
        [[word[RELATION] for word in sentence] for sentence in rows],
        [[word[XPOS] for word in sentence] for sentence in rows],
    )
