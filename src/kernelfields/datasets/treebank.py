"""English sentences with phrase trees: a sample of the Penn Treebank."""

from __future__ import annotations

import gzip
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from ..io import read_brackets
from .folder import data_file
from .parts_of_speech import PTB_SAMPLE


class Treebank(NamedTuple):
    """Phrase trees, and where they come from."""

    trees: list[Any]
    """(label, child, …), whose leaves are (tag, word)."""
    documents: list[str]
    """Name of the document of every tree."""


def load_ptb_trees(
    functions: bool = False, traces: bool = False, folder: str | Path | None = None
) -> Treebank:
    """Read the sample of the Penn Treebank, in the order of its 199 documents: 3,914 trees.

    For non-commercial use only.

    Parameters
    ----------
    functions : bool
        Whether function tags and indices of labels are kept.
    traces : bool
        Whether words that are not said, with the tag -NONE-, are kept.
    folder : path, optional
        Folder of data sets instead of that in KERNELFIELDS_DATA.
    """
    with gzip.open(data_file(PTB_SAMPLE, "trees.tsv.gz", folder), "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    text = StringIO("\n".join(tree for _, tree in rows))
    trees = list(read_brackets(text, functions=functions, traces=traces))
    return Treebank(trees, [document for document, _ in rows])
