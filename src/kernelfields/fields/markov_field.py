"""Markov random fields without observations."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import (
    Check,
    choose,
    chosen,
    is_list,
    one_of,
    require_settings,
    require_unmasked,
    require_whole,
    shown,
)
from ..data.inputs import Inputs
from ..data.labels import UNKNOWN, UNOBSERVED, look_up_outputs, name_outputs
from ..data.reading import read_to_fit, read_to_predict
from ..data.seeds import random_state
from ..data.training import Training, read_training
from ..decoders import Decoder
from ..errors import InputError, warn_user
from ..fitting.provenance import provenance_of
from ..fitting.run import Routed, mismatches, reporter, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..memory import require_memory
from ..models.attributes import LinearAttributes, keep_scorers, learnt_model
from ..models.learnt import LINEAR
from ..models.model import Model, ScoredBatch, fitted_structure
from ..models.parts import FreeScores, LinearScores, Part, Parts, looked_at, parts_of
from ..objective import Certificate
from ..persistence.fields import Field
from ..persistence.savable import Savable, require_fitted
from ..solvers import Solver
from ..structures import ApproximateSample, ApproximateSum, SampleOracle, Structure, SumOracle
from ..tables import DECODERS, structure_of
from .annealing import Annealing
from .layout import (
    FieldLayout,
    Layouts,
    Shape,
    own_tables,
    require_links,
    require_structure,
    rows_of_frame,
    shape_of,
)
from .learning import METHODS, FieldTerms, loss_of_method
from .log_partition import LogPartition, log_densities, log_partition_of, restricted
from .persistent_chains import PersistentChains


def _require_density(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, Annealing):
        raise InputError(f"{name} is {shown(value)}; it must be None or Annealing(...).")


FIELD_CHECKS: Mapping[str, Check] = {
    **CHECKS,
    "tables": one_of(["shared", "own"]),
    "method": chosen(METHODS),
    "density": _require_density,
}


@dataclass(eq=False, repr=False)
class MarkovField(LinearAttributes, Routed, Savable):
    """Markov random field: a distribution of labellings z of chains, trees, graphs or grids,

        p(z) ∝ exp( Σ_v b[z_v] + Σ_(u,v) V[z_u, z_v] ),

    without observations, with one table for all vertices and one for all edges, or one for each vertex and
    edge of a graph that all labellings share. The weights minimise Σ_i −log p(z^i) + (λ/2)‖b‖² + (λ_e/2)‖V‖²,
    a convex problem: where sums over labellings are exact, the fit comes with a certificate. A prior over
    images, maps or sets of answers to a questionnaire, say; for labels that depend on observations see `CRF`,
    of which this is the special case of constant features.

    Parameters
    ----------
    penalty : float
        λ.
    parts : Parts
        What differs from the default parts, as in `CRF`: ``Parts(edges=FreeScores(penalty=λ_e))``,
        ``Parts(boundaries=None)``.
    structure : "chain", "tree", "graph" or Structure
        What labels depend on: ``Chain``, ``Tree``, ``Graph`` or ``Grid`` of ``structures``. Where exact sums
        are out of reach, ``Graph(inference=...)`` and ``Grid(inference=...)`` approximate them.
    links : array, optional
        Of the graph or tree that all labellings share: edges, rows of two vertices, or the parent of every
        vertex, −1 for a root. Items of different graphs come with X instead.
    tables : "shared" or "own"
        Whether all vertices have one table and all edges another; or each has its own, V[e] the sum of a
        shared table and of its own, both penalised. Edges then have a direction, from first to second.
    method : "exact", "pseudo", "pcd" or PersistentChains
        What is minimised: the negative log-likelihood, by the sums of the structure; the pseudo-likelihood
        [besag1975], every label given those around it, which needs no sums; or the former, by draws of
        chains that follow the weights [tieleman2008].
    density : Annealing, optional
        How log Z is estimated, where the structure has no sums; if not given, by the sums of the structure.
    classes : list, optional
        All labels that there are; if not given, those that occur.
    solver, tol, max_iter, verbose
        As in `CRF`.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` completes labellings.
    random_state : int, RandomState or None
        Seed of chains, of draws, and of annealing.
    run : Run
        Heeds ``callback``.

    Attributes
    ----------
    classes_ : (L,) array
        Labels, in the order of all arrays over labels.
    vertex_tables_ : (L,) array, or (T, L) with "own"
        b. Without X; with X, ``coef_`` (L, D) and ``intercept_`` (L,) are weights of features, as in `CRF`.
    edge_tables_ : (L, L) array, or (E, L, L) with "own"
        V. An edge of a graph that is not directed counts in both directions, and scores V[a, b] + V[b, a].
    start_, end_ : (L,) arrays
        Scores of ends.
    certificate_ : Certificate or None
        Of the objective that was minimised; None where no bound exists: missing labels, "pcd".
    n_iter_, stop_reason_, mismatch_, provenance_
        As in `CRF`.

    Examples
    --------
    >>> from kernelfields import MarkovField
    >>> Z = [["a", "a", "b"], ["b", "b", "b"], ["a", "a", "a"], ["a", "b", "b"]]
    >>> field = MarkovField(penalty=0.1).fit(Z)
    >>> every = [[x, y, z] for x in "ab" for y in "ab" for z in "ab"]
    >>> float(np.exp(field.score_samples(every)).sum().round(9))
    1.0
    >>> field.predict([["a", None, "a"]])
    [['a', 'a', 'a']]
    """

    _learnt: ClassVar[Mapping[str, Field]] = {**LINEAR, "layout_": Layouts()}
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["warm_start", "checkpoint"], "a fit takes seconds"),
        **dict.fromkeys(["X_dev", "y_dev"], "let cross-validation choose the penalty"),
        "lengths": "Z is a list of labellings",
        "constraints": "labellings that cannot be get scores of their own",
        "features": "there are no observations but those of X",
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"callback"})

    penalty: float = 1.0
    _: KW_ONLY
    parts: Parts = Parts()
    structure: str | Structure = "chain"
    links: Any = None
    tables: str = "shared"
    method: str | PersistentChains = "exact"
    density: Annealing | None = None
    classes: Sequence[Hashable] | None = None
    solver: str | Solver = "lbfgs"
    decoder: str | Decoder = "viterbi"
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Any = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(self, Z: Any, X: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit to labellings.

        Parameters
        ----------
        Z : list of labellings
            As y of `CRF`: a list of labels for every item, rows of them for grids, or a data frame with a
            row for every item; None or NaN marks a label that was not observed, and is summed out.
        X : list, optional
            Features of vertices, with the links of every item, as X of `CRF`: p(z) given these.
        sample_weight : (S,) array, optional
            How many times each labelling counts.
        """
        require_settings(vars(self), FIELD_CHECKS)
        structure = structure_of(self.structure)
        require_structure(structure)
        require_links(structure, self.links)
        Z = rows_of_frame(Z)
        shapes = _shapes(Z, structure)
        structure, layout = self._layout(structure, shapes, X)
        self.layout_: FieldLayout = layout
        items = self._items(structure, shapes, X)
        inputs, _ = read_to_fit(structure, None, items, None)
        training = read_training(
            inputs,
            None,
            Z,
            structure,
            own=looked_at(self._parts()),
            sample_weight=sample_weight,
            loss=loss_of_method(self.method),
            classes=self.classes,
            by_parts=True,
        )
        return self._learn(training)

    def _layout(self, structure: Structure, shapes: list[Shape], X: Any) -> tuple[Structure, FieldLayout]:
        own, shape = self.tables == "own", shapes[0] if len(set(shapes)) == 1 else None
        if X is not None and (own or self.links is not None):
            given = "tables='own'" if own else "links"
            raise InputError(f"{given} does not go with X, which says what items are made of.")
        require_unmasked(self.links, "links")
        links = None if self.links is None else np.asarray(self.links)
        if own:
            structure, links = own_tables(structure, links, shapes)
        return structure, FieldLayout(links, own, shape, X is not None)

    def _parts(self) -> Parts:
        """Return what differs from the default parts: without X, vertices are their own features."""
        defaults: dict[str, Part | None] = {} if self.layout_.covariates else {"bias": None}
        if self.layout_.own:
            defaults["edge_features"] = LinearScores()
        return parts_of(self, FreeScores, LinearScores).beside(defaults)

    def _learn(self, training: Training) -> Self:
        layout = self.layout_
        terms = FieldTerms(
            self.penalty,
            self._parts(),
            tol=self.tol,
            max_iter=self.max_iter,
            solver=self.solver,
            verbose=self.verbose,
        )
        fit, found = terms.minimise(training, reporter(self.run.callback))
        element, certificate = found.element, found.certificate
        self.n_iter_, self.stop_reason_ = found.iterations, found.reason.value
        chains = choose(METHODS, self.method, "method")
        if isinstance(chains, PersistentChains):
            random = random_state(self.random_state)
            alike = layout.shape is not None and not layout.covariates
            fit, element = terms.follow_chains(training, chains, found.point.element, random, alike=alike)
            certificate, self.n_iter_ = None, chains.steps
            self.stop_reason_ = "All steps of the chains were taken."
        keep_scorers(self, fit.scorers(element), len(training.encoded.classes))
        self.classes_, self.structure_ = training.encoded.classes, training.structure
        self.n_features_in_ = training.inputs.features.shape[1]
        self.features_ = self.forbidden_ = None
        if training.inputs.names is not None:
            self.feature_names_in_ = training.inputs.names
        self.certificate_: Certificate | None = certificate
        self.mismatch_ = mismatches(found.point.problem, found.point.mismatch)
        self.provenance_ = provenance_of(training.inputs, training.encoded)
        return self

    @property
    def vertex_tables_(self) -> Array:
        """Scores of labels, b."""
        self._require_no_covariates("vertex_tables_")
        table = np.asarray(self.coef_).T
        return np.array(table if self.layout_.own else table[0])

    @property
    def edge_tables_(self) -> Array:
        """Scores of label pairs, V."""
        require_fitted(self)
        of_edges = getattr(self, "edge_coef_", None)
        return (
            self.transitions_
            if of_edges is None
            else np.asarray(self.transitions_ + of_edges.transpose(2, 0, 1))
        )

    def score_samples(self, Z: Any, X: Any = None) -> Array:
        """Return log p(z) of every labelling; where a label is None, the sum over all labels.

        It is −inf for labellings with a label that training did not have; how many these are is a warning.
        """
        scored, labels = self._scored(Z, X)
        batch, shapes = scored.batch, _shapes(rows_of_frame(Z), fitted_structure(self), fitted=True)
        alike = list(range(len(shapes))) if self.layout_.covariates else shapes
        values = log_densities(
            batch,
            scored.scores,
            np.maximum(labels, UNOBSERVED),
            self.density,
            random_state(self.random_state),
            alike,
        )
        unknown = np.flatnonzero(labels == UNKNOWN)
        strange = np.unique(np.searchsorted(batch.output_offsets, unknown, side="right") - 1)
        if len(strange):
            values[strange] = -np.inf
            warn_user(
                f"{len(strange)} of {len(values)} {batch.words.items} have labels that training did not "
                "have: their log-probability is −inf.",
                UserWarning,
            )
        return values

    def score(self, Z: Any, X: Any = None, *, sample_weight: Any = None) -> float:
        """Return the mean log p(z), as density estimators of scikit-learn do."""
        values = self.score_samples(Z, X)
        if not len(values):
            raise InputError("There is nothing to score: Z is empty.")
        return float(np.average(values, weights=sample_weight))

    def log_partition(self, *, shape: Any = None, item: Any = None) -> LogPartition:
        """Return log Z of an item: its value, bounds that are proved, and the error of an estimate.

        Parameters
        ----------
        shape : int or (height, width), optional
            Of the item; that of all training items if not given.
        item : optional
            An item of X, for fields that were fitted with X.
        """
        scored = self._one(shape, item)
        return self._sum(scored.batch, scored.scores, np.full(scored.batch.n_vertices, UNOBSERVED))

    def sample(self, n: int = 1, *, shape: Any = None, item: Any = None) -> list[Any]:
        """Return n labellings drawn from p(z), of an item as in `log_partition`.

        They are exact, but for structures that only approximate sums: their draws come from a Markov chain.
        """
        count = require_whole("n", n, 0)
        scored = self._one(shape, item)
        batch = scored.batch
        require_memory(f"n={count}", 4 * count * batch.n_vertices)
        seed = int(random_state(self.random_state).randint(2**31 - 1))
        if isinstance(batch, ApproximateSample):
            draws = batch.approximate_sample(scored.scores, count, seed)
        else:
            assert isinstance(batch, SampleOracle)
            draws = batch.sample(scored.scores, count, seed)
        return [self._named(scored, row)[0] for row in draws]

    def predict(self, Z: Any, X: Any = None) -> list[Any]:
        """Return labellings with what is missing (None) completed by ``decoder``."""
        scored, _ = self._given(Z, X)
        labels = choose(DECODERS, self.decoder, "decoder").decode(scored.batch, scored.scores)
        scored.batch.warn_of_unsettled()
        result: list[Any] = self._named(scored, labels)
        return result

    def predict_marginals(self, Z: Any, X: Any = None) -> list[Array]:
        """Return p(z_v | what is known of z) for every vertex: a (T, L) array per labelling."""
        scored, _ = self._given(Z, X)
        batch = scored.batch
        if not isinstance(batch, SumOracle | ApproximateSum):
            raise InputError(
                f"predict_marginals needs sums over labellings, which {type(batch).__name__} has not."
            )
        marginals = batch.marginals(scored.scores).parts["node"]
        batch.warn_of_unsettled()
        each = [marginals[a:b] for a, b in pairwise(batch.offsets)]
        result: list[Array] = fitted_structure(self).shaped_marginals(each, scored.inputs.links)
        return result

    def _given(self, Z: Any, X: Any) -> tuple[ScoredBatch, Array]:
        """Return scores that allow what is known of labellings, and nothing else."""
        scored, labels = self._scored(Z, X)
        if (labels == UNKNOWN).any():
            raise InputError("Z has a label that training did not have.")
        return scored._replace(scores=restricted(scored.scores, labels)), labels

    def _scored(self, Z: Any, X: Any) -> tuple[ScoredBatch, Array]:
        require_fitted(self)
        structure, Z = fitted_structure(self), rows_of_frame(Z)
        inputs = self._read(self._items(structure, _shapes(Z, structure, fitted=True), X))
        return self._model().scores(inputs), look_up_outputs(structure, Z, inputs, self.classes_)

    def _one(self, shape: Any, item: Any) -> ScoredBatch:
        """Return the scores of one item."""
        require_fitted(self)
        if item is not None:
            return self._model().scores(self._read(self._items(fitted_structure(self), [], [item])))
        if self.layout_.covariates:
            raise InputError("The field was fitted with X: give an item of it with item=.")
        structure = fitted_structure(self)
        found = self.layout_.require_shape(shape, structure)
        return self._model().scores(self._read(self._items(structure, [found], None)))

    def _items(self, structure: Structure, shapes: list[Shape], X: Any) -> Any:
        """Return X, or what stands for it."""
        layout = self.layout_
        if (X is not None) != layout.covariates:
            lacks = "with X: give it here, too" if X is None else "without X: leave it out"
            raise InputError(f"The field was fitted {lacks}.")
        if X is not None:
            return X
        return [layout.item(structure, shape) for shape in shapes]

    def _read(self, items: Any) -> Inputs:
        names = vars(self).get("feature_names_in_")
        return read_to_predict(fitted_structure(self), None, items, None, self.n_features_in_, names)

    def _model(self) -> Model:
        return learnt_model(self)

    def _sum(self, batch: Any, scores: Any, labels: Array) -> LogPartition:
        return log_partition_of(batch, scores, labels, self.density, random_state(self.random_state))

    def _named(self, scored: ScoredBatch, labels: Array) -> Any:
        return name_outputs(fitted_structure(self), labels, scored.batch, self.classes_, scored.inputs.links)

    def _require_no_covariates(self, name: str) -> None:
        require_fitted(self)
        if self.layout_.covariates:
            raise InputError(
                f"{name} is for fields without X; coef_ and intercept_ are weights of its features."
            )

    def _rehearse(self) -> None:
        if not self.layout_.covariates:
            self.score_samples([])


def _shapes(Z: Any, structure: Structure, *, fitted: bool = False) -> list[Shape]:
    if not is_list(Z):
        raise InputError(f"Z is {shown(Z)}; it must be a list of labellings.")
    if not fitted and not len(Z):
        raise InputError("The training set is empty.")
    return [shape_of(z, s, structure) for s, z in enumerate(Z)]
