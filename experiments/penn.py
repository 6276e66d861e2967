"""Phrase trees from few sentences: labelled spans with features beside a grammar read off the same trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kernelfields.datasets import load_ptb_trees
from kernelfields.estimators import PassiveAggressive, StochasticCRF, StructuredPerceptron, StructuredSVM
from kernelfields.features import TemplateFeatures
from kernelfields.io.phrases import leaves_of
from kernelfields.metrics import bracket_scores
from kernelfields.structures import Constituency, binary_spans

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.pcfg import PCFG
from .lib.results import Outcome, Row

TEMPLATES = """
columns: w pos
cliques: spans
distance
pos[i]
pos[j]
w[i]
w[j]
pos[i-1]
pos[j+1]
w[i-1]
w[j+1]
pos[i] & distance
pos[j] & distance
pos[i] & pos[j]
pos[i] & pos[j] & distance
pos[i-1] & pos[j+1]
pos[i-1] & pos[i]
pos[j] & pos[j+1]
pos[i-1] & pos[i] & pos[j] & pos[j+1]
pos[i-1] & pos[i] & pos[i+1]
pos[j-1] & pos[j] & pos[j+1]
pos[i] & pos[i+1] & pos[j]
pos[i] & pos[j-1] & pos[j]
w[i] & pos[j]
pos[i] & w[j]
w[i] & pos[j+1]
pos[i-1] & w[j]
w[i-1] & pos[i]
pos[j] & w[j+1]
w[i] & distance
w[i-1] & w[i]
w[j] & w[j+1]
pos[i] & between(pos) & pos[j]
"""

LEARNERS: Mapping[str, Any] = {
    "CRF": StochasticCRF,
    "perceptron": StructuredPerceptron,
    "passive-aggressive": PassiveAggressive,
    "SVM": StructuredSVM,
}
"""All but the last learn from one sentence after the other."""


@dataclass(frozen=True)
class PennSettings:
    """Which documents, how many sentences, and what to choose from on the middle documents."""

    seed: int
    last_train: int
    """Number of the last document to learn from; then come those for choices."""
    last_dev: int
    """Number of the last document for choices; then come those for tests."""
    most_words: int
    """Longer sentences are left out everywhere."""
    sizes: list[int]
    """How many sentences to learn from, for the learning curve; the last is what claims are about."""
    horizontal: list[int]
    vertical: list[int]
    penalties: list[float]
    """λ of the CRF."""
    n_choice: int
    """Sentences to learn from while λ is chosen."""
    max_iter: int
    """Passes through the sentences."""
    n_hash: int
    """Features are counted by remainders of so many."""
    n_test: int
    svm_penalty: float
    svm_gap: float
    """Certified relative gap that the SVM stops at."""
    svm_hash: int
    """Its planes have a number for every feature and label: fewer remainders."""


class Sentences(NamedTuple):
    """Trees, and their words in the two forms that models want."""

    trees: list[Any]
    leaves: list[list[tuple[str, str]]]
    """(tag, word)."""

    @property
    def tokens(self) -> list[list[tuple[str, str]]]:
        """(word, tag)."""
        return [[(word, tag) for tag, word in leaves] for leaves in self.leaves]

    def first(self, n: int) -> Sentences:
        """Return the first n sentences."""
        return Sentences(self.trees[:n], self.leaves[:n])


def run(settings: PennSettings, report: Report) -> Outcome:
    """Choose settings on the middle documents, learn from ever more sentences, and judge on the last ones."""
    train, dev, test = _parts(settings)
    grammar = _best_grammar(train.first(settings.sizes[-1]), dev, settings, report)
    penalty = _best_penalty(train.first(settings.n_choice), dev, settings, report)
    rows: list[dict[str, Any]] = []
    error = 0.0
    for count in settings.sizes:
        part = train.first(count)
        rows.append({"sentences": len(part.trees)})
        started = perf_counter()
        found = PCFG(*grammar, given_tags=True).fit(part.trees).predict(test.leaves)
        rows[-1]["PCFG"] = _f1(test, found)
        rows[-1]["PCFG seconds"] = perf_counter() - started
        for name in LEARNERS:
            started = perf_counter()
            model = _learner(name, penalty, settings).fit(part.tokens, part.trees)
            rows[-1][name] = _f1(test, model.predict(test.tokens))
            rows[-1][f"{name} seconds"] = perf_counter() - started
            if name == "CRF":
                error = max(error, _span_error(model, test))
        report(_line(rows[-1]))
    last = rows[-1]
    claims = [
        Claim("crf_above_pcfg_f1_points", last["CRF"] - last["PCFG"], at_least=3.0),
        Claim("crf_above_pcfg_at_every_size", min(r["CRF"] - r["PCFG"] for r in rows), at_least=0.0),
        Claim("largest_error_of_expected_spans", error, at_most=1e-6),
    ]
    details = {"grammar": list(grammar), "penalty": penalty, "n_test": len(test.trees)}
    return Outcome("penn", claims, rows, details, _notes(grammar, penalty, test, settings))


def _parts(settings: PennSettings) -> tuple[Sentences, Sentences, Sentences]:
    """Return sentences to learn from, in random order, to choose with, and to test with."""
    bank = load_ptb_trees()
    parts: tuple[list[Any], list[Any], list[Any]] = [], [], []
    for tree, document in zip(bank.trees, bank.documents, strict=True):
        number, leaves = int(document.removeprefix("wsj_")), leaves_of(tree)
        if len(leaves) <= settings.most_words:
            parts[(number > settings.last_train) + (number > settings.last_dev)].append((tree, leaves))
    order = np.random.default_rng(settings.seed).permutation(len(parts[0]))
    shuffled = [parts[0][k] for k in order]
    chosen = shuffled, parts[1][: settings.n_test], parts[2][: settings.n_test]
    train, dev, test = (
        Sentences([tree for tree, _ in part], [[tuple(leaf) for leaf in leaves] for _, leaves in part])
        for part in chosen
    )
    return train, dev, test


def _best_grammar(
    train: Sentences, dev: Sentences, settings: PennSettings, report: Report
) -> tuple[int, int]:
    found = {}
    for orders in product(settings.horizontal, settings.vertical):
        model = PCFG(*orders, given_tags=True).fit(train.trees)
        found[orders] = _f1(dev, model.predict(dev.leaves))
        report(f"PCFG of orders {orders}: {found[orders]:.2f}")
    return max(found, key=lambda orders: found[orders])


def _best_penalty(train: Sentences, dev: Sentences, settings: PennSettings, report: Report) -> float:
    if len(settings.penalties) == 1:
        return settings.penalties[0]
    found = {}
    for penalty in settings.penalties:
        model = _learner("CRF", penalty, settings).fit(train.tokens, train.trees)
        found[penalty] = _f1(dev, model.predict(dev.tokens))
        report(f"CRF with penalty {penalty:g}: {found[penalty]:.2f}")
    return max(found, key=lambda penalty: found[penalty])


def _learner(name: str, penalty: float, settings: PennSettings) -> Any:
    if name == "SVM":
        fewer = TemplateFeatures(TEMPLATES, n_hash=settings.svm_hash, dtype=np.float32)
        svm = StructuredSVM(penalty=settings.svm_penalty, tol=settings.svm_gap)
        return svm.set_params(features=fewer, structure=Constituency())
    features = TemplateFeatures(TEMPLATES, n_hash=settings.n_hash)
    more = {"penalty": penalty} if name == "CRF" else {}
    return LEARNERS[name](
        features=features,
        structure=Constituency(),
        max_iter=settings.max_iter,
        random_state=settings.seed,
        **more,
    )


def _f1(part: Sentences, found: Sequence[Any]) -> float:
    """Labelled bracket F1 in percent, as evalb counts."""
    return 100 * bracket_scores(part.trees, list(found)).f1


def _span_error(model: Any, test: Sentences) -> float:
    """By how much the expected number of spans differs from that of every tree, 2n − 1."""
    some = test.first(20)
    expected = [float(p.sum()) for p in model.predict_marginals(some.tokens)]
    return max(abs(e - len(binary_spans(tree))) for e, tree in zip(expected, some.trees, strict=True))


def _line(row: Row) -> str:
    figures = ", ".join(f"{name} {row[name]:.2f}" for name in ("PCFG", *LEARNERS))
    return f"{row['sentences']} sentences: {figures}"


def _notes(grammar: tuple[int, int], penalty: float, test: Sentences, settings: PennSettings) -> list[str]:
    return [
        f"Labelled bracket F1 in percent, as evalb counts, on {len(test.trees)} sentences of up to "
        f"{settings.most_words} words from the last documents of the sample of the Penn Treebank. All models "
        "are given the tags of words. The PCFG has relative frequencies as probabilities, and knows as much "
        "of the surroundings of a symbol as did best on other documents: the last "
        f"{grammar[0]} children, and {grammar[1] - 1} labels above; sentences that its grammar has no tree "
        "for get a flat one. The others score labelled spans by their tags and words; the "
        f"penalty of the CRF, {penalty:g}, was chosen on other documents, too.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw F1 by the number of sentences to learn from."""
    panel = figure.subplots()
    sizes = [row["sentences"] for row in outcome.rows]
    for name in ("PCFG", *LEARNERS):
        panel.plot(sizes, [row[name] for row in outcome.rows], "o-", label=name)
    panel.set_xscale("log")
    panel.set_xlabel("sentences to learn from")
    panel.set_ylabel("labelled bracket F1, %")
    panel.grid(alpha=0.3)
    panel.legend()


PENN = Experiment(
    "penn",
    "phrase trees from few sentences: CRF, perceptron and SVM over labelled spans beside a PCFG",
    "ptb_sample",
    PennSettings,
    run,
    draw,
)
