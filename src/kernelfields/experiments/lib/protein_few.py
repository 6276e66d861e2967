"""Few training chains: kernel CRFs beside support vector machines [lafferty2004, 5.2]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...datasets import Proteins, load_cb513, load_jpred4
from ...decoders import BayesRule, Posterior
from ...estimators import KernelCRF
from ...features.windows import stack_windows
from ...kernels import RBF, Kernel
from ...selection import GreedyCliques
from .experiment import Report
from .folds import mean_of, pick
from .intervals import paired_interval
from .results import Row
from .scored import ScoredSequences, judge

SVM, VERTICES, EDGES, MARGINAL = "SVM", "vertices", "vertices and edges", "vertices, label by label"
GREEDY = "greedy "
EDGE_COST, BOUNDARIES = ", edge cost", ", boundaries first"

Field = Callable[[Kernel, float, float, float], Any]
"""From a kernel, the penalties of vertices and edges and a tolerance to a model."""

FIELDS: Mapping[str, Field] = {
    VERTICES: lambda kernel, penalty, edge, tol: KernelCRF(
        kernel, penalty=penalty, edge_penalty=edge, tol=tol, fit_intercept=False, decoder="posterior"
    ),
    EDGES: lambda kernel, penalty, edge, tol: KernelCRF(
        kernel,
        penalty=penalty,
        edge_penalty=edge,
        edge_kernel=True,
        tol=tol,
        fit_intercept=False,
        decoder="posterior",
    ),
    MARGINAL: lambda kernel, penalty, edge, tol: KernelCRF(
        kernel,
        penalty=penalty,
        edge_penalty=edge,
        loss="marginal-log",
        tol=tol,
        fit_intercept=False,
        decoder="posterior",
    ),
}

LOADERS: Mapping[str, Callable[[], Proteins]] = {
    "JPred4": load_jpred4,
    "RS126": lambda: load_cb513(rs126=True),
}


@dataclass(frozen=True)
class FewSettings:
    """Training sets, and settings chosen on chains that are never tested on."""

    sets: list[dict[str, Any]]
    """Name, width of windows and γ of the RBF kernel."""
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
    costs: list[float]
    """C of the SVM."""
    edge_weights: list[float]
    """Of a boundary missed, where a wrong label weighs 1."""
    least_q3: float
    """Points of Q3 that the edge cost may take while its weight is chosen."""
    cliques: int
    """Functions that a greedy selection takes, of all labellings of vertices, or of vertices and edges."""
    step: int
    """Of them at once."""
    tol: float
    seed: int


class Chains(NamedTuple):
    """Sequences with labels."""

    X: list[Array]
    y: list[Any]

    def take(self, ids: Array) -> Chains:
        """Return some of the chains."""
        return Chains(pick(self.X, ids), pick(self.y, ids))


class FewChoices(NamedTuple):
    """The settings chosen for one model."""

    penalty: float
    edge_penalty: float
    edge_weight: float
    """Finds most boundaries among those that cost little Q3."""
    boundary_weight: float
    """Finds most boundaries."""


def run_few(settings: FewSettings, report: Report) -> tuple[list[Row], dict[str, Any]]:
    """Run trials on every set and size; return the rows of the table, and the numbers of every trial."""
    rows: list[Row] = []
    trials = {}
    for one in settings.sets:
        chains = _chains(LOADERS[one["name"]](), one["window"])
        order = np.random.default_rng(settings.seed).permutation(len(chains.X))
        held, free = order[: settings.held_chains], order[settings.held_chains :]
        for size in settings.sizes:
            few = FewTrials(chains, RBF(one["gamma"]), held, free, size, settings)
            found = few.run(f"{one['name']}, {size} chains", report)
            trials[f"{one['name']} {size}"] = {
                "chosen": {name: list(chosen) for name, chosen in few.chosen.items()},
                "trials": found,
                "paths": few.paths,
            }
            rows += _rows(one["name"], size, found)
    return rows, trials


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
    kernel: RBF
    held: Array
    free: Array
    size: int
    settings: FewSettings

    def run(self, what: str, report: Report) -> dict[str, list[dict[str, float]]]:
        """Choose settings on held-out chains, then return the numbers of every model in every trial."""
        rng = np.random.default_rng(self.settings.seed)
        tuning = [self._draw(rng, self.held, len(self.held)) for _ in range(self.settings.n_tuning)]
        report(f"{what}: choosing settings")
        self.chosen = {name: self._choose(field, tuning) for name, field in FIELDS.items()}
        self.cost = self._choose_cost(tuning)
        self.paths: dict[str, list[list[list[float]]]] = {}
        found: dict[str, list[dict[str, float]]] = {}
        for trial in range(self.settings.n_trials):
            report(f"{what}: trial {trial + 1} of {self.settings.n_trials}")
            train, test = self._draw(rng, self.free, self.settings.test_chains)
            for name, figures in self._trial(train, test):
                found.setdefault(name, []).append(figures)
        return found

    def _draw(self, rng: np.random.Generator, ids: Array, most: int) -> tuple[Chains, Chains]:
        """Return a training set, and chains that are not in it."""
        order = rng.permutation(ids)
        test = order[self.size : self.size + most]
        return self.chains.take(order[: self.size]), self.chains.take(test)

    def _trial(self, train: Chains, test: Chains) -> Iterator[tuple[str, dict[str, float]]]:
        yield SVM, judge(test.y, self._svm(self.cost, train)(test.X))
        for name, field in FIELDS.items():
            chosen = self.chosen[name]
            model = field(self.kernel, chosen.penalty, chosen.edge_penalty, self.settings.tol)
            yield from self._decoded(name, model.fit(*train), chosen, test)
            if name == MARGINAL:
                continue  # the paper's selection is for the log loss
            # The same kernel and penalties, few of the expansion's terms.
            selection = GreedyCliques(self.settings.cliques, self.settings.step)
            greedy = model.set_params(selection=selection).fit(*train)
            steps = [[step.functions, step.value] for step in greedy.path_]
            self.paths.setdefault(GREEDY + name, []).append(steps)
            yield from self._decoded(GREEDY + name, greedy, chosen, test)

    def _decoded(
        self, name: str, model: Any, chosen: FewChoices, test: Chains
    ) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield the numbers of one model with three decoders."""
        scored = ScoredSequences.of(model, *test)
        log = {"log-likelihood": scored.log_likelihood()}
        yield name, scored.judged(Posterior()) | log
        weights = ((EDGE_COST, chosen.edge_weight), (BOUNDARIES, chosen.boundary_weight))
        for suffix, weight in weights:
            yield name + suffix, scored.judged(boundary_rule(len(scored.classes), weight)) | log

    def _choose(self, field: Field, tuning: Sequence[tuple[Chains, Chains]]) -> FewChoices:
        """Choose penalties by Q3, as the SVM's C, then the weight of boundaries by transition accuracy."""

        def scored(pair: tuple[float, float]) -> list[ScoredSequences]:
            return [
                ScoredSequences.of(field(self.kernel, *pair, self.settings.tol).fit(*train), *test)
                for train, test in tuning
            ]

        found = {
            pair: scored(pair) for pair in product(self.settings.penalties, self.settings.edge_penalties)
        }
        best = max(found, key=lambda pair: sum(one.judged(Posterior())["Q3 %"] for one in found[pair]))
        return FewChoices(*best, *self._choose_weights(found[best]))

    def _choose_weights(self, scored: list[ScoredSequences]) -> tuple[float, float]:
        """Return the weight that finds most boundaries, among those that cost little Q3 and among all."""
        found = {}
        for weight in (0.0, *self.settings.edge_weights):
            judged = [one.judged(boundary_rule(len(one.classes), weight)) for one in scored]
            found[weight] = [
                float(np.mean([one[name] for one in judged])) for name in ("Q3 %", "transitions %")
            ]
        least = found[0.0][0] - self.settings.least_q3
        cheap = [weight for weight in found if found[weight][0] >= least]
        return max(cheap, key=lambda w: found[w][1]), max(found, key=lambda w: found[w][1])

    def _choose_cost(self, tuning: Sequence[tuple[Chains, Chains]]) -> float:
        def accuracy(cost: float) -> float:
            return sum(judge(test.y, self._svm(cost, train)(test.X))["Q3 %"] for train, test in tuning)

        return max(self.settings.costs, key=accuracy)

    def _svm(self, cost: float, train: Chains) -> Callable[[list[Array]], list[Any]]:
        """Return the predictions of an SVM that labels residues one by one, with the same kernel."""
        from sklearn.svm import SVC

        model, basis = SVC(C=cost, kernel="precomputed"), np.concatenate(train.X)
        model.fit(self.kernel.block(basis, basis), np.concatenate([np.asarray(y) for y in train.y]))

        def predict(X: list[Array]) -> list[Any]:
            ends = np.cumsum([len(x) for x in X])[:-1]
            found = model.predict(self.kernel.block(np.concatenate(X), basis))
            return [part.tolist() for part in np.split(found, ends)]

        return predict


def boundary_rule(n_labels: int, weight: float) -> BayesRule:
    """Return the rule of a cost: 1 per wrong label, ``weight`` per true boundary not labelled right."""
    vertex = 1.0 - np.eye(n_labels)
    pairs = 1.0 - np.eye(n_labels**2).reshape((n_labels,) * 4)
    boundary = vertex[:, :, None, None]  # a ≠ b of the true pair
    return BayesRule(vertex, weight * boundary * pairs)


def _rows(name: str, size: int, found: Mapping[str, list[dict[str, float]]]) -> list[Row]:
    """Return means, and intervals of the trial-by-trial differences from the SVM."""
    rows: list[Row] = []
    for model, trials in found.items():
        row: dict[str, Any] = {"data": name, "chains": size, "model": model}
        for figure in ("Q3 %", "transitions %", "log-likelihood"):
            values = [trial[figure] for trial in trials if figure in trial]
            row[figure] = mean_of(values).mean if values else None
        for figure in ("Q3 %", "transitions %"):
            apart = [a[figure] - b[figure] for a, b in zip(trials, found[SVM], strict=True)]
            low, high = paired_interval(apart)
            row[f"{figure} above SVM"] = None if model == SVM else f"{low:+.2f} … {high:+.2f}"
        rows.append(row)
    return rows
