"""Seeds are read as scikit-learn reads them, without scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils import check_random_state

from kernelfields.data.seeds import random_state
from kernelfields.errors import InputError
from tests._names import shown

FIT = """
import sys
import numpy as np
from kernelfields import CRF, HMM, KernelCRF, StructuredPerceptron
X = [np.eye(2), np.eye(2)[::-1]]
for make in (CRF, HMM, KernelCRF, StructuredPerceptron):
    make().fit(X, [["a", "b"], ["b", "a"]]).sample(X)
print("sklearn" in sys.modules)
"""


@pytest.mark.parametrize("seed", [0, 7, np.int64(3), 2**32 - 1, np.random.RandomState(5)], ids=shown)
def test_the_same_numbers(seed):
    state = seed.get_state() if isinstance(seed, np.random.RandomState) else None
    ours = random_state(seed).rand(3)
    if state is not None:
        seed.set_state(state)
    np.testing.assert_array_equal(ours, check_random_state(seed).rand(3))


def test_none_is_the_state_of_numpy():
    assert random_state(None) is check_random_state(None)
    assert random_state(np.random) is check_random_state(np.random)


@pytest.mark.parametrize("seed", [-1, 2**32, 0.5, "0", [1], np.random.default_rng(0)], ids=shown)
def test_others_are_refused(seed):
    with pytest.raises(InputError, match=r"random_state is .* must be None, a whole number"):
        random_state(seed)


def test_a_fit_does_not_import_scikit_learn():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
