"""Models in which every label owns several hidden states."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import one_of, require_settings, require_share, require_whole, shown, whole
from ..data.labels import look_up_outputs, name_outputs, read_allowed
from ..data.sample_weights import read_weights
from ..data.seeds import random_state
from ..data.training import require_labelling
from ..data.types import Allowed, Items, Lengths, Outputs, Seed, Weights
from ..decoders import ABSTAINED, Decoder, Posterior, Viterbi, best_allowed
from ..errors import InputError, ModelFormatError
from ..fitting.observers import ProgressLine
from ..fitting.run import Routed, starts_afresh
from ..losses import OwnedStates
from ..models.hidden_states import StateNumbers, StateTraining, owned_settings, read_states
from ..models.labeller import Labels, log_partition_or_none
from ..models.model import ScoredBatch, fitted_structure
from ..persistence.fields import Field, Kind
from ..persistence.savable import Savable, require_fitted
from ..tables import DECODERS, choose
from .crf import CRF
from .kernel_crf import KernelCRF

ROUNDS = 50
"""Steps of EM at most; the gradient does the rest."""


class HiddenStates(Routed, Savable):
    """A CRF or kernel CRF in which every label owns several hidden states [quattoni2007; morency2007].

    The model is one of state sequences h; the probability of labels is the sum over the states they own,

        p(y|x) = Σ_{h: owner(h_v) = y_v for all v} p(h|x),        p(h|x) that of ``estimator``,

    and what is minimised is −log p(y|x) plus the penalty of ``estimator``. A letter that is written in two
    ways, a gesture that begins, goes on and ends, is several states, each with linear scores of its own;
    transitions between states remember what labels forget.

    It is **not convex**, so that there is no certificate: the search runs from ``n_init`` starts, and the
    lowest objective is kept. A start is a guess of all states; the model is fitted to it for a few
    iterations before it is let go of. Then "em" takes the probabilities of states given labels (E-step) and
    minimises the convex function of scores in which they stand for observed states (M-step, the
    concave-convex procedure): no step raises the objective. The last iterations, or with "gradient" all of
    them, follow the gradient of the objective itself.

    Parameters
    ----------
    estimator : CRF or KernelCRF
        Model of the states, and all its settings; ``constraints`` are about labels. Structures: sequences,
        trees and graphs.
    n_states : int or mapping
        How many states a label owns, or how many each label owns; 1 for those that a mapping leaves out.
    method : "gradient" or "em"
        How to minimise.
    share : float
        How much the functions of states of one label have in common, from 0 to below 1; above 0 for
        `KernelCRF` only (``KernelCRF("linear")`` is the linear model). The function of state h is u + v_h, u
        that of its label: the kernel of states h and h′ is ``share`` · [same label] + (1 − ``share``) ·
        [h = h′]. With few observations of a label, states should differ where there is reason only: 0.9 is
        a good start.
    start : "kmeans", "random" or "run"
        First guesses: clusters of the observations of each label; states at random; or the place in a run
        of equal labels, first part to last part, of sequences.
    n_init : int
        Number of starts. Those of "run" are all the same: one is enough.
    decoder : "posterior" or "viterbi"
        How `predict` decides: the label with the highest sum of state probabilities at every position, among
        labellings that constraints allow; or the labels of the best state sequence. The best labelling as
        a whole, a maximum over sums, is not to be had in reasonable time.
    random_state : int, RandomState or None
        Seed of the starts.
    verbose : int
        1 shows the starts; that of ``estimator`` shows the fits.

    Attributes
    ----------
    classes_ : (L,) array
        Labels, in the order of all arrays over labels.
    owners_ : (n,) array
        For every state the number of its label.
    estimator_ : estimator
        The model of states, which are its labels, as numbers.
    objectives_ : list of float
        The objective that each start led to; the lowest is that of the model, ``objective_``.
    objective_path_ : list of float
        With "em", the objective before every step, and at the end.
    certificate_ : None
        No bound is known: sums over states are not convex in the scores.
    n_iter_, stop_reason_ : int, str
        How and why the search that was kept ended.

    Examples
    --------
    >>> from kernelfields import CRF, HiddenStates
    >>> X = [[[-1.0], [0.0], [0.1], [1.0]], [[1.0], [-1.1], [0.1]], [[0.0], [-0.9], [0.9]], [[0.1], [1.1]]]
    >>> y = [["out", "in", "in", "out"], ["out", "out", "in"], ["in", "out", "out"], ["in", "out"]]
    >>> model = HiddenStates(CRF(0.01), n_states={"out": 2}, random_state=0).fit(X, y)
    >>> model.predict([[[-1.0], [1.0], [0.0]]])
    [['out', 'out', 'in']]
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "estimator_": Kind(Savable),
        "owners_": StateNumbers(),
        "objectives_": Kind(list),
        "objective_": Kind(float),
        "objective_path_": Kind(list, needed=False),
        "n_iter_": Kind(int),
        "stop_reason_": Kind(str),
    }
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["X_dev", "y_dev"], "there are no states of held-out labels to compare with"),
        **dict.fromkeys(["warm_start", "checkpoint"], "it starts several times, from guesses"),
    }
    classes_: Array
    owners_: Array
    estimator_: Any
    objectives_: list[float]
    objective_: float
    objective_path_: list[float]
    n_iter_: int
    stop_reason_: str
    probabilistic: ClassVar[bool] = True

    def __init__(
        self,
        estimator: CRF | KernelCRF,
        *,
        n_states: int | Mapping[Any, int] = 2,
        method: str = "gradient",
        share: float = 0.0,
        start: str = "kmeans",
        n_init: int = 3,
        decoder: str | Decoder = "posterior",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_states = n_states
        self.method = method
        self.share = share
        self.start = start
        self.n_init = n_init
        self.decoder = decoder
        self.random_state = random_state
        self.verbose = verbose

    @property
    def certificate_(self) -> None:
        """None: sums over states are not convex in the scores, and no bound is known."""

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
        X, y, lengths, sample_weight, X_unlabelled
            As ``estimator`` takes them.
        """
        require_settings(vars(self), _CHECKS)
        _decoder(self.decoder)
        if not isinstance(self.estimator, CRF | KernelCRF):
            raise InputError(f"estimator is {shown(self.estimator)}; it must be a CRF or a KernelCRF.")
        if self.share and not isinstance(self.estimator, KernelCRF):
            raise InputError(
                f"share is {self.share:g}, which needs a KernelCRF, such as KernelCRF('linear')."
            )
        training = read_states(self.estimator, X, y, lengths, self.n_states)
        random = random_state(self.random_state)
        more = {} if X_unlabelled is None else {"X_unlabelled": X_unlabelled}
        how = {"lengths": lengths, "sample_weight": sample_weight, **more}
        models: list[Any] = []
        with ProgressLine(shown=self.verbose) as line:
            for n in range(self.n_init):
                so_far = f", best so far {min(m.objective_ for m in models):.6g}" if models else ""
                line.say(f"start {n + 1} of {self.n_init}{so_far}")
                models.append(self._fitted(training, random, X, how))
        self.objectives_ = [model.objective_ for model in models]
        best = models[int(np.argmin(self.objectives_))]
        self.objective_, self.n_iter_, self.stop_reason_ = best.objective_, best.n_iter_, best.stop_reason_
        if self.method == "em":
            self.objective_path_ = best.objective_path_
        self.estimator_, self.classes_, self.owners_ = best, training.classes, training.owners
        return self

    def _fitted(
        self, training: StateTraining, random: np.random.RandomState, X: Items, how: Mapping[str, Any]
    ) -> CRF | KernelCRF:
        """Return a model of states that begins with a guess."""
        from sklearn.base import clone

        states = training.guessed(self.start, random)
        loss = OwnedStates(tuple(training.owners.tolist()), ROUNDS if self.method == "em" else 0)
        settings = owned_settings(self.estimator, training, float(self.share))
        model = clone(self.estimator).set_params(loss=loss, **settings)
        return model.fit(X, states, **how)

    def predict(
        self,
        X: Items,
        *,
        lengths: Lengths = None,
        allowed: Allowed = None,
        decoder: str | Decoder | None = None,
        abstain: float | None = None,
    ) -> Labels:
        """Label sequences; see `CRF.predict` for ``allowed`` and ``abstain``."""
        scored = self._scored(X, lengths, allowed)
        labels = self._decoded(scored, decoder)
        if abstain is not None:
            share = require_share("abstain", abstain)
            sure = self._label_marginals(scored)[np.arange(len(labels)), labels] >= share
            labels = np.where(sure, labels, ABSTAINED)
        return self._named(scored, labels)

    def predict_marginals(self, X: Items, *, lengths: Lengths = None, allowed: Allowed = None) -> list[Array]:
        """Return p(y_t|x) for every position: a (T, L) array per sequence, sums over states."""
        scored = self._scored(X, lengths, allowed)
        marginals = self._label_marginals(scored)
        each = [marginals[a:b] for a, b in pairwise(scored.batch.offsets)]
        result: list[Array] = fitted_structure(self.estimator_).shaped_marginals(each, scored.inputs.links)
        return result

    def predict_states(
        self, X: Items, *, lengths: Lengths = None, allowed: Allowed = None
    ) -> list[list[Any]]:
        """Return the best state sequence: pairs of a label and the number of its state, from 0 on."""
        scored = self._scored(X, lengths, allowed)
        states = Viterbi().decode(scored.batch, scored.scores)
        first = np.searchsorted(self.owners_, np.arange(len(self.classes_)))
        place = (states - first[self.owners_[states]]).tolist()
        names = self.classes_.tolist()
        flat = [(names[k], n) for k, n in zip(self.owners_[states].tolist(), place, strict=True)]
        return [flat[a:b] for a, b in pairwise(scored.batch.offsets.tolist())]

    def predict_state_marginals(self, X: Items, *, lengths: Lengths = None) -> list[Array]:
        """Return p(h_t|x) for every position: an array with a column for every state per sequence."""
        require_fitted(self)
        result: list[Array] = self.estimator_.predict_marginals(X, lengths=lengths)
        return result

    def sequence_log_proba(self, X: Items, y: Outputs, *, lengths: Lengths = None) -> Array:
        """Log p(y|x) of whole labellings, a sum over states; where a label is None, over all labels.

        It is −inf for labellings that constraints forbid, or with a label that training did not have.
        """
        scored = self._scored(X, lengths, None)
        labels = look_up_outputs(fitted_structure(self.estimator_), y, scored.inputs, self.classes_)
        strange = self.estimator_._strange(labels, scored.batch)
        possible = (labels[:, None] < 0) | (labels[:, None] == self.owners_)
        within = {**scored.scores, "node": np.where(possible, scored.scores["node"], -np.inf)}
        result = log_partition_or_none(scored.batch, within) - scored.batch.log_partition(scored.scores)
        result[strange] = -np.inf
        return result

    def sample(self, X: Items, n: int = 1, *, lengths: Lengths = None) -> list[Labels]:
        """Return n draws from p(y|x) for all sequences: labels of states, seeded as ``estimator`` is."""
        require_whole("n", n, 0)
        require_fitted(self)
        names = [self.classes_.tolist()[k] for k in self.owners_.tolist()]
        drawn = self.estimator_.sample(X, n, lengths=lengths)
        return [[[names[state] for state in states] for states in one] for one in drawn]

    def score(self, X: Items, y: Outputs, *, lengths: Lengths = None, sample_weight: Weights = None) -> float:
        """Return the share of positions labelled right; each sequence counts ``sample_weight`` times.

        Positions whose label is None do not count.
        """
        scored = self._scored(X, lengths, None)
        sizes = np.diff(scored.batch.offsets)
        truth = look_up_outputs(fitted_structure(self.estimator_), y, scored.inputs, self.classes_)
        counts = (
            np.ones(len(sizes))
            if sample_weight is None
            else read_weights(sample_weight, len(sizes), scored.batch.words)
        )
        weights = np.repeat(counts, sizes) * (truth != ABSTAINED)
        if not weights.any():
            raise InputError("There is nothing to score: y has no label, or none with a weight above 0.")
        return float(np.average(self._decoded(scored, None) == truth, weights=weights))

    def _scored(self, X: Items, lengths: Lengths, allowed: Allowed) -> ScoredBatch:
        """Return scores of states, −inf for those of labels that are not allowed."""
        require_fitted(self)
        scored: ScoredBatch = self.estimator_._batch(X, lengths, None)
        if allowed is None:
            return scored
        structure = fitted_structure(self.estimator_)
        require_labelling(structure, "allowed")
        entries = structure.flattened(allowed, scored.inputs.links, "allowed")
        mask = read_allowed(entries, self.classes_, np.diff(scored.batch.offsets), scored.batch.words)
        node = np.where(mask[:, self.owners_], scored.scores["node"], -np.inf)
        return scored._replace(scores={**scored.scores, "node": node})

    def _label_marginals(self, scored: ScoredBatch) -> Array:
        states = scored.batch.marginals(scored.scores).parts["node"]
        return np.asarray(states @ (self.owners_[:, None] == np.arange(len(self.classes_))))

    def _decoded(self, scored: ScoredBatch, given: str | Decoder | None) -> Array:
        """Return labels as numbers."""
        rule = _decoder(self.decoder if given is None else given)
        if isinstance(rule, Viterbi):
            return np.asarray(self.owners_[rule.decode(scored.batch, scored.scores)])
        marginals = self._label_marginals(scored)
        gains = {"node": marginals[:, self.owners_]}
        return np.asarray(self.owners_[best_allowed(scored.batch, scored.scores, gains)])

    def _named(self, scored: ScoredBatch, labels: Array) -> Labels:
        links = scored.inputs.links
        result: Labels = name_outputs(
            fitted_structure(self.estimator_), labels, scored.batch, self.classes_, links
        )
        return result

    def _rehearse(self) -> None:
        if len(self.owners_) != len(self.estimator_.classes_):
            raise ModelFormatError("owners_ has other states than the model of states.")
        self.predict([])


def _decoder(given: str | Decoder) -> Decoder:
    rule = choose(DECODERS, given, "decoder")
    if not isinstance(rule, Posterior | Viterbi):
        raise InputError(f"decoder is {shown(given)}; for hidden states it must be 'posterior' or 'viterbi'.")
    return rule


def _n_states(name: str, value: object) -> None:
    """Check a number of states, or one for every label."""
    for one in value.values() if isinstance(value, Mapping) else [value]:
        whole(1, 10_000)(name, one)


def _share(name: str, value: object) -> None:
    if require_share(name, value) == 1:
        raise InputError(f"{name} is {shown(value)}; states that have all in common are one.")


_CHECKS = {
    "n_states": _n_states,
    "share": _share,
    "method": one_of(["gradient", "em"]),
    "start": one_of(["kmeans", "random", "run"]),
    "n_init": whole(),
    "verbose": whole(0),
}
