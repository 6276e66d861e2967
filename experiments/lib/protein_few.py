"""Few training chains: kernel CRFs beside support vector machines [lafferty2004, 5.2]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import Proteins, load_cb513, load_jpred4
from kernelfields.decoders import Posterior
from kernelfields.features.windows import stack_windows
from kernelfields.kernels import RBF

from .experiment import Report
from .folds import mean_of, pick
from .intervals import paired_interval
from .protein_fields import (
    EDGES,
    MARGINAL,
    VERTICES,
    Chains,
    FewChoices,
    FieldGrid,
    TuningSets,
    boundary_rule,
    choose_field,
)
from .protein_paths import CURVES, GREEDY, greedy_field
from .results import Row
from .scored import ScoredSequences, judge

SVM, RS126 = "SVM", "RS126 PSI-BLAST"
EDGE_COST, BOUNDARIES = ", edge cost", ", boundaries first"
DECODERS = {VERTICES: (EDGE_COST, BOUNDARIES), MARGINAL: (EDGE_COST,), GREEDY + EDGES: (EDGE_COST,)}
"""Those that models are tried with beside the most probable label."""


def _rs126() -> Proteins:
    """Load PSI-BLAST profiles, with a column that tells residues from what is beyond the ends of a chain."""
    found = load_cb513(rs126=True, psiblast=True)
    inside = [np.hstack([one, np.ones((len(one), 1), one.dtype)]) for one in found.profiles]
    return found._replace(profiles=inside)


LOADERS: Mapping[str, Callable[[], Proteins]] = {"JPred4": load_jpred4, RS126: _rs126}


@dataclass(frozen=True)
class FewSettings:
    """Training sets, and the values that settings are chosen from, on chains that are never tested on."""

    sets: list[dict[str, Any]]
    """Name, width of windows, values of γ, and whether cliques are selected, too."""
    sizes: list[int]
    """Training chains."""
    n_trials: int
    n_tuning: int
    """Training sets drawn to choose settings with."""
    held_chains: int
    """Chains for that choice, to train and to judge on."""
    test_chains: int
    """Most chains that a trial is tested on."""
    penalties: list[float]
    edge_penalties: list[float]
    edge_kernel_penalties: list[float]
    costs: list[float]
    """C of the SVM."""
    edge_weights: list[float]
    """Of a boundary missed, where a wrong label weighs 1."""
    least_q3: float
    """Points of Q3 that the edge cost may take while its weight is chosen."""
    cliques: int
    """Functions that a greedy selection takes, one by one."""
    shown: list[int]
    """Numbers of cliques in the table; risks are compared from the second on."""
    tol: float
    seed: int

    def grid(self, gammas: list[float]) -> FieldGrid:
        """Return what the settings of kernel CRFs are chosen from."""
        return FieldGrid(
            gammas,
            self.penalties,
            self.edge_penalties,
            self.edge_kernel_penalties,
            self.edge_weights,
            self.least_q3,
        )


class FewFound(NamedTuple):
    """What trials on one set of data with training sets of one size found."""

    data: str
    size: int
    chosen: dict[str, FewChoices]
    cost: tuple[float, float]
    """γ and C of the SVM."""
    trials: dict[str, list[dict[str, float]]]
    """Numbers of every model in every trial."""
    curves: dict[str, dict[str, list[list[float]]]]
    """Of greedy models, in every trial."""

    def lead(self, model: str, figure: str) -> tuple[float, float]:
        """Return the interval of the lead of a model over the SVM, trial by trial."""
        pairs = zip(self.trials[model], self.trials[SVM], strict=True)
        return paired_interval([a[figure] - b[figure] for a, b in pairs])

    @property
    def rows(self) -> list[Row]:
        """Return means, and intervals of the trial-by-trial differences from the SVM."""
        rows: list[Row] = []
        for model, trials in self.trials.items():
            row: dict[str, Any] = {"data": self.data, "chains": self.size, "model": model}
            for figure in ("Q3 %", "transitions %", "log-likelihood"):
                values = [trial[figure] for trial in trials if figure in trial]
                row[figure] = mean_of(values).mean if values else None
            for figure in ("Q3 %", "transitions %"):
                low, high = self.lead(model, figure)
                row[f"{figure} above SVM"] = None if model == SVM else f"{low:+.2f} … {high:+.2f}"
            rows.append(row)
        return rows

    @property
    def details(self) -> dict[str, Any]:
        """Return all of it as dictionaries and lists."""
        chosen = {
            name: {**one.settings._asdict(), "weights": [one.edge_weight, one.boundary_weight]}
            for name, one in self.chosen.items()
        }
        return {"chosen": chosen | {SVM: self.cost}, "trials": self.trials, "paths": self.curves}


def run_few(settings: FewSettings, report: Report) -> list[FewFound]:
    """Run trials on every set and size."""
    found = []
    for one in settings.sets:
        chains = _chains(LOADERS[one["name"]](), one["window"])
        order = np.random.default_rng(settings.seed).permutation(len(chains.X))
        held, free = order[: settings.held_chains], order[settings.held_chains :]
        for size in settings.sizes:
            few = FewTrials(chains, one, held, free, size, settings)
            found.append(few.run(report))
    return found


def _chains(proteins: Proteins, window: int) -> Chains:
    """Return, in windows, the chains that are in no test set of the authors and have no unknown state."""
    ids = [i for i, labels in enumerate(proteins.labels) if proteins.fold[i] and None not in labels]
    return Chains(
        stack_windows(pick(proteins.profiles, np.array(ids)), window), [proteins.labels[i] for i in ids]
    )


@dataclass
class FewTrials:
    """Trials with training sets of one size."""

    chains: Chains
    data: Mapping[str, Any]
    held: Array
    free: Array
    size: int
    settings: FewSettings

    def run(self, report: Report) -> FewFound:
        """Choose settings on held-out chains, then try every model on every training set."""
        what = f"{self.data['name']}, {self.size} chains"
        rng = np.random.default_rng(self.settings.seed)
        tuning = [self._draw(rng, self.held, len(self.held)) for _ in range(self.settings.n_tuning)]
        chosen = {}
        for name in (VERTICES, EDGES, MARGINAL):
            report(f"{what}: choosing settings of {name}")
            grid = self.settings.grid(self.data["gammas"])
            chosen[name] = choose_field(name, grid, tuning, self.settings.tol)
        found = FewFound(self.data["name"], self.size, chosen, self._choose_cost(tuning), {}, {})
        for trial in range(self.settings.n_trials):
            report(f"{what}: trial {trial + 1} of {self.settings.n_trials}")
            train, test = self._draw(rng, self.free, self.settings.test_chains)
            for name, figures in self._trial(found, train, test):
                found.trials.setdefault(name, []).append(figures)
        return found

    def _draw(self, rng: np.random.Generator, ids: Array, most: int) -> tuple[Chains, Chains]:
        """Return a training set, and chains that are not in it."""
        order = rng.permutation(ids)
        test = order[self.size : self.size + most]
        return self.chains.take(order[: self.size]), self.chains.take(test)

    def _trial(self, found: FewFound, train: Chains, test: Chains) -> Iterator[tuple[str, dict[str, float]]]:
        yield SVM, judge(test.y, svm(*found.cost, train)(test.X))
        for name, chosen in found.chosen.items():
            model = chosen.settings.field(name, self.settings.tol).fit(*train)
            yield from _decoded(name, model, chosen, test)
        for name in (VERTICES, EDGES) if self.data["greedy"] else ():
            chosen = found.chosen[EDGES]
            model, curves = greedy_field(name, chosen.settings, train, test, self.settings.cliques)
            mine = found.curves.setdefault(GREEDY + name, {curve: [] for curve in CURVES})
            for curve, values in curves.items():
                mine[curve].append(values)
            yield from _decoded(GREEDY + name, model, chosen, test)

    def _choose_cost(self, tuning: TuningSets) -> tuple[float, float]:
        def accuracy(pair: tuple[float, float]) -> float:
            return sum(judge(test.y, svm(*pair, train)(test.X))["Q3 %"] for train, test in tuning)

        return max(product(self.data["gammas"], self.settings.costs), key=accuracy)


def _decoded(
    name: str, model: Any, chosen: FewChoices, test: Chains
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the numbers of one model with its decoders."""
    scored = ScoredSequences.of(model, *test)
    log = {"log-likelihood": scored.log_likelihood()}
    yield name, scored.judged(Posterior()) | log
    weights = {EDGE_COST: chosen.edge_weight, BOUNDARIES: chosen.boundary_weight}
    for suffix in DECODERS.get(name, ()):
        rule = boundary_rule(len(scored.classes), weights[suffix])
        yield name + suffix, scored.judged(rule) | log


def svm(gamma: float, cost: float, train: Chains) -> Callable[[list[Array]], list[Any]]:
    """Return the predictions of an SVM that labels residues one by one, with an RBF kernel."""
    from sklearn.svm import SVC

    kernel, basis = RBF(gamma), np.concatenate(train.X)
    model = SVC(C=cost, kernel="precomputed")
    model.fit(kernel.block(basis, basis), np.concatenate([np.asarray(y) for y in train.y]))

    def predict(X: list[Array]) -> list[Any]:
        ends = np.cumsum([len(x) for x in X])[:-1]
        found = model.predict(kernel.block(np.concatenate(X), basis))
        return [part.tolist() for part in np.split(found, ends)]

    return predict
