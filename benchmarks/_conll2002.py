"""CoNLL-2002 Spanish as named-entity experiments see it: words and their spelling around each token."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelfields.features import TemplateFeatures, parse_templates
from kernelfields.features.templates import Templates
from kernelfields.io import read_conll

ROOT = Path(__file__).resolve().parents[1]

_SPELLING = ["w", "lower", "prefix2", "prefix3", "suffix2", "suffix3", "shape", "short_shape"]
_FLAGS = ["is_title", "is_upper", "is_lower", "is_digits", "has_digit", "has_hyphen", "is_punctuation"]


def templates() -> Templates:
    """Word, lower case, prefixes, suffixes, shape and flags of a window of three tokens."""
    looks = [f"{name}(w[-1..1])" for name in _SPELLING[1:] + _FLAGS]
    return parse_templates("\n".join(["columns: w", "w[-1..1]", *looks]))


def data_folder() -> Path:
    """The folder that KERNELFIELDS_DATA names, or the one beside the repository."""
    given = os.environ.get("KERNELFIELDS_DATA")
    return (Path(given) if given else ROOT.parent / "shared" / "data") / "conll2002"


class Corpus(NamedTuple):
    """Sentences as lists of words, with entity labels."""

    sentences: list[list[str]]
    labels: list[list[str]]


def read(part: str, n_sentences: int | None = None, seed: int = 0) -> Corpus:
    """Read ``train``, ``testa`` or ``testb`` of the Spanish data, all or some sentences drawn from it."""
    columns = [sentence.columns for sentence in read_conll(data_folder() / f"esp.{part}.gz")]
    if n_sentences is not None:
        chosen = np.random.default_rng(seed).permutation(len(columns))[:n_sentences]
        columns = [columns[i] for i in chosen]
    return Corpus([list(c[0]) for c in columns], [list(c[2]) for c in columns])


def featurise(corpus: Corpus, dtype: type = np.float32) -> tuple[Any, TemplateFeatures]:
    """A row of 0/1 features for each token, CSR."""
    extractor = TemplateFeatures(templates(), dtype=dtype)
    X, _ = extractor.fit_transform(corpus.sentences)
    return X, extractor
