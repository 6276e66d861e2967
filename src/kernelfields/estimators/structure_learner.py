"""Which cliques a model needs, found by what each could gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from ..checks import require_settings, shown
from ..data.labels import name_outputs
from ..data.types import Items, Outputs, Weights
from ..errors import InputError
from ..fitting.held_out import held_out_labels, require_both
from ..fitting.model_wrapper import ModelWrapper
from ..fitting.observers import ProgressLine
from ..fitting.run import starts_afresh
from ..fitting.settings import CHECKS
from ..models.clique_types import CliqueFamily, CliqueType
from ..models.labeller import Labels
from ..models.structure_search import StructureSearch, Trial, gap_of, value_of
from ..persistence.fields import Field, Kind
from ..persistence.savable import require_fitted
from .crf import CRF
from .kernel_crf import KernelCRF

MOST_LINES = 12
"""Candidates of one round that were not fitted, of which a report has a line for each."""


class StructureLearner(ModelWrapper):
    """Extend a CRF or a kernel CRF by cliques and kernels while that pays [altun2004exp, Remark 11].

    Every round bounds, for every candidate that is left, what it can gain, before it is fitted: by
    ‖∇_τ R(f)‖²/(2λ_τ) from one pass over the training set, or closer for pairs of labels
    (`LabelPairGains`). Candidates that cannot gain enough are not fitted. What was fitted stays
    if it kept the promise: if the objective fell by what it must, and the likelihood of held-out data, where
    there are some, rose. Graphs stay such that exact sums are possible: candidates that need a larger table
    than the structure's inference allows, ``Exact(max_table=...)``, are left out.

    Parameters
    ----------
    estimator : CRF or KernelCRF
        The model to begin with, for instance without edges; its ``tol`` should be small beside what
        candidates must gain.
    candidates : list of CliqueType or CliqueFamily
        Of sequences and trees: `Edges`, `Boundaries`, `SecondOrder`, `InputEdges`, `FurtherKernel`. Of
        ``MultiLabel(edges=[])``: `LabelPair`, or `LabelPairs` for all of them. Of
        ``Graph(unused=[...])`` and ``Grid(directions=[...])``: `UnusedCliques`, or `AllUnused`.
    worth : float or "bic"
        What a candidate must gain: a share of the objective; or ½ d log n, d the numbers it adds beyond those
        of fewer labels, n the instances of the training set.
    search : "bound" or "gain"
        Whether a round fits the candidate with the largest bound, and drops it if it does not pay; or
        as many as it takes to know which one gains most, which is what fitting all of them would choose.
    per_round : int
        With search="bound": how many candidates at most are fitted together, as long as their bounds
        add up; if they do not pay, the first of them by itself.
    verbose : int
        1 shows the rounds; that of ``estimator`` shows the fits.

    Attributes
    ----------
    classes_ : (L,) array
        Labels.
    model_ : CRF or KernelCRF
        The extended model.
    kept_ : list of str
        Names of the candidates it has, in the order in which they came.
    trials_ : list of Trial
        Every bound and what came of it; `report` writes it as a table.

    Examples
    --------
    >>> from kernelfields import KernelCRF, Parts, StructureLearner
    >>> from kernelfields.models.clique_types import Boundaries, Edges
    >>> X, y = [[[0.0], [0.0], [0.0]]] * 4, [["A", "B", "A"]] * 4
    >>> base = KernelCRF("rbf", penalty=0.1, parts=Parts(edges=None, boundaries=None))
    >>> StructureLearner(base, candidates=[Edges(), Boundaries()]).fit(X, y).kept_
    ['edges', 'boundaries']
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "model_": Kind((KernelCRF, CRF), large=True),
        "kept_": Kind(list),
        "trials_": Kind(list, each=Trial),
    }
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["warm_start", "checkpoint"], "it is a setting of estimator"),
        "X_unlabelled": "sequences without labels are items of y that are None",
    }

    def __init__(
        self,
        estimator: CRF | KernelCRF,
        *,
        candidates: Sequence[CliqueType | CliqueFamily],
        worth: float | str = 0.01,
        search: str = "bound",
        per_round: int = 1,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.candidates = candidates
        self.worth = worth
        self.search = search
        self.per_round = per_round
        self.verbose = verbose

    @starts_afresh
    def fit(
        self,
        X: Items,
        y: Outputs,
        *,
        sample_weight: Weights = None,
        X_dev: Items | None = None,
        y_dev: Outputs | None = None,
    ) -> Self:
        """Fit to labelled sequences, rows or graphs.

        Parameters
        ----------
        X, y
            Instances and their labels, as ``estimator.fit`` takes them.
        sample_weight : (S,) array, optional
            How many times each instance counts.
        X_dev, y_dev : optional
            Held-out instances, which have a say in what is kept.
        """
        self._require_settings()
        model = type(self.estimator)(**self.estimator.get_params(deep=False)).fit(
            X, y, sample_weight=sample_weight
        )
        if model.certificate_ is None:
            raise InputError(
                "What a candidate can gain is only known for convex losses and penalties above 0."
            )
        held_out = _held_out(X_dev, y_dev, model)
        search = StructureSearch(X, y, sample_weight, held_out, self.worth, isinstance(model, CRF))
        with ProgressLine(shown=self.verbose) as line:
            self.model_, self.kept_ = self._extended(model, search, line)
        self.trials_, self.classes_ = search.trials, self.model_.classes_
        return self

    def _extended(
        self, model: CRF | KernelCRF, search: StructureSearch, line: ProgressLine
    ) -> tuple[CRF | KernelCRF, list[str]]:
        """Return the model with all candidates that pay, and their names."""
        left = _members(self.candidates, model)
        kept: list[str] = []
        for number in range(1, len(left) + 1):
            line.say(f"round {number}: objective {model.objective_:.6g}, {len(kept)} kept, {len(left)} left")
            if self.search == "gain":
                best, left = search.by_gain(model, left, number)
            else:
                best, left = search.by_bound(model, left, number, int(self.per_round))
            if best is not None:
                model = best.model
                kept += best.candidate.names
            if not left or (best is None and self.search == "gain"):
                break
        return model, kept

    def _require_settings(self) -> None:
        require_settings(vars(self), CHECKS)
        if not isinstance(self.estimator, CRF | KernelCRF):
            kind = type(self.estimator).__name__
            raise InputError(f"estimator is {kind}; structures are learnt of CRF and KernelCRF.")
        if self.search == "gain" and self.per_round > 1:
            raise InputError("per_round is for search='bound'; search='gain' keeps one candidate per round.")

    def report(self) -> str:
        """Write what was tried, what it could have gained and did gain, and what was kept."""
        require_fitted(self)
        lines = ["round  candidate             at most      gained   held out  "]
        passed = [t for t in self.trials_ if t.verdict == "not fitted"]
        for t in self.trials_:
            alike = [one for one in passed if one.round == t.round]
            if len(alike) <= MOST_LINES or t not in alike:
                lines.append(_line(t.round, t.name, t.bound, t))
            elif t is alike[0]:
                most = max(one.bound for one in alike if one.bound is not None)
                lines.append(_line(t.round, f"{len(alike)} others", most, t))
        lines.append(f"Objective {value_of(self.model_):.6g}, certified gap {gap_of(self.model_):.2g}.")
        return "\n".join(lines)

    def _fitted_model(self) -> CRF | KernelCRF:
        return self.model_


def _held_out(X: Items | None, y: Outputs | None, model: CRF | KernelCRF) -> tuple[Any, Labels] | None:
    """Held-out sequences with labels that training had, None for others; None if there are no sequences."""
    if not require_both(X, y):
        return None
    inputs = model._read(X, None)
    labels = held_out_labels(model.structure_, y, inputs, model.classes_)
    return X, name_outputs(model.structure_, labels, inputs, model.classes_, inputs.links)


def _members(candidates: Sequence[CliqueType | CliqueFamily], model: CRF | KernelCRF) -> list[CliqueType]:
    """Return all candidates, each once; what is none is refused."""
    found: list[CliqueType] = []
    for k, one in enumerate(candidates):
        if not isinstance(one, CliqueType | CliqueFamily):
            raise InputError(f"candidates[{k}] is {shown(one)}; it must be a CliqueType or a CliqueFamily.")
        found += one.members(model.structure_) if isinstance(one, CliqueFamily) else [one]
    return [one for k, one in enumerate(found) if one not in found[:k]]


def _line(number: int, name: str, bound: float | None, trial: Trial) -> str:
    """Return a line of the report."""
    most = "           -" if bound is None else f"{bound:12.4g}"
    gain = "           -" if trial.gain is None else f"{trial.gain:12.4g}"
    held_out = "         -" if trial.held_out is None else f"{trial.held_out:+10.4g}"
    return f"{number:5}  {name:16} {most}{gain}{held_out}  {trial.verdict}"
