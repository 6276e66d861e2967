"""The structured perceptron in the space of a kernel."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import one_of, require_settings, whole
from ..data.inputs import Inputs
from ..data.reading import FeatureSetting
from ..data.sample_weights import read_weights
from ..data.seeds import random_state
from ..data.training import LabelledSet
from ..data.types import Items, Lengths, Outputs, Seed, Weights
from ..data.unlabelled import read_unlabelled, set_aside
from ..decoders import Decoder, best_output
from ..errors import InputError
from ..fitting.epochs import DONE, FLAWLESS, warn_of_interruption
from ..fitting.provenance import provenance_of
from ..fitting.run import Observer, open_observer, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..kernels import Kernel
from ..models.changes import Change, Changes
from ..models.labeller import SequenceLabeller
from ..models.learnt import PERCEPTRON
from ..models.linear import read_labelled
from ..models.model import Model, Scorer, fitted_model
from ..models.vertex_kernels import own_kernel, takes_objects
from ..observations import stacked
from ..solvers import Progress, Reason
from ..structures import Chain, Structure
from ..tables import structure_of

COMBINATIONS = ("averaged", "voted", "last")


@dataclass
class _Walk:
    """How far learning has come."""

    changes: list[Change]
    steps: int
    """Sequences seen."""
    mistakes: list[int]
    """Of every epoch that was finished."""


@dataclass(eq=False, repr=False)
class KernelPerceptron(SequenceLabeller):
    """Structured perceptron with a kernel [collins2002discriminative; freund1999large].

        score(x, y) = Σ_t Σ_v α_{v, y_t} k(x_v, x_t) + Σ_t V_{y_t, y_{t+1}}

    After every sequence whose best labelling ŷ is not the right one, α_{t, y_t} rises by one and
    α_{t, ŷ_t} falls by one wherever they differ, and V counts label pairs likewise. The model is the mean
    of all those functions on the way, or their *vote*: each labels a sequence by itself and counts as
    often as it has survived, which takes as many recursions as there were mistakes.

    With a ``budget`` no more positions than that have coefficients: those changed longest ago are forgotten
    first [as in dekel2008forgetron, without its shrinking]. The Gram matrix of the training set is kept
    in memory: up to some ten thousand positions.

    Parameters
    ----------
    kernel : name, Kernel or function
        k, as `kernels.as_kernel` reads it.
    combination : "averaged", "voted" or "last"
        Which of the functions on the way are the model.
    budget : int, optional
        How many positions may have coefficients at a time.
    max_iter : int
        How many times to go through the training set, at most; an epoch without mistakes is the last.
    structure : "chain", "tree", "graph" or Structure
        What labels depend on, as in `CRF`; there are no scores of label triples.
    features : str, Templates, TemplateFeatures or DictFeatures, optional
        What to look at where X holds tokens instead of arrays, as for `KernelCRF`; kernels of strings look at
        the tokens themselves.
    edges : bool
        Whether there is V.
    classes : list, optional
        All labels that there are, as in `CRF`.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides; a vote is always one about single labels.
    shuffle : bool
        Whether every epoch has an order of its own.
    random_state : int, RandomState or None
        Seed of the shuffling, and of `sample`.
    run : Run
        Heeds ``callback``, called after every pass; its value is the number of sequences labelled wrong.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_, basis_, dual_coef_, transitions_
        Labels, positions that have coefficients, these, and V, as in `KernelCRF`.
    mistakes_ : list of int
        Sequences labelled wrong in every epoch.
    n_iter_, stop_reason_ : int, str
        How many epochs there were, and why no more.

    Examples
    --------
    >>> from kernelfields import KernelPerceptron
    >>> from kernelfields.kernels import RBF
    >>> X = [[[0.0], [1.0], [2.0]], [[1.0], [0.0]]]
    >>> y = [["A", "B", "A"], ["B", "A"]]
    >>> model = KernelPerceptron(RBF(gamma=2.0), edges=False, random_state=0).fit(X, y)
    >>> model.predict([[[1.0], [0.0], [2.0]]])
    [['B', 'A', 'A']]
    """

    probabilistic: ClassVar[bool] = False
    _learnt = PERCEPTRON
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ["X_dev", "y_dev", "warm_start", "checkpoint"],
            "votes and means are over all steps from the first one on",
        )
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"callback"})

    kernel: Any = "rbf"
    _: KW_ONLY
    combination: str = "averaged"
    budget: int | None = None
    max_iter: int = 10
    structure: str | Structure = "chain"
    features: FeatureSetting = None
    edges: bool = True
    classes: Sequence[Hashable] | None = None
    decoder: str | Decoder = "viterbi"
    shuffle: bool = True
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(
        self,
        X: Items,
        y: Outputs,
        *,
        lengths: Lengths = None,
        sample_weight: Weights = None,
        X_unlabelled: Items | None = None,
    ) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X, lengths
            As in `CRF.fit`.
        y : list of label sequences
            Labels, all of them observed; None or −1 in the place of a label sequence says that there are
            none, and no step looks at the sequence.
        sample_weight : (S,) array, optional
            What the steps of each sequence are multiplied by.
        X_unlabelled : list, optional
            Sequences without labels, for kernels that look at observations first, as in `KernelCRF`.
        """
        require_settings(vars(self), {**CHECKS, "combination": one_of(COMBINATIONS), "max_iter": whole()})
        kernel, verbatim = own_kernel(self.kernel), takes_objects(self.kernel)
        structure = structure_of(self.structure)
        if structure == Chain(order=2):
            raise InputError(
                "KernelPerceptron has no scores of label triples: structure must be another than 'chain2'."
            )
        parts = set_aside(structure, X, y, lengths)
        rest = parts.rest(X_unlabelled, kernel.uses_unlabelled)
        learnt = parts.extractor(structure, self.features, rest, verbatim=verbatim)
        data = read_labelled(
            structure,
            self.features,
            parts.labelled.X,
            parts.y,
            parts.labelled.lengths,
            fitted=learnt,
            classes=self.classes,
            verbatim=verbatim,
        )
        if data.structure.forbidden_pairs or data.edge_batch.cliques.keys() - {"node", "edge"}:
            raise InputError(
                "KernelPerceptron has no rules, and scores of labels and of one type of edges only."
            )
        count = data.edge_batch.n_instances
        weights = (
            np.ones(count) if sample_weight is None else read_weights(sample_weight, count, structure.words)
        )
        others = read_unlabelled(data.structure, data.extractor, rest, data.inputs)
        kernel = kernel.on(stacked([data.inputs.features, *(one.features for one in others)]))
        gram = kernel(data.inputs.features)
        walk = _Walk([], 0, [])
        try:
            with open_observer(self) as report:
                self._learn(data, gram, walk, weights, report, parts.kept)
            self.stop_reason_ = FLAWLESS if walk.mistakes[-1] == 0 else DONE
        except KeyboardInterrupt:
            self.stop_reason_ = Reason.INTERRUPTED.value
            warn_of_interruption(len(walk.mistakes))
        self._keep(data, kernel, walk.changes, walk.steps, others)
        self.mistakes_, self.n_iter_ = walk.mistakes, len(walk.mistakes)
        return self

    def _learn(
        self,
        data: LabelledSet,
        gram: Array,
        walk: _Walk,
        weights: Array,
        report: Observer,
        kept: Array | None,
    ) -> None:
        """Go through the training set, or those that are kept of it, and note on the way what changes."""
        batch, labels = data.edge_batch, data.encoded.labels
        order = np.arange(batch.n_instances) if kept is None else np.flatnonzero(kept)
        alpha, edge = np.zeros((batch.n_vertices, batch.n_labels)), np.zeros((batch.n_labels,) * 2)
        age = np.zeros(batch.n_vertices, dtype=np.int64)
        random, started = random_state(self.random_state), time.perf_counter()
        for epoch in range(1, self.max_iter + 1):
            wrong = 0
            for s in random.permutation(order) if self.shuffle else order:
                walk.steps += 1
                rows = np.arange(batch.offsets[s], batch.offsets[s + 1])
                change = self._mistake(
                    batch.take([s]), walk.steps, rows, labels[rows], gram[rows] @ alpha, edge
                )
                if change is None or weights[s] == 0:
                    continue
                wrong += 1
                change = change._replace(node=weights[s] * change.node, edge=weights[s] * change.edge)
                for each in (change, None):
                    each = self._forgotten(walk.steps, alpha, age) if each is None else each
                    if each is not None:
                        alpha[each.rows] += each.node
                        edge += each.edge
                        age[each.rows] = walk.steps
                        walk.changes.append(each)
            walk.mistakes.append(wrong)
            report(Progress(epoch, wrong, np.nan, -np.inf, time.perf_counter() - started), None)
            if wrong == 0:
                break

    def _mistake(
        self, batch: Any, step: int, rows: Array, right: Array, node: Array, edge: Array
    ) -> Change | None:
        """parts(y) − parts(ŷ) of a sequence; None if they are the same."""
        best = _best(batch, node, edge)
        if (best == right).all():
            return None
        difference, other = batch.parts(right), batch.parts(best)
        change = difference["node"] - other["node"]
        some = change.any(axis=1)
        pairs = difference["edge"] - other["edge"] if self.edges else np.zeros_like(edge)
        return Change(step, rows[some], change[some], pairs)

    def _forgotten(self, step: int, alpha: Array, age: Array) -> Change | None:
        """What a budget makes forget; None if it is kept."""
        used = np.flatnonzero(alpha.any(axis=1))
        if self.budget is None or len(used) <= self.budget:
            return None
        oldest = used[np.argsort(age[used], kind="stable")[: len(used) - self.budget]]
        return Change(step, oldest, -alpha[oldest], np.zeros((alpha.shape[1],) * 2))

    def _keep(
        self, data: LabelledSet, kernel: Kernel, changes: list[Change], steps: int, others: Sequence[Inputs]
    ) -> None:
        N, L = data.edge_batch.n_vertices, data.edge_batch.n_labels
        alpha, edge = np.zeros((N, L)), np.zeros((L, L))
        used = np.zeros(N, dtype=bool)
        for change in changes:  # the mean of zero and of what there was after every step
            share = 1.0 if self.combination == "last" else (steps + 1 - change.step) / (steps + 1)
            alpha[change.rows] += share * change.node
            edge += share * change.edge
            used[change.rows] = True
        kept = used if self.combination == "voted" else alpha.any(axis=1)
        place = np.cumsum(kept) - 1
        self.classes_, self.structure_ = data.encoded.classes, data.structure
        self.kernel_ = kernel
        self.basis_, self.dual_coef_, self.transitions_ = data.inputs.features[kept], alpha[kept], edge
        voters = changes if self.combination == "voted" else []
        self._changes = Changes.of([change._replace(rows=place[change.rows]) for change in voters], L)
        self._steps = steps
        features = data.inputs.features
        self.n_features_in_, self.features_ = features.shape[1] if features.ndim == 2 else 1, data.extractor
        self.provenance_ = provenance_of(data.inputs, data.encoded, others)
        if data.inputs.names is not None:
            self.feature_names_in_ = data.inputs.names

    def _model(self) -> Model:
        kept = (self.kernel_, self.basis_, self.dual_coef_, self.transitions_)
        return fitted_model(self, VoteScorer(*kept, self._changes, self._steps))


@dataclass(frozen=True, slots=True)
class VoteScorer(Scorer):
    """Scores of the mean of all models on the way, or logarithms of the shares of their votes."""

    kernel: Kernel
    basis: Any
    coef: Array
    pairs: Array
    changes: Changes
    """Those of models that vote; none where a mean decides."""
    steps: int

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Compare with the basis; let the models vote if there are some."""
        size = self.basis.shape[0]
        if batch.n_vertices == 0 or size == 0:
            values = np.zeros((batch.n_vertices, size))
        else:
            values = self.kernel(features, self.basis)
        if len(self.changes.steps):  # only voters keep them, and a fit has made some mistake
            into.update(self._votes(batch, values))
        else:
            into.update(node=values @ self.coef, edge=self.pairs)

    def _votes(self, batch: Any, values: Array) -> dict[str, Array]:
        """Logarithms of the shares of votes for every label."""
        node, edge = np.zeros(batch.shapes["node"]), np.zeros(batch.shapes["edge"])
        votes, everywhere = np.zeros_like(node), np.arange(batch.n_vertices)
        ends = [*self.changes.steps.tolist(), self.steps + 1]
        votes[everywhere, _best(batch, node, edge)] += ends[0]
        for change, end in zip(self.changes.each(), ends[1:], strict=True):
            node += values[:, change.rows] @ change.node
            edge += change.edge
            if end > change.step:
                votes[everywhere, _best(batch, node, edge)] += end - change.step
        with np.errstate(divide="ignore"):
            return {"node": np.log(votes / (self.steps + 1)), "edge": np.zeros_like(edge)}


def _best(batch: Any, node: Array, edge: Array) -> Array:
    """Return the best labels, or good ones where the search for them is approximate."""
    return best_output(batch, {"node": node, "edge": edge}, "KernelPerceptron")
