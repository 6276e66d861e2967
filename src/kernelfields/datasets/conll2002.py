"""CoNLL-2002, Spanish: named entities, with words and their spelling around each token as features."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ..checks import require_whole
from ..features import Templates, parse_templates
from ..io import read_conll
from ._draw import drawn
from .folder import data_file

DATA_SET = "conll2002"

_TRANSFORMS = ["lower", "prefix2", "prefix3", "suffix2", "suffix3", "shape", "short_shape"]
_FLAGS = ["is_title", "is_upper", "is_lower", "is_digits", "has_digit", "has_hyphen", "is_punctuation"]


class Entities(NamedTuple):
    """Sentences with their named entities."""

    sentences: list[list[str]]
    """Words."""
    labels: list[list[str]]
    """IOB2 tags of persons, places, organisations and others: 9 labels."""


def load_conll2002(
    part: str = "train", n_sentences: int | None = None, seed: int = 0, folder: str | Path | None = None
) -> Entities:
    """Read the Spanish part of CoNLL-2002 from the folder of data sets.

    Parameters
    ----------
    part : "train", "testa" or "testb"
        Which file.
    n_sentences : int, optional
        Read that many sentences, drawn at random, instead of all.
    seed : int
        Of the draw.
    folder : path, optional
        Folder of data sets instead of that in KERNELFIELDS_DATA.
    """
    columns = [sentence.columns for sentence in read_conll(data_file(DATA_SET, f"esp.{part}.gz", folder))]
    if n_sentences is not None:
        columns = drawn(columns, n_sentences, seed)
    return Entities([column[0] for column in columns], [column[2] for column in columns])


def spelling_templates(reach: int = 1) -> Templates:
    """Return templates for word, lower case, affixes, shape and flags of all tokens up to ``reach`` away."""
    require_whole("reach", reach, 0, 100)
    window = f"w[-{reach}..{reach}]"
    looks = [f"{name}({window})" for name in _TRANSFORMS + _FLAGS]
    return parse_templates("\n".join(["columns: w", window, *looks]))
