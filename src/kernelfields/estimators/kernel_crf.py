"""Conditional random fields in reproducing kernel Hilbert spaces."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from ..approximation import Approximation
from ..constraints import Rule
from ..data.reading import FeatureSetting
from ..data.types import Seed
from ..decoders import Decoder
from ..fitting.run_settings import Run
from ..losses import CustomLoss, LossSettings
from ..models.parts import Parts
from ..posterior import PosteriorMethod
from ..selection import Selection
from ..solvers import Solver
from ..structures import Structure
from ._kernel_model import KernelModel


@dataclass(eq=False, repr=False)
class KernelCRF(KernelModel):
    """Kernel conditional random field [lafferty2004; altun2004exp].

    The distribution over labellings of a sequence x is

        p(y|x) ∝ exp( Σ_t f(x_t, y_t) + b_{y_t} + Σ_t V_{y_t, y_{t+1}} + start_{y_1} + end_{y_T} )

    with f in the Hilbert space of the kernel [y = y′] k(x, x′), and minimises

        Σ_i −log p(y^i|x^i) + (λ/2)(‖f‖² + ‖b‖² + ‖start‖² + ‖end‖² + ‖V‖²).

    By the representer theorem f(x, y) = Σ_v α_{v,y} k(x_v, x) over all positions v of the training set.
    The problem is convex; every fit comes with a certificate of how far from the optimum it can be.
    Use it where labels depend on features in ways that are not linear and the training set has up to
    some ten thousand positions: the Gram matrix takes their number squared, times four bytes. Beyond
    that, ``basis`` takes functions of fewer observations.

    Parameters
    ----------
    kernel : name, Kernel, function, list, Weighted or dict
        k, as `kernels.as_kernel` reads it; "rbf" takes its width from the data.
        Several kernels in a list, with as many penalties, are
        several functions that add up, each with its own λ; they share one Gram matrix, that of
        Σ k_i/λ_i; in `Weighted`, with one penalty, they have learnt weights. A dictionary gives every label
        a kernel of its own [altun2004gp, 2].
    penalty : float, or list of floats
        λ, of all parts without one of their own; with several kernels these take the first.
    parts : Parts
        What differs from the parts f ("kernel"), b, start, end and V. ``Parts(bias=None)`` takes b away: with
        most kernels models are as good without, and the search is shorter.
        ``Parts(edges=FreeScores(penalty=0.1))`` gives V a penalty of its own. A new name adds a function of
        cliques: ``both_ends=KernelScores("rbf", on="edge", view="all")`` of label pairs and the observations
        of both ends [lafferty2004]. ``edge_kernel=KernelScores()`` adds g(x_t, y_t, y_{t+1}) with the kernel
        of f, whose Gram matrix then serves both. ``kernel=KernelScores(labels=K)`` has the kernel K, an
        (L, L) array with rows as in ``classes_``, in the place of [y = y′]: labels that share what they
        learn. ``FixedScores(q)`` adds what is known beforehand. ``norm=`` of a part is a further penalty that
        is not squared; kernel expansions take ``SpaceNorm(ε)`` of ``objective``, ε‖f‖. See `Parts`.
    features : optional
        For tokens instead of arrays, as in `CRF`.
    structure : "chain", "chain2", "segments", "tree", "graph" or Structure
        What labels depend on, as in `CRF`.
    classes : list, optional
        All labels that there are, in the order of ``classes_``, also those that the training set happens
        to lack; if not given, those that occur.
    loss : "log", "marginal-log", "pseudo", "piecewise", "pseudo-em", "entropy", or settings
        What is minimised: −log p(y|x) of whole labellings; or Σ_t −log p(y_t|x), the log loss of every
        label by itself, which fits decoding label by label, and is not convex: no certificate; or, for
        graphs where sums over labellings are out of reach, Σ_t −log p(y_t | labels around it, x), or
        the log loss of every clique by itself, both convex, leaving out cliques with a label that was not
        observed. ``losses.VariationalEM(...)`` is the first of these, learnt in turn with beliefs about
        labels that were not observed: for few labels in a large graph. ``losses.EntropyRegularised(γ)``
        adds γ times the entropy of sequences without any label to the first: not convex, either.
        ``losses.Log(cost=…)`` has a cost inside, other losses have class weights, as in `CRF`.
    constraints : "iob2", "iobes", "bilou", "bmes", Rule or None
        Label pairs, starts and ends that cannot occur, as in `CRF`.
    basis : "cholesky", "nystroem", "fourier", Approximation, Selection, optional
        What f is made of instead of an expansion over all positions. An approximation has functions of a
        subspace of fixed dimension, or random features: time and memory grow with the number of positions,
        not with its square. Names stand for `IncompleteCholesky`, `Nystroem` and `RandomFourier` of
        ``approximation`` at rank 500. A selection has functions of some labelled cliques, and no other kernel
        values: `GreedyCliques` (of all kernels and clique types), `SGPS`, `SGSA`, `WholeSequences`.
    posterior : "laplace", "variational", "mcmc", PosteriorMethod, optional
        Average probabilities over functions drawn from the posterior exp(−R), instead of taking the most
        probable one: see `posterior`. ``posterior_`` has them, and the evidence of the settings.
    warm_start : bool
        Whether `fit` starts from the function of the last one, if labels are the same: from its
        coefficients at observations that the training set has again. With a selection: keep what it takes
        to go on, and go on from there when `fit` is called again with the same data, with a larger size,
        say, or after Ctrl-C. Not with an approximation.
    solver : "auto", "exponentiated-gradient", "lbfgs", "newton-cg" or Solver
        How to minimise: "auto" is `ExponentiatedGradient` for chains with one kernel and the log loss, whose
        Gram matrix fits into memory twice, else L-BFGS. The other names that `CRF` knows are known here, too.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides: the best labelling as a whole, or label by label.
    tol : float
        Relative certified gap at which to stop.
    max_iter : int
        Limit of iterations; reaching it is a `ConvergenceWarning`.
    random_state : int, RandomState or None
        Seed of `sample`, and of approximations that draw; fitting has no other randomness.
    run : Run
        Heeds all but ``quick_start``; ``checkpoint`` not with a selection, which goes on by ``warm_start``.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_ : (L,) array
        Labels, in the order of all arrays over labels.
    basis_ : (n, D) array or sparse matrix
        Observations of the training set that have a coefficient, each once. Of the linear kernel, with
        fewer features than observations, the unit vectors: ``dual_coef_`` are weights. Of a
        ``FeatureMapKernel`` with fewer features than observations, those of them whose features span
        those of all: the model is solved in weights, and this is the same function as an expansion.
        A kernel on labels, the identity, asks for an expansion over all observations there, too.
    basis_origin_ : (n, 2) array
        Sequence and position of the training set where each of them occurs first; −1 for landmarks that
        are no observations. None without a basis.
    dual_coef_ : (n, L) array
        Their coefficients: f(x, y) = Σ_o k(x, basis_o) dual_coef_{o,y}; α, if there is no kernel on
        labels, and (parts(y) − marginals)/λ at the optimum. ``edge_dual_coef_`` (n, L, L) with the part
        "edge_kernel".
    intercept_, transitions_, start_, end_ : arrays
        b (L,), V (L, L), scores of the first and of the last label (L,), zeros for what was taken
        away; ``second_order_`` (L, L, L) with "chain2".
    kernel_ : Kernel, or dict of kernels by label
        k as it was used, settled on the observations if it looks at them first (`Kernel.on`);
        ``edge_kernel_`` that of edges.
    kernel_weights_ : (M,) array or None
        μ of `Weighted` kernels. ``weights_certificate_`` has, for weights by certificate, the objective of
        the model, what no other weights and functions come below, and the gap.
    forbidden_ : Forbidden or None
        What ``constraints`` forbids among ``classes_``, as masks.
    fourier_ : FourierMap or None
        With random Fourier features: x ↦ φ(x), and f(x, y) = ⟨dual_coef_y, φ(x)⟩; ``basis_`` is None.
    certificate_ : Certificate or None
        Value, lower bound and gap; None where no bound exists (unobserved labels, or a penalty of 0).
    certificate_space_ : "full", "approximation" or "selection"
        What the bound is a bound over: all functions of the kernel's space, or only those of the
        approximation or selection. `full_gap` says how far a model of the latter kind is from the former.
    path_ : list of SelectionStep
        With a selection: number of functions, value, gap, and what held-out data said, step by step.
    selected_ : dict of Atoms
        With a selection: the functions, by kernel: positions of the training set, or cliques of a type
        that see more than their first position, and labels.
    objective_ : float
        Loss and penalty of the model, with a certificate or without; ``objective_path_`` has those before
        every step of EM, where labels own hidden states.
    mismatch_ : dict
        For every part of the model the distance between expected and observed features, summed over the
        training set, in the dual of the norm of the part, or in that of the space. For
        means instead of sums, divide it by the number of sequences: that is the ε in "maximum entropy with
        moments matched up to ε" that the penalty stands for.
    n_iter_, stop_reason_ : int, str
        How and why the search ended.
    provenance_ : Provenance
        Hash and size of the training set, date, versions.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Examples
    --------
    >>> from kernelfields import KernelCRF
    >>> from kernelfields.kernels import RBF
    >>> X = [[[0.0], [1.0], [2.0]], [[1.0], [0.0]]]
    >>> y = [["A", "B", "A"], ["B", "A"]]
    >>> KernelCRF(RBF(gamma=1.0), penalty=0.1).fit(X, y).predict([[[1.0], [0.0], [2.0]]])
    [['B', 'A', 'A']]
    """

    _heeds: ClassVar[frozenset[str]] = frozenset(
        {"dtype", "memory_limit", "patience", "callback", "checkpoint", "checkpoint_seconds"}
    )

    kernel: Any = "rbf"
    _: KW_ONLY
    penalty: Any = 1.0
    parts: Parts = Parts()
    features: FeatureSetting = None
    structure: str | Structure = "chain"
    classes: Sequence[Hashable] | None = None
    loss: str | LossSettings | CustomLoss = "log"
    constraints: str | Rule | None = None
    basis: str | Approximation | Selection | None = None
    posterior: str | PosteriorMethod | None = None
    warm_start: bool = False
    solver: str | Solver = "auto"
    decoder: str | Decoder = "viterbi"
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0
