"""The loop: ask, tell, fit, save, go on."""

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from kernelfields import CRF, HMM, InputError, KernelCRF, ModelFormatError
from kernelfields.active import (
    ActiveLearner,
    Determinantal,
    KCenter,
    LearningCurve,
    Query,
    position_scores,
    simulate,
)
from kernelfields.structures import Grid

from ._pools import items, labels_of

X = items("chain", 4, 12)
Y = labels_of(X, "chain")
START = [Y[0], Y[1], *[None] * 10]


def answers_to(queries, y=Y):
    return [y[s] if t is None else y[s][t] for s, t in queries]


def test_a_label_is_never_asked_for_twice_and_all_are_in_the_end():
    for unit in ("position", "sequence"):
        learner = ActiveLearner(CRF(), unit=unit, strategy="margin").fit(X, START)
        asked = []
        while queries := learner.ask(5):
            assert not set(queries) & set(asked)
            asked += queries
            learner.tell(queries, answers_to(queries))
        assert learner.labels == Y
        assert learner.n_labels == sum(map(len, Y))
        assert all(query.sequence > 1 for query in asked)


def test_questions_are_those_with_the_best_scores():
    learner = ActiveLearner(CRF(), strategy="margin").fit(X, START)
    scores = position_scores(learner.model_, X, "margin", known=START)
    queries = learner.ask(6)
    found = [scores[s][t] for s, t in queries]
    assert found == sorted(np.concatenate(scores), reverse=True)[:6]


def test_batches_ask_few_questions_of_one_sequence():
    learner = ActiveLearner(CRF(), per_sequence=1).fit(X, START)
    scores = position_scores(learner.model_, X, known=START)
    best = {s: int(np.argmax(each)) for s, each in enumerate(scores) if s > 1}
    assert sorted(learner.ask(10)) == sorted(best.items())
    assert max(np.bincount([s for s, _ in learner.ask(15)])) == 2  # there are ten sequences
    assert len(learner.ask(1000)) == sum(map(len, Y[2:]))


def test_a_pool_without_labels_is_asked_at_random_first():
    learner = ActiveLearner(CRF(), random_state=3).fit(X)
    assert learner.model_ is None
    first = learner.ask(4)
    assert first == ActiveLearner(CRF(), random_state=3).fit(X).ask(4)
    assert first != ActiveLearner(CRF(), random_state=4).fit(X).ask(4)
    learner.tell(first[:1], ["a"])
    assert learner.model_ is None  # one label is nothing to learn from
    learner.tell(first[1:2], ["b"])
    assert learner.model_.predict(X[:1])


def test_fits_see_what_was_told_and_nothing_else():
    learner = ActiveLearner(CRF()).fit(X, START)
    learner.tell([(5, 0), (7, None)], ["c", Y[7]])
    told = [["c", *[None] * (len(X[5]) - 1)]]
    alone = CRF().fit([X[0], X[1], X[5], X[7]], [Y[0], Y[1], *told, Y[7]])
    np.testing.assert_array_equal(learner.model_.coef_, alone.coef_)


def test_warm_starts_reach_the_same_optimum():
    cold, warm = (ActiveLearner(CRF(tol=1e-6, warm_start=w)).fit(X, START) for w in (False, True))
    for learner in (cold, warm):
        learner.tell([(s, None) for s in range(2, 8)], Y[2:8])
    np.testing.assert_allclose(cold.model_.coef_, warm.model_.coef_, atol=1e-3)
    for learner in (cold, warm):
        learner.tell([], [])
    assert warm.model_.n_iter_ < cold.model_.n_iter_


def test_sequences_are_completed_where_the_model_is_sure():
    learner = ActiveLearner(CRF(), complete=0.0).fit(X, START)
    before = learner.model_
    learner.tell([(5, 0)], ["c"])
    guess = before.predict([X[5]], allowed=[["c", *[None] * (len(X[5]) - 1)]])
    alone = CRF().fit([X[0], X[1], X[5]], [Y[0], Y[1], *guess])
    np.testing.assert_array_equal(learner.model_.coef_, alone.coef_)
    assert learner.model_.certificate_ is not None
    assert learner.labels[5][1] is None  # a guess is no answer, and may still be asked for
    sure = ActiveLearner(CRF(), complete=0.999999).fit(X, START).tell([(5, 0)], ["c"])
    latent = ActiveLearner(CRF()).fit(X, START).tell([(5, 0)], ["c"])
    np.testing.assert_array_equal(sure.model_.coef_, latent.model_.coef_)


def test_none_is_an_answer_that_is_not_asked_for_again():
    learner = ActiveLearner(CRF()).fit(X, START)
    queries = learner.ask(2)
    learner.tell(queries, [None, "a"])
    assert queries[0] in learner.skipped_
    assert queries[0] not in learner.ask(100)
    whole = ActiveLearner(CRF(), unit="sequence").fit(X, START)
    (query,) = whole.ask(1)
    whole.tell([query], [[None, *Y[query.sequence][1:]]])
    assert query not in whole.ask(100)
    assert whole.labels[query.sequence][0] is None


@pytest.mark.parametrize("diversity", [Determinantal("rbf"), KCenter("rbf")])
@pytest.mark.parametrize("unit", ["position", "sequence"])
def test_diverse_batches_hold_no_question_twice(unit, diversity):
    learner = ActiveLearner(KernelCRF("rbf"), unit=unit, diversity=diversity).fit(X, START)
    queries = learner.ask(4)
    assert len(set(queries)) == 4
    assert all(query.sequence > 1 for query in queries)
    assert all((query.position is None) == (unit == "sequence") for query in queries)


@pytest.mark.parametrize("structure", ["tree", "graph"])
def test_trees_and_graphs(structure):
    pool = items(structure, 4, 8)
    y = labels_of(pool, structure)
    learner = ActiveLearner(CRF(structure=structure)).fit(pool, [y[0], y[1], *[None] * 6])
    queries = learner.ask(5)
    learner.tell(queries, answers_to(queries, y))
    assert learner.n_labels == len(y[0]) + len(y[1]) + 5


def test_pixels_and_words():
    rng = np.random.default_rng(0)
    images = [rng.normal(size=(2, 3, 1)) for _ in range(3)]
    y = [np.where(x[:, :, 0] > 0, "on", "off") for x in images]
    learner = ActiveLearner(CRF(structure=Grid())).fit(images, [y[0], None, None])
    (query,) = learner.ask(1)
    learner.tell([query], [y[query.sequence].ravel()[query.position]])
    assert learner.labels[query.sequence].shape == (2, 3)
    words = [["La", "casa"], ["Juan", "come"], ["el", "pan"], ["Ana", "ve", "Roma"]]
    tags = [["O", "O"], ["N", "O"], None, None]
    learner = ActiveLearner(CRF(features="columns: w\nw[0]\nis_title(w[0])"), unit="sequence").fit(
        words, tags
    )
    assert learner.ask(1)[0].sequence in (2, 3)
    assert ActiveLearner(HMM("gaussian")).fit(X, START).ask(1)[0].sequence > 1


def test_saved_learners_go_on_where_they_were(tmp_path):
    def make():
        return ActiveLearner(CRF(warm_start=True), strategy="margin")

    learner = make().fit(X, START)
    queries = learner.ask(3)
    learner.tell(queries, [None, *answers_to(queries[1:])])
    learner.save(tmp_path / "work")
    other = make().resume(tmp_path / "work", [x.copy() for x in X])
    assert other.labels == learner.labels
    assert other.skipped_ == learner.skipped_
    for one in (learner, other):
        assert one.ask(4) == learner.ask(4)
    following = learner.ask(4)
    for one in (learner, other):
        one.tell(following, answers_to(following))
    np.testing.assert_array_equal(learner.model_.coef_, other.model_.coef_)
    assert pickle.loads(pickle.dumps(learner)).ask(4) == learner.ask(4)
    blank = ActiveLearner(CRF(), random_state=0).fit(X)
    blank.save(tmp_path / "blank")
    assert ActiveLearner(CRF(), random_state=0).resume(tmp_path / "blank", X).ask(2) == blank.ask(2)


def test_files_that_do_not_fit_are_refused_and_change_nothing(tmp_path):
    learner = ActiveLearner(CRF()).fit(X, START)
    learner.save(tmp_path)
    before = learner.labels
    with pytest.raises(InputError, match="are those of another pool"):
        learner.resume(tmp_path, items("chain", 9, 12))
    with pytest.raises(InputError, match="cannot be read"):
        learner.resume(tmp_path / "nothing", X)
    content = json.loads((tmp_path / "labels.json").read_text())
    for change in ({"format": 2}, {"labels": [[99]]}, {"names": 3}):
        (tmp_path / "labels.json").write_text(json.dumps({**content, **change}))
        with pytest.raises((ModelFormatError, InputError)):
            learner.resume(tmp_path, X)
    (tmp_path / "labels.json").write_text("[")
    with pytest.raises(ModelFormatError, match="holds no labels"):
        learner.resume(tmp_path, X)
    assert learner.labels == before
    odd = ActiveLearner(CRF()).fit(X, [[("a", 1), *Y[0][1:]], *START[1:]])
    with pytest.raises(InputError, match="labels must be texts or numbers"):
        odd.save(tmp_path)


@pytest.mark.parametrize(
    ("queries", "answers", "message"),
    [
        ([(0, 0)], [], "two lists of the same length"),
        ([(99, 0)], ["a"], "The sequence of a query is 99"),
        ([(2, 99)], ["a"], "The position of a query for sequence 2 is 99"),
        ([5], ["a"], "must be a pair"),
        ([(2, 0)], [["a"]], "not hashable at position 0"),
        ([(2, None)], [["a"] * 9], "but 9 labels"),
    ],
)
def test_odd_answers_change_nothing(queries, answers, message):
    learner = ActiveLearner(CRF()).fit(X, START)
    with pytest.raises(InputError, match=message):
        learner.tell([(3, 0), *queries], ["b", *answers])
    assert learner.labels[3][0] is None
    assert learner.labels[2] == [None] * len(X[2])


def test_a_fit_that_fails_takes_answers_back():
    learner = ActiveLearner(CRF(classes=["a", "b", "c"])).fit(X, START)
    with pytest.raises(InputError, match="which classes lacks"):
        learner.tell([(3, 0)], ["d"])
    assert learner.labels[3][0] is None
    learner.tell([(3, 0)], ["a"])


@pytest.mark.parametrize(
    "settings",
    [{"unit": "word"}, {"strategy": "luck"}, {"diversity": "much"}, {"complete": 2.0}, {"random_state": "x"}],
)
def test_odd_settings_are_refused(settings):
    with pytest.raises(InputError):
        ActiveLearner(CRF(), **settings).fit(X, START)


def test_settings_are_cloned_and_a_pool_is_needed():
    learner = ActiveLearner(CRF(2.0), strategy="margin", unit="sequence")
    copy = clone(learner.fit(X, START))
    assert copy.get_params(deep=False).keys() == learner.get_params(deep=False).keys()
    assert copy.estimator.penalty == 2.0
    with pytest.raises(NotFittedError):
        copy.ask(1)
    with pytest.raises(InputError, match="n is 0"):
        learner.ask(0)


def test_simulations_count_labels_and_end_with_all():
    total = sum(map(len, Y))
    for unit in ("position", "sequence"):
        seen = []
        curve = simulate(
            ActiveLearner(CRF(), unit=unit, strategy="margin"),
            X,
            Y,
            X,
            Y,
            budgets=[8, 16, total],
            report=lambda *found, seen=seen: seen.append(found),
        )
        assert curve.labels[-1] == total
        assert seen == [*zip(curve.labels.tolist(), curve.scores.tolist(), strict=True)]
        assert curve.scores[-1] == CRF().fit(X, Y).score(X, Y)
        assert (np.diff(curve.labels) > 0).all()
        if unit == "position":
            assert curve.labels.tolist() == [8, 16, total]
    curve = simulate(ActiveLearner(CRF()), X, Y, X, Y, budgets=[20], y_start=START, scorer=lambda *_: 0.5)
    assert curve.labels.tolist() == [len(Y[0]) + len(Y[1]), 20]
    assert curve.scores.tolist() == [0.5, 0.5]


def test_simulations_refuse_budgets_that_do_not_rise():
    for budgets in ([], [5, 5], [0], ["x"]):
        with pytest.raises(InputError, match="budgets"):
            simulate(ActiveLearner(CRF()), X, Y, X, Y, budgets=budgets)
    with pytest.raises(InputError, match="no model to score"):
        simulate(ActiveLearner(CRF()), X, Y, X, Y, budgets=[1])


def test_labels_to_reach_a_score():
    curve = LearningCurve(np.array([10, 20, 40]), np.array([0.5, 0.7, 0.6]), np.zeros(3))
    assert curve.labels_to_reach(0.65) == pytest.approx(17.5)
    assert curve.labels_to_reach(0.8) == np.inf
    assert Query(1, None) == (1, None)
