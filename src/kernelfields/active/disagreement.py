"""Strategies that ask where several opinions differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, is_list, require_whole, whole
from ..data.seeds import random_state
from ..errors import InputError
from ..memory import require_memory
from ._base import Strategy
from .uncertainty import entropies, summed
from .view import PoolView


def _committee(name: str, value: Any) -> None:
    if is_list(value):
        if len(value) < 2 or not all(hasattr(model, "predict_marginals") for model in value):
            raise InputError(f"{name} must hold at least two fitted models that have predict_marginals.")
    else:
        require_whole(name, value, 2, 1000)


def _seed(name: str, value: Any) -> None:
    random_state(value)


@dataclass(frozen=True)
class Disagreement(Strategy):
    """Disagreement of a committee: how far its members' marginals are from their mean [mccallum1998].

    (1/C) Σ_c KL(p_c(y_t|x) ‖ p̄(y_t|x)) = H(p̄) − (1/C) Σ_c H(p_c), summed over open positions for a sequence.
    It is small where all members are equally uncertain, as about an image that could be either letter.

    Parameters
    ----------
    committee : int, or list of fitted models
        Members; a number stands for as many copies of the model, each fitted to a bootstrap sample of the
        sequences that have labels (query by bagging).
    random_state : int, RandomState or None
        Seed of the samples.
    """

    committee: int | Sequence[Any] = 4
    random_state: Any = 0
    _checks: ClassVar[Mapping[str, Check]] = {"committee": _committee, "random_state": _seed}

    def sequence_scores(self, view: PoolView) -> Array:
        """Return the sum over open positions."""
        return summed(view, self.position_scores(view), mean=False)

    def position_scores(self, view: PoolView) -> Array:
        """Return the mean divergence from the mean."""
        committee = self.committee
        members = self._bagged(view, committee) if isinstance(committee, int) else list(committee)
        index: dict[Any, int] = {}
        for member in members:
            for label in member.classes_.tolist():
                index.setdefault(label, len(index))
        opinions = np.array([_aligned(view, member, index) for member in members])
        spread = entropies(opinions.mean(axis=0)) - np.mean([entropies(one) for one in opinions], axis=0)
        return np.maximum(spread, 0.0)  # rounding may make it negative

    def _bagged(self, view: PoolView, count: int) -> list[Any]:
        """Fit copies of the model to samples of the sequences that have labels."""
        from sklearn.base import clone

        pool, rng = view.pool, random_state(self.random_state)
        touched, labels = np.array(pool.touched), pool.known()
        if not len(touched):
            raise InputError("A committee cannot be fitted: no sequence has a label.")
        members = []
        for _ in range(count):
            drawn = _with_two_labels(pool.labels, touched, rng)
            members.append(clone(view.model).fit([pool.X[s] for s in drawn], [labels[s] for s in drawn]))
        return members


def _with_two_labels(labels: Sequence[Sequence[Any]], touched: Array, rng: Any) -> Array:
    """Draw sequences with replacement; all of them where too few labels would be left to learn."""
    drawn = rng.choice(touched, len(touched))
    found = {label for s in drawn for label in labels[s]} - {None}
    return drawn if len(found) > 1 else touched


def _aligned(view: PoolView, member: Any, index: Mapping[Any, int]) -> Array:
    """Return the marginals of a member, columns by the labels of all."""
    marginals = view.marginals_of(member)
    result = np.zeros((len(marginals), len(index)))
    result[:, [index[label] for label in member.classes_.tolist()]] = marginals
    return result


@dataclass(frozen=True)
class SampleDisagreement(Strategy):
    """Disagreement of labellings that are drawn from p(y|x): the entropy of their votes [engelson1996].

    Votes of a position are for its label, votes of a sequence for its labelling as a whole. With many draws
    they become `TokenEntropy` and `SequenceEntropy`; draws are to be had also where sums are not.

    Parameters
    ----------
    n_samples : int
        Number of draws.
    random_state : int, RandomState or None
        Their seed.
    """

    n_samples: int = 20
    random_state: Any = 0
    _checks: ClassVar[Mapping[str, Check]] = {"n_samples": whole(2), "random_state": _seed}

    def sequence_scores(self, view: PoolView) -> Array:
        """Return the entropy of the votes for whole labellings."""
        draws = self._draws(view)
        return np.array(
            [_vote_entropy([row.tobytes() for row in part.T]) for part in view.pool.pieces(draws.T)]
        )

    def position_scores(self, view: PoolView) -> Array:
        """Return the entropy of the votes for labels."""
        draws = self._draws(view)
        votes = np.stack([(draws == k).mean(axis=0) for k in range(int(draws.max(initial=0)) + 1)], axis=1)
        return entropies(votes)

    def _draws(self, view: PoolView) -> Array:
        """Return flat labellings, one per row, that agree with what is known."""
        batch, scores = view.scored[:2]
        draw = getattr(batch, "sample", None) or getattr(batch, "approximate_sample", None)
        if draw is None:
            raise InputError(f"Draws need a SampleOracle, which {type(batch).__name__} is not.")
        require_memory(f"n_samples={self.n_samples}", 4 * self.n_samples * len(view.pool.open))
        seed = random_state(self.random_state).randint(2**31 - 1)
        return np.ascontiguousarray(draw(scores, self.n_samples, int(seed)))


def _vote_entropy(votes: Sequence[bytes]) -> float:
    counts = np.unique(np.array(votes, dtype=object), return_counts=True)[1]
    return float(entropies(counts[None] / counts.sum())[0])
