"""CoNLL-2000 for both sides: the same attributes, as strings and as a matrix.

kernelfields is imported where it is needed: the other side runs without it.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

ROOT = Path(__file__).resolve().parents[1]


def data_folder() -> Path:
    """The folder that KERNELFIELDS_DATA names, or the one beside the repository."""
    given = os.environ.get("KERNELFIELDS_DATA")
    return (Path(given) if given else ROOT.parent / "shared" / "data") / "conll2000"


class Corpus(NamedTuple):
    """Sentences as lists of (word, part of speech), with chunk labels."""

    sentences: list[list[tuple[str, str]]]
    labels: list[list[str]]


def read(part: str, limit: int | None = None) -> Corpus:
    """Read ``train`` or ``test``."""
    from kernelfields.io import read_conll

    sentences = [sentence.columns for sentence in read_conll(data_folder() / f"{part}.txt.gz")][:limit]
    tokens = [list(zip(columns[0], columns[1], strict=True)) for columns in sentences]
    return Corpus(tokens, [columns[2] for columns in sentences])


class Featurised(NamedTuple):
    """Attributes of all tokens."""

    X: Any
    """CSR, float32."""
    lengths: np.ndarray
    names: list[str]


def featurise(corpus: Corpus) -> tuple[Featurised, Any]:
    """The CRF++ template: 19 attributes for each token."""
    from kernelfields.features import TemplateFeatures
    from kernelfields.features.sets import chunking

    extractor = TemplateFeatures(chunking(), dtype=np.float32)
    X, lengths = extractor.fit_transform(corpus.sentences)
    return Featurised(X, lengths, extractor.names()), extractor


def attribute_lists(data: Featurised) -> list[list[list[str]]]:
    """The same as lists of strings, sentence by sentence."""
    X, names = data.X, data.names
    tokens = [[names[k] for k in X.indices[a:b]] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    ends = np.cumsum(data.lengths)
    return [tokens[a:b] for a, b in zip(ends - data.lengths, ends, strict=True)]


def save(path: Path, data: Featurised, labels: list[list[str]]) -> None:
    """For the subprocesses, which must not pay for making the features."""
    flat = np.array([label for sequence in labels for label in sequence])
    X = data.X
    arrays = {"indptr": X.indptr, "indices": X.indices, "lengths": data.lengths, "shape": np.array(X.shape)}
    np.savez(path, labels=flat, **arrays)
    path.with_suffix(".names").write_text("\n".join(data.names))


def load(path: Path) -> tuple[Any, np.ndarray, np.ndarray]:
    """X, all of whose values are 1, lengths and flat labels."""
    with np.load(path) as saved:
        indices = saved["indices"]  # read on every look
        ones = np.ones(len(indices), bool)
        X = sparse.csr_matrix((ones, indices, saved["indptr"]), shape=tuple(saved["shape"]))
        return X, saved["lengths"], saved["labels"]


def plain_sentences(part: str, limit: int | None = None) -> Iterator[tuple[list[list[str]], list[str]]]:
    """The same sentences in plain Python: tokens as lists of columns, and labels."""
    with gzip.open(data_folder() / f"{part}.txt.gz", "rt") as file:
        blocks = [block.split("\n") for block in file.read().strip().split("\n\n")][:limit]
    for block in blocks:
        rows = [line.split() for line in block]
        yield [row[:2] for row in rows], [row[2] for row in rows]


def template_attributes(tokens: list[list[str]]) -> list[list[str]]:
    """The CRF++ template as users of CRFsuite write it: a list of strings for each token."""
    words, tags = (["__", "__", *(token[k] for token in tokens), "__", "__"] for k in (0, 1))
    result = []
    for t in range(2, len(tokens) + 2):
        w, p = words[t - 2 : t + 3], tags[t - 2 : t + 3]
        attributes = [f"w[{k - 2}]={w[k]}" for k in range(5)]
        attributes += [f"w[-1]|w[0]={w[1]}|{w[2]}", f"w[0]|w[1]={w[2]}|{w[3]}"]
        attributes += [f"p[{k - 2}]={p[k]}" for k in range(5)]
        attributes += [f"p[{k - 2}]|p[{k - 1}]={p[k]}|{p[k + 1]}" for k in range(4)]
        attributes += [f"p[{k - 2}]|p[{k - 1}]|p[{k}]={p[k]}|{p[k + 1]}|{p[k + 2]}" for k in range(3)]
        result.append(attributes)
    return result
