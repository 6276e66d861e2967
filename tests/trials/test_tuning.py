"""Settings and models by held-out data: against every fit done by hand, and with little time."""

import warnings

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from kernelfields import (
    CRF,
    HMM,
    InputError,
    KernelCRF,
    SequencePipeline,
    StructuredPerceptron,
    StructuredSVM,
    compare,
    tune,
)
from kernelfields.data.groups import fold_numbers
from kernelfields.features import Windows, each
from kernelfields.kernels import RBF


def signals(n=12, size=12, seed=0):
    rng = np.random.default_rng(seed)
    y = [["AB"[k] for k in rng.integers(2, size=size)] for _ in range(n)]
    X = [np.array([[3.0 * (label == "A") + 2 * rng.standard_normal(), 100.0] for label in one]) for one in y]
    return X, y


def test_tuning_is_cross_validation():
    """With two values nobody is sorted out: the same sums as folds by hand."""
    X, y = signals()
    found = tune(CRF(tol=1e-8), X, y, settings={"penalty": [50.0, 0.5]}, folds=3)
    fold = fold_numbers(len(X), 3, None, 0)
    values = {}
    for penalty in (50.0, 0.5):
        total = 0.0
        for f in range(3):
            train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            model = CRF(penalty=penalty, tol=1e-8).fit([X[i] for i in train], [y[i] for i in train])
            total += model.sequence_log_proba([X[i] for i in test], [y[i] for i in test]).sum()
        values[penalty] = total / sum(map(len, y))
    assert {one.settings["penalty"]: one.mean for one in found.tried} == pytest.approx(values, rel=1e-4)
    assert found.settings["penalty"] == max(values, key=values.get)
    assert found.model.penalty == found.settings["penalty"]
    assert found.model.predict(X) is not None


def test_pipelines_are_tuned_inside_and_outside():
    X, y = signals()
    model = SequencePipeline([each(StandardScaler()), Windows(3)], CRF())
    found = tune(model, X, y, refit=False)
    assert set(found.settings) == {"estimator__penalty"}
    assert not hasattr(found.model, "classes_")
    wide = tune(model, X, y, settings={"transformers__1__width": [1, 5], "estimator__penalty": [1.0, 0.1]})
    assert len(wide.tried) == 4
    assert wide.model.transformers_[1].width == wide.settings["transformers__1__width"]


def test_kernels_have_widths():
    X, y = signals(6, 6)
    found = tune(KernelCRF("rbf"), X, y, folds=2, refit=False, settings=None)
    assert len({one.settings["penalty"] for one in found.tried}) == 6
    rbf = tune(KernelCRF(RBF(0.5)), X, y, folds=2, refit=False)
    assert len(rbf.tried) == 18


def test_models_without_probabilities_count_errors():
    X, y = signals()
    found = tune(StructuredSVM(), X, y, refit=False, folds=2)
    assert found.criterion.startswith("minus the share of wrong")
    assert all(-1 <= one.mean <= 0 for one in found.tried)


def test_no_time_still_gives_a_model_and_says_so():
    X, y = signals()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tune(CRF(tol=1e-6), X, y, budget=1e-6)
    assert found.settings == {"penalty": 10.0}
    assert "is spent" in found.notes[0]
    assert found.model.score(X, y) > 0.5


def test_large_searches_scout_and_take_landmarks(monkeypatch):
    """A few long sequences are cut; kernels have landmarks until the last fit."""
    X, y = signals(4, 1500)
    lines, sizes = [], []
    fit = KernelCRF.fit

    def look(model, X, *args, **settings):
        sizes.append((sum(map(len, X)), model.basis is not None))
        return fit(model, X, *args, **settings)

    monkeypatch.setattr(KernelCRF, "fit", look)
    settings = {"penalty": [1.0, 0.1, 0.01]}
    model = KernelCRF(RBF(0.1), tol=0.1, max_iter=5)
    found = tune(model, X, y, settings=settings, folds=4, refit=False, budget=600, callback=lines.append)
    assert "s left   scouting: 1 of 3" in lines[0]
    assert sizes[:4] == [(1125, False)] * 3 + [(4500, True)]
    assert found.model.basis is None


def test_groups_stay_together(monkeypatch):
    X, y = signals(12)
    groups = [n // 3 for n in range(12)]
    seen = []
    fit = CRF.fit

    def look(model, X, *args, **settings):
        seen.append({id(x) for x in X})
        return fit(model, X, *args, **settings)

    monkeypatch.setattr(CRF, "fit", look)
    tune(CRF(), X, y, groups=groups, folds=4, settings={"penalty": [1.0]}, refit=False)
    members = [{id(X[n]) for n in range(12) if groups[n] == g} for g in range(4)]
    assert all(group <= part or not group & part for part in seen for group in members)
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"budget": "soon"}, "it must be a time"),
        ({"settings": {"nonsense": [1]}}, "'nonsense', which CRF does not have"),
        ({"settings": {"penalty": 1.0}}, "must be a list of values"),
        ({"X_dev": []}, "X_dev and y_dev go together"),
        ({"folds": 1}, "folds is 1"),
        ({"folds": 99}, "99 folds"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"refit": "yes"}, "refit"),
    ],
)
def test_bad_arguments_are_refused(options, said):
    X, y = signals(6)
    with pytest.raises(InputError, match=said):
        tune(CRF(), X, y, **options)
    with pytest.raises(InputError, match="has no penalty"):
        tune(HMM("gaussian"), X, y)
    with pytest.raises(InputError, match="X has 6 sequences, but y has 5"):
        tune(CRF(), X, y[:5])


def test_a_comparison_is_cross_validation():
    X, y = signals()
    models = {
        "crf": CRF(),
        "pipeline": SequencePipeline([each(StandardScaler())], CRF()),
        "hmm": HMM("gaussian"),
    }
    lines = []
    found = compare(models, X, y, folds=3, callback=lines.append)
    fold = fold_numbers(len(X), 3, None, 0)
    for name, model in models.items():
        wrong = 0
        for f in range(3):
            train, test = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            fitted = model.fit([X[i] for i in train], [y[i] for i in train])
            for i in test:
                wrong += sum(a != b for a, b in zip(fitted.predict([X[i]])[0], y[i], strict=True))
        assert found.models[name].token_error == pytest.approx(wrong / sum(map(len, y)))
    assert next(iter(found.models.values())).above_best == 0
    assert len(lines) == 9
    assert "best so far" in lines[-1]


def test_little_time_leaves_the_worst_out():
    X, y = signals(30, 30)
    models = {"good": CRF(), "also": CRF(penalty=0.5), "bad": StructuredPerceptron(max_iter=1)}
    found = compare(models, X, y, budget=1e-6, folds=2)
    assert "is spent" in found.notes[0]
    assert list(found.models) == ["good"]


def test_models_that_refuse_are_named():
    X, y = signals(6)
    words = [["a"] * len(labels) for labels in y]
    found = compare({"crf": CRF(features="pos"), "hmm": HMM("gaussian")}, words, y, folds=2)
    assert list(found.models) == ["crf"]
    assert list(found.refused) == ["hmm"]
    with pytest.raises(InputError, match="None of these models"):
        compare({"hmm": HMM("gaussian")}, words, y, folds=2)
    with pytest.raises(InputError, match="must be a dict"):
        compare([CRF()], X, y)


@pytest.mark.parametrize("piped", [False, True], ids=["alone", "in a pipeline"])
def test_a_line_for_every_candidate(piped, capsys):
    """Single fits have lines at verbose=2 alone."""
    X, y = signals()
    grid = [3.0, 0.3, 0.03]

    def lines(verbose):
        model = CRF(verbose=verbose)
        model = SequencePipeline([each(StandardScaler())], model) if piped else model
        name = "estimator__penalty" if piped else "penalty"
        tune(model, X, y, settings={name: grid}, folds=3, refit=False)
        return capsys.readouterr().err.splitlines()

    assert lines(0) == []
    said = lines(1)
    assert [line.partition(":")[0].split()[-1] for line in said] == [f"{penalty:g}" for penalty in grid]
    more = lines(2)
    assert set(said) < set(more)
    assert any(line.startswith("iteration") for line in more)
