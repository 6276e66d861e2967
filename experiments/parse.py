"""Dependency parsing of English web text: tags, arcs and relations by the library's own models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from kernelfields import PassiveAggressive, StochasticCRF, StructuredPerceptron, StructuredSVM
from kernelfields.features import BrownClusters, TemplateFeatures
from kernelfields.metrics import attachment_scores
from kernelfields.structures import Dependency, SiblingDependency

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.parsers import ARCS, PRUNING, SIBLINGS, projective
from .lib.results import Outcome, Row
from .lib.treebank import TAGGING, TaggedTrees, jack_knifed, read_treebank

PUBLISHED: dict[str, Any] = {"upos": 94.4, "xpos": 93.9, "uas": 84.4, "las": 81.1, "gold tags": (88.1, 86.2)}
"""UDPipe 1 on another release of the treebank, gold tokens."""


LAST = "CRF with siblings"
SVM = "SVM, arcs only"
ONLINE: dict[str, Any] = {"perceptron": StructuredPerceptron, "passive-aggressive": PassiveAggressive}


@dataclass(frozen=True)
class ParseSettings:
    """How much is learnt from, and how."""

    train: int
    """Sentences to learn from, the first of them; 0 for all."""
    test: int
    """Sentences to test on; 0 for all."""
    part: str
    """The part to test on, "dev" while settings are chosen."""
    clusters: int
    """Of the words of arcs."""
    clustered: int
    """Words that occur less often have no cluster, as new words have none."""
    folds: int
    """Parts of the training set whose tags are guessed by taggers of the others."""
    tag_iterations: int
    tag_penalty: float
    prune_iterations: int
    prune_step: float
    prune_penalty: float
    least: float
    """Marginals of the first parser below which arcs are left out."""
    iterations: int
    step: float
    penalty: float
    sibling_penalty: float
    """Of the last parser, which also looks at siblings."""
    svm_penalty: float
    svm_gap: float
    """Certified relative gap that the SVM stops at."""
    bits: int
    """Columns of the features of arcs, as a power of two."""
    models: list[str]
    """Parsers besides the last one, with guessed tags."""
    gold_tags: bool
    """Whether the last parser also learns from right tags, for comparison."""
    min_upos: float
    min_xpos: float
    min_las: float
    max_calibration_error: float


class Tagged:
    """A training and a test set with guessed tags, and how good these are."""

    def __init__(
        self, train: TaggedTrees, test: TaggedTrees, settings: ParseSettings, report: Report
    ) -> None:
        self.right: dict[str, float] = {}
        found: dict[str, tuple[Any, Any]] = {}
        for name in ("upos", "xpos"):
            report(f"{name}: taggers")

            def fit(X: Any, y: Any) -> StochasticCRF:
                features = TemplateFeatures(TAGGING, dtype=np.float32)
                model = StochasticCRF(settings.tag_penalty, features=features, random_state=0)
                return model.set_params(max_iter=settings.tag_iterations, decoder="posterior").fit(X, y)

            right, wanted = getattr(train, name), getattr(test, name)
            guessed = fit(train.words, right).predict(test.words)
            found[name] = jack_knifed(train.words, right, fit, settings.folds), guessed
            self.right[name] = 100 * _share(guessed, wanted)
            report(f"{name}: {self.right[name]:.2f} % right")
        self.train = train._replace(**{name: pair[0] for name, pair in found.items()})
        self.test = test._replace(**{name: pair[1] for name, pair in found.items()})


class Parsed:
    """A training and a test set of which a small parser has left out most arcs; ``gold`` has right tags."""

    def __init__(
        self, train: TaggedTrees, test: TaggedTrees, gold: TaggedTrees, settings: ParseSettings
    ) -> None:
        self.train, self.test, self.gold = train, test, gold
        self.trees = [projective(heads) for heads in train.heads]
        features = TemplateFeatures(PRUNING, n_hash=2**settings.bits, dtype=bool)
        small = StochasticCRF(settings.prune_penalty, learning_rate=settings.prune_step, features=features)
        small.set_params(structure=Dependency(), max_iter=settings.prune_iterations, random_state=0)
        small.fit(train.tokens(), self.trees)
        self.small = [(heads, ["?"] * len(heads)) for heads in small.predict(test.tokens())]
        kept = [_allowed(p, settings.least) for p in small.predict_marginals(train.tokens())]
        for allowed, heads, given in zip(kept, self.trees, train.heads, strict=True):
            allowed[np.arange(len(heads)), heads] = True
            allowed[np.arange(len(given)), given] = True
        self.X = list(zip(train.tokens(), kept, strict=True))
        self.y = list(zip(self.trees, train.relations, strict=True))
        left = [_allowed(p, settings.least) for p in small.predict_marginals(test.tokens())]
        self.X_test = list(zip(test.tokens(), left, strict=True))
        words = sum(map(len, test.heads))
        self.arcs = sum(int(allowed.sum()) for allowed in left) / words
        self.reach = (
            sum(int(a[np.arange(len(h)), h].sum()) for a, h in zip(left, test.heads, strict=True)) / words
        )


def run(settings: ParseSettings, report: Report) -> Outcome:
    """Tag, leave out arcs, parse; the last parser with right tags, too."""
    train = read_treebank("train", settings.train or None)
    test = read_treebank(settings.part, settings.test or None)
    tagged = Tagged(train, test, settings, report)
    report("leaving out arcs")
    parsed = Parsed(tagged.train, tagged.test, test, settings)
    report(f"{parsed.arcs:.1f} arcs a word left, {100 * parsed.reach:.2f} % of right ones among them")
    rows = [_row("small CRF, arcs only", "guessed", parsed.small, parsed.gold, 0.0, None)]
    for name in settings.models:
        report(name)
        rows.append(_parse(name, "guessed", parsed, settings)[0])
    report(LAST)
    best, error, trees = _parse(LAST, "guessed", parsed, settings)
    rows.append(best)
    odd = sum(projective(heads) != heads or heads.count(0) != 1 for heads, _ in trees)
    if settings.gold_tags:
        report(f"{LAST}, right tags")
        rows.append(_parse(LAST, "right", Parsed(train, test, test, settings), settings)[0])
    claims = [
        Claim("upos", tagged.right["upos"], PUBLISHED["upos"], at_least=settings.min_upos),
        Claim("xpos", tagged.right["xpos"], PUBLISHED["xpos"], at_least=settings.min_xpos),
        Claim("las_predicted_tags", best["LAS %"], PUBLISHED["las"], at_least=settings.min_las),
        Claim("arc_calibration_error", error, at_most=settings.max_calibration_error),
        Claim("outputs_that_are_no_projective_trees", float(odd), at_most=0.0),
    ]
    return Outcome("parse", claims, rows, {"published": PUBLISHED}, _notes(settings, parsed))


def _parse(name: str, tags: str, parsed: Parsed, settings: ParseSettings) -> tuple[Row, float, list[Any]]:
    """Learn arcs, mostly with relations; return a line of the table, the calibration error, trees."""
    started = process_time()
    model = _parser(name, parsed, settings)
    structure = model.structure
    y = parsed.trees if not structure.labels else parsed.y if structure.projective else parsed.train.trees
    model.fit(parsed.X, y)
    seconds = process_time() - started
    if not name.startswith("CRF"):
        trees = model.predict(parsed.X_test)
        if not structure.labels:
            trees = [(heads, ["?"] * len(heads)) for heads in trees]
        return _row(name, tags, trees, parsed.gold, seconds, None), np.nan, trees
    arcs = [p.sum(axis=-1) for p in model.predict_marginals(parsed.X_test)]
    error = 100 * arc_calibration(arcs, parsed.gold.heads)
    trees = model.predict(parsed.X_test, decoder="posterior")
    return _row(name, tags, trees, parsed.gold, seconds, error), error, trees


def _parser(name: str, parsed: Parsed, settings: ParseSettings) -> Any:
    """Return a parser, not fitted yet."""
    clusters = BrownClusters(settings.clusters, settings.clustered).fit(parsed.train.words)
    columns = {"n_hash": 2**settings.bits, "dtype": bool, "clusters": clusters}
    features = TemplateFeatures(ARCS, **columns)
    if name == SVM:
        svm = StructuredSVM(penalty=settings.svm_penalty, tol=settings.svm_gap)
        return svm.set_params(structure=Dependency(pruned=True), features=features)
    model: Any = StochasticCRF(settings.penalty, learning_rate=settings.step)
    structure = Dependency(labels=True, pruned=True, projective=name != "CRF, all trees")
    if name == LAST:
        model.set_params(penalty=settings.sibling_penalty)
        pairs = TemplateFeatures(SIBLINGS, **columns)
        structure = SiblingDependency(labels=True, pruned=True, siblings=pairs)
    if name in ONLINE:
        model = ONLINE[name]()
    return model.set_params(
        structure=structure, features=features, max_iter=settings.iterations, random_state=0
    )


def arc_calibration(marginals: Sequence[Any], heads: Sequence[Sequence[int]], bins: int = 10) -> float:
    """Return the mean difference between the probability of the likeliest head and how often it is right.

    Over words, in bins of equal width of that probability.
    """
    sure = np.concatenate([p.max(axis=1) for p in marginals])
    right = np.concatenate(
        [p.argmax(axis=1) == np.array(h, int) for p, h in zip(marginals, heads, strict=True)]
    )
    which = np.minimum((sure * bins).astype(int), bins - 1)
    apart = np.bincount(which, sure - right, bins)
    return float(np.abs(apart).sum() / len(sure))


def _row(name: str, tags: str, trees: Any, test: TaggedTrees, seconds: float, error: float | None) -> Row:
    found = attachment_scores(test.trees, trees, test.upos)
    labelled = "?" not in {label for _, labels in trees[:1] for label in labels}
    las = (found.las, found.las_without_punctuation) if labelled else (None, None)
    return {
        "parser": name,
        "tags": tags,
        "UAS %": 100 * found.uas,
        "LAS %": _per_cent(las[0]),
        "UAS % without punctuation": _per_cent(found.uas_without_punctuation),
        "LAS % without punctuation": _per_cent(las[1]),
        "calibration error %": error,
        "seconds to learn": seconds or None,
    }


def _per_cent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _allowed(p: Any, least: float) -> Any:
    """Return the arcs above a bound, and the likeliest of every word."""
    return (p > least) | (p == p.max(axis=1, keepdims=True)) if len(p) else p > least


def _share(found: Sequence[Any], wanted: Sequence[Any]) -> float:
    pairs = zip(found, wanted, strict=True)
    return float(np.mean([a == b for row, other in pairs for a, b in zip(row, other, strict=True)]))


def _notes(settings: ParseSettings, parsed: Parsed) -> list[str]:
    return [
        f"Tags of the training set are guessed by taggers of the other {settings.folds - 1} of "
        f"{settings.folds} parts. Trees to learn from that are not projective are made so: words move up to "
        "their head's head. Nothing but the training set is learnt from, and no word vectors are used. "
        "Settings were chosen on the dev set. CRFs give the tree with most arcs and relations right, as they "
        "expect it.",
        f"A small parser leaves {parsed.arcs:.1f} arcs a word, among them {100 * parsed.reach:.2f} % of the "
        "right ones. Seconds are processor time.",
        "UDPipe 1 on UD 2.5 with gold tokens: UPOS 94.4, XPOS 93.9, UAS 84.4, LAS 81.1; with right tags UAS "
        "88.1, LAS 86.2.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw attachment scores of every parser."""
    panel = figure.subplots()
    rows = list(outcome.rows)
    names = [f"{row['parser']}, {row['tags']} tags" for row in rows]
    places = np.arange(len(rows))
    panel.barh(places - 0.2, [row["UAS %"] for row in rows], 0.4, label="UAS")
    panel.barh(places + 0.2, [row["LAS %"] or 0.0 for row in rows], 0.4, label="LAS")
    panel.axvline(PUBLISHED["las"], color="grey", linewidth=1)
    panel.set_yticks(places, names)
    panel.invert_yaxis()
    panel.set_xlim(60, 95)
    panel.set_xlabel("words, %; grey: LAS of UDPipe 1 on another release")
    panel.legend()


PARSE = Experiment(
    "parse",
    "English Web Treebank: tags and dependency trees, guessed and right tags",
    "ud_english_ewt",
    ParseSettings,
    run,
    draw,
)
