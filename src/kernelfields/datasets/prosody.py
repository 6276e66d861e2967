"""The Helsinki Prosody Corpus: prominent words of English read aloud."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from math import log2
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_whole
from ..features import Templates, parse_templates
from ._draw import drawn
from .folder import data_file

DATA_SET = "helsinki_prosody"
NOTHING = "-"
"""Value of the column ``after`` where no punctuation follows."""


class Prosody(NamedTuple):
    """Sentences with the prominence of their words."""

    sentences: list[list[tuple[str, ...]]]
    """Words in lower case, with their columns: word, frequency, length, punctuation after it."""
    labels: list[list[str]]
    """"accented" or "plain"; both classes of prominent words are accented."""
    boundaries: list[Array]
    """One (T,) array per sentence: how strong the boundary after each word sounds, from 0 on."""

    def pick(self, ids: Array) -> Prosody:
        """Return some of the sentences."""
        return Prosody(
            [self.sentences[i] for i in ids], [self.labels[i] for i in ids], [self.boundaries[i] for i in ids]
        )


class _Word(NamedTuple):
    text: str
    label: str
    boundary: float
    after: str


def load_prosody(
    part: str = "dev", n_sentences: int | None = None, seed: int = 0, folder: str | Path | None = None
) -> Prosody:
    """Read the Helsinki Prosody Corpus from the folder of data sets.

    Punctuation has no prominence; it is a property of the word before it, not a position. Frequencies are
    those in the text of the whole file, as ⌊log₂⌋. Boundaries come from the sound; so does prominence, whose
    real-valued column is not read, because labels are that column cut at thresholds.

    Parameters
    ----------
    part : "dev" or "test"
        Which file.
    n_sentences : int, optional
        Read that many sentences, drawn at random, instead of all.
    seed : int
        Of the draw.
    folder : path, optional
        Folder of data sets instead of that in KERNELFIELDS_DATA.
    """
    sentences = [words for words in _sentences(data_file(DATA_SET, f"{part}.txt.gz", folder)) if words]
    counts = Counter(word.text for words in sentences for word in words)
    if n_sentences is not None:
        sentences = drawn(sentences, n_sentences, seed)
    return Prosody(
        [[_columns(word, counts) for word in words] for words in sentences],
        [[word.label for word in words] for words in sentences],
        [np.array([word.boundary for word in words]) for words in sentences],
    )


def prosody_templates(reach: int = 2) -> Templates:
    """Return templates for frequency, length and punctuation up to ``reach`` away, words and endings nearby.

    Words further away are too rare to learn from in some hundred sentences.
    """
    require_whole("reach", reach, 0, 100)
    window = f"[-{reach}..{reach}]"
    lines = [f"{column}{window}" for column in ("frequency", "length", "after")]
    near = ["w[-1..1]", "suffix3(w[0])", "begin", "end"]
    return parse_templates("\n".join(["columns: w frequency length after", *near, *lines]))


def _sentences(path: Path) -> Iterator[list[_Word]]:
    words: list[_Word] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            text, *rest = line.rstrip("\n").split("\t")
            if text == "<file>":
                yield words
                words = []
            elif rest[0] != "NA":
                label = "plain" if rest[0] == "0" else "accented"
                boundary = 0.0 if rest[3] == "NA" else float(rest[3])
                words.append(_Word(text.lower(), label, boundary, NOTHING))
            elif words:
                words[-1] = words[-1]._replace(after=text)
    yield words


def _columns(word: _Word, counts: Counter[str]) -> tuple[str, ...]:
    return word.text, str(int(log2(counts[word.text]))), str(min(len(word.text), 10)), word.after
