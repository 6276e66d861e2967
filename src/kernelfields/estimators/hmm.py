"""Hidden Markov models."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array, offsets_of
from ..checks import require_not_negative, require_settings, require_unmasked, shown
from ..constraints import Forbidden, Rule
from ..data.inputs import Inputs, in_order
from ..data.labels import UNOBSERVED, Encoded
from ..data.rules import require_respected
from ..data.sample_weights import read_weights
from ..data.seeds import random_state
from ..data.state_starts import encode_states
from ..data.types import Items, Lengths, Outputs, Seed, Weights
from ..decoders import Decoder
from ..distributed import shared_expectations
from ..emissions import Emissions, Family, ObservedSequences
from ..emissions.em import LABELLED, LIMIT, EMResult, Expect, HiddenMarkovModel, Smoothing, maximise
from ..errors import InputError, warn_user
from ..fitting.provenance import provenance_of
from ..fitting.run import open_observer, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..models.labeller import Labels, SequenceLabeller
from ..models.learnt import HIDDEN
from ..models.model import Model, ScoredBatch, Scorer, fitted_model
from ..solvers import Reason
from ..structures import ChainBatch
from ..tables import EMISSIONS, TOPOLOGIES, choose


@dataclass(eq=False, repr=False)
class HMM(SequenceLabeller):
    """Hidden Markov model [rabiner1989tutorial]: states follow one another, each emits an observation,

        p(x, y) = p(y_1) Π_t p(y_{t+1}|y_t) Π_t p(x_t|y_t).

    A model of three parts: where sequences start, how states follow one another, what they emit. It models
    observations as well as labels, so that it learns from sequences with labels (smoothed counts), without
    any (expectation-maximisation), or with some; gives the probability of an observation; and fills in what
    is missing. Where all labels are observed and only labels are wanted, `CRF` is usually better, because it
    need not model observations.

    Parameters
    ----------
    emissions : str, Family or Emissions
        What states emit: "gaussian" (independent columns), "gaussian-spherical", "gaussian-full",
        "gaussian-tied", "gaussian-mixture", "categorical", "multinomial", "poisson", "bernoulli"; a family of
        `kernelfields.emissions` with its settings; or emissions, from which training starts.
    n_states : int, optional
        L; needed where y is not given, unless the parts say it.
    start : (L,) array, optional
        Probabilities of first states to start training from; zeros stay zero.
    transitions : (L, L) array, optional
        Probabilities of steps, from row to column, to start training from; zeros stay zero.
    constraints : "left-right", "cyclic", "iob2", "iobes", "bilou", "bmes", Rule or None
        Steps and first states that have probability zero; last states that cannot be predicted.
    pseudocount : float
        Added to every count of a first state and of a step that is possible: a Dirichlet prior.
        Emissions have their own.
    n_init : int
        Runs of expectation-maximisation from different random starts, where no y is given; the best is kept.
    tol : float
        Relative gain of the objective at which a run ends; 0 makes exactly ``max_iter`` steps.
    max_iter : int
        Limit of steps in a run; reaching it is a `ConvergenceWarning`.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides.
    random_state : int, RandomState or None
        Seed of starts, of `sample` and of `generate`.
    run : Run
        Heeds ``callback``, called after every step; its value is the negative objective.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_ : array
        Labels; 0 to L − 1 if there were none.
    start_, transitions_, emissions_
        The three parts.
    log_likelihoods_, objectives_ : list of float
        Log p(x), and the same plus log-priors, before every step of the best run and at its end; None where
        labels were counted.
    n_iter_, stop_reason_ : int, str
        Number of steps, and why no more.

    Notes
    -----
    X is a list of sequences: (T, D) arrays of numbers, NaN where one is missing, or lists of symbols, None
    where one is missing. One array with ``lengths=``, as hmmlearn takes it, is understood too:
    ``HMM(...).fit(X, lengths=lengths)``; a column of whole numbers is a sequence of symbols. To cut such an
    array into sequences: ``np.split(X, np.cumsum(lengths)[:-1])``.

    Examples
    --------
    >>> from kernelfields import HMM
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"]] * 3
    >>> model = HMM("categorical").fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.predict([["the", None, "sleeps"]])
    [['D', 'N', 'V']]
    """

    _learnt = HIDDEN
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["X_dev", "y_dev"], "bic and aic compare models of the same sequences"),
        **dict.fromkeys(
            ["warm_start", "checkpoint"],
            "training starts from start, transitions and emissions, which may be those of a fitted model",
        ),
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"callback"})

    emissions: str | Family | Emissions = "gaussian"
    _: KW_ONLY
    n_states: int | None = None
    start: Any = None
    transitions: Any = None
    constraints: str | Rule | None = None
    pseudocount: float = 0.1
    n_init: int = 1
    tol: float = 1e-6
    max_iter: int = 500
    decoder: str | Decoder = "viterbi"
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(
        self, X: Items, y: Outputs | None = None, *, lengths: Lengths = None, sample_weight: Weights = None
    ) -> Self:
        """Fit to sequences.

        Parameters
        ----------
        X : list of sequences, or flat array
            Observations.
        y : list of label sequences, optional
            States. All of them given: counts. None where a label was not observed:
            expectation-maximisation from what the others say, over the labellings that agree with them.
            Not given: expectation-maximisation from random starts.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        sample_weight : (S,) array, optional
            How many times each sequence counts; random starts are drawn from all of them alike.
        """
        require_settings(vars(self), {**CHECKS, "tol": require_not_negative})
        given = copy.deepcopy(choose(EMISSIONS, self.emissions, "emissions"))  # which its owner may change
        family, known = (given.family, given) if isinstance(given, Emissions) else (given, None)
        family.require_settings()
        if y is not None and self.n_init > 1:
            raise InputError(f"n_init is {self.n_init}, but with y there is one start: what labels say.")
        X, names = in_order(X, lengths, None)
        data = family.read(X, lengths, known)
        if data.offsets[-1] == 0:
            raise InputError("The training set is empty.")
        if sample_weight is not None:
            data = data._replace(weights=read_weights(sample_weight, len(data.offsets) - 1))
        encoded = None if y is None else encode_states(y, np.diff(data.offsets))
        classes = (
            np.arange(self._count(known, len(data.observations))) if encoded is None else encoded.classes
        )
        if self.n_states is not None and len(classes) != self.n_states:
            raise InputError(f"n_states is {self.n_states}, but y has {len(classes)} labels.")
        forbidden = self._forbidden(classes, data.offsets, encoded)
        smoothing = self._smoothing(len(classes), forbidden)
        if encoded is None:
            trained = self._best(data, known, family, smoothing)
        else:
            data = data._replace(labels=encoded.labels)
            trained = self._from_labels(data, family, smoothing)
        self._keep(classes, forbidden, trained)
        if names is not None:
            self.feature_names_in_ = names
        labels = np.zeros(0, dtype=np.int64) if data.labels is None else data.labels
        seen = Inputs(data.observations.numbers, data.offsets, None)
        self.provenance_ = provenance_of(seen, Encoded(labels, classes))
        return self

    def _count(self, known: Emissions | None, positions: int) -> int:
        """Number of states, from whatever says it; without other parts, no more than positions."""
        said = (self.n_states, self.start, self.transitions, known)
        sizes = [
            self.n_states,
            *(None if part is None else len(part) if hasattr(part, "__len__") else 1 for part in said[1:3]),
        ]
        sizes.append(None if known is None else known.n_states)
        found = {size for size in sizes if size is not None}
        if len(found) != 1:
            what = "differ in" if found else "do not say"
            raise InputError(f"n_states, start, transitions and emissions {what} the number of states.")
        if known is None and max(found) > positions:
            raise InputError(f"{max(found)} states are more than the {positions} positions of X.")
        return found.pop()

    def _forbidden(self, classes: Array, offsets: Array, encoded: Encoded | None) -> Forbidden | None:
        if self.constraints is None:
            return None
        rule = choose(TOPOLOGIES, self.constraints, "constraints")
        forbidden = rule.forbidden(classes.tolist())
        if encoded is not None:
            require_respected(forbidden, ChainBatch(offsets, len(classes)), encoded.labels, classes)
        return forbidden

    def _smoothing(self, L: int, forbidden: Forbidden | None) -> Smoothing:
        start, transitions = np.ones(L, dtype=bool), np.ones((L, L), dtype=bool)
        for mask, given, what in (
            (start, self.start, "start"),
            (transitions, self.transitions, "transitions"),
        ):
            if given is not None:
                mask &= require_distributions(given, mask.shape, what) > 0
        if forbidden is not None:
            start &= ~forbidden.starts
            transitions &= ~forbidden.pairs
        return Smoothing(self.pseudocount, start, transitions)

    def _best(
        self, data: ObservedSequences, known: Emissions | None, family: Family, smoothing: Smoothing
    ) -> EMResult:
        """Return the best of some runs from random starts."""
        seed = random_state(self.random_state).randint(2**31 - 1)
        rng = np.random.default_rng(int(seed))
        best: EMResult | None = None
        expect = shared_expectations(data)
        for _ in range(max(self.n_init, 1)):
            chances = [
                self._guess(given, allowed, rng)
                for given, allowed in (
                    (self.start, smoothing.start),
                    (self.transitions, smoothing.transitions),
                )
            ]
            emissions = family.guess(data.observations, len(chances[0]), rng) if known is None else known
            run = self._run(data, expect, HiddenMarkovModel(chances[0], chances[1], emissions), smoothing)
            interrupted = run.ended == Reason.INTERRUPTED.value
            if best is None or _higher(run, best):
                best = run
            if interrupted:
                return best._replace(ended=run.ended)
        assert best is not None
        return best

    @staticmethod
    def _guess(given: npt.ArrayLike | None, allowed: Array, rng: np.random.Generator) -> Array:
        """Probabilities to start from: those given, or even ones, a little shaken."""
        weights = rng.gamma(5.0, size=allowed.shape) if given is None else np.asarray(given, dtype=float)
        weights = np.where(allowed, weights, 0.0)
        total = weights.sum(axis=-1, keepdims=True)
        return np.asarray(weights / np.where(total > 0, total, 1.0))

    def _from_labels(self, data: ObservedSequences, family: Family, smoothing: Smoothing) -> EMResult:
        """Count; where some labels are unobserved, go on from there."""
        assert data.labels is not None
        starts, pairs = _counted(data, len(smoothing.start))
        emissions = family.labelled(data, len(smoothing.start))
        every = bool((data.labels != UNOBSERVED).all())
        # Counts of a part are only a start: steps that it happens to lack must stay possible.
        first = smoothing if every else smoothing._replace(pseudocount=max(smoothing.pseudocount, 1.0))
        model = HiddenMarkovModel(
            first.of(starts, smoothing.start), first.of(pairs, smoothing.transitions), emissions
        )
        if every:
            return EMResult(model, [], [], LABELLED)
        return self._run(data, shared_expectations(data), model, smoothing)

    def _run(
        self, data: ObservedSequences, expect: Expect, model: HiddenMarkovModel, smoothing: Smoothing
    ) -> EMResult:
        with open_observer(self) as watching:
            return maximise(
                data,
                expect,
                model,
                smoothing,
                self.tol,
                self.max_iter,
                lambda progress: watching(progress, None),
            )

    def _keep(self, classes: Array, forbidden: Forbidden | None, trained: EMResult) -> None:
        self.stop_reason_ = trained.ended
        if trained.ended in (LIMIT, Reason.INTERRUPTED.value):
            from sklearn.exceptions import ConvergenceWarning

            advice = "" if trained.ended != LIMIT else " Raise max_iter or tol."
            warn_user(f"{trained.ended}{advice}", ConvergenceWarning)
        self.classes_ = classes
        self.start_, self.transitions_, self.emissions_ = trained.model
        self.features_ = None
        self.forbidden_ = forbidden if forbidden is not None and forbidden.ends.any() else None
        self.n_features_in_ = getattr(self.emissions_, "n_columns", 1)
        self.log_likelihoods_ = trained.log_likelihoods or None
        self.objectives_ = trained.objectives or None
        self.n_iter_ = max(len(trained.objectives) - 1, 0)

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters; probabilities of zero are not free."""
        self._require_fitted()
        rows = np.vstack([self.start_, self.transitions_])
        return int(np.maximum((rows > 0).sum(axis=1) - 1, 0).sum()) + self.emissions_.n_parameters

    def log_probability(self, X: Items, *, lengths: Lengths = None) -> Array:
        """Log p(x) of every sequence, summed over all states."""
        scored = self._batch(X, lengths, None)
        return scored.batch.log_partition(scored.scores)

    def score(
        self, X: Items, y: Outputs | None = None, *, lengths: Lengths = None, sample_weight: Weights = None
    ) -> float:
        """Return the share of positions labelled right; without y, log p(x) per position."""
        if y is not None:
            return super().score(X, y, lengths=lengths, sample_weight=sample_weight)
        scored = self._batch(X, lengths, None)
        return float(scored.batch.log_partition(scored.scores).sum() / max(scored.batch.n_vertices, 1))

    def aic(self, X: Items, *, lengths: Lengths = None) -> float:
        """Akaike's criterion, 2·(number of parameters) − 2 log p(x); lower is better."""
        return float(2 * self.n_parameters_ - 2 * self.log_probability(X, lengths=lengths).sum())

    def bic(self, X: Items, *, lengths: Lengths = None) -> float:
        """Bayesian criterion, (number of parameters)·log(positions) − 2 log p(x); lower is better."""
        scored = self._batch(X, lengths, None)
        value = scored.batch.log_partition(scored.scores).sum()
        return float(self.n_parameters_ * np.log(scored.batch.n_vertices) - 2 * value)

    def generate(self, lengths: Sequence[int] | Array) -> tuple[list[Any], Labels]:
        """Draw observations and states of sequences of these lengths, seeded by ``random_state``."""
        self._require_fitted()
        rng = np.random.default_rng(int(random_state(self.random_state).randint(2**31 - 1)))
        chain = ChainBatch(offsets_of(lengths), len(self.classes_))
        node = np.zeros((chain.n_vertices, chain.n_labels))
        node[chain.first_positions] = self._hidden.markov.start
        scores = {"node": node, "edge": self._hidden.markov.transitions}
        states = chain.sample(scores, 1, int(rng.integers(2**31 - 1)))[0]
        flat, drawn = self.emissions_.draw(states, rng, chain.offsets), ScoredBatch(chain, scores)
        return [flat[a:b] for a, b in pairwise(chain.offsets)], self._names(drawn, states)

    @property
    def _hidden(self) -> HiddenMarkovModel:
        return HiddenMarkovModel(self.start_, self.transitions_, self.emissions_)

    def _read(self, X: Items, lengths: Lengths, *, as_rows: bool = False) -> Inputs:
        emissions = self.emissions_  # models from large files read the rest now
        X, _ = in_order(X, lengths, vars(self).get("feature_names_in_"))
        data = emissions.family.read(X, lengths, emissions)
        return Inputs(data.observations, data.offsets, None)

    def _model(self) -> Model:
        return fitted_model(self, EmissionScorer(self._hidden))


@dataclass(frozen=True, slots=True)
class EmissionScorer(Scorer):
    """Logarithms of all probabilities: their sum over a labelling is log p(x, y)."""

    hidden: HiddenMarkovModel

    def add_scores(self, batch: Any, features: Any, into: dict[str, Array]) -> None:
        """Take what states emit, how they follow one another, and where sequences start."""
        markov = self.hidden.markov
        node = self.hidden.emissions.log_density(features)
        node[batch.first_positions] += markov.start
        into.update(node=node, edge=markov.transitions)


def _counted(data: ObservedSequences, n_states: int) -> tuple[Array, Array]:
    """Return how often sequences start in each state, and go from one to another, where both are observed."""
    assert data.labels is not None
    if data.weights is None:
        starts, pairs, _ = native.hmm_counts(data.labels, n_states, data.offsets)
        return starts, pairs
    chain, labels = ChainBatch(data.offsets, n_states), data.labels
    starts, pairs = np.zeros(n_states), np.zeros((n_states, n_states))
    counted = data.position_weights
    assert counted is not None
    first = chain.first_positions[labels[chain.first_positions] != UNOBSERVED]
    np.add.at(starts, labels[first], counted[first])
    seen = (labels[chain.edge_tails] != UNOBSERVED) & (labels[chain.edge_heads] != UNOBSERVED)
    tails, heads = chain.edge_tails[seen], chain.edge_heads[seen]
    np.add.at(pairs, (labels[tails], labels[heads]), counted[tails])
    return starts, pairs


def _higher(left: EMResult, right: EMResult) -> bool:
    """Whether a run ended higher than another; one that was interrupted may have ended before it began."""
    return bool(left.objectives) and (not right.objectives or left.objectives[-1] > right.objectives[-1])


def require_distributions(given: npt.ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """Refuse what is no distribution, or none in each row."""
    require_unmasked(given, what, "write 0 for what cannot be")
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} is {shown(given)}; it must be an array of probabilities.") from error
    if array.shape != shape:
        raise InputError(f"{what} has shape {array.shape}, expected {shape}.")
    if (array < 0).any() or not np.allclose(array.sum(axis=-1), 1.0, atol=1e-6):
        raise InputError(f"{what} must hold probabilities that sum to one.")
    return array
