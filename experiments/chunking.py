"""Phrases of English news, CoNLL-2000: templates, clusters and tag schemes beside CRFsuite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from kernelfields.constraints import IOB2, IOBES, rewritten
from kernelfields.datasets.folder import data_file
from kernelfields.estimators import CRF
from kernelfields.features import BrownClusters, TemplateFeatures, Templates
from kernelfields.features.sets import chunking
from kernelfields.io import read_conll
from kernelfields.metrics import entity_f1

from .lib.accuracy import CALIBRATION, LIKELIHOOD, SUREST, judged
from .lib.claims import Claim
from .lib.crfsuite_side import crfsuite_answers
from .lib.experiment import Experiment, Report
from .lib.results import Outcome, Row
from .lib.tag_marginals import as_iob2

BEST, CRFSUITE = "CRF, more templates, clusters, IOBES", "CRFsuite, 19 templates"


@dataclass(frozen=True)
class ChunkingSettings:
    """Penalties and the limit of the search."""

    n_sentences: int
    """At most that many to train on, and to test on."""
    penalty: float
    """With the 19 templates."""
    more_penalty: float
    """With more, chosen on the last tenth of the training part."""
    clusters: int
    tol: float
    max_iter: int


class Phrases(NamedTuple):
    """Sentences of words with parts of speech, and their tags."""

    sentences: list[list[tuple[str, str]]]
    labels: list[list[str]]


class PhraseModel(NamedTuple):
    """Templates, a tag scheme and a penalty."""

    templates: Templates
    scheme: Any
    penalty: float
    clusters: BrownClusters | None = None


def load_phrases(part: str, most: int) -> Phrases:
    """Read CoNLL-2000 from the folder of data sets."""
    columns = [one.columns for one in read_conll(data_file("conll2000", f"{part}.txt.gz"))][:most]
    sentences = [list(zip(column[0], column[1], strict=True)) for column in columns]
    return Phrases(sentences, [list(column[2]) for column in columns])


def run(settings: ChunkingSettings, report: Report) -> Outcome:
    """Fit every model to the training part, and test it."""
    train, test = (load_phrases(part, settings.n_sentences) for part in ("train", "test"))
    report("clusters of the words of the training part")
    clusters = BrownClusters(settings.clusters).fit([[word for word, _ in one] for one in train.sentences])
    rows: list[Row] = []
    for name, model in _models(settings, clusters).items():
        report(name)
        rows.append({"model": name, **_measured(model, train, test, settings)})
    report(CRFSUITE)
    rival = _rival(train, test, settings)
    if rival is not None:
        rows.append({"model": CRFSUITE, **rival})
    return Outcome("chunking", _claims(rows, settings), rows, notes=_notes(settings))


def _models(settings: ChunkingSettings, clusters: BrownClusters) -> dict[str, PhraseModel]:
    few, many = settings.penalty, settings.more_penalty
    return {
        "CRF, 19 templates": PhraseModel(chunking(), IOB2, few),
        "CRF, 19 templates, IOBES": PhraseModel(chunking(), IOBES, few),
        "CRF, more templates, IOBES": PhraseModel(chunking(more=True), IOBES, many),
        BEST: PhraseModel(chunking(more=True, clusters=True), IOBES, many, clusters),
    }


def _measured(model: PhraseModel, train: Phrases, test: Phrases, settings: ChunkingSettings) -> Row:
    crf = CRF(
        model.penalty,
        features=TemplateFeatures(model.templates, clusters=model.clusters),
        constraints=model.scheme,
        observed_only=True,
        tol=settings.tol,
        max_iter=settings.max_iter,
    )
    started = perf_counter()
    crf.fit(train.sentences, rewritten(train.labels, IOB2, model.scheme))
    seconds = perf_counter() - started
    marginals = as_iob2(crf.predict_marginals(test.sentences), crf.classes_, model.scheme)
    assert crf.certificate_ is not None
    return {
        "F1": 100 * entity_f1(test.labels, rewritten(crf.predict(test.sentences), model.scheme, IOB2)),
        **judged(test.labels, *marginals),
        "seconds": seconds,
        "gap": crf.certificate_.relative_gap,
    }


def _rival(train: Phrases, test: Phrases, settings: ChunkingSettings) -> Row | None:
    """Give CRFsuite the same features, penalty and decoder."""
    features = TemplateFeatures(chunking())
    names = features.fit(train.sentences).names()
    found = crfsuite_answers(
        _attributes(features, names, train.sentences),
        train.labels,
        _attributes(features, names, test.sentences),
        settings.penalty,
    )
    if found is None:
        return None
    return {
        "F1": 100 * entity_f1(test.labels, found.labels),
        **judged(test.labels, found.marginals, found.classes),
        "seconds": found.seconds,
    }


def _attributes(features: TemplateFeatures, names: Sequence[str], sentences: Any) -> list[list[list[str]]]:
    matrix, lengths = features.transform(sentences)
    found, at = [], 0
    for length in lengths:
        rows = range(at, at + int(length))
        found.append(
            [[names[k] for k in matrix.indices[matrix.indptr[r] : matrix.indptr[r + 1]]] for r in rows]
        )
        at += int(length)
    return found


def _claims(rows: list[Row], settings: ChunkingSettings) -> list[Claim]:
    by_name = {row["model"]: row for row in rows}
    gaps = [row["gap"] for row in rows if "gap" in row]
    claims = [
        Claim("f1", by_name[BEST]["F1"], at_least=94.1),
        Claim("largest_relative_gap", max(gaps), at_most=max(settings.tol, 1e-2)),
    ]
    if CRFSUITE in by_name:
        ours, theirs = by_name[BEST], by_name[CRFSUITE]
        claims += [
            Claim("f1_above_crfsuite_points", ours["F1"] - theirs["F1"], at_least=0.0),
            Claim("surest_below_crfsuite_points", theirs[SUREST] - ours[SUREST], at_least=0.0),
            Claim("log_p_above_crfsuite", ours[LIKELIHOOD] - theirs[LIKELIHOOD], at_least=0.0),
            Claim("calibration_below_crfsuite", theirs[CALIBRATION] - ours[CALIBRATION], at_least=0.0),
        ]
    return claims


def _notes(settings: ChunkingSettings) -> list[str]:
    return [
        "Trained on the training part, tested on the test part; F1 of phrases by the best sequence, all "
        "else by the probabilities of single tags of IOB2. The penalty of the larger models was chosen on "
        "the last tenth of the training part. "
        f"Clusters: {settings.clusters} Brown clusters of the training part's words, no other data. "
        "CRFsuite (L-BFGS) has the same 19 templates and penalty as the first row, where it is installed.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw F1 of all models."""
    panel = figure.subplots()
    rows = [row for row in outcome.rows if "F1" in row]
    bars = panel.barh([row["model"] for row in rows], [row["F1"] for row in rows])
    panel.bar_label(bars, fmt="%.2f")
    panel.set_xlim(min(row["F1"] for row in rows) - 1, max(row["F1"] for row in rows) + 0.5)
    panel.invert_yaxis()
    panel.set_xlabel("F1 of phrases")


CHUNKING = Experiment(
    "chunking",
    "Phrases of English news: templates, clusters and tag schemes beside CRFsuite",
    "conll2000",
    ChunkingSettings,
    run,
    draw,
)
