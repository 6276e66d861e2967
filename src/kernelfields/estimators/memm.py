"""Maximum-entropy Markov models."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import require_settings
from ..constraints import Rule
from ..data.reading import FeatureSetting
from ..data.rules import read_rules
from ..data.sample_weights import read_weights
from ..data.training import LabelledSet
from ..data.types import Items, Lengths, Outputs, Seed, SparseMatrix, Weights
from ..decoders import Decoder
from ..errors import InputError
from ..fitting.provenance import provenance_of
from ..fitting.run import open_observer, search, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..losses import LogLoss
from ..models.labeller import SequenceLabeller
from ..models.learnt import LABELLER
from ..models.linear import read_labelled
from ..models.model import Model, Scorer, fitted_model
from ..objective import Problem, Term
from ..persistence.fields import Field, Numbers
from ..solvers import Solver, Stop
from ..spaces import Free, LinearFeatures, SparseFeatures
from ..structures import Chain, ChainBatch, EdgeBatch, Structure, Tree
from ..tables import SOLVERS, choose, structure_of


@dataclass(eq=False, repr=False)
class MEMM(SequenceLabeller):
    """Maximum-entropy Markov model [mccallum2000maximum]: every label given the one before it.

        p(y|x) = Π_t p(y_t|y_{t−1}, x_t),        p(y_t = j|y_{t−1} = i, x_t) ∝ exp(⟨w_j, x_t⟩ + b_j + V_{ij})

    Logistic regression with the label before as one more feature; start_j stands for V_{ij} at the
    first position. The weights minimise −log p(y|x) + (λ/2)(‖w‖² + ‖b‖²) + (λ_e/2)(‖V‖² + ‖start‖²), a
    convex problem without any recursion. Each step is normalised by itself, so that what comes later
    cannot correct what came before (label bias): a baseline for `CRF`. Prediction is exact.

    Parameters
    ----------
    penalty : float
        λ.
    edge_penalty : float, optional
        λ_e; λ if not given.
    structure : "chain", "tree" or Structure
        What a label is conditioned on: the one before it, or that of the parent.
    features : str, Templates, TemplateFeatures or DictFeatures, optional
        What to look at where X holds tokens instead of arrays, as for `CRF`.
    classes : list, optional
        All labels that there are, as in `CRF`.
    constraints : "iob2", "iobes", "bilou", "bmes", Rule or None
        Label pairs, starts and ends that cannot occur in a prediction; the probabilities of those
        labellings go to the others.
    solver : "lbfgs", "newton-cg" or Solver
        How to minimise.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides.
    tol : float
        Relative certified gap at which to stop.
    max_iter : int
        Limit of iterations; reaching it is a `ConvergenceWarning`.
    random_state : int, RandomState or None
        Seed of `sample`.
    run : Run
        Heeds ``callback``.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_, coef_, intercept_, transitions_, start_
        Labels and weights, as in `CRF`.
    certificate_ : Certificate or None
        Value, lower bound and gap.
    n_iter_, stop_reason_ : int, str
        How and why the search ended.

    Examples
    --------
    >>> from kernelfields import MEMM
    >>> X = [[[0.0], [1.0], [1.0]], [[1.0], [0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"]]
    >>> MEMM(penalty=0.1).fit(X, y).predict([[[1.0], [0.0], [0.0]]])
    [['B', 'A', 'A']]
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        **LABELLER,
        "coef_": Numbers("L D"),
        "intercept_": Numbers("L"),
        "transitions_": Numbers("L L"),
        "start_": Numbers("L"),
    }
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ["X_dev", "y_dev", "warm_start", "checkpoint"],
            "the problem is convex, and an iteration has no recursion",
        ),
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"callback"})

    penalty: float = 1.0
    _: KW_ONLY
    edge_penalty: float | None = None
    structure: str | Structure = "chain"
    features: FeatureSetting = None
    classes: Sequence[Hashable] | None = None
    constraints: str | Rule | None = None
    solver: str | Solver = "lbfgs"
    decoder: str | Decoder = "viterbi"
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(self, X: Items, y: Outputs, *, lengths: Lengths = None, sample_weight: Weights = None) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X, lengths, sample_weight
            As in `CRF.fit`.
        y : list of label sequences
            Labels, all of them observed.
        """
        require_settings(vars(self), CHECKS)
        _require_directed(self.structure)
        data = read_labelled(structure_of(self.structure), self.features, X, y, lengths, classes=self.classes)
        forbidden = read_rules(data.structure, self.constraints, data.batch, data.encoded)
        problem = self._problem(data, sample_weight)
        stop = Stop(gap=self.tol, gradient=1e-2 * self.tol, iterations=self.max_iter)
        solver = choose(SOLVERS, self.solver, "solver")
        with open_observer(self) as watching:
            found = search(problem, problem.zero(), solver, stop, watching, problem.exact)
        self._keep(data, problem, found.element)
        self.certificate_ = found.certificate
        self.forbidden_, self.features_ = forbidden, data.extractor
        self.n_iter_, self.stop_reason_ = found.iterations, found.reason.value
        return self

    def _problem(self, data: LabelledSet, sample_weight: Weights) -> Problem:
        """Logistic regression: every position a chain of its own, the label before it a feature."""
        edge = self.penalty if self.edge_penalty is None else self.edge_penalty
        positions = ChainBatch(np.arange(data.edge_batch.n_vertices + 1), data.edge_batch.n_labels)
        before = sparse.csr_matrix(_labels_before(data).astype(data.inputs.features.dtype))
        terms = [
            Term("features", _nodes(positions, data.inputs.features), float(self.penalty)),
            Term("bias", Free(positions, "node"), float(self.penalty)),
            Term("before", SparseFeatures(positions, "node", before), float(edge)),
        ]
        weights = None
        if sample_weight is not None:  # of every position those of its sequence
            each = read_weights(sample_weight, data.edge_batch.n_instances, data.edge_batch.words)
            weights = np.repeat(each, np.diff(data.edge_batch.offsets))
        loss = LogLoss(positions, data.encoded.labels, weights)
        return Problem.of(loss, terms, dtype=data.inputs.features.dtype)

    def _keep(self, data: LabelledSet, problem: Problem, element: Array) -> None:
        features, _, before = (term.space for term in problem.terms)
        assert isinstance(features, LinearFeatures | SparseFeatures)
        assert isinstance(before, SparseFeatures)
        steps = before.table(element[problem.slices["before"]])
        self.classes_, self.structure_ = data.encoded.classes, data.structure
        self.coef_ = np.ascontiguousarray(features.table(element[problem.slices["features"]])).T
        self.intercept_ = element[problem.slices["bias"]].copy()
        self.transitions_, self.start_ = steps[:-1], steps[-1]
        self.n_features_in_ = data.inputs.features.shape[1]
        self.provenance_ = provenance_of(data.inputs, data.encoded)
        if data.inputs.names is not None:
            self.feature_names_in_ = data.inputs.names

    def _model(self) -> Model:
        return fitted_model(self, LocalScorer(self.coef_, self.intercept_, self.start_, self.transitions_))


@dataclass(frozen=True, slots=True)
class LocalScorer(Scorer):
    """Log-probabilities of the first label, and of every label given the one before it."""

    coef: Array
    intercept: Array
    start: Array
    transitions: Array
    own: ClassVar[frozenset[str]] = frozenset({"edge"})

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Normalise the scores of labels, position by position."""
        local = LinearFeatures(batch, "node", features).scores(np.ascontiguousarray(self.coef.T).ravel())
        local = (local + self.intercept).astype(features.dtype, copy=False)
        node = np.zeros_like(local)
        first = batch.sources
        node[first] = _log_softmax(local[first] + self.start)
        edge = _log_softmax(local[batch.edge_heads][:, None, :] + self.transitions)
        into.update(node=node, edge=edge.astype(features.dtype, copy=False))


def _require_directed(structure: str | Structure) -> None:
    """Refuse structures in which a label has not one other label before it."""
    if structure_of(structure) not in (Chain(), Tree()):
        raise InputError("MEMM conditions a label on one other label: structure must be 'chain' or 'tree'.")


def _nodes(batch: EdgeBatch, features: Array | SparseMatrix) -> LinearFeatures | SparseFeatures:
    return (
        SparseFeatures(batch, "node", features)
        if sparse.issparse(features)
        else LinearFeatures(batch, "node", features)
    )


def _labels_before(data: LabelledSet) -> sparse.csr_matrix:
    """One row per position with a 1 for the label before it; the last column means there is none."""
    labels, batch = data.encoded.labels, data.edge_batch
    before = np.full(len(labels), batch.n_labels)
    before[batch.edge_heads] = labels[batch.edge_tails]
    count = len(labels)
    return sparse.csr_matrix((np.ones(count), (np.arange(count), before)), shape=(count, batch.n_labels + 1))


def _log_softmax(scores: Array) -> Array:
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))
