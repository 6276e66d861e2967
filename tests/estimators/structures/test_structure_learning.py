"""Structures of graphs, learnt: planted ones, and the choices of fitting every candidate."""

import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import (
    CRF,
    FixedScores,
    FreeScores,
    InputError,
    KernelCRF,
    LinearScores,
    Parts,
    Run,
    StructuredSVM,
    StructureLearner,
    load,
)
from kernelfields.constraints import Constraints
from kernelfields.data.base_measure import CliqueMeasures
from kernelfields.losses import Log
from kernelfields.models.clique_types import Edges, FurtherKernel
from kernelfields.models.gain_bounds import extension, gain_bound
from kernelfields.models.graph_cliques import AllUnused, LabelPair, LabelPairs, UnusedCliques
from kernelfields.structures import Exact, Graph, Grid, MultiLabel, TreeReweighted

from ..._enumerating import Enumerating

PLANTED = {(0, 1): 1.5, (1, 2): -1.5, (2, 3): 1.5, (0, 3): 1.5}


def drawn(rng, n, K, strengths):
    """Rows of labels from a graph of labels with these scores of being equal."""
    X = rng.normal(size=(n, 2))
    every = np.array(list(itertools.product((0, 1), repeat=K)))
    scores = X @ rng.normal(size=(2, K)) @ every.T
    for (k, m), strength in strengths.items():
        scores += strength * (every[:, k] == every[:, m])
    return X, every[(scores + rng.gumbel(size=scores.shape)).argmax(axis=1)]


def learner(edges=(), search="bound", **settings):
    base = CRF(1.0, structure=MultiLabel(list(edges)), tol=1e-7)
    return StructureLearner(base, candidates=[LabelPairs()], **{"worth": "bic", "search": search, **settings})


def named(pairs):
    return {f"{k} – {m}" for k, m in pairs}


@pytest.mark.parametrize("settings", [{}, {"search": "gain"}, {"per_round": 3}], ids=str)
def test_a_planted_graph_is_found(settings):
    X, y = drawn(np.random.default_rng(1), 500, 5, PLANTED)
    found = learner(**settings).fit(X, y)
    assert set(found.kept_) == named(PLANTED)
    assert set(found.model_.structure_.pairs) == set(PLANTED)
    assert sum(trial.gain is not None for trial in found.trials_) < 10
    for trial in found.trials_:
        assert trial.gain is None or trial.gain <= trial.bound + 1e-3


def test_nothing_is_found_among_independent_labels():
    X, y = drawn(np.random.default_rng(0), 300, 5, {})
    assert learner(worth=0.01).fit(X, y).kept_ == []


@pytest.mark.parametrize("seed", range(3))
def test_the_choice_is_that_of_fitting_every_candidate(seed):
    rng = np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(4), 2))
    X, y = drawn(rng, 120, 4, {pair: rng.normal() for pair in pairs})
    present, kept, fits = [], [], 0

    def fitted(edges):
        return CRF(1.0, structure=MultiLabel(edges), tol=1e-7).fit(X, y).certificate_.value

    value = fitted([])
    while True:
        gains = {pair: value - fitted([*present, pair]) for pair in pairs if pair not in present}
        fits += len(gains)
        best = max(gains, key=gains.get, default=None)
        if best is None or gains[best] < 0.5 * np.log(len(X)):
            break
        present.append(best)
        kept.append(f"{best[0]} – {best[1]}")
        value -= gains[best]
    found = learner(search="gain").fit(X, y)
    assert found.kept_ == kept
    assert found.model_.certificate_.value == pytest.approx(value, rel=1e-5)
    assert sum(trial.gain is not None for trial in found.trials_) < fits
    last = max(trial.round for trial in found.trials_)
    if len(kept) < len(pairs):
        assert sum(trial.kept for trial in found.trials_ if trial.round == last) == 0


def test_graphs_stay_within_the_table_that_is_allowed():
    X, y = drawn(np.random.default_rng(1), 500, 5, PLANTED)
    base = CRF(1.0, structure=MultiLabel([], inference=Exact(max_table=4)), tol=1e-6)
    found = StructureLearner(base, candidates=[LabelPairs()], worth="bic").fit(X, y)
    assert len(found.kept_) == 3  # a path: the last pair would close the cycle
    assert [trial.verdict for trial in found.trials_][-1] == "too large"
    assert "too large" in found.report()
    kernel = KernelCRF("linear", penalty=1.0, structure=base.structure, tol=1e-5)
    again = StructureLearner(kernel, candidates=[LabelPair(0, 3)], worth=0.0)
    path = MultiLabel([(0, 1), (1, 2), (2, 3)], inference=Exact(max_table=4))
    joined = clone(again).set_params(estimator__structure=path)
    assert joined.fit(X[:50], y[:50]).trials_[0].verdict == "too large"


def test_held_out_rows_have_a_say():
    rng = np.random.default_rng(3)
    X, y = drawn(rng, 60, 4, {})
    found = learner(worth=0.0).fit(X, y, X_dev=X, y_dev=y)
    assert found.kept_  # what raises the likelihood of the very same rows
    flipped = y.copy()
    flipped[:, 1] = 1 - flipped[:, 1]
    found = learner(worth=0.0).fit(X, y, X_dev=X, y_dev=flipped)
    tried = [trial for trial in found.trials_ if trial.gain is not None]
    assert any(trial.held_out <= 0 and not trial.kept and trial.gain > 0 for trial in tried)
    assert all((trial.held_out > 0) == trial.kept for trial in tried)


def test_pseudo_likelihoods_have_bounds_too():
    X, y = drawn(np.random.default_rng(1), 300, 4, {(0, 1): 2.0, (1, 2): -2.0})
    base = CRF(1.0, structure=MultiLabel([]), loss="pseudo", tol=1e-6)
    found = StructureLearner(base, candidates=[LabelPairs()], worth=0.05).fit(X, y)
    assert set(found.kept_) == {"0 – 1", "1 – 2"}
    assert all(trial.gain <= trial.bound for trial in found.trials_ if trial.kept)


def skipping(rng, n=40, T=9):
    """Sequences whose labels are those two before, mostly; edges by distance."""
    items, labels = [], []
    for _ in range(n):
        y = list(rng.integers(0, 2, 2))
        while len(y) < T:
            y.append(y[-2] if rng.random() < 0.9 else 1 - y[-2])
        x = np.array(y)[:, None] + 1.5 * rng.normal(size=(T, 1))
        edges = {f"skip{d}": [(t, t + d) for t in range(T - d)] for d in (1, 2, 3)}
        items.append((x, edges))
        labels.append([int(one) for one in y])
    return items, labels


def skips(**settings):
    names = ["skip1", "skip2", "skip3"]
    return Graph(**{"edge_types": names, "unused": names, **settings})


@pytest.mark.parametrize("kind", [CRF, KernelCRF])
def test_edge_types_that_tell_something_are_kept(kind):
    X, y = skipping(np.random.default_rng(0), n=20)
    settings = {"run": Run(dtype="float64")} if kind is KernelCRF else {}
    base = kind(penalty=1.0, structure=skips(), tol=1e-5, **settings)
    for search in ("bound", "gain"):
        found = StructureLearner(base, candidates=[AllUnused()], worth=0.02, search=search).fit(X, y)
        assert found.kept_ == ["skip2"]
        assert found.model_.structure_.unused == ["skip1", "skip3"]
    assert found.sequence_log_proba(X, y).sum() > base.fit(X, y).sequence_log_proba(X, y).sum()
    assert found.predict(X) == found.model_.predict(X)


@pytest.mark.parametrize("directed", [False, True])
def test_bounds_of_edge_types_hold_and_are_those_of_enumeration(directed):
    X, y = skipping(np.random.default_rng(2), n=6, T=5)
    structure = skips(directed=directed, unused=["skip2", "skip3"])
    model = CRF(0.8, structure=structure, tol=1e-9).fit(X, y)
    listed = CRF(0.8, structure=skips(directed=directed, unused=["skip2", "skip3"], inference=Enumerating()))
    listed.set_params(tol=1e-9).fit(X, y)
    for candidate in AllUnused().members(model.structure_):
        bound = gain_bound(model, candidate, X, y)
        assert bound == pytest.approx(gain_bound(listed, candidate, X, y), rel=1e-4)
        refitted = extension(model, candidate).fit(X, y)
        gain = model.certificate_.value - refitted.certificate_.value
        assert 0 <= gain <= bound + model.certificate_.gap


def test_directions_of_grids():
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(30):
        stripes = np.repeat(rng.integers(0, 2, (1, 5)), 4, axis=0)  # columns of one label
        y.append(stripes)
        X.append(stripes[..., None] + 1.2 * rng.normal(size=(4, 5, 1)))
    base = CRF(1.0, structure=Grid(connectivity=8, directions=[]), tol=1e-6)
    found = StructureLearner(base, candidates=[AllUnused()], worth=0.1).fit(X, y)
    assert found.kept_ == ["down"]
    assert found.model_.structure_.steps == ("down",)


def test_learners_are_kept_copied_and_described(tmp_path):
    X, y = drawn(np.random.default_rng(1), 200, 4, {(0, 1): 2.0, (2, 3): -2.0})
    found = learner(search="gain").fit(X, y)
    path = tmp_path / "learner.kf"
    found.save(path)
    for again in (load(path), pickle.loads(pickle.dumps(found))):
        assert again.kept_ == found.kept_
        assert again.trials_ == found.trials_
        assert again.report() == found.report()
        np.testing.assert_array_equal(again.predict(X), found.predict(X))
    assert clone(found).fit(X, y).kept_ == found.kept_
    assert set(found.kept_) == {"0 – 1", "2 – 3"}
    report = found.report().splitlines()
    assert len(report) == len(found.trials_) + 2
    assert sum(line.endswith("  kept") for line in report) == 2


def test_long_rounds_are_written_short():
    X, y = drawn(np.random.default_rng(1), 100, 7, {(0, 1): 3.0})
    report = learner(search="gain").fit(X, y).report()
    assert "20 others" in report
    assert len(report.splitlines()) < 8


def test_names_of_columns():
    pandas = pytest.importorskip("pandas")
    X, y = drawn(np.random.default_rng(1), 300, 3, {(0, 2): 2.0})
    frame = pandas.DataFrame(y, columns=["sea", "sky", "boat"])
    assert learner().fit(X, frame).kept_ == ["sea – boat"]
    given = StructureLearner(learner().estimator, candidates=[LabelPair("boat", "sea")], worth="bic")
    assert given.fit(X, frame).model_.structure_.pairs == ((0, 2),)


PAIR = MultiLabel([])
EMPTY = Graph(edge_types=["a"], unused=["a"])
REFUSED = [
    (CRF(structure=MultiLabel("full")), LabelPair(0, 1), "a list of pairs"),
    (CRF(structure=PAIR), LabelPair(0, 7), "two of the 3 labels"),
    (CRF(structure=PAIR), UnusedCliques("a"), "Unused cliques are those of"),
    (CRF(structure=PAIR), Edges(), "'edges' from the start"),
    (CRF(structure=PAIR), "pairs", "candidates\\[0\\] is 'pairs'"),
    (CRF(structure=PAIR, parts=Parts(edge_features=LinearScores())), LabelPair(0, 1), "edge_features"),
    (CRF(structure=PAIR, loss="piecewise"), LabelPair(0, 1), "loss='log' or 'pseudo'"),
    (CRF(structure=PAIR, loss=Log(np.zeros((6, 6, 6, 6)))), LabelPair(0, 1), "cost of label pairs"),
    (CRF(structure=MultiLabel([], inference=TreeReweighted())), LabelPair(0, 1), "change with the graph"),
    (CRF(structure=PAIR, constraints=Constraints([((0, 1), (1, 1))])), LabelPair(0, 1), "constraints"),
    (
        CRF(structure=PAIR, parts=Parts(known=FixedScores(CliqueMeasures()))),
        LabelPair(0, 1),
        "CliqueMeasures",
    ),
    (CRF(structure=PAIR, parts=Parts(edges=FreeScores(penalty=0.0))), LabelPair(0, 1), "penalties above 0"),
    (KernelCRF(structure=PAIR, parts=Parts(edges=None)), LabelPair(0, 1), "needs the part 'edges'"),
    (KernelCRF(structure=PAIR), FurtherKernel("linear", 1.0), "no number of parameters"),
    (StructuredSVM(structure=PAIR), LabelPair(0, 1), "estimator is StructuredSVM"),
]


@pytest.mark.parametrize(("base", "candidate", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_refusals(base, candidate, message, rng):
    X, y = drawn(rng, 30, 3, {})
    found = StructureLearner(base, candidates=[candidate], worth="bic")
    with pytest.raises(InputError, match=message):
        found.fit(X, y)
    assert not hasattr(found, "model_")


def test_settings_that_mean_nothing(rng):
    X, y = drawn(rng, 30, 3, {})
    for settings, message in [
        ({"search": "best"}, "search='best'"),
        ({"per_round": 0}, "per_round"),
        ({"per_round": 2, "search": "gain"}, "search='bound'"),
        ({"worth": "aic"}, "worth"),
        ({"worth": -1.0}, "worth"),
    ]:
        with pytest.raises(InputError, match=message):
            learner(**settings).fit(X, y)
    with pytest.raises(InputError, match="unused types of the structure are 'a'"):
        UnusedCliques("b").settings({"structure": EMPTY})
    with pytest.raises(InputError, match="unused clique type 'b'"):
        Graph(edge_types=["a"], unused=["b"])
    with pytest.raises(InputError, match="connectivity=8"):
        Grid(directions=["down_left"])
    with pytest.raises(InputError, match=r"directions\[1\] is 'down'"):
        Grid(directions=["down", "down"])
