"""Test a fitted model."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays import Array, offsets_of
from ..checks import is_list, require_share, shown
from ..errors import InputError
from ..metrics import (
    SegmentScores,
    answered_curve,
    brier_score,
    confusion,
    entity_scores,
    expected_calibration_error,
    has_entities,
    label_scores,
    log_likelihood,
    reliability,
    segment_scores,
    sequence_accuracy,
    token_error,
    transition_accuracy,
)
from ..metrics.pairs import observed_counts, require_observed
from ..metrics.sequences import read_sequences
from ..metrics.steps import for_sequences, last_step
from ..models.model import remembering_scores
from ..models.scaling import has_probabilities
from ..structures import Alignment, Constituency, Dependency, Grid, Matching, Segments, Tree
from ..trials.preparing import inner
from .constituencies import judge_constituencies
from .dependencies import judge_dependencies
from .evaluation import Evaluation, TestSequences, Timings
from .guaranteed import judge_guarantee
from .judged_parses import Predictions, parse_evaluation
from .matchings import judge_matchings
from .parse_evaluation import ParseEvaluation
from .path import path_of
from .ranking import rank_slowest, rank_worst
from .tokens import read_names, read_texts

EXTRAS = {"tags": "dependency trees", "possible": "matchings and alignments"}
"""What some structures need besides X and y."""
OVERLAPS = (0.1, 0.25, 0.5)
"""From which segments count as found."""
THRESHOLDS = np.arange(101) / 100


class ProbabilisticLabeller(Protocol):
    """What labels sequences and says how sure it is."""

    classes_: Any

    def predict(self, X: Any) -> Any:
        """Return a label sequence for every sequence."""

    def predict_marginals(self, X: Any) -> Any:
        """Return p(y_t|x), a (T, L) array for every sequence."""

    def sequence_log_proba(self, X: Any, y: Any) -> Any:
        """Return log p(y|x) for every sequence."""


def evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    tokens: Any = None,
    *,
    threshold: float = 0.9,
    path: Iterable[Any] | None = None,
    tags: Any = None,
    possible: Any = None,
    error_at_most: float | None = None,
    confidence: float | None = None,
    names: Any = None,
) -> Any:
    """Label test sequences and compare.

    Returns an `Evaluation`, or a `ParseEvaluation` of models of trees and alignments.

    A decoder that abstains is taken by its most probable labels instead: abstaining is what the
    threshold does.

    Parameters
    ----------
    estimator : fitted sequence labeller
        `CRF`, `KernelCRF` and the like, or a pipeline or search whose last step or best estimator is one.
    X, y : lists of sequences and of label sequences
        The test set, as the model takes it: sequences, trees, graphs or grids. Positions whose
        label is None or NaN, not observed, are shown and not scored. A label that
        the model does not know is wrong whatever is predicted: ``unseen`` counts them.
    tokens : list of lists of str, optional
        Texts to show, one per position; by default those of X, its first column, or numbers.
    threshold : float
        Abstain from labels less probable than this, rounded to hundredths.
    path : iterable of records, optional
        How training went, say the `Progress` records that a ``callback`` collected; by default
        ``path_`` of the estimator, if it has one.
    tags : list of lists of str, optional
        Of dependency trees, the parts of speech of words, for scores without punctuation.
    possible : list of lists of pairs, optional
        Of matchings and alignments, links that may be answered besides those of y.
    error_at_most, confidence : float, optional
        Of calibrated models, the guarantee to judge: 0.05 and 0.95 if not given.
    names : list of str, optional
        Names of the sequences, for the report.

    Examples
    --------
    >>> from kernelfields import CRF
    >>> X, y = [[[0.0], [1.0], [1.0]], [[1.0], [0.0]]], [["A", "B", "B"], ["B", "A"]]
    >>> found = evaluate(CRF(penalty=0.1).fit(X, y), X, y)
    >>> found.token_error, found.as_dict()["entity_f1"]
    (0.0, None)
    """
    threshold = require_share("threshold", threshold)
    name, labeller, inputs = _labeller(estimator, X)
    structure = getattr(labeller, "structure_", None)
    extras = {"tags": tags, "possible": possible}
    if structure is not None and not structure.labelling:
        if error_at_most is not None or confidence is not None:
            raise InputError(f"error_at_most is for labels of positions, which {structure!r} has not.")
        return _parses(name, labeller, structure, inputs, y, tokens, extras, threshold, path)
    _require_none(extras)
    placed = _placed(labeller, inputs, y)
    true = read_sequences(placed.labels, "y")
    if len(inputs) != len(true):
        raise InputError(f"X has {len(inputs)} sequences, but y has {len(true)}.")
    require_observed(true)
    predicted, predict_seconds = _timed(lambda: labeller.predict(inputs))
    with remembering_scores():  # not before: the seconds of both shall be those of a user
        marginals, marginal_seconds = _timed(lambda: labeller.predict_marginals(inputs))
        if placed.shapes is not None:
            predicted = [one.ravel().tolist() for one in predicted]
            marginals = [one.reshape(-1, one.shape[-1]) for one in marginals]
        _require_lengths(predicted, true)
        classes = np.asarray(labeller.classes_).tolist()
        log_proba = _log_proba(labeller, inputs, true, classes, y)
    answers = _complete(predicted, marginals, classes)
    texts = read_texts(tokens, placed.features, true)
    known_as = read_names(names, len(true))
    drawn = (placed.parents, placed.edges, placed.shapes, placed.noun, known_as)
    sequences = TestSequences(texts, true, answers, marginals, classes, *drawn)
    slowest, timed = rank_slowest(sequences, lambda s: labeller.predict_marginals(inputs[s : s + 1]))
    judged = true, marginals, classes
    known = [label for labels in true for label in labels if label is not None]
    return Evaluation(
        model=name,
        probabilistic=has_probabilities(labeller),
        sequences=sequences,
        token_error=token_error(true, answers),
        sequence_error=1.0 - sequence_accuracy(true, answers),
        entities=entity_scores(true, answers)
        if placed.noun == "sequence" and has_entities([*known, *classes])  # spans, which trees have none of
        else None,
        labels=label_scores(true, answers),
        nll=-log_likelihood(log_proba, observed_counts(true)),
        brier=brier_score(*judged),
        ece=expected_calibration_error(*judged),
        boundary_accuracy=None if placed.edges is not None else _boundaries(true, answers, placed.parents),
        unseen=sum(label not in classes for label in known),
        confusion=confusion(true, answers),
        calibration=reliability(*judged),
        answered=answered_curve(*judged, y_pred=answers, thresholds=THRESHOLDS),
        threshold=float(THRESHOLDS[abs(THRESHOLDS - threshold).argmin()]),
        worst=rank_worst(sequences),
        slowest=slowest,
        timings=Timings(predict_seconds, marginal_seconds, timed),
        path=path_of(labeller, path),
        segments=_segments(structure, true, answers),
        guaranteed=judge_guarantee(labeller, inputs, true, answers, error_at_most, confidence),
    )


def _parses(
    name: str,
    labeller: Any,
    structure: Any,
    inputs: list[Any],
    y: Any,
    tokens: Any,
    extras: dict[str, Any],
    threshold: float,
    path: Iterable[Any] | None,
) -> ParseEvaluation:
    """Compare trees or links."""
    said = Predictions.of(labeller, structure, inputs)
    classes = np.asarray(labeller.classes_).tolist()
    if isinstance(structure, Dependency):
        test = judge_dependencies(
            inputs, y, said.outputs, said.marginals, classes, tokens, extras.pop("tags")
        )
    elif isinstance(structure, Constituency):
        test = judge_constituencies(y, said.outputs, said.marginals, classes)
    elif isinstance(structure, Matching | Alignment):
        test = judge_matchings(inputs, y, said.outputs, said.marginals, tokens, extras.pop("possible"))
    else:
        raise InputError(f"Reports are not for {structure!r}.")
    _require_none(extras)
    return parse_evaluation(name, labeller, test, said.timings, threshold, path)


def _require_none(extras: dict[str, Any]) -> None:
    """Refuse what a structure has no use for."""
    for name, given in extras.items():
        if given is not None:
            raise InputError(f"{name}= is for {EXTRAS[name]}; the model has other outputs.")


def _labeller(estimator: Any, X: Any) -> tuple[str, ProbabilisticLabeller, list[Any]]:
    """Return the name of the model, the labeller, behind the steps of a pipeline, and its sequences."""
    if not is_list(X):
        raise InputError(f"X is {shown(X)}, not a list of sequences.")
    step, inputs = last_step(estimator, X)
    labeller = for_sequences(step)
    if not hasattr(labeller, "predict_marginals"):
        raise TypeError(f"{type(step).__name__} has no predict_marginals: it labels no sequences.")
    return type(inner(step)).__name__, labeller, list(inputs)


class _Placed(NamedTuple):
    """What is known of test items besides what a model says about them."""

    labels: Any
    """As sequences."""
    features: list[Any]
    noun: str = "sequence"
    parents: list[Any] | None = None
    edges: list[Array] | None = None
    shapes: list[tuple[int, int]] | None = None


def _placed(labeller: Any, X: list[Any], y: Any) -> _Placed:
    """Take links out of X, where the structure has some; put the labels of grids in sequences."""
    structure = getattr(labeller, "structure_", None)
    if structure is None or not structure.linked:
        return _Placed(y, X)
    if not structure.in_sequences and not isinstance(structure, Grid):
        raise InputError(f"Reports are for sequences, trees, graphs and grids, not for {structure!r}.")
    features, parts = structure.split(X)
    noun = structure.words.item
    if isinstance(structure, Tree):
        return _Placed(y, list(features), noun, parts)
    offsets = offsets_of([len(x) if hasattr(x, "__len__") else x.shape[0] for x in features])
    links = structure.links(parts, offsets)
    shapes = None if links.shapes is None else [tuple(shape) for shape in links.shapes.tolist()]
    return _Placed(
        structure.flattened(y, links, "y"), list(features), noun, None, links.joined(offsets), shapes
    )


def _require_lengths(predicted: Any, y: list[list[Hashable]]) -> None:
    for s, (answers, labels) in enumerate(zip(predicted, y, strict=True)):
        if len(answers) != len(labels):
            raise InputError(
                f"Sequence {s} has {len(answers)} positions in X, but {len(labels)} labels in y."
            )


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    return call(), time.perf_counter() - started


def _complete(predicted: Any, marginals: Any, classes: list[Hashable]) -> list[list[Hashable]]:
    """Predictions, with the most probable label where there is none."""
    return [
        [classes[p[t].argmax()] if label is None else label for t, label in enumerate(labels)]
        for labels, p in zip(predicted, marginals, strict=True)
    ]


def _log_proba(
    estimator: ProbabilisticLabeller,
    X: list[Any],
    y: list[list[Hashable]],
    classes: list[Hashable],
    given: Any,
) -> Array:
    """Log p(y|x); −inf where a label is not among the classes."""
    known, given = {*classes, None}, list(given)  # a series would be asked for the labels of its index
    possible = [s for s, labels in enumerate(y) if known.issuperset(labels)]
    result = np.full(len(y), -np.inf)
    if len(possible) == len(y):
        return np.asarray(estimator.sequence_log_proba(X, given))
    if possible:
        result[possible] = estimator.sequence_log_proba(
            [X[s] for s in possible], [given[s] for s in possible]
        )
    return result


def _boundaries(
    y_true: list[list[Hashable]], y_pred: list[list[Hashable]], parents: list[Any] | None
) -> float | None:
    return transition_accuracy(y_true, y_pred, parents) if _changes(y_true, parents) else None


def _segments(
    structure: Any, y_true: list[list[Hashable]], y_pred: list[list[Hashable]]
) -> dict[str, SegmentScores] | None:
    """Return scores of segments at the usual overlaps, for models of segments."""
    if not isinstance(structure, Segments):
        return None
    return {f"{least:g}": segment_scores(y_true, y_pred, least) for least in OVERLAPS}


def _changes(y: list[list[Hashable]], parents: list[Any] | None) -> bool:
    """Whether any label differs from its neighbour's, both of them known."""
    if parents is None:
        pairs = (pair for labels in y for pair in pairwise(labels))
    else:
        every = zip(y, parents, strict=True)
        pairs = ((labels[p], labels[v]) for labels, above in every for v, p in enumerate(above) if p >= 0)
    return any(a != b and None not in (a, b) for a, b in pairs)
