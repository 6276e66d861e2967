"""Splits of sequences for cross-validation: by groups, and in the order of time.

They are scikit-learn's splitters for lists of sequences. Positions of one sequence always stay together, and
so do sequences of one group; what is balanced is the number of positions, not of sequences.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from .arrays import Array
from .checks import as_list, is_list, require_flag, require_whole
from .errors import InputError
from .missing import is_missing
from .parameters import Parameterised


class SequenceSplitter(Parameterised, ABC):
    """Yields numbers of sequences to train on, and to test on."""

    n_splits: int

    @abstractmethod
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield numbers of sequences to train on, and to test on."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return require_whole("n_splits", self.n_splits, 2)

    def get_metadata_routing(self) -> Any:
        """Return that ``groups`` is asked for, as scikit-learn's splitters of groups do."""
        from sklearn.utils.metadata_routing import MetadataRequest

        routing = MetadataRequest(owner=type(self).__name__)
        routing.split.add_request(param="groups", alias=True)
        return routing


class SequenceKFold(SequenceSplitter):
    """K folds of sequences, groups together, with about as many positions of every label in each.

    Groups are dealt out from the largest to the smallest, each to the fold that then differs least from
    equal shares of every label: of the numbers of positions n_fl of label l in fold f, the sum over labels of
    their variance over folds, relative to all positions of the label, is smallest. It is what scikit-learn's
    ``StratifiedGroupKFold`` does for rows.

    Parameters
    ----------
    n_splits : int
        K.
    shuffle : bool
        Whether groups of one size are dealt out in random order.
    random_state : int, optional
        Seed of the order.

    Examples
    --------
    >>> X = [[0] * 3, [0] * 1, [0] * 2, [0] * 2]
    >>> [test.tolist() for _, test in SequenceKFold(2).split(X)]
    [[0, 1], [2, 3]]
    >>> [test.tolist() for _, test in SequenceKFold(2).split(X, groups=["a", "a", "b", "a"])]
    [[0, 1, 3], [2]]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield numbers of sequences to train on, and to test on, fold by fold.

        Parameters
        ----------
        X : list of sequences
            Arrays, sparse matrices, frames or lists of tokens.
        y : list of label sequences, optional
            To balance labels; without it, positions are balanced.
        groups : (S,) sequence, optional
            The group of every sequence: a speaker, a patient, a document; without it, each is alone.
        """
        fold = self._folds(_counts(X, y), _numbered(groups, len(as_list(X))))
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def _folds(self, counts: Array, group: Array) -> Array:
        """Return the fold of every sequence."""
        K, n_groups = self.get_n_splits(), int(group.max(initial=-1)) + 1
        if n_groups < K:
            raise InputError(f"n_splits is {K}, but there are {n_groups} groups of sequences.")
        totals = np.zeros((n_groups, counts.shape[1]))
        np.add.at(totals, group, counts)
        order = np.arange(n_groups)
        if require_flag("shuffle", self.shuffle):
            order = np.random.default_rng(self.random_state).permutation(n_groups)
        order = order[np.argsort(-totals[order].sum(axis=1), kind="stable")]
        shares = np.maximum(totals.sum(axis=0), 1)
        filled, members = np.zeros((K, counts.shape[1])), np.zeros(K, dtype=np.int64)
        fold = np.zeros(n_groups, dtype=np.int64)
        for rank, number in enumerate(order):
            empty = np.flatnonzero(members == 0)
            among = empty if n_groups - rank <= len(empty) else np.arange(K)  # lest one stays empty
            fold[number] = best = _best_fold(filled, members, totals[number] / shares, among)
            filled[best] += totals[number] / shares
            members[best] += 1
        return fold[group]


class TimeOrderedSplit(SequenceSplitter):
    """Train on the past, test on what follows: for sequences in the order in which they were recorded.

    Groups (days, sessions) are in the order in which they begin, and stay together. The last groups are
    cut into ``n_splits`` test sets of about as many groups; each is tested with all before it, as in
    scikit-learn's ``TimeSeriesSplit``.

    Parameters
    ----------
    n_splits : int
        Number of test sets.
    gap : int
        Groups left out between training and test sets.
    max_train_groups : int, optional
        The last so many groups to train on; if not given, all.

    Examples
    --------
    >>> for train, test in TimeOrderedSplit(2).split([[0]] * 5):
    ...     print(train.tolist(), test.tolist())
    [0, 1, 2] [3]
    [0, 1, 2, 3] [4]
    """

    def __init__(self, n_splits: int = 5, *, gap: int = 0, max_train_groups: int | None = None) -> None:
        self.n_splits = n_splits
        self.gap = gap
        self.max_train_groups = max_train_groups

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield numbers of sequences to train on, and to test on, the earliest test set first.

        Parameters
        ----------
        X : list of sequences
            In the order of time.
        y : ignored
        groups : (S,) sequence, optional
            The group of every sequence; without it, each is alone.
        """
        K, gap = self.get_n_splits(), require_whole("gap", self.gap, 0)
        most = self.max_train_groups
        if most is not None:
            require_whole("max_train_groups", most)
        group = _numbered(groups, len(as_list(X)))
        n_groups = int(group.max(initial=-1)) + 1
        size = n_groups // (K + 1)
        if size == 0 or n_groups - K * size - gap < 1:
            raise InputError(f"{n_groups} groups are too few for {K} splits with a gap of {gap}.")
        for begin in range(n_groups - K * size, n_groups, size):
            end = begin - gap
            start = 0 if most is None else max(0, end - most)
            test = np.flatnonzero((group >= begin) & (group < begin + size))
            yield np.flatnonzero((group >= start) & (group < end)), test


def _best_fold(filled: Array, members: Array, more: Array, among: Array) -> int:
    """Return the fold that leaves shares of labels most alike; the one with fewer groups of two that are."""
    scores = []
    for f in among.tolist():
        trial = filled.copy()
        trial[f] += more
        scores.append((round(float(trial.std(axis=0).sum()), 12), int(members[f]), f))
    return int(min(scores)[2])


def _counts(X: Any, y: Any) -> Array:
    """Return how many positions of every label each sequence has; of all, without labels."""
    X = as_list(X)
    if y is None:
        return np.array([[_length(x)] for x in X], dtype=np.float64).reshape(len(X), 1)
    y = as_list(y)
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} sequences, but y has {len(y)}.")
    each = [Counter(one for one in labels if not is_missing(one)) for labels in (_labels(one) for one in y)]
    names = {label: n for n, label in enumerate(dict.fromkeys(label for one in each for label in one))}
    result = np.zeros((len(X), len(names) + 1))
    for s, count in enumerate(each):
        for label, number in count.items():
            result[s, names[label]] = number
        result[s, -1] = _length(X[s]) - sum(count.values())
    return result


def _labels(given: Any) -> Any:
    return given.tolist() if isinstance(given, np.ndarray) else given if is_list(given) else []


def _length(x: Any) -> int:
    return int(x.shape[0]) if hasattr(x, "shape") else len(x)


def _numbered(groups: Any, count: int) -> Array:
    """Return numbers of groups, in the order in which they begin."""
    if groups is None:
        return np.arange(count)
    if len(groups) != count:
        raise InputError(f"X has {count} sequences, but groups has {len(groups)}.")
    number: dict[Any, int] = {}
    return np.array([number.setdefault(one, len(number)) for one in as_list(groups)], dtype=np.int64)
