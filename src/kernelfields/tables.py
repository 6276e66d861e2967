"""The only place where method names are strings."""

from __future__ import annotations

from functools import partial

from .approximation import Approximation, IncompleteCholesky, Nystroem, RandomFourier
from .checks import Table as Table
from .checks import choose as choose
from .constraints import BILOU, BMES, IOB2, IOBES, Cyclic, LeftRight, Rule
from .decoders import Decoder, Posterior, Viterbi
from .emissions import (
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
from .online import Variant
from .posterior import Laplace, PosteriorMethod, SliceSampling, Variational
from .solvers import (
    LBFGS,
    BlockFrankWolfe,
    BlockJacobi,
    ConjugateGradients,
    CuttingPlane,
    DualAscent,
    ExponentiatedGradient,
    IterativeScaling,
    LinearProgramming,
    MarginSolver,
    MetaDescent,
    NewtonCG,
    Solver,
    Subgradient,
    Subspace,
    WorkingSet,
)
from .structures import Chain, Graph, Segments, Structure, Tree

SOLVERS: Table[Solver] = Table(
    Solver,
    entries={
        "lbfgs": LBFGS(),
        "newton-cg": NewtonCG(),
        "block-jacobi": BlockJacobi(),
        "subspace": Subspace(),
        "conjugate-gradients": ConjugateGradients(),
        "meta-descent": MetaDescent(),
        "iterative-scaling": IterativeScaling(),
    },
)
KERNEL_SOLVERS: Table[Solver] = Table(
    Solver,
    entries={
        **SOLVERS,
        "auto": LBFGS(),  # unless another suits the problem
        "exponentiated-gradient": ExponentiatedGradient(),
    },
)
# Elements of low rank are short beside the data: a long memory costs next to nothing, and saves a third of
# the iterations.
LOW_RANK_SOLVERS: Table[Solver] = Table(
    Solver, entries={**KERNEL_SOLVERS, "auto": LBFGS(memory=30), "lbfgs": LBFGS(memory=30)}
)
MARGIN_SOLVERS: Table[MarginSolver | CuttingPlane | DualAscent | LinearProgramming] = Table(
    MarginSolver,
    CuttingPlane,
    DualAscent,
    LinearProgramming,
    entries={
        "auto": CuttingPlane(),  # unless another suits the problem
        "bcfw": BlockFrankWolfe(),
        "dual-ascent": DualAscent(),
        "linear-program": LinearProgramming(),
        "n-slack": WorkingSet(),
        "one-slack": CuttingPlane(),
        "subgradient": Subgradient(),
    },
)
POSTERIORS: Table[PosteriorMethod] = Table(
    PosteriorMethod,
    entries={"laplace": Laplace(), "variational": Variational(), "mcmc": SliceSampling()},
)
STRUCTURES: Table[Structure] = Table(
    Structure,
    entries={
        "chain": Chain(),
        "chain2": Chain(order=2),
        "segments": Segments(),
        "tree": Tree(),
        "graph": Graph(),
    },
)
DECODERS: Table[Decoder] = Table(Decoder, entries={"viterbi": Viterbi(), "posterior": Posterior()})
APPROXIMATIONS: Table[Approximation] = Table(
    Approximation,
    entries={
        "cholesky": IncompleteCholesky(),
        "nystroem": Nystroem(),
        "fourier": RandomFourier(),
    },
)
CONSTRAINTS: Table[Rule] = Table(Rule, entries={"iob2": IOB2, "iobes": IOBES, "bilou": BILOU, "bmes": BMES})
TOPOLOGIES: Table[Rule] = Table(Rule, entries={**CONSTRAINTS, "left-right": LeftRight(), "cyclic": Cyclic()})
EMISSIONS: Table[Family | Emissions] = Table(
    Family,
    Emissions,
    entries={
        "gaussian": DiagonalGaussian(),
        "gaussian-spherical": SphericalGaussian(),
        "gaussian-full": FullGaussian(),
        "gaussian-tied": TiedGaussian(),
        "gaussian-mixture": GaussianMixture(),
        "categorical": Categorical(),
        "multinomial": Multinomial(),
        "poisson": Poisson(),
        "bernoulli": Bernoulli(),
    },
)
VARIANTS: Table[Variant] = Table(
    Variant, entries={"PA": Variant.HARD, "PA-I": Variant.BOUNDED, "PA-II": Variant.SQUARED}
)

structure_of = partial(choose, STRUCTURES, what="structure")
"""Look a structure up by its name, or take it as it is."""
