"""A linear chain learnt from more sentences than memory holds: shards in files, a chunk of sentences each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...checks import require_whole, shown
from ...data.reading import Extractor, read_tokens
from ...data.training import Observed, Training, read_training
from ...distributed import SHARING, FilePool, write_shard
from ...errors import InputError
from ...fitting.held_out import HeldOutSet
from ...fitting.provenance import Provenance, joined_provenance, provenance_of
from ...fitting.run import Found
from ...io.replacing import naming
from ...losses import Log
from ...objective import Geometry, LinearChainData, Point, Problem, Rounding, Shard, ShardedData
from ...solvers import Stop
from ...spaces import SparseFeatures, WeightPairs
from ...structures import Chain
from ...tables import loss_settings, structure_of
from ..attributes import keep_scorers
from ..parts import BoundParts, FixedScores, Part, PartData
from ..stream_chunks import LabelledTokens, chunks_within, columns_and_classes
from .linear import SINGLE, fast_chain_data, linear_parts, solver_of
from .steps import Mode, ProblemFit, keep_end, keep_objective, keep_training


class StreamFit(ProblemFit):
    """The objective of a linear chain on a training set in files.

    Parameters
    ----------
    model : CRF
        The settings.
    problem : Problem
        On all shards.
    first : Training
        The first chunk: labels, extractor and structure are those of all.
    parts : BoundParts
        The parts of the model.
    provenance : Provenance
        That of all chunks.
    """

    def __init__(
        self, model: Any, problem: Problem, first: Training, parts: BoundParts, provenance: Provenance
    ) -> None:
        self.model, self.problem, self.training = model, problem, first
        self.parts, self.provenance = parts, provenance
        self.solver = solver_of(model)
        self.stop = Stop(gap=model.tol, gradient=1e-2 * model.tol, iterations=model.max_iter)
        if model.run.checkpoint is not None:
            from ...fitting.checkpoint import checkpoint_of

            self.checkpoint = checkpoint_of(model, [provenance.data_hash])

    def exact(self) -> Problem:
        """Return the same problem in double."""
        return self.problem.exact()

    def start(self) -> Array:
        """Return zero."""
        return self.problem.zero()

    def held_out_loss(self, held_out: HeldOutSet) -> Callable[[Array], float]:
        """Refuse held-out data, which `CRF.fit_stream` does not take."""
        raise InputError("fit_stream has no held-out data.")

    def take(self, model: Any, point: Point, element: Array) -> None:
        """Make attributes of a model of what predictions need."""
        scorers = self.parts.scorers(self.problem, element)
        keep_scorers(model, scorers, len(self.training.encoded.classes))
        keep_training(model, self.training, None)

    def keep(self, model: Any, found: Found) -> None:
        """Make attributes of a model of what was found."""
        self.take(model, found.point, found.element)
        keep_end(model, self.training, found)
        keep_objective(model, found)
        model.provenance_ = self.provenance

    def mode(self, found: Found) -> Mode:
        """Refuse a posterior, which `CRF.fit_stream` does not have."""
        raise InputError("fit_stream has no posterior; set posterior=None, or call fit.")


@contextmanager
def streamed(
    model: Any, sentences: Iterable[LabelledTokens], memory_limit: int, directory: Any
) -> Iterator[StreamFit]:
    """Read sentences twice, for labels and columns, then for features; keep these in files while in use."""
    _require_streamable(model)
    limit = require_whole("memory_limit", memory_limit, 2**20)
    extractor, classes = columns_and_classes(model, sentences, limit)
    weights = len(classes) * (extractor.n_features + len(classes) + 3)
    place = directory or tempfile.gettempdir()
    with naming(place), tempfile.TemporaryDirectory(prefix="kernelfields-", dir=place) as folder:
        writer = _Writer(model, extractor, classes, Path(folder))
        for chunk in chunks_within(limit, sentences, weights, 4 if model.tol >= SINGLE else 8):
            writer.write(chunk)
        with writer.finished() as stream:
            yield stream


class _Writer:
    """Writes a shard for every chunk."""

    def __init__(self, model: Any, extractor: Extractor, classes: list[Any], folder: Path) -> None:
        self._model, self._extractor, self._classes, self._folder = model, extractor, classes, folder
        self._first: Training | None = None
        self._terms: list[Any] = []
        self._parts: BoundParts | None = None
        self._empty: LinearChainData | None = None
        self._observed: Observed | None = None
        self._paths: list[Path] = []
        self._certain: list[Rounding] = []
        self._reach: dict[str, float] = {}
        self._provenance: list[Provenance] = []

    def write(self, sentences: Sequence[LabelledTokens]) -> None:
        """Write one shard."""
        training = self._training(sentences)
        features = training.inputs.features
        if self._observed is None:
            L = len(self._classes)
            self._observed = Observed(WeightPairs.of(features, L), np.ones((L, L), dtype=bool))
        seen = PartData(training.batch, features, self._observed)
        if self._parts is None:
            self._parts = BoundParts.of(linear_parts(self._model, training.batch), seen)
        terms = self._parts.terms(seen)
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

    def _training(self, sentences: Sequence[LabelledTokens]) -> Training:
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
    def finished(self) -> Iterator[StreamFit]:
        """Yield the fit on all shards."""
        if self._first is None or self._empty is None or self._observed is None or self._parts is None:
            raise InputError("The training set is empty.")
        here, pairs = SHARING.get(), self._observed.features
        pool = FilePool(self._paths, pairs) if here is None else here.file_pool(self._paths, pairs)
        data = ShardedData(self._empty, pool, Rounding.joined(self._certain, self._reach))
        geometry = Geometry(self._terms, self._empty.dtype).on(self._empty.spaces)
        inputs = self._first.inputs
        # of the first chunk only its labels, rules and shapes are still asked for
        first = self._first._replace(inputs=inputs._replace(features=inputs.features[:0]), observed=None)
        with closing(pool):
            provenance = joined_provenance(self._provenance)
            yield StreamFit(self._model, Problem(geometry, data), first, self._parts, provenance)


def _require_streamable(model: Any) -> None:
    """Refuse settings that a stream of sentences does not go with."""
    structure = structure_of(model.structure)
    if not isinstance(structure, Chain) or structure.order != 1:
        raise InputError("fit_stream learns chains of order one; fit learns other structures.")
    loss = loss_settings(model.loss)
    if not isinstance(loss, Log) or not loss.likelihood:
        raise InputError(f"fit_stream does not go with loss={shown(model.loss)}.")
    usual = {"observed_only": False, "warm_start": False}
    for name, value in usual.items():
        if getattr(model, name) != value:
            raise InputError(f"fit_stream does not go with {name}={shown(getattr(model, name))}.")
    for name, part in model.parts.items():
        looks = isinstance(part, Part) and part.looks and name != "features"
        if looks or isinstance(part, FixedScores):
            raise InputError(f"fit_stream does not go with the part {name!r}, {shown(part)}.")
