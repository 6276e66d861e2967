"""Transformers and a model as one estimator: what scikit-learn's pipelines do, and what they cannot."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler

import kernelfields as kf
from kernelfields import CRF, HMM, BoostedCRF, InputError, KernelCRF, SequencePipeline, load
from kernelfields.features import BlurredPixels, MissingValues, Windows, each
from kernelfields.persistence import files
from kernelfields.testing import check_estimator
from kernelfields.testing.estimators import labelled_sequences

STEPS = [each(StandardScaler()), Windows(3, padding="edge")]


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, 30)


def pipeline(estimator=None, steps=STEPS):
    return SequencePipeline([clone(one) for one in steps], CRF() if estimator is None else estimator)


def same(one, other, X):
    assert one.predict(X) == other.predict(X)
    for a, b in zip(one.predict_marginals(X), other.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_conforms(rng):
    check_estimator(pipeline(), rng)


@pytest.mark.parametrize("estimator", [CRF(), KernelCRF(), HMM()], ids=lambda one: type(one).__name__)
def test_by_hand(estimator, data):
    """All that can be asked is the same as of a model of transformed sequences."""
    X, y = data
    model = pipeline(estimator).fit(X, y)
    seen = X
    for step in STEPS:
        seen = clone(step).fit(seen).transform(seen)
    plain = clone(estimator).fit(seen, y)
    for a, b in zip(model.transform(X), seen, strict=True):
        np.testing.assert_array_equal(a, b)
    assert model.predict(X) == plain.predict(seen)
    np.testing.assert_array_equal(model.predict_marginals(X)[3], plain.predict_marginals(seen)[3])
    assert model.predict_kbest(X, 2) == plain.predict_kbest(seen, 2)
    np.testing.assert_array_equal(model.sequence_log_proba(X, y), plain.sequence_log_proba(seen, y))
    assert model.score(X, y) == plain.score(seen, y)
    assert len(model.sample(X, 2)) == 2
    model.calibrate(X, y), plain.calibrate(seen, y)
    assert model.guarantees(0.6).keys() == plain.guarantees(0.6).keys()
    assert model.predict(X, error_at_most=0.6, confidence=0.5) == plain.predict(
        seen, error_at_most=0.6, confidence=0.5
    )
    model.recalibrate(X, y), plain.recalibrate(seen, y)
    np.testing.assert_array_equal(model.predict_marginals(X)[3], plain.predict_marginals(seen)[3])


def test_scikit_learns_pipeline_becomes_one_file(data, tmp_path):
    X, y = data
    steps = [("scale", each(PCA(2))), ("same", "passthrough"), ("window", Windows(3)), ("crf", CRF())]
    pipe = Pipeline(steps).fit(X, y)
    SequencePipeline.of(pipe).save(tmp_path / "m.kf")
    loaded = load(tmp_path / "m.kf")
    assert loaded.predict(X) == pipe.predict(X)
    same(loaded, pickle.loads(pickle.dumps(loaded)), X)
    refitted = clone(loaded).fit(X, y)
    same(loaded, refitted, X)
    unfitted = SequencePipeline.of(Pipeline(steps))
    assert unfitted.fit(X, y).predict(X) == pipe.predict(X)


def test_calibration_is_saved_too(data, tmp_path):
    X, y = data
    model = pipeline().fit(X, y).recalibrate(X, y).calibrate(X, y)
    model.save(tmp_path / "m.kf")
    same(model, load(tmp_path / "m.kf"), X)
    assert load(tmp_path / "m.kf").predict(X, error_at_most=0.6, confidence=0.5) == model.predict(
        X, error_at_most=0.6, confidence=0.5
    )


def test_large_files_are_read_when_they_are_used(data, tmp_path, monkeypatch):
    X, y = data
    model = pipeline().fit(X, y)
    model.save(tmp_path / "m.kf")
    monkeypatch.setattr(files, "SMALL", 0)
    for ask in (lambda one: one.estimator_.coef_, lambda one: one.coef_, lambda one: one.n_features_in_):
        np.testing.assert_array_equal(ask(load(tmp_path / "m.kf")), ask(model))
    same(model, load(tmp_path / "m.kf"), X)
    assert not hasattr(model, "nothing_")
    assert not hasattr(pipeline(), "coef_")


def test_kinds_of_input(data):
    X, y = data
    model = pipeline().fit(X, y)
    flat, lengths = np.concatenate(X), [len(x) for x in X]
    same(model, pipeline().fit(flat, y, lengths=lengths), X)
    assert model.predict(flat, lengths=lengths) == model.predict(X)
    scarce = [sparse.csr_matrix(x) for x in X]
    steps = [each(StandardScaler(with_mean=False)), Windows(3)]
    a, b = pipeline(steps=steps).fit(X, y), pipeline(steps=steps).fit(scarce, y)
    for p, q in zip(a.predict_marginals(X), b.predict_marginals(scarce), strict=True):
        np.testing.assert_allclose(p, q, atol=1e-4)
    hole = [x.copy() for x in X]
    hole[2][0, 1] = np.nan
    assert 0 < pipeline(steps=[MissingValues("mean"), *STEPS]).fit(hole, y).score(hole, y) <= 1
    trees = [(x, [-1, *range(len(x) - 1)]) for x in X]
    model = pipeline(CRF(structure="tree"), [each(StandardScaler())]).fit(trees, y)
    assert model.score(trees, y) > 0.5
    with pytest.raises(InputError, match="Windows is for sequences in time"):
        pipeline(CRF(structure="tree")).fit(trees, y)


def test_held_out_sequences_are_transformed(data):
    X, y = data
    moved = [100 * x + 7 for x in X]
    model = pipeline(BoostedCRF(3, min_samples_leaf=2, random_state=0))
    plain = clone(model).fit(X[:20], y[:20], X_dev=X[20:], y_dev=y[20:])
    other = clone(model).fit(moved[:20], y[:20], X_dev=moved[20:], y_dev=y[20:])
    assert plain.predict(X) == other.predict(moved)


def test_searches_reach_all_settings(data):
    X, y = data
    grid = {"transformers__1__width": [1, 3], "estimator__penalty": [1.0, 0.1]}
    search = GridSearchCV(pipeline(), grid, cv=KFold(2), error_score="raise").fit(X, y)
    assert search.best_params_.keys() == grid.keys()
    model = pipeline().set_params(transformers__0__transformer__with_std=False, estimator__penalty=3.0)
    assert not model.transformers[0].transformer.with_std
    assert model.get_params()["transformers__1__width"] == 3
    with pytest.raises(InputError, match=r"has no 'transformers__7__width'; it has \d steps"):
        model.set_params(transformers__7__width=3)


def test_only_known_transformers_are_saved(data, tmp_path):
    X, y = data
    model = pipeline(steps=[each(QuantileTransformer(n_quantiles=5))]).fit(X, y)
    with pytest.raises(InputError, match="A model file cannot hold a QuantileTransformer; each can be saved"):
        model.save(tmp_path / "m.kf")

    class StandardScaler(MinMaxScaler):
        pass

    with pytest.raises(InputError, match="cannot hold a StandardScaler"):
        pipeline(steps=[each(StandardScaler())]).fit(X, y).save(tmp_path / "m.kf")
    assert not (tmp_path / "m.kf").exists()


def test_images(rng, tmp_path):
    X = [rng.random((4, 6)), rng.random((2, 6))]
    model = pipeline(steps=[BlurredPixels((2, 3))]).fit(X, [["a", "b", "a", "b"], ["b", "a"]])
    model.save(tmp_path / "m.kf")
    same(model, load(tmp_path / "m.kf"), X)


def test_refusals(data):
    X, y = data
    for words, attempt in {
        "wrap it, each": lambda: pipeline(steps=[StandardScaler()]).fit(X, y),
        "must be a list": lambda: SequencePipeline(Windows(3), CRF()).fit(X, y),
        "has no fit and transform": lambda: SequencePipeline([3], CRF()).fit(X, y),
        "must be a model": lambda: SequencePipeline([], CRF).fit(X, y),
        "groups cannot be had": lambda: pipeline().fit(X, y, groups=np.arange(len(X))),
        "warm_start: it is a setting of estimator": lambda: SequencePipeline([], CRF(), warm_start=True),
        "lengths add up": lambda: pipeline().fit(np.ones((4, 2)), y, lengths=[1, 1]),
    }.items():
        with pytest.raises(InputError, match=words):
            attempt()
    assert kf.SequencePipeline is SequencePipeline
