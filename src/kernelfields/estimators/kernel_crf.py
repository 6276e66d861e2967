"""Conditional random fields in reproducing kernel Hilbert spaces."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..approximation import Approximation
from ..constraints import Rule
from ..data.base_measure import BaseMeasure
from ..decoders import Decoder
from ..losses import CustomLoss, LossSettings
from ..models.clique_kernels import CliqueKernel
from ..objective import Norm
from ..posterior import PosteriorMethod
from ..selection import Selection
from ..solvers import Progress, Solver
from ..structures import Structure
from ._kernel_model import KernelModel


@dataclass(eq=False, repr=False)
class KernelCRF(KernelModel):
    """Kernel conditional random field [lafferty2004; altun2004exp].

    The distribution over labellings of a sequence x is

        p(y|x) ∝ exp( Σ_t f(x_t, y_t) + b_{y_t} + Σ_t V_{y_t, y_{t+1}} + start_{y_1} + end_{y_T} )

    with f in the Hilbert space of the kernel [y = y′] k(x, x′), and minimises

        Σ_i −log p(y^i|x^i) + (λ/2)(‖f‖² + ‖b‖² + ‖start‖² + ‖end‖²) + (λ_e/2)‖V‖².

    By the representer theorem f(x, y) = Σ_v α_{v,y} k(x_v, x) over all positions v of the training set.
    The problem is convex; every fit comes with a certificate of how far from the optimum it can be.
    Use it where labels depend on features in ways that are not linear and the training set has up to
    some ten thousand positions: the Gram matrix takes their number squared, times four bytes. Beyond
    that, ``approximation`` makes do with a basis of fixed size.

    Parameters
    ----------
    kernel : name, Kernel, function, list or dict
        k, as `kernels.as_kernel` reads it; "rbf" takes its width from the data.
        Several kernels in a list, with as many penalties, are
        several functions that add up, each with its own λ; they share one Gram matrix, that of
        Σ k_i/λ_i. A dictionary gives every label a kernel of its own [altun2004gp, 2].
    penalty : float, or list of floats
        λ; b and the scores of first and last labels take the first of several.
    kernel_weights : "alignment", "certificate" or None
        How several kernels in a list are weighed, with one penalty: k = Σ_m (μ_m/s_m) k_m with μ ≥ 0 and
        Σ_m μ_m = 1, s_m the mean squared distance of labelled observations from their mean in the space of
        k_m. "alignment" chooses μ so that k is most aligned with the labels of single positions
        (`kernels.alignment_weights`), before anything is fitted; "certificate" so that the objective is
        smallest, functions and weights together, as multiple kernel learning does: one Gram matrix in double
        per kernel. None adds kernels up, or weighs them by several penalties.
    edge_penalty : float, optional
        λ_e; as ``penalty`` if not given.
    features : optional
        For tokens instead of arrays, as in `CRF`.
    structure : "chain", "chain2", "segments", "tree", "graph" or Structure
        What labels depend on, as in `CRF`.
    second_order_penalty : float, optional
        Penalty of U; as ``edge_penalty`` if not given.
    fit_intercept : bool
        Whether there is b; with most kernels False is as good, and the search is shorter.
    boundaries : bool
        Whether there are scores of the first and the last label.
    edges : bool
        Whether there is V.
    edge_kernel : kernel or True, optional
        Edges with input: adds g(x_t, y_t, y_{t+1}), g in the space of [(y, y⁺) = (y′, y′⁺)] k_e(x, x′)
        with the penalty of edges. True stands for ``kernel``, whose Gram matrix then serves both.
    edge_kernel_penalty : float, optional
        λ of g, where it is not that of V: pairs of labels are few and seen often, g is as rich as f.
    clique_kernels : CliqueKernel or list of them, optional
        Further functions of cliques, each with its kernel, penalty and view: with
        ``CliqueKernel("edge", "rbf", view="all")`` a function of label pairs sees the observations of both
        ends [lafferty2004]. Not with ``selection``.
    label_kernel : (L, L) array, optional
        k_Y instead of [y = y′], rows as in ``classes_``: labels that share what they learn.
    norms : dict of norms, optional
        A further penalty on parts of the model that is not squared, as in `CRF`, by their names
        ("kernel", "edge_kernel", "bias", "boundaries", "edges", "second_order"). Kernel expansions take
        ``SpaceNorm(ε)`` of ``objective``, ε‖f‖; approximations the others, too. Not with ``selection``.
    classes : list, optional
        All labels that there are, in the order of ``classes_``, also those that the training set happens
        to lack; if not given, those that occur.
    class_weight : dict, "balanced" or None
        Cost of getting each label wrong, inside the loss (softmax-margin), as in `CRF`.
    cost : "hamming", dict or array, optional
        Δ(y, ŷ) inside the loss, as in `CRF`.
    loss : "log", "marginal-log", "pseudo", "piecewise", "pseudo-em", "entropy", or settings
        What is minimised: −log p(y|x) of whole labellings; or Σ_t −log p(y_t|x), the log loss of every
        label by itself, which fits decoding label by label, and is not convex: no certificate; or, for
        graphs where sums over labellings are out of reach, Σ_t −log p(y_t | labels around it, x), or
        the log loss of every clique by itself, both convex, leaving out cliques with a label that was not
        observed. ``losses.VariationalEM(...)`` is the first of these, learnt in turn with beliefs about
        labels that were not observed: for few labels in a large graph. ``losses.EntropyRegularised(γ)``
        adds γ times the entropy of sequences without any label to the first: not convex, either. With all
        but these two ``class_weight`` weighs positions.
    constraints : "iob2", "iobes", "bilou", "bmes", Rule or None
        Label pairs, starts and ends that cannot occur, as in `CRF`.
    base_measure : mapping, callable or CliqueMeasures, optional
        log q, added to the scores and not learnt: log-odds by label, a function from an (N, D) matrix of
        observations to an (N, L) array with columns as in ``classes_``, or `CliqueMeasures` for
        label pairs and triples, too.
    approximation : "cholesky", "nystroem", "fourier", Approximation, optional
        Instead of expansions over all positions, functions of a subspace of fixed dimension, or random
        features: time and memory grow with the number of positions, not with its square. The names
        stand for `IncompleteCholesky`, `Nystroem` and `RandomFourier` of ``selection`` at rank 500.
    selection : Selection, optional
        Instead of expansions over all positions, functions of labelled cliques that are selected one after
        the other: `GreedyCliques`, `SGPS`, `SGSA` or `WholeSequences` of ``selection``. Kernel values are
        computed for these only. With `GreedyCliques`, several kernels in a list have functions of their own.
    posterior : "laplace", "variational", "mcmc", PosteriorMethod, optional
        Average probabilities over functions drawn from the posterior exp(−R), instead of taking the most
        probable one: see `posterior`. ``posterior_`` has them, and the evidence of the settings.
    warm_start : bool
        Whether `fit` starts from the function of the last one, if labels are the same: from its
        coefficients at observations that the training set has again. With ``selection``: keep what it takes
        to go on, and go on from there when `fit` is called again with the same data, with a larger size,
        say, or after Ctrl-C. Not with ``approximation``.
    solver : "auto", "exponentiated-gradient", "lbfgs", "newton-cg" or Solver
        How to minimise: "auto" is `ExponentiatedGradient` for chains with one kernel and the log loss, whose
        Gram matrix fits into memory twice, else L-BFGS. The other names that `CRF` knows are known here, too.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides: the best labelling as a whole, or label by label.
    tol : float
        Relative certified gap at which to stop.
    max_iter : int
        Limit of iterations; reaching it is a `ConvergenceWarning`.
    patience : int
        With held-out data: iterations without improvement there after which to stop.
    dtype : "float32" or "float64"
        Precision of observations and, where that can certify ``tol``, of Gram matrix and search;
        double if labels are missing, the loss is not convex, or kernels compare objects. The
        certificate is in double, kernel values computed anew.
    memory_limit : int, optional
        Bytes that a Gram matrix may take, half of what is available if not given; a larger one is
        computed anew for every product. With an approximation, bytes beyond which its columns go to a file.
    checkpoint : path, optional
        File in which the state of the search is kept while `fit` runs, at most ``checkpoint_seconds``
        old, as in `CRF`; not with ``selection``, which goes on by ``warm_start``.
    checkpoint_seconds : float
        See there.
    random_state : int, RandomState or None
        Seed of `sample`, and of approximations that draw; fitting has no other randomness.
    callback : callable, optional
        Called with a `Progress` record after every iteration.
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
        labels, and (parts(y) − marginals)/λ at the optimum. ``edge_dual_coef_`` (n, L, L) with
        ``edge_kernel``.
    intercept_, transitions_, start_, end_ : arrays
        b (L,), V (L, L), scores of the first and of the last label (L,), zeros for what is switched
        off; ``second_order_`` (L, L, L) with "chain2".
    kernel_ : Kernel, or dict of kernels by label
        k as it was used, settled on the observations if it looks at them first (`Kernel.on`);
        ``edge_kernel_`` that of edges.
    kernel_weights_ : (M,) array or None
        μ, with ``kernel_weights``. ``weights_certificate_`` has, for weights by certificate, the objective of
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
        With ``selection``: number of functions, value, gap, and what held-out data said, step by step.
    selected_ : dict of Atoms
        With ``selection``: the functions, positions of the training set and labels, by kernel.
    objective_ : float
        Loss and penalty of the model, with a certificate or without; ``objective_path_`` has those before
        every step of EM, where labels own hidden states.
    mismatch_ : dict
        For every part of the model the distance between expected and observed features, summed over the
        training set, in the dual of the norm that ``norms`` or ``l1`` penalise, or in that of the space. For
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

    kernel: Any = "rbf"
    _: KW_ONLY
    penalty: Any = 1.0
    kernel_weights: str | None = None
    edge_penalty: float | None = None
    features: Any = None
    structure: str | Structure = "chain"
    second_order_penalty: float | None = None
    fit_intercept: bool = True
    boundaries: bool = True
    edges: bool = True
    edge_kernel: Any = None
    edge_kernel_penalty: float | None = None
    clique_kernels: CliqueKernel | Sequence[CliqueKernel] | None = None
    label_kernel: Any = None
    norms: Mapping[str, Norm] | None = None
    classes: Sequence[Hashable] | None = None
    class_weight: dict[Any, float] | str | None = None
    cost: Any = None
    loss: str | LossSettings | CustomLoss = "log"
    constraints: str | Rule | None = None
    base_measure: BaseMeasure = None
    approximation: str | Approximation | None = None
    selection: Selection | None = None
    posterior: str | PosteriorMethod | None = None
    warm_start: bool = False
    solver: str | Solver = "auto"
    decoder: str | Decoder = "viterbi"
    tol: float = 1e-3
    max_iter: int = 1000
    patience: int = 5
    dtype: Any = "float32"
    memory_limit: Any = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_seconds: float = 30.0
    random_state: Any = None
    callback: Callable[[Progress], None] | None = None
    verbose: int = 0
