"""Sentences and their translations with links between words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

from ..checks import shown
from ..errors import InputError
from ..io import WordAlignment, read_naacl, read_pharaoh
from .folder import data_file

FOLDER = "word_alignment"

Links = list[tuple[int, int]]


class AlignedSentences(NamedTuple):
    """Pairs of sentences, and which words of the first belong to which of the second."""

    source: list[list[str]]
    """Words."""
    target: list[list[str]]
    """Words of the translations."""
    sure: list[Links]
    """Links that annotators are sure of, (source word, target word), counted from 0."""
    possible: list[Links]
    """Sure links and those that are only possible."""


def load_alignments(
    corpus: str = "czech-english", part: str = "train", folder: str | Path | None = None
) -> AlignedSentences:
    """Read sentence pairs with links set by hand.

    Parameters
    ----------
    corpus : "czech-english" or "hansards"
        English and Czech, 2,250 pairs to train on and 250 to test with, all links sure; or the Canadian
        Hansards, English and French, 37 pairs to train on and 447 to test with [och2003].
    part : "train" or "test"
        Which part.
    folder : path, optional
        Folder of data sets instead of that in KERNELFIELDS_DATA.
    """
    readers = {"czech-english": _czech, "hansards": _hansards}
    if corpus not in readers:
        raise InputError(f"corpus is {shown(corpus)}; it must be 'czech-english' or 'hansards'.")
    if part not in ("train", "test"):
        raise InputError(f"part is {shown(part)}; it must be 'train' or 'test'.")
    return readers[corpus](part == "train", folder)


def _lines(name: str, folder: str | Path | None) -> list[str]:
    with gzip.open(data_file(FOLDER, name, folder), "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def _czech(train: bool, folder: str | Path | None) -> AlignedSentences:
    name = f"czenali_en_cs/{'train' if train else 'valid'}.jsonl.gz"
    rows = [json.loads(line) for line in _lines(name, folder) if line]
    links = [sorted({(i, j) for i, j in row["alignment"]}) for row in rows]
    return AlignedSentences(
        [row["src_words"] for row in rows], [row["tgt_words"] for row in rows], links, links
    )


def _hansards(train: bool, folder: str | Path | None) -> AlignedSentences:
    if train:
        source, target = (
            [line.split() for line in _lines(f"hansards_en_fr/dev.{k}.gz", folder)] for k in "ef"
        )
        found = read_naacl(data_file(FOLDER, "hansards_en_fr/dev.wa.nonullalign.gz", folder))
        links = [found.get(s, WordAlignment()) for s in range(1, len(source) + 1)]
    else:
        lines = [line.split(" ||| ") for line in _lines("hansards_en_fr/test.src-tgt.gz", folder)]
        source, target = ([line[k].split() for line in lines] for k in (0, 1))
        links = list(read_pharaoh(data_file(FOLDER, "hansards_en_fr/test.gold.gz", folder), first=1))
    return AlignedSentences(source, target, [one.sure for one in links], [one.possible for one in links])
