"""scikit-learn's tools with every estimator, with and without metadata routing."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
import sklearn.exceptions
from scipy import sparse
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.metadata_routing import UNCHANGED

import kernelfields as kf
from kernelfields import Parts
from kernelfields.features import Windows, each
from kernelfields.metrics import log_likelihood_scorer, token_accuracy_scorer, token_error
from kernelfields.models.clique_types import Edges
from kernelfields.report import evaluate
from kernelfields.testing.estimators import labelled_sequences

MODELS = {
    "AROW": kf.AROW(random_state=0),
    "BoostedCRF": kf.BoostedCRF(3, min_samples_leaf=2, random_state=0),
    "CRF": kf.CRF(),
    "Cascade": kf.Cascade(kf.CRF(), kf.CRF(), folds=2, random_state=0),
    "ClassifierMarkovModel": kf.ClassifierMarkovModel(kf.KernelLogisticRegression("linear")),
    "GPSequenceClassifier": kf.GPSequenceClassifier(),
    "HMM": kf.HMM(),
    "HiddenStates": kf.HiddenStates(kf.CRF(), n_init=1, random_state=0),
    "HiddenUnitCRF": kf.HiddenUnitCRF(n_units=3, random_state=0),
    "KernelCRF": kf.KernelCRF(),
    "KernelLogisticRegression": kf.KernelLogisticRegression(),
    "KernelPerceptron": kf.KernelPerceptron(random_state=0),
    "MEMM": kf.MEMM(),
    "PassiveAggressive": kf.PassiveAggressive(random_state=0),
    "SelfTraining": kf.SelfTraining(kf.CRF()),
    "SequenceAdaBoost": kf.SequenceAdaBoost(20),
    "SequencePipeline": kf.SequencePipeline([each(StandardScaler()), Windows(3)], kf.CRF()),
    "StochasticCRF": kf.StochasticCRF(random_state=0),
    "StructureLearner": kf.StructureLearner(kf.KernelCRF(parts=Parts(edges=None)), candidates=[Edges()]),
    "StructuredPerceptron": kf.StructuredPerceptron(random_state=0),
    "StructuredSVM": kf.StructuredSVM(),
    "TransductiveSVM": kf.TransductiveSVM(),
}
GRAPHS = ("LabelPropagation", "LabelSpreading", "PoissonLearning")
"""Without weights and log-likelihoods; test_label_graphs and test_poisson_learning have them."""
CLUSTERS = ("FieldClustering", "SequenceClustering")
"""Fitted to observations alone; test_clustering has them."""
WITHOUT_INPUTS = ("MarkovField",)
"""Fitted to labels alone; tests/fields has them."""
WEIGHTED = [
    name for name, model in MODELS.items() if "sample_weight" in inspect.signature(model.fit).parameters
]
FOLDS = KFold(2)


def test_all_estimators_are_here():
    classes = [getattr(kf, name) for name in kf.__all__]
    assert {c.__name__ for c in classes if inspect.isclass(c) and hasattr(c, "fit")} == {
        *MODELS,
        *GRAPHS,
        *CLUSTERS,
        *WITHOUT_INPUTS,
    }
    assert len(WEIGHTED) >= 9


@pytest.fixture(params=[False, True], ids=["plain", "routing"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


@pytest.fixture
def data(rng):
    return labelled_sequences(rng)


def pipeline(model):
    return Pipeline([("same", FunctionTransformer()), ("model", clone(model))])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Labels of y unknown")
def test_pipelines_scorers_and_searches(name, routing, data):
    X, y = data
    pipe = pipeline(MODELS[name])
    fitted = clone(pipe).fit(X, y)
    assert fitted.score(X, y) == clone(MODELS[name]).fit(X, y).score(X, y)
    assert pickle.loads(pickle.dumps(fitted)).predict(X) == fitted.predict(X)
    scoring = {"right": token_accuracy_scorer, "wrong": make_scorer(token_error, greater_is_better=False)}
    found = cross_validate(pipe, X, y, scoring=scoring, cv=FOLDS, error_score="raise")
    np.testing.assert_allclose(found["test_right"], 1 + found["test_wrong"])
    search = GridSearchCV(pipe, {"model": [clone(MODELS[name])]}, cv=FOLDS, error_score="raise").fit(X, y)
    assert search.predict(X) == fitted.predict(X)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_reach_fit_and_score(name, routing, data):
    X, y = data
    X, y = X * 2, [*y, *([["red"] * len(labels) for labels in y])]
    weights = np.repeat([1.0, 0.0], len(y) // 2)  # of what is nothing but red
    weights[-1] = 1e-9
    plain = clone(MODELS[name]).fit(X, y, sample_weight=weights)
    model = clone(MODELS[name])
    if not routing:
        found = pipeline(model).fit(X, y, model__sample_weight=weights)
        assert found.score(X, y, sample_weight=weights) == plain.score(X, y, sample_weight=weights)
        return
    model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    found = pipeline(model).fit(X, y, sample_weight=weights)
    assert found.predict(X) == plain.predict(X)
    assert found.score(X, y, sample_weight=weights) == plain.score(X, y, sample_weight=weights)
    assert cross_val_score(
        model,
        X,
        y,
        params={"sample_weight": weights},
        cv=KFold(2, shuffle=True, random_state=0),
    ).shape == (2,)
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
        pipeline(MODELS[name]).fit(X, y, sample_weight=weights)


def test_requests_are_kept_by_clones_and_pickles_and_not_by_files(data, tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        model = kf.CRF().set_fit_request(sample_weight=True, lengths=False).set_fit_request(lengths=UNCHANGED)
        for copy in (model, clone(model), pickle.loads(pickle.dumps(model)), model.fit(*data)):
            assert copy.get_metadata_routing().fit.requests["sample_weight"] is True
            assert copy.get_metadata_routing().fit.requests["lengths"] is False
            assert copy.get_metadata_routing().score.requests["sample_weight"] is None
        model.save(tmp_path / "model.kf")
        loaded = kf.load(tmp_path / "model.kf")
        assert loaded.get_metadata_routing().fit.requests["sample_weight"] is None


def test_requests_that_cannot_be_made():
    with pytest.raises(RuntimeError, match=r"set_fit_request needs sklearn\.set_config"):
        kf.CRF().set_fit_request(sample_weight=True)
    message = r"CRF\.score has no argument 'weights'; it has lengths, sample_weight"
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(TypeError, match=message):
        kf.CRF().set_score_request(weights=True)
    assert not hasattr(kf.CRF, "set_transform_request")


KINDS = {
    "frames": lambda x: pd.DataFrame(x, columns=["a", "b", "c"]),
    "sparse": sparse.csr_matrix,
    "float32": np.float32,
    "tokens": lambda x: [f"word{k}" for k in x.argmax(axis=1)],
    "dicts": lambda x: [{"best": str(row.argmax()), "first": float(row[0])} for row in x],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:When `set_output` is configured")  # it cannot make frames of sequences
def test_kinds_of_input(kind, routing, rng):
    X, y = labelled_sequences(rng, count=40)
    inputs = [KINDS[kind](x) for x in X]
    model = kf.CRF(features="pos" if kind == "tokens" else None)
    grid = {"model__penalty": [100.0, 0.1]}
    options = {"scoring": log_likelihood_scorer, "cv": FOLDS, "error_score": "raise"}
    search = GridSearchCV(pipeline(model), grid, **options).fit(inputs, y)
    assert search.best_params_ == {"model__penalty": 0.1}
    halving = HalvingGridSearchCV(pipeline(model), grid, min_resources=20, random_state=0, **options)
    assert halving.fit(inputs, y).best_params_ == {"model__penalty": 0.1}
    assert pipeline(model).set_output(transform="pandas").fit(inputs, y).score(inputs, y) > 0.7


def boxed(sequences):
    result = np.empty(len(sequences), dtype=object)
    result[:] = sequences
    return result


def indexed(sequences):
    return pd.Series(sequences, index=np.arange(len(sequences))[::-1] + 7)


@pytest.mark.parametrize("container", [tuple, boxed, indexed])
@pytest.mark.parametrize("name", MODELS)
def test_containers_of_sequences(name, container, data):
    X, y = data
    plain = clone(MODELS[name]).fit(X, y)
    model = clone(MODELS[name]).fit(container(X), container(y))
    assert model.predict(container(X)) == plain.predict(X)
    assert model.score(container(X), container(y)) == plain.score(X, y)


@pytest.mark.parametrize("container", [tuple, boxed, indexed])
@pytest.mark.parametrize("kind", ["tokens", "dicts", "frames"])
def test_containers_of_tokens_and_frames(kind, container, data):
    X, y = data
    inputs = [KINDS[kind](x) for x in X]
    model = kf.CRF(features="pos" if kind == "tokens" else None)
    plain = clone(model).fit(inputs, y)
    assert model.fit(container(inputs), container(y)).predict(container(inputs)) == plain.predict(inputs)
    assert evaluate(model, container(inputs), container(y)).nll == evaluate(plain, inputs, y).nll


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:Labels of y unknown")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_label_of_the_test_fold_alone_is_wrong_and_no_more(name, data):
    X, y = data
    y = [*y[:-1], ["red", "green", "rare"]]
    scoring = {"right": token_accuracy_scorer, "likely": log_likelihood_scorer}
    if name == "TransductiveSVM":
        del scoring["likely"]  # it has no probabilities
    found = cross_validate(MODELS[name], X, y, cv=FOLDS, scoring=scoring, error_score="raise")
    plain = cross_val_score(MODELS[name], X, y, cv=FOLDS, error_score="raise")
    np.testing.assert_allclose(found["test_right"], plain)
    assert all(np.isfinite(values).all() for values in found.values())


def test_a_search_by_score_is_not_misled_by_a_rare_label(data):
    X, y = data
    y = [*y[:-1], ["red", "green", "rare"]]
    search = GridSearchCV(kf.CRF(), {"penalty": [10_000.0, 1.0]}, cv=FOLDS, error_score="raise").fit(X, y)
    assert search.best_params_ == {"penalty": 1.0}
