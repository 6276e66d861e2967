"""Spanish named entities: CRFs and Gaussian process sequence classifiers [altun2004gp, Table 1]."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..datasets import load_conll2002, spelling_templates
from ..estimators import CRF, KernelCRF
from ..features import TemplateFeatures
from ..kernels import Precomputed
from ._base import Experiment, Report
from ._claims import Claim
from ._folds import mean_of
from ._gram import degree_kernel, precomputed, row_numbers, sequences_of
from ._plots import points_of_models
from ._results import Outcome, Row
from ._selection import Nested, Tested

WITHOUT, WITH, DEGREE1, DEGREE2 = "CRF without prior", "CRF with prior", "DGPS degree 1", "DGPS degree 2"
PAPER = {WITHOUT: 4.92, WITH: 4.56, DEGREE1: 4.58, DEGREE2: 4.39}
"""Token error in percent [altun2004gp, Table 1]."""


@dataclass(frozen=True)
class Settings:
    """Sample, folds and penalties."""

    n_sentences: int
    seed: int
    n_folds: int
    n_inner: int
    crf_penalties: list[float]
    """λ to choose from, for features and label pairs alike."""
    kernel_penalties: list[float]
    """The same for degree 2, where less of it is best."""
    no_prior: float
    """λ that stands for none."""
    no_prior_iterations: int
    tol: float
    inner_tol: float
    decoder: str


def run(settings: Settings, report: Report) -> Outcome:
    """Four models on the same folds of the same sentences."""
    corpus = load_conll2002("train", settings.n_sentences, settings.seed)
    extractor = TemplateFeatures(spelling_templates(), dtype=np.float32)
    features, lengths = extractor.fit_transform(corpus.sentences)
    nested = Nested(
        corpus.labels,
        settings.n_folds,
        settings.n_inner,
        settings.tol,
        settings.inner_tol,
        settings.seed,
    )
    found = _primal(nested, sequences_of(features, lengths), settings, report)
    chosen = [[tested.penalty] for tested in found[WITH]]
    size = float(features.multiply(features).sum(axis=1).mean())
    for name, degree in ((DEGREE1, 1), (DEGREE2, 2)):
        report(f"Gram matrix of degree {degree}, {features.shape[0]} tokens")
        kernel = precomputed(degree_kernel(degree, size), features)
        make = partial(_dual, kernel, settings)
        # Degree 1 is the CRF with prior in other coordinates: its choice of λ is already known.
        choices = chosen if degree == 1 else [settings.kernel_penalties] * settings.n_folds
        found[name] = nested.run(name, make, row_numbers(lengths), choices, report)
        del make, kernel  # before the next matrix is made
    details = {
        "tokens": features.shape[0],
        "features": features.shape[1],
        "mean_squared_norm": size,
        "errors": {name: [100 * tested.error for tested in tests] for name, tests in found.items()},
        "penalties": {name: [tested.penalty for tested in tests] for name, tests in found.items()},
    }
    return Outcome(
        "ner-table1", _claims(found), [_row(*item) for item in found.items()], details, _notes(settings)
    )


def _primal(nested: Nested, X: Sequence[Any], settings: Settings, report: Report) -> dict[str, list[Tested]]:
    def with_prior(penalty: float, tol: float) -> CRF:
        return CRF(penalty, bias=False, decoder=settings.decoder, tol=tol)

    def without_prior(penalty: float, tol: float) -> CRF:
        limit = settings.no_prior_iterations
        return CRF(penalty, bias=False, decoder=settings.decoder, tol=1e-9, max_iter=limit)

    with warnings.catch_warnings():
        # Without a prior weights grow for ever: the limit of iterations is where such a search ends.
        warnings.filterwarnings("ignore", message=".*iterations")
        none = nested.run(WITHOUT, without_prior, X, [[settings.no_prior]] * settings.n_folds, report)
    choices = [settings.crf_penalties] * settings.n_folds
    return {WITHOUT: none, WITH: nested.run(WITH, with_prior, X, choices, report)}


def _dual(kernel: Precomputed, settings: Settings, penalty: float, tol: float) -> KernelCRF:
    return KernelCRF(kernel, penalty=penalty, decoder=settings.decoder, tol=tol)


def _row(name: str, tests: list[Tested]) -> Row:
    error = mean_of([100 * tested.error for tested in tests])
    return {
        "model": name,
        "error %": error.mean,
        "standard error": error.standard_error,
        "paper %": PAPER[name],
        "median λ": float(np.median([tested.penalty for tested in tests])),
        "seconds per fit": mean_of([tested.seconds for tested in tests]).mean,
        "largest gap": max(tested.certificate.relative_gap for tested in tests),
    }


def _claims(found: dict[str, list[Tested]]) -> list[Claim]:
    def below(first: str, second: str) -> float:
        """Points of error that the second has less than the first, over the same folds."""
        pairs = zip(found[first], found[second], strict=True)
        return float(np.mean([100 * (a.error - b.error) for a, b in pairs]))

    values = zip(found[WITH], found[DEGREE1], strict=True)
    apart = max(abs(a.certificate.value / b.certificate.value - 1) for a, b in values)
    return [
        Claim("degree2_below_crf_points", below(WITH, DEGREE2), paper=0.17, at_least=0.17),
        Claim("degree2_below_degree1_points", below(DEGREE1, DEGREE2), paper=0.19, at_least=0.0),
        Claim("degree1_objective_is_that_of_crf", apart, at_most=2e-3),
    ]


def _notes(settings: Settings) -> list[str]:
    return [
        f"{settings.n_sentences} sentences drawn from the training file with seed {settings.seed}; the "
        "paper's draw is not known, and had fewer words. Features: word, lower case, prefixes, suffixes, "
        "shape and flags in a window of three. Standard errors are those of the mean over folds.",
        f"Without prior: λ = {settings.no_prior:g} and {settings.no_prior_iterations} iterations of L-BFGS, "
        "because weights then grow for ever. All other λ are chosen on inner folds of each training part; "
        "degree 1 takes those of the CRF with prior, whose problem it solves in other coordinates.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Errors, those of the paper beside them."""
    points_of_models(figure.subplots(), outcome, "error %", "tokens wrong, %", "paper %")


NER_TABLE1 = Experiment(
    "ner-table1",
    "Spanish named entities: CRF with and without prior, DGPS of degree 1 and 2 [altun2004gp, Table 1]",
    "conll2002",
    Settings,
    run,
    draw,
)
