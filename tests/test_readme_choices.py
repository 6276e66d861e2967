"""Every row of README's table "What to use when" works on a small input of the kind that it is about."""

import re
from pathlib import Path

import numpy as np
import pytest

import kernelfields as kf
from kernelfields import CRF, KernelCRF, StructuredSVM, distributed
from kernelfields.kernels import GraphKernel
from kernelfields.losses import VariationalEM
from kernelfields.models.graph_cliques import LabelPairs
from kernelfields.posterior import Laplace
from kernelfields.selection import SGPS, SGSA, GreedyCliques, ImportVectors
from kernelfields.structures import (
    Alignment,
    Constituency,
    Dependency,
    Exact,
    Graph,
    Grid,
    Matching,
    MeanField,
    MultiLabel,
)

README = Path(__file__).parents[1] / "README.md"
WORDS, TAGS = [["Anna", "saw", "Paris"], ["Bob", "slept"]], [["B-PER", "O", "B-LOC"], ["B-PER", "O"]]
ARCS = [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")], [("dogs", "NOUN"), ("bark", "VERB")]]
RIGHT = 0.8


def numbers(count=20):
    random = np.random.default_rng(0)
    X = [random.normal(size=(8, 3)) for _ in range(count)]
    return X, [["up" if row[0] > 0 else "down" for row in x] for x in X]


def learns(*models):
    X, y = numbers()
    for model in models:
        assert model.fit(X, y).score(X, y) > RIGHT, model


def text():
    assert CRF(0.1, features="ner").fit(WORDS, TAGS).predict(WORDS) == TAGS


def missing_values():
    X, y = numbers()
    X = [np.where(np.random.default_rng(1).random(x.shape) < 0.1, np.nan, x) for x in X]
    assert kf.BoostedCRF(random_state=0).fit(X, y).score(X, y) > 0.7


def no_labels():
    X, y = numbers()
    assert len(set(np.concatenate(kf.HMM(n_states=2, random_state=0).fit(X).predict(X)))) == 2
    kf.HMM().fit(X, y)


def sure():
    X, y = numbers(60)
    model = KernelCRF(posterior=Laplace(folds=3), random_state=0).fit(X[:20], y[:20])
    calibrated = model.calibrate(X[20:], y[20:]) or model
    assert len(calibrated.predict(X[:2], error_at_most=0.5)) == 2


def hidden():
    X, _ = numbers()
    learns(kf.HiddenUnitCRF(random_state=0), kf.HiddenStates(CRF(0.1), random_state=0))
    assert len(kf.FieldClustering(2, random_state=0).fit(X).predict(X)) == len(X)


def heads():
    CRF(0.1, structure=Dependency(), features="arcs").fit(ARCS, [[2, 3, 0], [2, 0]])


def phrases():
    tree = ("S", ("NP", ("DET", "the"), ("NOUN", "dog")), ("VP", ("VERB", "barks")))
    CRF(0.1, structure=Constituency(), features="spans").fit(ARCS[:1], [tree])


def matchings():
    X = [(np.eye(4), (2, 2))]
    StructuredSVM(penalty=0.1, structure=Matching()).fit(X, [[(0, 0), (1, 1)]])
    StructuredSVM(penalty=0.1, structure=Alignment()).fit(X, [[(0, 0), (1, 1)]])


def trees():
    CRF(0.1, features="pos", structure="tree").fit(
        [(["dogs", "bark"], [1, -1]), (["cats", "sleep"], [1, -1])], [["N", "V"]] * 2
    )


def graphs():
    x = np.array([[0.0], [0.1], [1.0]])
    CRF(structure="graph").fit([(x, [(0, 1), (1, 2)])], [["a", "a", "b"]])
    CRF(structure=Grid()).fit([np.arange(4.0).reshape(2, 2, 1)], [np.array([[0, 0], [1, 1]])])
    CRF(structure=MultiLabel()).fit(x, np.array([[0, 1], [0, 1], [1, 0]]))


def large_graph():
    random, side = np.random.default_rng(0), 50
    ids = np.arange(side * side).reshape(side, side)
    across, down = (ids[:, :-1], ids[:, 1:]), (ids[:-1], ids[1:])
    edges = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in (across, down)])
    truth = np.where(np.add.outer(np.arange(side), np.arange(side)).ravel() > side, "a", "b")
    X = [((truth == "a")[:, None] + random.normal(size=(side * side, 1)), edges)]
    known = [None] * side * side
    for vertex in random.choice(side * side, 100, replace=False):
        known[vertex] = str(truth[vertex])
    model = CRF(structure=Graph(inference=MeanField()), loss=VariationalEM()).fit(X, [known])
    assert (np.array(model.predict(X)[0]) == truth).mean() > RIGHT


def few_labels():
    X, y = numbers()
    KernelCRF(GraphKernel(), penalty=0.1).fit(X[:5], y[:5], X_unlabelled=X[5:])
    rows = np.concatenate(X)
    marks = [label if n < 20 else None for n, label in enumerate(np.concatenate(y).tolist())]
    kf.TransductiveSVM().fit(rows, marks)


def edges_to_learn():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 2)), random.integers(2, size=(60, 3))
    base = CRF(1.0, structure=MultiLabel(edges=[], inference=Exact(max_table=2**6)))
    kf.StructureLearner(base, candidates=[LabelPairs()], worth="bic").fit(X, y)


def two_workers():
    with distributed.use("threads", workers=2, shards=2):
        learns(CRF(0.1))


def rows_without_order():
    X, y = numbers()
    X, y = np.concatenate(X), np.concatenate(y)
    assert kf.KernelLogisticRegression().fit(X, y).score(X, y) > RIGHT


def small_model():
    learns(KernelCRF(basis=SGPS(size=20), random_state=0), KernelCRF(basis=GreedyCliques(size=20)))
    learns(KernelCRF(basis=SGSA(size=20), random_state=0))
    X, y = numbers()
    kf.KernelLogisticRegression(basis=ImportVectors(size=5)).fit(np.concatenate(X), np.concatenate(y))


ROWS = {
    "text, many sparse features": text,
    "numbers, up to some ten thousand positions": lambda: learns(KernelCRF(), kf.GPSequenceClassifier()),
    "numbers, more positions": lambda: learns(KernelCRF(basis="nystroem", random_state=0)),
    "a kernel model that must be small": small_model,
    "columns of different kinds, missing values": missing_values,
    "no labels, or few; gaps in the observations": no_labels,
    "a task cost that matters more than probabilities": lambda: learns(StructuredSVM()),
    "probabilities to act on, few labels": sure,
    "labels that are several things; no labels at all": hidden,
    "a stream, or no time": lambda: learns(
        *(
            getattr(kf, name)(random_state=0)
            for name in ("StructuredPerceptron", "PassiveAggressive", "AROW", "StochasticCRF")
        )
    ),
    "labels that last: phases, exons, events": lambda: learns(CRF(structure="segments")),
    "dependency trees of sentences": heads,
    "phrase trees of sentences": phrases,
    "matchings, word alignments": matchings,
    "labels of a hierarchy or of a parse": trees,
    "a graph, pictures, several labels a row": graphs,
    "one large graph, few labels": large_graph,
    "few labels, much without": few_labels,
    "no idea which edges or kernels": edges_to_learn,
    "more than one process or machine": two_workers,
    "rows without order": rows_without_order,
}


def test_all_rows_are_tried():
    table = README.read_text(encoding="utf-8").partition("## What to use when")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \|", table, flags=re.MULTILINE)
    assert rows[0] == "you have"
    assert rows[2:] == list(ROWS)


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.filterwarnings("ignore")
def test_row(row):
    ROWS[row]()
