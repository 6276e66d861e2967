"""Parts that online learners do not know natively, and those that models refuse."""

import numpy as np
import pytest

from kernelfields import (
    AROW,
    CRF,
    FreeScores,
    InputError,
    KernelCRF,
    KernelScores,
    LinearScores,
    Parts,
    PassiveAggressive,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    load,
)

MODELS = [StructuredPerceptron, PassiveAggressive, AROW, StochasticCRF]
PARTS = [
    Parts(edges=None),
    Parts(more=FreeScores(on="edge")),
    Parts(edge_features=LinearScores()),
    Parts(both_ends=LinearScores(on="edge", view="all")),
]


def require_that_of_paths(model, parts, rng):
    y = [rng.choice(["a", "b", "c"], n).tolist() for n in (4, 1, 6, 3)]
    X = [rng.normal(size=(len(one), 2)) for one in y]
    paths = [(x, np.arange(-1, len(x) - 1)) for x in X]
    settings = {"parts": parts, "max_iter": 3, "random_state": 0}
    chains = model(**settings).fit(X, y)
    trees = model(structure="tree", **settings).fit(paths, y)
    for found, known in zip(chains.predict_marginals(X), trees.predict_marginals(paths), strict=True):
        np.testing.assert_allclose(found, known, atol=1e-10)
    again = [one.partial_fit(items, y) for one, items in ((chains, X), (trees, paths))]
    np.testing.assert_allclose(*(one.intercept_ for one in again), atol=1e-10)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("parts", PARTS)
def test_chains_without_or_with_more_parts(model, parts, rng):
    require_that_of_paths(model, parts, rng)


def test_penalties_that_differ(rng):
    require_that_of_paths(StochasticCRF, Parts(bias=FreeScores(penalty=3.0)), rng)


@pytest.mark.parametrize("model", MODELS)
def test_models_of_several_further_parts_go_on_from_files(model, rng, tmp_path):
    parts = Parts(
        edge_features=LinearScores(),
        both_ends=LinearScores(on="edge", view="all"),
        difference=LinearScores(on="edge", view="difference"),
    )
    X, y = [rng.normal(size=(5, 2)) for _ in range(4)], [rng.choice(["a", "b"], 5).tolist() for _ in range(4)]
    half, whole = (model(parts=parts, random_state=0, shuffle=False) for _ in range(2))
    half.partial_fit(X[:2], y[:2], classes=["a", "b"]).save(tmp_path / "half.kf")
    again = load(tmp_path / "half.kf").partial_fit(X[2:], y[2:])
    half.partial_fit(X[2:], y[2:])
    whole.partial_fit(X, y)
    for name, scorer in half.parts_.items():
        np.testing.assert_array_equal(scorer.numbers, again.parts_[name].numbers)
        if model is not StochasticCRF:  # its step is that of the first sequences
            np.testing.assert_allclose(scorer.numbers, whole.parts_[name].numbers, atol=1e-12)


@pytest.mark.parametrize("model", MODELS[:3])
def test_rules_without_penalties_refuse_them(model):
    with pytest.raises(InputError, match="'bias' has a penalty"):
        model(parts=Parts(bias=FreeScores(penalty=3.0))).fit([[[1.0], [2.0]]], [["a", "b"]])


@pytest.mark.parametrize("model", [*MODELS, CRF, StructuredSVM])
@pytest.mark.parametrize("part", [None, FreeScores()])
def test_linear_models_need_features(model, part):
    with pytest.raises(InputError, match=r"'features' is .*; it must be LinearScores"):
        model(parts=Parts(features=part)).fit([[[1.0], [2.0]]], [["a", "b"]])


@pytest.mark.parametrize("setting", [{"kernel": "linear"}, {"penalty": 2.0}])
def test_the_kernel_and_its_penalty_are_settings_of_the_model(setting):
    with pytest.raises(InputError, match=f"'kernel' has a {next(iter(setting))}; give it as"):
        KernelCRF(parts=Parts(kernel=KernelScores(**setting))).fit([[[1.0], [2.0]]], [["a", "b"]])


def test_linear_machines_have_no_part_of_a_kernel():
    with pytest.raises(InputError, match="'kernel' needs a kernel; give it as kernel="):
        StructuredSVM(parts=Parts(kernel=KernelScores("rbf"))).fit([[[1.0], [2.0]]], [["a", "b"]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Parts([1]), r"given is \[1\]; it must be a mapping"),
        (lambda: Parts({1: None}), "name of a part is 1; it must be a string"),
        (lambda: Parts(x=3), r"part 'x' is 3; it must be FreeScores"),
        (lambda: FreeScores(on=[1]), r"on is \[1\]; it must be the name of a clique type"),
    ],
)
def test_odd_parts_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
