"""Named entities in Spanish and Dutch news, CoNLL-2002: gazetteers, clusters and a second pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from time import perf_counter
from typing import Any, NamedTuple

from kernelfields.constraints import IOB2, IOBES, rewritten
from kernelfields.datasets.folder import data_file
from kernelfields.estimators import CRF
from kernelfields.features import BrownClusters, Gazetteer, TemplateFeatures, parse_templates
from kernelfields.features.sets import CLUSTERS, TEXTS
from kernelfields.io import read_conll
from kernelfields.metrics import entity_f1

from .lib.accuracy import judged
from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.results import Outcome, Row
from .lib.second_pass import Tokens, cross_fitted, with_elsewhere
from .lib.tag_marginals import as_iob2

LANGUAGES = {"esp": "Spanish", "ned": "Dutch"}
START = "-DOCSTART-"
"""The word that begins a text, where texts are marked."""
BASE, NAMES, SECOND = "CRF", "CRF, gazetteer and clusters", "CRF, second pass"

MORE = """
prefix5(w[0])
suffix5(w[0])
prefix3(w[-1])
prefix3(w[1])
w[-2] & w[-1]
w[1] & w[2]
lower(w[-2]) & lower(w[-1]) & short_shape(w[0])
w[-1] & w[1]
pos[-2] & pos[-1]
pos[1] & pos[2]
shape(w[-1]) & shape(w[0])
shape(w[0]) & shape(w[1])
w[0] & pos[-1]
w[0] & pos[1]
suffix3(w[0]) & short_shape(w[0])
short_shape(w[-2]) & short_shape(w[-1]) & short_shape(w[0])
short_shape(w[0]) & short_shape(w[1]) & short_shape(w[2])
"""
PHRASES = """
phrase[-1..1]
kind[-2..2]
phrase[0] & short_shape(w[0])
phrase[0] & phrase[1]
phrase[-1] & phrase[0]
kind[-1] & kind[0]
kind[0] & kind[1]
kind[-1] & short_shape(w[0]) & kind[1]
"""
ELSEWHERE = """
first[-2..2]
first[-1] & first[0]
first[0] & first[1]
first[-1] & first[0] & first[1]
near[-1..1]
near[0] & first[0]
everywhere[-1..1]
everywhere[0] & first[0]
everywhere[0] & near[0]
near[0] & short_shape(w[0])
near[-1] & near[0]
near[0] & near[1]
"""


@dataclass(frozen=True)
class NerSettings:
    """Penalties and size of the search."""

    languages: list[str]
    n_sentences: int
    """At most that many of every part."""
    penalties: list[float]
    """To choose from on testa, for every model."""
    first_penalty: float
    """Of the first pass."""
    clusters: int
    folds: int
    """Of the first pass over the training part."""
    reach: int
    """Sentences around one that count as the same text, where texts are not marked."""
    tol: float
    max_iter: int
    seed: int


class NamedPart(NamedTuple):
    """Sentences with parts of speech, and their tags."""

    X: Tokens
    y: list[list[str]]

    def texts(self) -> list[int] | None:
        """Return the text of every sentence, where they are marked."""
        starts = [sentence[0][0] == START for sentence in self.X]
        return list(accumulate(map(int, starts))) if any(starts) else None


def load_part(language: str, part: str, most: int) -> NamedPart:
    """Read CoNLL-2002 from the folder of data sets."""
    columns = [one.columns for one in read_conll(data_file("conll2002", f"{language}.{part}.gz"))][:most]
    return NamedPart(
        [list(zip(column[0], column[1], strict=True)) for column in columns],
        [list(column[2]) for column in columns],
    )


def run(settings: NerSettings, report: Report) -> Outcome:
    """Fit to the training part of each language, and test once on testb."""
    rows: list[Row] = []
    for language in settings.languages:
        rows += _Language(language, settings, report).rows()
    claims = [
        Claim(f"{LANGUAGES[language].lower()}_f1", _best(rows, language), at_least=bound)
        for language, bound in (("esp", 82.0), ("ned", 80.0))
        if language in settings.languages
    ]
    gaps = [row["gap"] for row in rows]
    claims.append(Claim("largest_relative_gap", max(gaps), at_most=max(settings.tol, 1e-2)))
    return Outcome("ner", claims, rows, notes=_notes(settings))


def _best(rows: list[Row], language: str) -> float:
    """Return F1 on testb of the model that was best on testa."""
    mine = [row for row in rows if row["language"] == LANGUAGES[language]]
    return float(max(mine, key=lambda row: row["F1, testa"])["F1"])


class _Language:
    """All models of one language."""

    def __init__(self, language: str, settings: NerSettings, report: Report) -> None:
        self.name, self.settings, self.report = LANGUAGES[language], settings, report
        parts = (load_part(language, part, settings.n_sentences) for part in ("train", "testa", "testb"))
        self.train, self.dev, self.test = parts
        words = [[token[0] for token in sentence] for sentence in self.train.X]
        self.clusters = BrownClusters(settings.clusters).fit(words)

    def rows(self) -> list[Row]:
        plain = [part.X for part in (self.train, self.dev, self.test)]
        names = Gazetteer()
        marked = [names.fit_transform(self.train.X, self.train.y), *map(names.transform, plain[1:])]
        columns = "columns: w pos phrase kind"
        known = TEXTS["ner"].replace("columns: w pos", columns) + PHRASES + CLUSTERS
        again = known.replace(columns, f"{columns} first near everywhere") + MORE + ELSEWHERE
        return [
            self._row(BASE, TEXTS["ner"], plain),
            self._row(NAMES, known + MORE, marked),
            self._row(SECOND, again, self._second(known, marked)),
        ]

    def _model(self, templates: str, penalty: float) -> _Tagger:
        return _Tagger(templates, penalty, self.clusters if "cluster" in templates else None, self.settings)

    def _second(self, templates: str, marked: Sequence[Tokens]) -> list[Tokens]:
        """Return all parts with what a first model says of the same words elsewhere."""
        self.report(f"{self.name}: first pass")
        settings = self.settings

        def make() -> _Tagger:
            return self._model(templates, settings.first_penalty)

        first = make().fit(marked[0], self.train.y)
        labels = [
            cross_fitted(make, marked[0], self.train.y, settings.folds, settings.seed),
            *map(first.predict, marked[1:]),
        ]
        parts = (self.train, self.dev, self.test)
        return [
            with_elsewhere(X, y, part.texts(), settings.reach)
            for X, y, part in zip(marked, labels, parts, strict=True)
        ]

    def _row(self, name: str, templates: str, inputs: Sequence[Tokens]) -> Row:
        tried = [self._tried(name, templates, penalty, inputs) for penalty in self.settings.penalties]
        model, right, seconds = max(tried, key=lambda one: one.right)
        crf = model.crf
        assert crf.certificate_ is not None
        marginals = as_iob2(crf.predict_marginals(inputs[2]), crf.classes_, IOBES)
        return {
            "language": self.name,
            "model": name,
            "λ": crf.penalty,
            "F1, testa": right,
            "F1": 100 * entity_f1(self.test.y, model.predict(inputs[2])),
            **judged(self.test.y, *marginals),
            "seconds": seconds,
            "gap": crf.certificate_.relative_gap,
        }

    def _tried(self, name: str, templates: str, penalty: float, inputs: Sequence[Tokens]) -> _Tried:
        self.report(f"{self.name}: {name}, λ = {penalty:g}")
        started = perf_counter()
        model = self._model(templates, penalty).fit(inputs[0], self.train.y)
        seconds = perf_counter() - started
        return _Tried(model, 100 * entity_f1(self.dev.y, model.predict(inputs[1])), seconds)


class _Tried(NamedTuple):
    """A model with one penalty."""

    model: _Tagger
    right: float
    """F1 on testa."""
    seconds: float


class _Tagger:
    """A CRF over IOBES that reads and writes IOB2."""

    def __init__(
        self, templates: str, penalty: float, clusters: BrownClusters | None, settings: NerSettings
    ) -> None:
        self.crf = CRF(
            penalty,
            features=TemplateFeatures(parse_templates(templates), clusters=clusters),
            constraints=IOBES,
            observed_only=True,
            tol=settings.tol,
            max_iter=settings.max_iter,
        )

    def fit(self, X: Tokens, y: Sequence[Sequence[str]]) -> _Tagger:
        self.crf.fit(X, rewritten(y, IOB2, IOBES))
        return self

    def predict(self, X: Tokens) -> list[list[str]]:
        return rewritten(self.crf.predict(X), IOBES, IOB2)


def _notes(settings: NerSettings) -> list[str]:
    return [
        "Trained on the training part, penalties and the model of the claim chosen on testa, tested on "
        "testb. F1 of entities by the best sequence, all else by the probabilities of single tags. "
        f"No other data: names and {settings.clusters} Brown clusters are those of the training part. "
        "The second pass sees what a first model says of the same capitalised words elsewhere, in the same "
        f"text where texts are marked (Dutch), else up to {settings.reach} sentences away; "
        "of the training part, models say that who have not seen it.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw F1 of all models."""
    panel = figure.subplots()
    names = [f"{row['language']}, {row['model']}" for row in outcome.rows]
    for part, marker in (("F1", "o"), ("F1, testa", "x")):
        panel.plot(
            [row[part] for row in outcome.rows], names, marker, label="testa" if marker == "x" else "testb"
        )
    panel.invert_yaxis()
    panel.set_xlabel("F1 of entities")
    panel.grid(alpha=0.3)
    panel.legend()


NER = Experiment(
    "ner",
    "Named entities in Spanish and Dutch news: gazetteers, clusters, a second pass",
    "conll2002",
    NerSettings,
    run,
    draw,
)
