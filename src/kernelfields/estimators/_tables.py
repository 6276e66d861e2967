"""The only place where method names are strings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ..constraints import BILOU, BMES, IOB2, IOBES, Cyclic, LeftRight, Rule
from ..decoders import Decoder, Posterior, Viterbi
from ..emissions import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    Emissions,
    Family,
    FullGaussian,
    GaussianMixture,
    Multinomial,
    Poisson,
    SphericalGaussian,
    TiedGaussian,
)
from ..errors import InputError
from ..online import Variant
from ..selection import Approximation, IncompleteCholesky, Nystroem, RandomFourier
from ..solvers import (
    LBFGS,
    BlockFrankWolfe,
    BlockJacobi,
    ConjugateGradients,
    CuttingPlane,
    IterativeScaling,
    MarginSolver,
    MetaDescent,
    NewtonCG,
    Solver,
    Subgradient,
    Subspace,
    WorkingSet,
)

SOLVERS: Mapping[str, Solver] = {
    "lbfgs": LBFGS(),
    "newton-cg": NewtonCG(),
    "block-jacobi": BlockJacobi(),
    "subspace": Subspace(),
    "conjugate-gradients": ConjugateGradients(),
    "meta-descent": MetaDescent(),
    "iterative-scaling": IterativeScaling(),
}
# Elements of low rank are short beside the data: a long memory costs next to nothing, and saves a third of
# the iterations.
LOW_RANK_SOLVERS: Mapping[str, Solver] = {**SOLVERS, "lbfgs": LBFGS(memory=30)}
MARGIN_SOLVERS: Mapping[str, MarginSolver | CuttingPlane] = {
    "bcfw": BlockFrankWolfe(),
    "n-slack": WorkingSet(),
    "one-slack": CuttingPlane(),
    "subgradient": Subgradient(),
}
DECODERS: Mapping[str, Decoder] = {"viterbi": Viterbi(), "posterior": Posterior()}
APPROXIMATIONS: Mapping[str, Approximation] = {
    "cholesky": IncompleteCholesky(),
    "nystroem": Nystroem(),
    "fourier": RandomFourier(),
}
CONSTRAINTS: Mapping[str, Rule] = {"iob2": IOB2, "iobes": IOBES, "bilou": BILOU, "bmes": BMES}
TOPOLOGIES: Mapping[str, Rule] = {**CONSTRAINTS, "left-right": LeftRight(), "cyclic": Cyclic()}
EMISSIONS: Mapping[str, Family | Emissions] = {
    "gaussian": DiagonalGaussian(),
    "gaussian-spherical": SphericalGaussian(),
    "gaussian-full": FullGaussian(),
    "gaussian-tied": TiedGaussian(),
    "gaussian-mixture": GaussianMixture(),
    "categorical": Categorical(),
    "multinomial": Multinomial(),
    "poisson": Poisson(),
    "bernoulli": Bernoulli(),
}
VARIANTS: Mapping[str, Variant] = {"PA": Variant.HARD, "PA-I": Variant.BOUNDED, "PA-II": Variant.SQUARED}

Choice = TypeVar("Choice")


def choose(table: Mapping[str, Choice], name: str | Choice, what: str) -> Choice:
    """Look a name up; an object of the kind is its own name."""
    if not isinstance(name, str):
        return name
    if name not in table:
        raise InputError(f"{what}={name!r} is not known; choose one of {', '.join(map(repr, table))}.")
    return table[name]
