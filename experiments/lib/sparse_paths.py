"""Paths of selections: samples, models and what is measured along them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

from kernelfields import Parts
from kernelfields.datasets import load_letters, load_prosody, prosody_templates
from kernelfields.estimators import KernelCRF
from kernelfields.features import TemplateFeatures
from kernelfields.kernels import RBF, Kernel
from kernelfields.selection import (
    SGPS,
    SGSA,
    AtRandom,
    FunctionalGradient,
    GreedyCliques,
    LargestGradient,
    RefitNew,
    Selection,
    WholeSequences,
)

from .folds import folds_of, pick
from .gram import degree_kernel, sequences_of
from .results import Row

PROSODY, LETTERS, DENSE = "prosody", "letters", "dense"
PAPER_SHARE = 0.08
"""p/N at which the papers' sparse method is as good as the dense one, about."""


@dataclass(frozen=True)
class SparsitySettings:
    """Samples, kernels and shares."""

    n_sentences: int
    seed: int
    reach: int
    n_folds: int
    """Of the sentences, each tested on."""
    letter_folds: list[int]
    """Folds of handwritten words, each trained on."""
    prosody_penalty: float
    max_words: int
    """Handwritten words to train on, of one fold, and twice as many to test on, of the other folds."""
    gamma: float
    letters_penalty: float
    shares: list[float]
    """p/N, rising."""
    whole_shares: list[float]
    """The same for whole sequences: each of these functions looks at all positions of one."""
    batch: int
    """Number of sequences visited per step."""
    sample: int
    """Observations that greedy selection draws its candidates from."""
    race: int
    """Functions selected from the random and from the best sequence."""
    timed: int
    """Fits of SGPS with the papers' share, and dense ones in turn, that times are compared by."""
    tol: float


class SparsityData(NamedTuple):
    """Training and test sequences."""

    name: str
    X: list[Any]
    y: list[Any]
    X_test: list[Any]
    y_test: list[Any]
    kernel: Kernel
    penalty: float

    @property
    def size(self) -> int:
        """N."""
        return sum(len(labels) for labels in self.y)


def selections(settings: SparsitySettings) -> dict[str, Selection]:
    """Return all selections by name."""
    order = AtRandom(settings.batch)
    return {
        "SGPS": SGPS(order=order),
        "SGPS by slope": SGPS(order=order, by=FunctionalGradient()),
        "SGPS, new coefficients only": SGPS(order=order, refit=RefitNew()),
        "SGSA": SGSA(order=order),
        "SGSA by slope": SGSA(order=order, by=FunctionalGradient()),
        "greedy cliques": GreedyCliques(sample=settings.sample),
        "whole sequences": WholeSequences(order=order),
    }


def prosody(settings: SparsitySettings) -> list[SparsityData]:
    """Return prominent words, fold by fold."""
    corpus = load_prosody("dev", settings.n_sentences, settings.seed)
    features, lengths = TemplateFeatures(prosody_templates(settings.reach)).fit_transform(corpus.sentences)
    X, y = sequences_of(features, lengths), corpus.labels
    kernel = degree_kernel(2, float(features.multiply(features).sum(axis=1).mean()))
    return [
        SparsityData(
            PROSODY,
            *(pick(X, fold.train), pick(y, fold.train), pick(X, fold.test), pick(y, fold.test)),
            kernel,
            settings.prosody_penalty,
        )
        for fold in folds_of(len(lengths), settings.n_folds, settings.seed)
    ]


def letter_words(settings: SparsitySettings) -> list[SparsityData]:
    """Return handwritten words, some to train on and some to test on for every fold."""
    letters, n = load_letters(), settings.max_words
    result = []
    for fold in settings.letter_folds:
        X, y = letters.split(fold)
        X_test, y_test = letters.split(*(other for other in range(10) if other != fold))
        parts = X[:n], y[:n], X_test[: 2 * n], y_test[: 2 * n]
        result.append(SparsityData(LETTERS, *parts, RBF(settings.gamma), settings.letters_penalty))
    return result


def _model(data: SparsityData, settings: SparsitySettings) -> KernelCRF:
    return KernelCRF(
        data.kernel,
        penalty=data.penalty,
        tol=settings.tol,
        random_state=settings.seed,
        parts=Parts(bias=None),
        decoder="posterior",
    )


def dense(data: SparsityData, settings: SparsitySettings) -> Row:
    """Fit the model of all functions, and test it."""
    started = perf_counter()
    model = _model(data, settings).fit(data.X, data.y)
    return _row(DENSE, model, data, data.size * len(model.classes_), perf_counter() - started)


def grown(
    name: str, selection: Selection, shares: list[float], data: SparsityData, settings: SparsitySettings
) -> list[Row]:
    """Grow one path; refit its coefficients and test them at every share."""
    model = _model(data, settings).set_params(warm_start=True)
    rows: list[Row] = []
    seconds = 0.0
    for share in shares:
        started = perf_counter()
        step = max(1, min(10, round(share * data.size / 10)))
        model.set_params(basis=replace(selection, size=share, step=step)).fit(data.X, data.y)
        seconds += perf_counter() - started
        rows.append(_row(name, model, data, model.path_[-1].functions, seconds))
    return rows


def _row(name: str, model: KernelCRF, data: SparsityData, size: int, seconds: float) -> Row:
    assert model.certificate_ is not None
    return {
        "data": data.name,
        "model": name,
        "p": size,
        "p/N": size / data.size,
        "p/(N L)": size / data.size / len(model.classes_),
        "observations": model.basis_.shape[0] / data.size,
        "accuracy %": 100 * model.score(data.X_test, data.y_test),
        "value": model.certificate_.value,
        "gap": model.certificate_.relative_gap,
        "seconds": seconds,
    }


def race(data: SparsityData, optimum: float, settings: SparsitySettings) -> dict[str, dict[str, list[float]]]:
    """Return the relative suboptimality after every visit of SGSA, by order of sequences."""
    orders = {"random sequence": AtRandom(), "best sequence": LargestGradient(settings.sample // 10)}
    result = {}
    for name, order in orders.items():
        selection = SGSA(settings.race, order=order, by=FunctionalGradient())
        model = _model(data, settings).set_params(basis=selection).fit(data.X, data.y)
        result[name] = {
            "visits": [float(step.visits) for step in model.path_],
            "seconds": [step.seconds for step in model.path_],
            "above optimum": [step.value / optimum - 1 for step in model.path_],
        }
    return result


def timed(data: SparsityData, settings: SparsitySettings) -> dict[str, list[float]]:
    """Return seconds of dense fits and of SGPS, in turn."""
    selection = SGPS(size=PAPER_SHARE, order=AtRandom(settings.batch))
    found: dict[str, list[float]] = {DENSE: [], "SGPS": []}
    for _ in range(settings.timed):
        for name, chosen in ((DENSE, None), ("SGPS", selection)):
            model = _model(data, settings).set_params(basis=chosen)
            started = perf_counter()
            model.fit(data.X, data.y)
            found[name].append(perf_counter() - started)
    return found
