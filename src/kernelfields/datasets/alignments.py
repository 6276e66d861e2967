"""Sentences and their translations with links between words."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import NamedTuple

from ..checks import shown
from ..errors import InputError
from .folder import data_file

FOLDER = "word_alignment"
LINK = re.compile(r"(\d+)([-p])(\d+)")

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
        Hansards, English and French, 37 pairs to train on and 447 to test with [och2003systematic].
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
        return _trial(folder)
    pairs = [line.split(" ||| ") for line in _lines("hansards_en_fr/test.src-tgt.gz", folder)]
    found = [LINK.findall(line) for line in _lines("hansards_en_fr/test.gold.gz", folder)]
    every = [[(int(i) - 1, int(j) - 1, kind == "-") for i, kind, j in row] for row in found]
    return _marked([pair[0].split() for pair in pairs], [pair[1].split() for pair in pairs], every)


def _trial(folder: str | Path | None) -> AlignedSentences:
    """Read the pairs that came with the shared task: a line per link, sentences counted from 1."""
    source, target = ([line.split() for line in _lines(f"hansards_en_fr/dev.{k}.gz", folder)] for k in "ef")
    every: list[list[tuple[int, int, bool]]] = [[] for _ in source]
    for line in _lines("hansards_en_fr/dev.wa.nonullalign.gz", folder):
        sentence, i, j, kind = line.split()
        every[int(sentence) - 1].append((int(i) - 1, int(j) - 1, kind == "S"))
    return _marked(source, target, every)


def _marked(
    source: list[list[str]], target: list[list[str]], every: list[list[tuple[int, int, bool]]]
) -> AlignedSentences:
    sure = [sorted({(i, j) for i, j, certain in row if certain}) for row in every]
    return AlignedSentences(source, target, sure, [sorted({(i, j) for i, j, _ in row}) for row in every])
