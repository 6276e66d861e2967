"""A model that asks for the labels it learns from."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ..arrays import Array
from ..checks import choose, is_list, one_of, optional, require_settings, require_share, require_whole, shown
from ..data.seeds import random_state
from ..errors import InputError
from ..missing import is_missing
from ..parameters import Parameterised
from ._base import Strategy
from .completion import completed
from .diversity import Diversity
from .files import read_learner, write_learner
from .names import STRATEGIES
from .per_sequence import spread_out
from .pool import LabelPool, structure_in
from .random_choice import RandomChoice
from .ranking import scored_positions, scored_sequences
from .similarity import PositionSimilarity, SequenceSimilarity, Similarity
from .view import PoolView

UNITS = ("position", "sequence")


class Query(NamedTuple):
    """A question: the label of a position, or those of a whole sequence."""

    sequence: int
    """Its number in the pool."""
    position: int | None
    """Its position, row by row in grids; None where all labels of the sequence are asked for."""


def _diverse(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, Diversity):
        raise InputError(f"{name} is {shown(value)}; it must be a Diversity, such as KCenter(), or None.")


CHECKS = {
    "unit": one_of(UNITS),
    "strategy": lambda name, value: choose(STRATEGIES, value, name),
    "diversity": _diverse,
    "per_sequence": optional(require_whole),
    "complete": optional(require_share),
    "random_state": lambda _, value: random_state(value),
}


@dataclass(eq=False, repr=False)
class ActiveLearner(Parameterised):
    """A loop of questions and answers around an estimator.

    `fit` takes a pool with the labels that there are; `ask` says which labels to get next; `tell` takes
    them and fits again. A label once told is never asked for again.

    Parameters
    ----------
    estimator : estimator
        What is fitted, a copy of it. With ``warm_start=True`` each fit goes on from the last.
    strategy : name or Strategy
        What to ask first, as in `sequence_scores`.
    unit : "position" or "sequence"
        Whether single labels are asked for, or all that a sequence lacks.
    diversity : Diversity, optional
        How to keep the questions of a batch apart; without it they are those with the best scores.
    per_sequence : int, optional
        At most that many positions of one sequence in a batch, as long as there are others: an answer
        changes what is to be learnt from its neighbours.
    complete : float, optional
        Labels that nobody told, in sequences with some that were, are filled in by the model before each fit
        where it is at least that sure of them [tomanek2009]; 0 fills in all, and fits are convex again. If
        not given they are latent: the loss is that of what was told.
    random_state : int, RandomState or None
        Seed of the questions of a model that knows too little to choose.

    Attributes
    ----------
    model_ : estimator or None
        The last fit; None while fewer than two different labels are known.
    pool_ : LabelPool
        The pool with all labels told so far.
    skipped_ : set of Query
        Questions that were answered with None: they are not asked again.

    Examples
    --------
    >>> from kernelfields import CRF
    >>> from kernelfields.active import ActiveLearner
    >>> X = [[[0.0], [1.0]], [[0.9], [0.1]], [[0.4], [0.5]]]
    >>> learner = ActiveLearner(CRF(penalty=0.1)).fit(X, [["A", "B"], None, None])
    >>> (query,) = learner.ask(1)
    >>> query
    Query(sequence=1, position=0)
    >>> _ = learner.tell([query], ["B"])
    >>> learner.labels
    [['A', 'B'], ['B', None], [None, None]]
    """

    estimator: Any
    _: KW_ONLY
    strategy: str | Strategy = "token-entropy"
    unit: str = "position"
    diversity: Diversity | None = None
    per_sequence: int | None = None
    complete: float | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Begin with a pool, and fit to the labels that are known.

        Parameters
        ----------
        X : list
            Sequences, trees or graphs, as the estimator takes them.
        y : list, optional
            What is known: None for a sequence or a position without a label.
        """
        require_settings(vars(self), CHECKS)
        pool = LabelPool(structure_in(self.estimator), X, y)
        model = self._fitted(pool, None)
        self.pool_, self.model_ = pool, model
        self.skipped_: set[Query] = set()
        return self

    @property
    def labels(self) -> Any:
        """All labels told so far, as the estimator takes them; None elsewhere."""
        self._require_pool()
        return self.pool_.known()

    @property
    def n_labels(self) -> int:
        """How many labels are known."""
        self._require_pool()
        return self.pool_.n_labels

    def ask(self, n: int = 1) -> list[Query]:
        """Return the n most telling questions, fewer where there are no more.

        While the model knows too little, they are chosen at random.
        """
        count = require_whole("n", n)
        self._require_pool()
        view = PoolView(self.model_, self.pool_)
        whole = self.unit == "sequence"
        strategy = choose(STRATEGIES, self.strategy, "strategy")
        if self.model_ is None:
            strategy = RandomChoice(self.random_state)
        scores = scored_sequences(view, strategy) if whole else scored_positions(view, strategy)
        scores[self._skipped()] = -np.inf
        if not whole and self.per_sequence is not None:
            scores = spread_out(scores, self.pool_.offsets, self.per_sequence, count)
        if self.diversity is None or self.model_ is None:
            order = np.argsort(-scores, kind="stable")[:count]
            order = order[np.isfinite(scores[order])]
        else:
            order = self.diversity.choose(scores, count, self._similarity(view), self._answered())
        places = order.tolist()
        return [Query(s, None) if whole else Query(*self.pool_.place(s)) for s in places]

    def tell(self, queries: Sequence[Any], answers: Sequence[Any], *, refit: bool = True) -> Self:
        """Take answers, and fit again.

        Parameters
        ----------
        queries : list of Query, or of pairs (sequence, position)
            What is answered; it need not be what was asked.
        answers : list
            For a position its label, for a whole sequence a list of labels. None is "cannot say": the
            question is not asked again, and in a list the position stays open.
        refit : bool
            Whether to fit now; answers of several people can be taken first.
        """
        self._require_pool()
        if not is_list(queries) or not is_list(answers) or len(queries) != len(answers):
            raise InputError("queries and answers must be two lists of the same length.")
        told = [self._told(query, answer) for query, answer in zip(queries, answers, strict=True)]
        before, skipped = [list(one) for one in self.pool_.labels], set(self.skipped_)
        for query, labels in told:
            self._take(query, labels)
        try:
            if refit:
                self.model_ = self._fitted(self.pool_, self.model_)
        except BaseException:  # what is refused changes nothing
            self.pool_.labels, self.skipped_ = before, skipped
            raise
        return self

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write all labels and the model to a folder, which is made if need be; `resume` goes on from there.

        Settings and the pool are not written. Labels must be texts or numbers.
        """
        self._require_pool()
        write_learner(folder, self.pool_, self.skipped_, self.model_)

    def resume(self, folder: str | os.PathLike[str], X: Any) -> Self:
        """Go on with what `save` wrote, with the same pool; one with other sequences is refused."""
        require_settings(vars(self), CHECKS)
        pool = LabelPool(structure_in(self.estimator), X)
        skipped, model = read_learner(folder, pool)
        self.pool_, self.model_ = pool, model
        self.skipped_ = {Query(*one) for one in skipped}
        return self

    def _fitted(self, pool: LabelPool, before: Any) -> Any:
        """Fit to the sequences that have a label; None if there is too little to learn from."""
        if len(pool.classes) < 2:
            return None
        from sklearn.base import clone

        touched = pool.touched
        labels = (
            pool.known()
            if self.complete is None or before is None
            else completed(before, pool, self.complete)
        )
        model = clone(self.estimator)
        if type(before) is type(model):  # with what was learnt, for a warm start
            model = copy.copy(before).set_params(**model.get_params(deep=False))
        return model.fit([pool.X[s] for s in touched], [labels[s] for s in touched])

    def _told(self, query: Any, answer: Any) -> tuple[Query, list[Hashable] | Hashable]:
        """Check a question and its answer."""
        words, pool = self.pool_.structure.words, self.pool_
        try:
            s, t = query
        except (TypeError, ValueError):
            raise InputError(f"A query is {shown(query)}; it must be a pair (sequence, position).") from None
        s = require_whole(f"The {words.item} of a query", s, 0, len(pool.X) - 1)
        length = len(pool.labels[s])
        if t is not None:
            t = require_whole(f"The {words.place} of a query for {words.item} {s}", t, 0, length - 1)
            if not isinstance(answer, Hashable):
                raise InputError(
                    f"{words.name(s)} was told a label that is not hashable at {words.place} {t}."
                )
            return Query(s, t), None if is_missing(answer) else answer
        if answer is None:
            return Query(s, None), None
        blank = [None] * len(pool.X)
        labels = LabelPool(pool.structure, pool.X, [*blank[:s], answer, *blank[s + 1 :]]).labels[s]
        return Query(s, None), labels

    def _take(self, query: Query, answer: Any) -> None:
        s, t = query
        if answer is None:
            self.skipped_.add(query)
        elif t is None:
            known = self.pool_.labels[s]
            self.pool_.labels[s] = [
                old if new is None else new for new, old in zip(answer, known, strict=True)
            ]
            if None in self.pool_.labels[s]:
                self.skipped_.add(query)
        else:
            self.pool_.labels[s][t] = answer

    def _skipped(self) -> Array:
        """Return the places of questions that nobody could answer."""
        offsets = self.pool_.offsets
        if self.unit == "sequence":
            return np.array([s for s, t in self.skipped_ if t is None], dtype=np.int64)
        return np.array([offsets[s] + t for s, t in self.skipped_ if t is not None], dtype=np.int64)

    def _answered(self) -> Array:
        """Return the places of things that have been answered."""
        return np.array(self.pool_.touched) if self.unit == "sequence" else np.flatnonzero(~self.pool_.open)

    def _similarity(self, view: PoolView) -> Similarity:
        assert self.diversity is not None
        kernel = view.kernel(self.diversity.kernel)
        if self.unit == "sequence":
            return SequenceSimilarity(kernel, view.features, self.pool_.offsets)
        return PositionSimilarity(kernel, view.features)

    def _require_pool(self) -> None:
        if not hasattr(self, "pool_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This ActiveLearner has no pool yet; call fit or resume first.")
