"""Settings chosen by cross-validation of the few labelled sequences that a trial has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kernelfields.arrays import Array
from kernelfields.kernels import Kernel

from .folds import folds_of, pick

Choice = TypeVar("Choice")

Label = Callable[[Choice, Array, Array], list[Any]]
"""From settings, the numbers of labelled sequences and of others to the labels that the others are given."""


class Candidate(NamedTuple):
    """A kernel and a penalty to choose."""

    kernel: Kernel
    """As it is on all observations, labelled and unlabelled."""
    penalty: float


def cross_validated(
    choices: Sequence[Choice], label: Label[Choice], y: Sequence[Any], few: Array, n_folds: int, seed: int
) -> Choice:
    """Return the settings with the fewest wrong labels in cross-validation; of equals the first.

    Only labelled sequences take part, so that who has few labels chooses with few.

    Parameters
    ----------
    choices : list
        With those that smooth most at the beginning.
    label : callable
        Learns and labels; it has to know all labels, also those that the training part of a fold lacks.
    y : list
        Labels of all sequences, of which only those in ``few`` are looked at.
    few : array of int
        Numbers of the labelled sequences.
    n_folds : int
        Number of folds, at most as many as sequences.
    seed : int
        Of the folds.
    """
    if len(choices) == 1:
        return choices[0]
    folds = folds_of(few, min(n_folds, len(few)), seed)

    def wrong(choice: Choice) -> int:
        return sum(wrong_labels(pick(y, fold.test), label(choice, *fold)) for fold in folds)

    return min(choices, key=wrong)


def wrong_labels(y: Sequence[Any], found: Sequence[Any]) -> int:
    """Return the number of wrong labels."""
    return int(
        sum(a != b for one, other in zip(y, found, strict=True) for a, b in zip(one, other, strict=True))
    )


def share_of_labels(sizes: Sequence[int], errors: Array, rival: Array) -> Array:
    """Return how many labels reach the rival's mean error at each size, as shares of that size.

    Between sizes the error is interpolated, linearly in the logarithm of the size; a share is an upper
    bound where the smallest size is enough, and infinite where no size is.

    Parameters
    ----------
    sizes : list of int
        Numbers of labels, increasing.
    errors, rival : (n_trials, n_sizes) array
        Of the model and of its rival.
    """
    logs, mine = np.log(sizes), np.minimum.accumulate(errors.mean(axis=0))
    found = []
    for size, goal in zip(sizes, rival.mean(axis=0), strict=True):
        first = int(np.argmax(mine <= goal))
        if mine[first] > goal:
            found.append(np.inf)
        elif first == 0:
            found.append(sizes[0] / size)
        else:
            part = (mine[first - 1] - goal) / (mine[first - 1] - mine[first])
            found.append(float(np.exp(logs[first - 1] + part * (logs[first] - logs[first - 1]))) / size)
    return np.array(found)


def resampled_shares(
    sizes: Sequence[int], errors: Array, rival: Array, seed: int, times: int = 2000
) -> Array:
    """Return those shares for trials drawn again with repetition, (times, n_sizes): their bootstrap."""
    random = np.random.default_rng(seed)
    draws = random.integers(len(errors), size=(times, len(errors)))
    return np.array([share_of_labels(sizes, errors[draw], rival[draw]) for draw in draws])
