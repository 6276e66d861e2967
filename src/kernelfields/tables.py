"""The only place where method names are strings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .checks import Table as Table
from .checks import choose as choose
from .lazy import Later

if TYPE_CHECKING:
    from .approximation import Approximation
    from .constraints import Rule
    from .decoders import Decoder
    from .emissions import Emissions, Family
    from .losses import CustomLoss, Log, LossSettings
    from .online import Variant
    from .posterior import PosteriorMethod
    from .selection import Selection
    from .solvers import CuttingPlane, DualAscent, LinearProgramming, MarginSolver, Solver
    from .structures import Structure

LOSSES: Table[LossSettings | CustomLoss] = Table(
    ".losses._settings_base:LossSettings",
    ".losses.custom:CustomLoss",
    entries={
        "log": Later(".losses.log_settings:Log"),
        "marginal-log": Later(".losses.marginal_log:MarginalLog"),
        "pseudo": Later(".losses.pseudo:PseudoLikelihood"),
        "piecewise": Later(".losses.piecewise:Piecewise"),
        "pseudo-em": Later(".losses.variational_em:VariationalEM"),
        "entropy": Later(".losses.entropy:EntropyRegularised"),
    },
)
LOG_LOSSES: Table[Log] = Table(".losses.log_settings:Log", entries={"log": Later(".losses.log_settings:Log")})
SOLVERS: Table[Solver] = Table(
    ".solvers._base:Solver",
    entries={
        "lbfgs": Later(".solvers.lbfgs:LBFGS"),
        "newton-cg": Later(".solvers.newton_cg:NewtonCG"),
        "block-jacobi": Later(".solvers.block_jacobi:BlockJacobi"),
        "subspace": Later(".solvers.subspace:Subspace"),
        "conjugate-gradients": Later(".solvers.conjugate:ConjugateGradients"),
        "meta-descent": Later(".solvers.meta_descent:MetaDescent"),
        "iterative-scaling": Later(".solvers.iterative_scaling:IterativeScaling"),
    },
)
KERNEL_SOLVERS: Table[Solver] = Table(
    ".solvers._base:Solver",
    entries={
        **SOLVERS.entries,
        "auto": Later(".solvers.lbfgs:LBFGS"),  # unless another suits the problem
        "exponentiated-gradient": Later(".solvers.exponentiated_gradient:ExponentiatedGradient"),
    },
)
# Elements of low rank are short beside the data: a long memory costs next to nothing, and saves a third of
# the iterations.
LOW_RANK_SOLVERS: Table[Solver] = Table(
    ".solvers._base:Solver",
    entries={
        **KERNEL_SOLVERS.entries,
        "auto": Later(".solvers.lbfgs:LBFGS", memory=30),
        "lbfgs": Later(".solvers.lbfgs:LBFGS", memory=30),
    },
)
MARGIN_SOLVERS: Table[MarginSolver | CuttingPlane | DualAscent | LinearProgramming] = Table(
    ".solvers._margin_base:MarginSolver",
    ".solvers.cutting_plane:CuttingPlane",
    ".solvers.dual_ascent:DualAscent",
    ".solvers.linear_programming:LinearProgramming",
    entries={
        "auto": Later(".solvers.cutting_plane:CuttingPlane"),  # unless another suits the problem
        "bcfw": Later(".solvers.frank_wolfe:BlockFrankWolfe"),
        "dual-ascent": Later(".solvers.dual_ascent:DualAscent"),
        "linear-program": Later(".solvers.linear_programming:LinearProgramming"),
        "n-slack": Later(".solvers.working_set:WorkingSet"),
        "one-slack": Later(".solvers.cutting_plane:CuttingPlane"),
        "subgradient": Later(".solvers.subgradient:Subgradient"),
    },
)
POSTERIORS: Table[PosteriorMethod] = Table(
    ".posterior._base:PosteriorMethod",
    entries={
        "laplace": Later(".posterior.laplace:Laplace"),
        "variational": Later(".posterior.variational:Variational"),
        "mcmc": Later(".posterior.slice_sampling:SliceSampling"),
    },
)
STRUCTURES: Table[Structure] = Table(
    ".structures.settings:Structure",
    entries={
        "chain": Later(".structures.settings:Chain"),
        "chain2": Later(".structures.settings:Chain", order=2),
        "segments": Later(".structures.segments:Segments"),
        "tree": Later(".structures.settings:Tree"),
        "graph": Later(".structures.graphs:Graph"),
    },
)
DECODERS: Table[Decoder] = Table(
    ".decoders._base:Decoder",
    entries={"viterbi": Later(".decoders.map:Viterbi"), "posterior": Later(".decoders.posterior:Posterior")},
)
APPROXIMATIONS: Table[Approximation] = Table(
    ".approximation._base:Approximation",
    entries={
        "cholesky": Later(".approximation.incomplete_cholesky:IncompleteCholesky"),
        "nystroem": Later(".approximation.nystroem:Nystroem"),
        "fourier": Later(".approximation.fourier:RandomFourier"),
    },
)
BASES: Table[Approximation | Selection] = Table(
    ".approximation._base:Approximation", ".selection._growing_base:Selection", entries=APPROXIMATIONS.entries
)
CONSTRAINTS: Table[Rule] = Table(
    ".constraints._base:Rule",
    entries={
        "iob2": Later(".constraints.tags:IOB2"),
        "iobes": Later(".constraints.tags:IOBES"),
        "bilou": Later(".constraints.tags:BILOU"),
        "bmes": Later(".constraints.tags:BMES"),
    },
)
TOPOLOGIES: Table[Rule] = Table(
    ".constraints._base:Rule",
    entries={
        **CONSTRAINTS.entries,
        "left-right": Later(".constraints.topologies:LeftRight"),
        "cyclic": Later(".constraints.topologies:Cyclic"),
    },
)
EMISSIONS: Table[Family | Emissions] = Table(
    ".emissions._base:Family",
    ".emissions._base:Emissions",
    entries={
        "gaussian": Later(".emissions.gaussian:DiagonalGaussian"),
        "gaussian-spherical": Later(".emissions.gaussian:SphericalGaussian"),
        "gaussian-full": Later(".emissions.gaussian:FullGaussian"),
        "gaussian-tied": Later(".emissions.gaussian:TiedGaussian"),
        "gaussian-mixture": Later(".emissions.mixture:GaussianMixture"),
        "categorical": Later(".emissions.categorical:Categorical"),
        "multinomial": Later(".emissions.multinomial:Multinomial"),
        "poisson": Later(".emissions.poisson:Poisson"),
        "bernoulli": Later(".emissions.bernoulli:Bernoulli"),
    },
)
VARIANTS: Table[Variant] = Table(
    ".online.mistakes:Variant",
    entries={
        "PA": Later(".online.mistakes:Variant.HARD"),
        "PA-I": Later(".online.mistakes:Variant.BOUNDED"),
        "PA-II": Later(".online.mistakes:Variant.SQUARED"),
    },
)


def loss_settings(loss: str | LossSettings | CustomLoss) -> LossSettings:
    """Look a loss up by its name, or take it as it is."""
    from .losses.custom import CustomLoss, CustomSettings

    found = choose(LOSSES, loss, "loss")
    return CustomSettings(found) if isinstance(found, CustomLoss) else found


structure_of = partial(choose, STRUCTURES, what="structure")
"""Look a structure up by its name, or take it as it is."""
