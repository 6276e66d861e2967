"""A linear chain learnt from more sentences than memory holds: shards in files, a chunk of sentences each."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..checks import require_whole, shown
from ..data.reading import Extractor, read_tokens
from ..data.training import Observed, Training, read_training
from ..distributed import SHARING, FilePool, write_shard
from ..errors import InputError
from ..features import CliqueKind, TemplateFeatures, Templates
from ..features.sets import TEXTS
from ..fitting.provenance import Provenance, joined_provenance, provenance_of
from ..io import BagSentences, stored_sentences
from ..memory import peak_memory
from ..objective import Geometry, LinearChainData, Problem, Rounding, Shard, ShardedData
from ..spaces import SparseFeatures, WeightPairs
from ..structures import Chain
from ..tables import structure_of
from .linear_problem import SINGLE, fast_chain_data, linear_terms

COLUMNS = 2**20
"""Of features of templates by themselves, which are hashed: a vocabulary would take memory of its own."""
COUNTED = 2**15
"""Tokens whose features are counted at a time: enough to be quick, and the rest of memory is for counts."""
BYTES_PER_TOKEN = 1500
"""About what a token takes while its features are made: its words as objects of Python, keys, rows twice."""
VECTORS = 32
"""About how many numbers a search keeps for every weight."""
LEAST = 2**26
"""Bytes that must be left for sentences."""

Sentence = tuple[Any, Sequence[Hashable]]
"""Tokens and labels."""


class StreamedSet(NamedTuple):
    """A training set in files."""

    problem: Problem
    first: Training
    """Of the first chunk: labels, extractor and structure are those of all."""
    provenance: Provenance


@contextmanager
def streamed(
    model: Any, sentences: Iterable[Sentence], memory_limit: int, directory: Any
) -> Iterator[StreamedSet]:
    """Read sentences twice, for labels and columns, then for features; keep these in files while in use."""
    _require_streamable(model)
    limit = require_whole("memory_limit", memory_limit, 2**20)
    extractor, classes = _columns_and_classes(model, sentences, limit)
    weights = len(classes) * (extractor.n_features + len(classes) + 3)
    tokens = _chunk(limit, weights, 4 if model.tol >= SINGLE else 8)
    with tempfile.TemporaryDirectory(prefix="kernelfields-", dir=directory) as folder:
        writer = _Writer(model, extractor, classes, Path(folder))
        for chunk in _chunks(sentences, tokens):
            writer.write(chunk)
        with writer.finished() as stream:
            yield stream


class _Writer:
    """Writes a shard for every chunk."""

    def __init__(self, model: Any, extractor: Extractor, classes: list[Any], folder: Path) -> None:
        self._model, self._extractor, self._classes, self._folder = model, extractor, classes, folder
        self._first: Training | None = None
        self._terms: list[Any] = []
        self._empty: LinearChainData | None = None
        self._observed: Observed | None = None
        self._paths: list[Path] = []
        self._certain: list[Rounding] = []
        self._reach: dict[str, float] = {}
        self._provenance: list[Provenance] = []

    def write(self, sentences: Sequence[Sentence]) -> None:
        """Write one shard."""
        training = self._training(sentences)
        features = training.inputs.features
        if self._observed is None:
            L = len(self._classes)
            self._observed = Observed(WeightPairs.of(features, L), np.ones((L, L), dtype=bool))
        terms = linear_terms(self._model, training.chain, features, self._observed, fast=True)
        data = fast_chain_data(self._model, training, terms)
        self._count(data, terms)
        self._provenance.append(provenance_of(training.inputs, training.encoded))
        path = self._folder / f"{len(self._paths)}.shard"
        spaces = [space.lean() if isinstance(space, SparseFeatures) else space for space in data.spaces]
        lean = LinearChainData(data.loss, spaces, data.offsets, data.dtype)
        write_shard(Shard(lean), path, self._observed.features)
        self._paths.append(path)
        if self._first is None:
            self._empty = data.take([])
            self._first, self._terms = training, terms

    def _training(self, sentences: Sequence[Sentence]) -> Training:
        X, y = [x for x, _ in sentences], [list(labels) for _, labels in sentences]
        inputs = read_tokens(self._extractor, X, fit=False)
        rules = self._model.constraints
        return read_training(inputs, self._extractor, y, Chain(), constraints=rules, classes=self._classes)

    def _count(self, data: LinearChainData, terms: list[Any]) -> None:
        certain = data.exact().certain
        assert certain is not None
        self._certain.append(certain)
        for term in terms:
            self._reach[term.name] = self._reach.get(term.name, 0.0) + float(term.space.reach)

    @contextmanager
    def finished(self) -> Iterator[StreamedSet]:
        """Give the problem on all shards."""
        if self._first is None or self._empty is None or self._observed is None:
            raise InputError("The training set is empty.")
        here, pairs = SHARING.get(), self._observed.features
        pool = FilePool(self._paths, pairs) if here is None else here.file_pool(self._paths, pairs)
        data = ShardedData(self._empty, pool, Rounding.joined(self._certain, self._reach))
        geometry = Geometry(self._terms, self._empty.dtype).on(self._empty.spaces)
        inputs = self._first.inputs
        # of the first chunk only its labels, rules and shapes are still asked for
        first = self._first._replace(inputs=inputs._replace(features=inputs.features[:0]), observed=None)
        with closing(pool):
            yield StreamedSet(Problem(geometry, data), first, joined_provenance(self._provenance))


def _require_streamable(model: Any) -> None:
    """Refuse settings that a stream of sentences does not go with."""
    structure = structure_of(model.structure)
    if not isinstance(structure, Chain) or structure.order != 1:
        raise InputError("fit_stream learns chains of order one; fit learns other structures.")
    usual: dict[str, Any] = {
        "edge_features": False,
        "observed_only": False,
        "class_weight": None,
        "cost": None,
    }
    usual |= {"loss": "log", "base_measure": None, "warm_start": False}
    for name, value in usual.items():
        if getattr(model, name) != value:
            raise InputError(f"fit_stream does not go with {name}={shown(getattr(model, name))}.")


def _extractor(features: Any) -> TemplateFeatures:
    """Return what makes features of one sentence after the other; it may have to learn a vocabulary."""
    if isinstance(features, str):
        features = TEXTS.get(features, features)
    if isinstance(features, str | Templates):
        features = TemplateFeatures(features, n_hash=COLUMNS, dtype=np.float32)
    if not isinstance(features, TemplateFeatures):
        raise InputError(f"features is {shown(features)}; fit_stream needs templates or TemplateFeatures.")
    if features.templates.cliques is not CliqueKind.TOKENS:
        kind = features.templates.cliques.name.lower()
        raise InputError(f"features are templates of {kind}; fit_stream needs templates of tokens.")
    return features


def _columns_and_classes(
    model: Any, sentences: Iterable[Sentence], limit: int
) -> tuple[TemplateFeatures, list[Any]]:
    """Return an extractor that knows its columns, and all labels, in the order of their names.

    That takes one pass through all sentences, or none if a user has said both.
    """
    extractor = _extractor(model.features)
    found: set[Any] = set()
    if not extractor.fitted:
        extractor = copy.copy(extractor).fit_chunks(_counted(sentences, found, limit))
    elif model.classes is None:
        for _, labels in sentences:
            found.update(labels)
    if model.classes is not None:
        return extractor, list(model.classes)
    if None in found:
        raise InputError("fit_stream needs every label to be observed; y has None.")
    return extractor, sorted(found)


def _counted(sentences: Iterable[Sentence], found: set[Any], limit: int) -> Iterator[list[Any]]:
    """Yield tokens, a chunk at a time; add their labels to those found."""
    for chunk in _chunks(sentences, min(_chunk(limit, 0, 0), COUNTED)):
        for _, labels in chunk:
            found.update(labels)
        yield [tokens for tokens, _ in chunk]
        _chunk(limit, 0, 0)  # refuses counts that have grown too many


def _chunk(limit: int, weights: int, size: int) -> int:
    """Return of how many tokens features are made at a time."""
    needed = peak_memory() + weights * (VECTORS * size + 8)
    if limit < needed + LEAST:
        what = f"{weights} weights" if weights else "counts of features"
        raise InputError(
            f"memory_limit is {limit / 2**20:.0f} MB, but {what} and what the process has already "
            f"take {(needed + LEAST) / 2**20:.0f} MB; use fewer columns (n_hash)."
        )
    # A power of two: a run that goes on from a checkpoint must cut alike, although its process may have taken
    # a little more or less so far.
    return 1 << max((limit - needed) // BYTES_PER_TOKEN, 1024).bit_length() - 1


def _chunks(sentences: Iterable[Sentence], tokens: int) -> Iterator[list[Sentence]]:
    """Yield as many sentences as have about so many tokens."""
    chunk: list[Sentence] = []
    count = 0
    for sentence in sentences:
        size = len(sentence[1])
        if count >= tokens and size:  # empty sentences go with those before: nobody learns from them alone
            yield chunk
            chunk, count = [], 0
        chunk.append(sentence)
        count += size
    if chunk:
        yield chunk


def sentences_of(given: Any) -> Iterable[Sentence]:
    """Return what can be gone through twice: the sentences of files, by their paths, or what a user gave."""
    paths = [given] if isinstance(given, str | os.PathLike) else given
    if isinstance(paths, list | tuple) and paths and isinstance(paths[0], str | os.PathLike):
        return stored_sentences([Path(path) for path in paths])
    if hasattr(given, "to_delayed"):
        return BagSentences(given)
    if isinstance(given, Iterator) or not isinstance(given, Iterable):
        raise InputError("sentences must be something that can be gone through twice, such as a list.")
    return given
