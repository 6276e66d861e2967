"""Named entities from few sentences: generative against discriminative, SVMs against the CRF [goernitz]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelfields.datasets import load_conll2002, spelling_templates
from kernelfields.features import TemplateFeatures, Templates, parse_templates

from .lib.claims import Claim
from .lib.contest import FittedModel, Method, SequenceSet, chosen, fitted, largest_gap
from .lib.experiment import Experiment, Report
from .lib.folds import folds_of, mean_of
from .lib.gram import degree_kernel, sequences_of
from .lib.intervals import paired_interval
from .lib.methods import adaboost, crf, hmm, perceptron, svm, with_classifier
from .lib.plots import points_of_models
from .lib.results import Outcome, Row

HMM_WORDS, HMM_SPELLING, CRF_WORDS = "HMM words", "HMM spelling", "CRF words"
CRF, PERCEPTRON, ZERO_ONE, MARGIN = "CRF", "perceptron", "SVM 0/1", "SVM margin"
SLACK, KERNEL = "SVM slack", "SVM degree 2"
CLASSIFIER_HMM, PMM, ADABOOST = "HMM with classifier", "PMM", "AdaBoost"
GENERATIVE = (HMM_WORDS, HMM_SPELLING)
DISCRIMINATIVE = (CRF, PERCEPTRON, ZERO_ONE, MARGIN, SLACK, KERNEL)


@dataclass(frozen=True)
class NER300Settings:
    """Sample, folds, and the values to choose from."""

    n_sentences: int
    """Of the cross-validation; twice as many others serve to choose."""
    seed: int
    n_folds: int
    pseudocounts: list[float]
    crf_penalties: list[float]
    epochs: list[float]
    classifier_penalties: list[float]
    """Of the logistic regressions of the HMM with a classifier, and of the projection-based Markov model."""
    rounds: list[float]
    """Of AdaBoost."""
    n_candidates: int
    """Features whose bounds AdaBoost compares in a round."""
    zero_one_penalties: list[float]
    margin_penalties: list[float]
    slack_penalties: list[float]
    kernel_penalties: list[float]
    tol: float
    """Relative gap of CRFs."""
    svm_tol: float
    """The same of SVMs."""
    max_difference: float
    """Points of error between an SVM and the CRF that are "almost equal"."""


@dataclass(frozen=True)
class MethodGroup:
    """Methods that use the same features."""

    methods: list[Method]
    sequences: SequenceSet
    """First those of the cross-validation, then those to choose with."""


def run(settings: NER300Settings, report: Report) -> Outcome:
    """Run all methods on the same folds."""
    rows, errors, gaps = [], {}, []
    for task in _tasks(settings):
        for method in task.methods:
            models, errors[method.name] = _cross_validated(method, task.sequences, settings, report)
            rows.append(_row(models, errors[method.name]))
            gaps += [model for model in models if model.gap is not None]
    details = {"errors": errors}
    claims = _claims(errors, largest_gap(gaps), settings)
    return Outcome("ner-300", claims, rows, details, _notes(settings))


def _tasks(settings: NER300Settings) -> list[MethodGroup]:
    words = _sequences(parse_templates("columns: w\nw[0]"), settings)
    spelling = _sequences(spelling_templates(), settings)
    features = spelling.features[: settings.n_sentences]
    squares = [np.asarray(x.multiply(x).sum(axis=1)).ravel() for x in features]
    kernel = degree_kernel(2, float(np.mean(np.concatenate(squares))))
    some = settings
    return [
        MethodGroup(
            [
                hmm(HMM_WORDS, some.pseudocounts, spelling=False),
                hmm(HMM_SPELLING, some.pseudocounts, spelling=True),
                crf(CRF_WORDS, some.crf_penalties, some.tol),
            ],
            words,
        ),
        MethodGroup(
            [
                crf(CRF, some.crf_penalties, some.tol),
                perceptron(PERCEPTRON, some.epochs),
                with_classifier(CLASSIFIER_HMM, "hmm", some.classifier_penalties),
                with_classifier(PMM, "pmm", some.classifier_penalties),
                adaboost(ADABOOST, some.rounds, some.n_candidates),
                svm(ZERO_ONE, some.zero_one_penalties, some.svm_tol, rescaling="zero-one"),
                svm(MARGIN, some.margin_penalties, some.svm_tol),
                svm(SLACK, some.slack_penalties, some.svm_tol, rescaling="slack"),
                svm(KERNEL, some.kernel_penalties, some.svm_tol, kernel=kernel),
            ],
            spelling,
        ),
    ]


def _sequences(templates: Templates, settings: NER300Settings) -> SequenceSet:
    corpus = load_conll2002("train", 3 * settings.n_sentences, settings.seed)
    extractor = TemplateFeatures(templates, dtype=np.float32)
    features, lengths = extractor.fit_transform(corpus.sentences)
    return SequenceSet(corpus.sentences, sequences_of(features, lengths), corpus.labels)


def _cross_validated(
    method: Method, sequences: SequenceSet, settings: NER300Settings, report: Report
) -> tuple[list[FittedModel], list[float]]:
    """Return models and errors of all folds, with settings chosen on sentences outside them."""
    n = settings.n_sentences
    report(f"{method.name}: choice")
    other, more = sequences.pick(np.arange(n, 2 * n)), sequences.pick(np.arange(2 * n, 3 * n))
    choice = chosen(method, other, more).choice
    models, errors = [], []
    for fold in folds_of(n, settings.n_folds, settings.seed):
        models.append(fitted(method, choice, sequences.pick(fold.train)))
        errors.append(models[-1].error(sequences.pick(fold.test)))
    report(
        f"{method.name}: {choice:g} chosen, {np.mean(errors):.2f} % wrong, {models[0].seconds:.1f} s a fit"
    )
    return models, errors


def _row(models: list[FittedModel], errors: list[float]) -> Row:
    error = mean_of(errors)
    gaps = [model.gap for model in models if model.gap is not None]
    return {
        "model": models[0].method.name,
        "error %": error.mean,
        "standard error": error.standard_error,
        "chosen": models[0].choice,
        "largest gap": max(gaps, default=None),
        "seconds per fit": mean_of([model.seconds for model in models]).mean,
    }


def _claims(errors: dict[str, list[float]], gap: float, settings: NER300Settings) -> list[Claim]:
    mean: Callable[[str], float] = lambda name: float(np.mean(errors[name]))  # noqa: E731
    best, worst = min(GENERATIVE, key=mean), max(DISCRIMINATIVE, key=mean)
    below = np.subtract(errors[best], errors[worst])
    return [
        Claim("worst_discriminative_below_best_hmm_points", float(below.mean()), at_least=0.0),
        Claim("lower_end_of_its_interval_points", paired_interval(below.tolist())[0], at_least=0.0),
        *(
            Claim(f"{word}_svm_from_crf_points", abs(mean(name) - mean(CRF)), at_most=settings.max_difference)
            for word, name in (("zero_one", ZERO_ONE), ("margin", MARGIN), ("slack", SLACK))
        ),
        Claim("degree2_below_margin_points", mean(MARGIN) - mean(KERNEL), at_least=0.0),
        Claim("largest_relative_gap", gap, at_most=settings.svm_tol),
    ]


def _notes(settings: NER300Settings) -> list[str]:
    n = settings.n_sentences
    return [
        f"{n} sentences drawn with seed {settings.seed}, {settings.n_folds}-fold cross-validation, standard "
        f"errors over folds; all methods decode with Viterbi's algorithm. `chosen` is a penalty, a number of "
        f"epochs (perceptron) or rounds (AdaBoost) or a pseudocount (HMM), the best on {n} sentences after "
        f"training on {n} more, none of them in the folds, where the settings have several.",
        "`words`: nothing but the words is seen, and unknown ones are all alike. `HMM spelling` takes rare "
        "words by shape and ending. The others see word, lower case, prefixes, suffixes, shape and flags in "
        "a window of three. `HMM with classifier` and `PMM` have logistic regressions as local models; "
        f"AdaBoost compares the bounds of {settings.n_candidates} features in a round.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the errors of all methods."""
    panel = figure.subplots()
    points_of_models(panel, outcome, "error %", "tokens wrong, %")
    panel.tick_params(axis="x", labelrotation=30)


NER_300 = Experiment(
    "ner-300",
    "300 Spanish sentences: HMMs, CRF, classifiers, perceptron, AdaBoost and SVMs [goernitz]",
    "conll2002",
    NER300Settings,
    run,
    draw,
)
