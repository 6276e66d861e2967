"""Handwritten words, letter by letter."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arrays import Array

# Dots of a Braille character, row by row, as bits of its number: two columns, four rows.
_BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


class Letters(NamedTuple):
    """Handwritten words as chains of images, labelled with letters."""

    images: list[Array]
    """One (T, 128) array of 0/1 pixels per word, each row a 16x8 image, row by row."""
    labels: list[list[str]]
    """The letters of every word, "a" to "z"."""
    fold: Array
    """Fold of every word, 0 to 9."""

    def split(self, *folds: int) -> tuple[list[Array], list[list[str]]]:
        """Return the images and labels of the words in some folds."""
        chosen = np.flatnonzero(np.isin(self.fold, folds))
        return [self.images[i] for i in chosen], [self.labels[i] for i in chosen]


def load_letters() -> Letters:
    """Load the OCR letters that come with the package (see NOTICE for their origin).

    6,877 words, 52,152 letters, ten folds. The first letter of each word, a capital, was removed
    by the authors. There are only 55 distinct words: a model that can memorise words is rewarded
    far beyond what unseen words would show.

    Examples
    --------
    >>> letters = load_letters()
    >>> X, y = letters.split(0)
    >>> len(X), X[0].shape, "".join(y[0])
    (626, (9, 128), 'ommanding')
    """
    with np.load(str(files(__package__) / "data" / "letters.npz")) as data:
        pixels = np.unpackbits(data["pixels_packed"], axis=1).astype(np.float64)
        names = [chr(ord("a") + label) for label in data["labels"]]
        offsets = data["word_offsets"]
        fold = data["fold"]
    words = list(pairwise(offsets))
    return Letters([pixels[a:b] for a, b in words], [names[a:b] for a, b in words], fold)


def draw_letter(image: Array) -> str:
    r"""Draw 16x8 pixels with four lines of four Braille characters, for terminals and reports.

    Examples
    --------
    >>> draw_letter(np.eye(16, 8))
    '⠑⢄⠀⠀\n⠀⠀⠑⢄\n⠀⠀⠀⠀\n⠀⠀⠀⠀'
    """
    blocks = np.asarray(image).reshape(4, 4, 4, 2).transpose(0, 2, 1, 3).astype(int)
    numbers = 0x2800 + (blocks * _BRAILLE).sum(axis=(2, 3))
    return "\n".join("".join(map(chr, row)) for row in numbers)
