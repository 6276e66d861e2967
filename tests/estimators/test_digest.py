"""Whether two settings say the same."""

import copy

import numpy as np
import pytest
from scipy import sparse

from kernelfields.fitting.digest import digest
from kernelfields.kernels import RBF, Linear, Precomputed


def double(x):
    return 2 * x


SETTINGS = [
    None,
    "margin",
    0.5,
    {"a": 1.0, "b": [1, 2]},
    np.arange(4.0),
    np.array([1.0, np.nan]),
    sparse.eye(3, format="csr"),
    Linear(),
    RBF(0.5) + 2 * Linear(),
    Precomputed(np.eye(2)),
    double,
    np.exp,
]


@pytest.mark.parametrize("k", range(len(SETTINGS)))
def test_copies_say_the_same_and_others_do_not(k):
    for n, other in enumerate(SETTINGS):
        assert (digest([SETTINGS[k]]) == digest([copy.deepcopy(other)])) is (n == k)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (RBF(0.5), RBF(0.6)),
        ({"a": 1}, {"a": 1, "b": 2}),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, dtype=np.float32)),
        (Precomputed(np.eye(2)), Precomputed(np.ones((2, 2)))),
        ([1, 2], [1, 2, 3]),
        (1, 1.0),
        (lambda x: x, lambda x: -x),
    ],
)
def test_differences_are_seen(left, right):
    assert digest([left]) != digest([right])
