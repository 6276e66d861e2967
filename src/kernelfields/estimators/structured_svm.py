"""Structured support vector machines."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..checks import each, one_of, require_positive, require_settings
from ..constraints import Rule
from ..data.reading import FeatureSetting
from ..data.training import Training
from ..data.types import Items, Lengths, Outputs, Seed, Weights
from ..decoders import Decoder
from ..errors import InputError
from ..fitting.run import starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..losses.hinge_settings import HingeSettings
from ..models.attributes import learnt_model
from ..models.fit.margin import KernelFunctions, LinearFunctions, MarginFit
from ..models.fit.steps import FitArguments, ObjectiveModel, Reader
from ..models.kernel_problem import kernel_reader
from ..models.kernel_scorers import kernel_model
from ..models.kernel_settings import kernel_settings
from ..models.learnt import MARGIN
from ..models.model import Model
from ..models.parts import FixedScores, Part, Parts, looked_at, parts_of, require_features
from ..solvers import CuttingPlane, DualAscent, LinearProgramming, MarginSolver
from ..structures import Structure
from ..tables import MARGIN_SOLVERS, choose


@dataclass(eq=False, repr=False)
class StructuredSVM(ObjectiveModel):
    """Structured support vector machine: hidden Markov SVM, max-margin Markov network.

    Scores of labellings are those of `CRF`, or with a kernel those of `KernelCRF`; it minimises

        Σ_i max_ŷ H_i(ŷ) + (λ/2)(‖w‖² + ‖b‖² + ‖start‖² + ‖end‖²) + (λ_e/2)‖V‖²

    with H the violation of a margin between y and ŷ: Δ(y, ŷ) + score(ŷ) − score(y) with margin rescaling,
    Δ(y, ŷ)(1 + score(ŷ) − score(y)) with slack rescaling, 1 + score(ŷ) − score(y) for every ŷ ≠ y with
    the 0/1 cost. Δ is the task cost. In the notation ½‖w‖² + C Σ ξ, λ is 1/C. Every search for the worst
    ŷ is exact, and every fit comes with its duality gap; on graphs that are only searched, planes and bounds
    of the search give a gap of the same objective, which closes as far as labellings are proved best.
    Unlike the log loss, the hinge loss ignores labellings beyond the margin: kernel models are sparse. Scores
    are no log-probabilities, so that probabilities derived from them are not calibrated; use a CRF for
    those, or `recalibrate`.

    Parameters
    ----------
    kernel : kernel, optional
        k, as in `KernelCRF`; linear functions of the features, kept as weights, if not given.
    penalty : float
        λ.
    parts : Parts
        What differs from the default parts, as in `CRF`; `FixedScores` are added to what is learnt.
    norm : "squared" or "l1"
        Whether penalties are (λ/2)‖·‖², or λ‖·‖₁ of every part: then most weights are zero, and the fit is a
        linear program, for small problems without a kernel; with "linear-program" only.
    rescaling : "margin", "slack", "zero-one" or "relaxed"
        Which loss. Slack rescaling takes T times as long for sequences of length T; for pairs and parses it
        is searched with a bound (see `losses.SearchedSlackHinge`). "relaxed" is margin
        rescaling over the local polytope of graphs, a convex surrogate above the loss, by linear programs
        (see `losses.RelaxedMarginHinge`); with "one-slack" only.
    cost : "hamming", "zero-one", dict, array, ErrorFunction, LabellingCost, PairCost or callable
        Δ: the number of wrong labels; 1 for whatever is not right; the number with a weight for each
        true label; an (L, L) table of true and predicted labels; an (L, L, L, L) table of pairs
        of neighbours (margin rescaling only); a function of the number of wrong labels; or a function
        of two arrays of labels with values in [0, 1] (`LabellingCost` for other bounds), searched among
        the best labellings until the worst is proved, refused where it cannot be. Slack rescaling
        needs whole numbers, but of functions. `PairCost` prices pairs of a `Matching` that are missing or
        superfluous.
    features : optional
        For tokens instead of arrays, as in `CRF`.
    structure : "chain", "chain2", "segments", "tree", "graph" or Structure
        What labels depend on, as in `CRF`; "chain2" and "segments" do not go with slack rescaling.
    classes : list, optional
        All labels that there are, in the order of ``classes_``, also those that the training set happens
        to lack; if not given, those that occur.
    constraints : "iob2", "iobes", "bilou", "bmes", Rule or None
        Label pairs, starts and ends that cannot occur, as in `CRF`.
    solver : "auto", "dual-ascent", "one-slack", "bcfw", "n-slack", "subgradient", "linear-program", \
MarginSolver, CuttingPlane, DualAscent or LinearProgramming
        Dual coordinate ascent in native passes on one core, for margin rescaling on chains and trees, and
        much the soonest there if weights are many; cutting planes of the whole objective, which search all
        sequences in one native call on all cores, for every structure and loss; block-coordinate Frank-Wolfe;
        the working-set algorithm with a slack variable for every sequence; stochastic subgradients. All reach
        the same optimum. "auto" is ascent with a kernel, or with at least as many weights as there are
        positions, where it suits, and cutting planes elsewhere, also where features are dense and λ is large;
        where ascent stalls or comes to ``max_iter``, cutting planes go on from there, as many rounds again.
        "linear-program" is for ``norm="l1"``, and the only one.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Limit of passes or rounds; reaching it is a `ConvergenceWarning`.
    warm_start : bool
        Whether `fit` starts from where the last one ended, for a path of penalties: from its dual variables,
        or with cutting planes from the function they stand for, which saves little. If data, weights,
        constraints or other settings of the loss or of the functions have changed, it starts from nothing.
    random_state : int, RandomState or None
        Seed of the order of sequences, and of `sample`.
    run : Run
        Heeds ``dtype``, ``memory_limit`` and ``callback``: primal ``value``, dual ``lower_bound``.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_ : (L,) array
        Labels, in the order of all arrays over labels.
    coef_ : (L, D) array
        Weights, without a kernel; ``basis_`` (n, D), the support vectors, and ``dual_coef_`` (n, L) with
        one. ``intercept_``, ``transitions_``, ``start_``, ``end_``, ``second_order_`` as in `CRF`.
    certificate_ : Certificate
        Primal value, dual value, and the gap between them.
    history_ : list of Round
        Number of constraints, their violation ε and the gap, iteration by iteration.
    n_iter_, stop_reason_ : int, str
        How and why the search ended.

    Examples
    --------
    >>> from kernelfields import StructuredSVM
    >>> X = [[[0.0], [1.0], [1.0]], [[1.0], [0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"]]
    >>> svm = StructuredSVM(penalty=0.1).fit(X, y)
    >>> svm.predict([[[1.0], [0.0], [0.0]]])
    [['B', 'A', 'A']]
    >>> svm.certificate_.relative_gap <= 1e-3
    True
    """

    probabilistic: ClassVar[bool] = False
    posterior: ClassVar[None] = None  # type: ignore[misc]  # it has no such setting
    _learnt = MARGIN
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ["X_dev", "y_dev"], "solvers stop by their duality gap; let held-out data choose the penalty"
        ),
        **dict.fromkeys(["checkpoint"], "Ctrl-C keeps what was reached, and warm_start goes on"),
    }
    _heeds: ClassVar[frozenset[str]] = frozenset({"dtype", "memory_limit", "callback"})
    _transient = ("_last",)

    kernel: Any = None
    _: KW_ONLY
    penalty: float = 1.0
    parts: Parts = Parts()
    norm: str = "squared"
    rescaling: str = "margin"
    cost: Any = "hamming"
    features: FeatureSetting = None
    structure: str | Structure = "chain"
    classes: Sequence[Hashable] | None = None
    constraints: str | Rule | None = None
    solver: str | MarginSolver | CuttingPlane | DualAscent | LinearProgramming = "auto"
    decoder: str | Decoder = "viterbi"
    tol: float = 1e-3
    max_iter: int = 1000
    warm_start: bool = False
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(
        self,
        X: Items,
        y: Outputs,
        *,
        lengths: Lengths = None,
        sample_weight: Weights = None,
        X_unlabelled: Items | None = None,
    ) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X, lengths, sample_weight
            As in `CRF.fit`.
        y : list of label sequences
            Labels, all of them observed; None or −1 in the place of a label sequence says that there are
            none, and the sequence is left out of the loss.
        X_unlabelled : list, optional
            Sequences without labels, for kernels that look at observations first, as in `KernelCRF`.
        """
        return self._fit(FitArguments(X, y, lengths, sample_weight, X_unlabelled=X_unlabelled))

    def _objective(self, given: FitArguments) -> MarginFit:
        special = {"penalty": each(require_positive)}
        require_settings(vars(self), {**CHECKS, **special, "norm": one_of(["squared", "l1"])})
        self._require_solvable()
        self._require_penalties()
        training = self._training(given)
        if self.kernel is None:
            return MarginFit(self, LinearFunctions(self, training))
        return MarginFit(self, KernelFunctions(self, kernel_settings(self), training))

    def _training(self, given: FitArguments) -> Training:
        """Read and check a training set, and sequences without labels as far as kernels look at them."""
        loss = HingeSettings(self.rescaling, self.cost)
        if self.kernel is not None:
            return kernel_reader(self, kernel_settings(self), loss).read(given)
        own = looked_at(self.parts)
        return Reader(self.structure, self.features, loss, self.constraints, self.classes, own).read(given)

    def _require_solvable(self) -> None:
        """Refuse a solver of another problem."""
        linear = isinstance(choose(MARGIN_SOLVERS, self.solver, "solver"), LinearProgramming)
        if linear != (self.norm == "l1"):
            raise InputError("norm='l1' and solver='linear-program' go together, and with no other.")
        if linear and self.kernel is not None:
            raise InputError("norm='l1' is for linear functions of the features; leave out the kernel.")

    def _require_penalties(self) -> None:
        """Refuse parts without one, by which duals divide, and parts with norms."""
        given = parts_of(self, Part, FixedScores)
        if self.kernel is None:
            require_features(given)
            if given.get("kernel") is not None:
                raise InputError("The part 'kernel' needs a kernel; give it as kernel= of the model.")
        for name, part in given.items():
            if isinstance(part, Part) and part.penalty == 0:
                raise InputError(f"The penalty of the part {name!r} is 0; StructuredSVM needs one above 0.")
            if isinstance(part, Part) and part.norm is not None:
                raise InputError(f"The part {name!r} has a norm; StructuredSVM has norm='l1' for all parts.")

    def _model(self) -> Model:
        if getattr(self, "coef_", None) is None:
            return kernel_model(self)
        return learnt_model(self, dtype=np.float64)
