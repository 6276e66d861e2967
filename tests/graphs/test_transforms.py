"""Functions of eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.graphs import Diffusion, InverseCosine, RandomWalk, Regularised, Truncated, transformed

E = np.linspace(0, 2, 9)


@pytest.mark.parametrize(
    ("transform", "formula"),
    [
        (Regularised(0.3), lambda e: 1 / (e + 0.3)),
        (Diffusion(3.0), lambda e: np.exp(-3 * e / 2)),
        (RandomWalk(3, a=2.5), lambda e: (2.5 - e) ** 3),
        (InverseCosine(), lambda e: np.cos(e * np.pi / 4)),
        (Truncated(Regularised(1.0), 0.5), lambda e: (e <= 0.5) / (e + 1)),
        (lambda e: 3 - e, lambda e: 3 - e),
    ],
)
def test_formulas(transform: Any, formula: Any) -> None:
    np.testing.assert_allclose(transformed(transform, E), formula(E), atol=1e-15)


@pytest.mark.parametrize(
    ("transform", "words"),
    [
        (Regularised(0.0), "epsilon of Regularised is 0.0"),
        (Regularised("a"), "epsilon of Regularised is 'a'"),
        (Diffusion(-1.0), "time of Diffusion is -1.0"),
        (RandomWalk(0), "steps of RandomWalk is 0"),
        (RandomWalk(2, a=1.5), "a of RandomWalk is 1.5; there is an eigenvalue 2 above it"),
        (Truncated(Regularised(), -1.0), "largest of Truncated is -1.0"),
        (np.sin, "increases from 0 at the eigenvalue 0 to 0.247404 at 0.25"),
        (lambda e: 1 - e, "is -0.25 at the eigenvalue 1.25"),
        (lambda e: 1 / e, "is inf at the eigenvalue 0"),
        (lambda e: e[:3], r"shape \(3,\)"),
        (3.0, "transform is 3.0"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refusals_name_the_value(transform: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        transformed(transform, E)


def test_inverse_cosine_is_for_normalised_laplacians() -> None:
    with pytest.raises(InputError, match="up to 2; there is 7"):
        transformed(InverseCosine(), np.array([0.0, 7.0]))
