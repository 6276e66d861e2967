"""sklearn-crfsuite's own usage on named entities, with the original and with compat: equal results.

Features of words and their neighbours, training, evaluation, a randomised search of penalties, marginals,
pickling, a look into the model. Tolerances: probabilities 1e-6, weights 2e-6; tags and scores are equal.
The sentences are made up: a sample in the form of CoNLL-2002, and others.
"""

import gzip
import importlib
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score

from kernelfields import load
from kernelfields.compat import pycrfsuite, sklearn_crfsuite
from kernelfields.compat.sklearn_crfsuite import CRF
from kernelfields.datasets import data_file

from ._data import sentences

pytest.importorskip("sklearn_crfsuite")

ORIGINAL, COMPAT = "sklearn_crfsuite", "kernelfields.compat.sklearn_crfsuite"
BOTH = pytest.mark.parametrize("package", [ORIGINAL, COMPAT], ids=["original", "compat"])


def conll2002(name, count):
    """Give some sentences of Spanish news: (word, part of speech, label)."""
    result = [[]]
    with gzip.open(data_file("conll2002", f"{name}.gz"), "rt", encoding="utf-8") as file:
        for line in file:
            if line.split():
                word, *tag, label = line.split()
                result[-1].append((word, tag[0] if tag else "-", label))
            elif result[-1]:
                if len(result) == count:
                    break
                result.append([])
    return result


def word2features(sentence, i):
    """The features of the tutorial."""
    word, tag, _ = sentence[i]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    for shift, end in ((-1, "BOS"), (1, "EOS")):
        if not 0 <= i + shift < len(sentence):
            features[end] = True
            continue
        word, tag, _ = sentence[i + shift]
        features |= {
            f"{shift:+d}:word.lower()": word.lower(),
            f"{shift:+d}:word.istitle()": word.istitle(),
            f"{shift:+d}:word.isupper()": word.isupper(),
            f"{shift:+d}:postag": tag,
        }
    return features


def split(given):
    X = [[word2features(sentence, i) for i in range(len(sentence))] for sentence in given]
    return X, [[label for _, _, label in sentence] for sentence in given]


def corpus(source):
    if source == "conll2002":
        return split(conll2002("esp.train", 80)), split(conll2002("esp.testb", 40))
    made_up = sentences(np.random.default_rng(8), 150)
    return split(made_up[:110]), split(made_up[110:])


class Tutorial:
    """All results of the tutorial with one of the packages."""

    def __init__(self, package, source):
        module = importlib.import_module(package)
        metrics = importlib.import_module(f"{package}.metrics")
        (X, y), (X_test, y_test) = corpus(source)
        self.crf = module.CRF(
            algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=30, all_possible_transitions=True
        )
        self.crf.fit(X, y)
        self.labels = [label for label in self.crf.classes_ if label != "O"]
        self.y_pred = self.crf.predict(X_test)
        self.f1 = metrics.flat_f1_score(
            y_test, self.y_pred, average="weighted", labels=self.labels, zero_division=0
        )
        self.report = metrics.flat_classification_report(
            y_test, self.y_pred, labels=sorted(self.labels), digits=3, zero_division=0
        )
        self.whole = metrics.sequence_accuracy_score(list(y_test), list(self.y_pred))
        self.accuracy = self.crf.score(X_test, y_test)
        self.marginals = self.crf.predict_marginals(X_test)
        self.single = self.crf.predict_marginals_single(X_test[0])
        self.pickled = pickle.loads(pickle.dumps(self.crf)).predict(X_test)
        scorer = make_scorer(metrics.flat_f1_score, average="weighted", labels=self.labels, zero_division=0)
        search = RandomizedSearchCV(
            module.CRF(algorithm="lbfgs", max_iterations=10, all_possible_transitions=True),
            {"c1": [0.01, 0.1, 0.5], "c2": [0.003, 0.05, 0.2]},
            cv=2,
            n_iter=3,
            scoring=scorer,
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # lists of sequences are no arrays, says scikit-learn
            self.search = search.fit(X, y)


@pytest.fixture(scope="module", params=["conll2002", "made up"])
def results(request):
    return Tutorial(ORIGINAL, request.param), Tutorial(COMPAT, request.param)


def test_tags_and_scores(results):
    expected, found = results
    assert [list(tags) for tags in found.y_pred] == [list(tags) for tags in expected.y_pred]
    assert type(found.y_pred) is type(expected.y_pred)
    assert found.y_pred.dtype == expected.y_pred.dtype
    assert found.f1 == expected.f1
    assert found.report == expected.report
    assert found.whole == expected.whole
    assert found.accuracy == expected.accuracy


def test_marginals(results):
    expected, found = results
    assert len(found.marginals) == len(expected.marginals)
    for ours, theirs in zip(found.marginals, expected.marginals, strict=True):
        for at, there in zip(ours, theirs, strict=True):
            assert at == pytest.approx(there, abs=1e-6)
    for at, there in zip(found.single, expected.single, strict=True):
        assert at == pytest.approx(there, abs=1e-6)


def test_pickles_predict_the_same(results):
    for each in results:
        assert [list(tags) for tags in each.pickled] == [list(tags) for tags in each.y_pred]


def test_search_finds_the_same(results):
    expected, found = results
    assert found.search.best_params_ == expected.search.best_params_
    np.testing.assert_allclose(
        found.search.cv_results_["mean_test_score"], expected.search.cv_results_["mean_test_score"], atol=1e-3
    )


def test_a_look_inside(results):
    expected, found = (each.crf for each in results)
    assert found.classes_ == expected.classes_
    for weights in ("state_features_", "transition_features_"):
        theirs, ours = getattr(expected, weights), getattr(found, weights)
        keys = theirs.keys() | ours.keys()
        assert max(abs(theirs.get(key, 0) - ours.get(key, 0)) for key in keys) < 2e-6
    top = [
        sorted(each.transition_features_.items(), key=lambda pair: -pair[1])[:5] for each in (expected, found)
    ]
    assert [pair for pair, _ in top[0]] == [pair for pair, _ in top[1]]
    assert found.num_attributes_ == expected.num_attributes_
    assert found.attributes_ == expected.attributes_
    assert found.size_ > 0
    assert found.training_log_.last_iteration["loss"] == pytest.approx(
        expected.training_log_.last_iteration["loss"], rel=1e-6
    )


@BOTH
def test_held_out_sequences(package):
    (X, y), (X_dev, y_dev) = corpus("made up")
    crf = importlib.import_module(package).CRF(max_iterations=5)
    with pytest.raises(ValueError, match="Pass both X_dev and y_dev"):
        crf.fit(X, y, X_dev=X_dev)
    crf.fit(X, y, X_dev=X_dev, y_dev=y_dev)
    last = crf.training_log_.last_iteration
    assert last["item_accuracy_float"] == crf.score(X_dev, y_dev)
    assert last["num"] == 5
    assert set(last["scores"]) == set(crf.classes_)


@BOTH
def test_parameters_and_clones(package):
    """The same parameters; one that an algorithm lacks is refused."""
    crf = importlib.import_module(package).CRF(algorithm="pa", c=0.5, pa_type=2)
    assert sorted(crf.get_params()) == sorted(CRF().get_params())
    assert clone(crf).get_params() == crf.get_params()
    assert crf.classes_ is None
    assert crf.state_features_ is None
    with pytest.raises(ValueError, match="Parameter not found: c1"):
        crf.set_params(c1=0.1).fit(*corpus("made up")[0])


@BOTH
def test_searches_and_scorers(package):
    X, y = corpus("made up")[0]
    module, scorers = importlib.import_module(package), importlib.import_module(f"{package}.scorers")
    search = GridSearchCV(module.CRF(max_iterations=5), {"c2": [0.1, 10.0]}, cv=2).fit(X, y)
    assert search.best_params_ == {"c2": 0.1}
    score = cross_val_score(module.CRF(max_iterations=5), X, y, cv=2, scoring=scorers.flat_accuracy)
    assert score.mean() > 0.6


@BOTH
def test_file_names(package, tmp_path):
    """With a name, fit writes the model there, and another estimator finds it."""
    (X, y), (X_test, _) = corpus("made up")
    make = importlib.import_module(package).CRF
    path = str(tmp_path / "model")
    crf = make(max_iterations=3, model_filename=path).fit(X, y)
    again = make(model_filename=path)
    assert [list(tags) for tags in again.predict(X_test)] == [list(tags) for tags in crf.predict(X_test)]


def test_files_are_model_files(tmp_path):
    """What compat writes is a CRF that the library loads; what CRFsuite wrote, compat opens."""
    (X, y), (X_test, _) = corpus("made up")
    crf = CRF(max_iterations=3, model_filename=str(tmp_path / "ours")).fit(X, y)
    assert load(tmp_path / "ours").predict(X_test) == [list(tags) for tags in crf.predict(X_test)]
    original = importlib.import_module(ORIGINAL).CRF(
        max_iterations=3, model_filename=str(tmp_path / "theirs")
    )
    original.fit(X, y)
    opened = CRF(model_filename=str(tmp_path / "theirs"))
    assert [list(tags) for tags in opened.predict(X_test)] == [
        list(tags) for tags in original.predict(X_test)
    ]


def test_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        CRF().predict([[{"a": 1}]])
    with pytest.raises(FileNotFoundError):
        CRF(model_filename=str(tmp_path / "none")).predict([[{"a": 1}]])


def test_trainers_of_ones_own():
    class Quiet(pycrfsuite.Trainer):
        iterations = 0

        def on_iteration(self, log, info):
            Quiet.iterations += 1

        def on_start(self, log):
            pass

        on_featgen_end = on_prepared = on_optimization_end = on_end = on_start

        def on_featgen_progress(self, log, percent):
            pass

    sklearn_crfsuite.CRF(max_iterations=4, verbose=True, trainer_cls=Quiet).fit(*corpus("made up")[0])
    assert Quiet.iterations == 4


def test_verbose_prints_a_line_per_iteration(capsys):
    (X, y), (X_dev, y_dev) = corpus("made up")
    CRF(max_iterations=4, verbose=True).fit(X, y, X_dev, y_dev)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("Iter ") for line in lines) == 4
    assert any(line.startswith("Label ") for line in lines)
