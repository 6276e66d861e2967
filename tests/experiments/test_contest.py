"""What experiments that compare methods share, against the same computed otherwise."""

import numpy as np
import pytest

from experiments import pos_table
from experiments.lib.contest import Method, SequenceSet, chosen, fitted, largest_gap
from experiments.lib.methods import hmm, kernel_crf, svm
from experiments.lib.tasks import Texts, parted, text_task, treebank_texts, web_texts
from experiments.loss_curves import dual_sizes, hinge_loss, log_loss, shares_above
from kernelfields import CRF
from kernelfields.datasets import TaggedSentences, load_ptb_sample, load_ud_ewt
from kernelfields.features import parse_templates
from kernelfields.kernels import RBF, Linear
from kernelfields.losses import LogLoss, MarginHinge
from kernelfields.structures import ChainBatch


class Wrong:
    """Gets the first ``count`` labels of every sequence wrong."""

    def __init__(self, count):
        self.count = int(count)

    def fit(self, X, y):
        self.seen = X

    def predict(self, X):
        return [["no"] * self.count + ["yes"] * (4 - self.count) for _ in X]


def part(n, name="f"):
    return SequenceSet([f"t{i}" for i in range(n)], [f"{name}{i}" for i in range(n)], [["yes"] * 4] * n)


def test_choice_is_the_best_on_the_validation_part_and_the_first_of_equals():
    model = chosen(Method("wrong", Wrong, [3, 1, 2]), part(5), part(2))
    assert model.choice == 1
    assert model.error(part(7)) == 25.0
    assert chosen(Method("wrong", lambda _: Wrong(2), [7, 9]), part(5), part(2)).choice == 7


@pytest.mark.parametrize(("tokens", "expected"), [(True, "t0"), (False, "f0")])
def test_methods_see_tokens_or_features(tokens, expected):
    model = fitted(Method("wrong", Wrong, [1], reads_tokens=tokens), 1, part(1))
    assert model.model.seen == [expected]
    assert model.gap is None


def test_largest_gap_leaves_out_models_without_one(rng):
    X = [rng.normal(size=(3, 2)) for _ in range(4)]
    some = SequenceSet(X, X, [["a", "b", "a"]] * 4)
    method = Method("crf", lambda penalty: CRF(penalty, tol=0.1), [1.0])
    models = [fitted(method, 1.0, some), fitted(Method("wrong", Wrong, [1]), 1, some)]
    assert largest_gap(models) == models[0].model.certificate_.relative_gap


def test_parts_do_not_overlap():
    train, validation = parted(part(20), 0.1)
    assert (train.features, validation.features) == (part(20).features[:18], part(20).features[18:])
    assert len(parted(part(3), 0.1)[1].labels) == 1


def test_features_are_those_of_the_training_part_only():
    learn = TaggedSentences([["a"], ["b"], ["c"]], [["X"], ["Y"], ["X"]])
    task = text_task(
        Texts(learn, TaggedSentences([["a", "c"]], [["X", "X"]])), parse_templates("columns: w\nw[0]"), 0.3
    )
    assert [x.toarray().tolist() for x in task.train.features] == [[[1, 0]], [[0, 1]]]
    assert task.validation.features[0].toarray().tolist() == [[0, 0]]
    assert task.test.features[0].toarray().tolist() == [[1, 0], [0, 0]]
    assert task.positions == 2


def test_no_sentence_of_the_treebank_is_learnt_from_and_tested_on(sample_dir):
    every = load_ptb_sample(sample_dir).sentences
    texts = treebank_texts(100, seed=0)
    assert texts.test.sentences == every[-100:]  # documents stay whole
    assert sorted(texts.learn.sentences) == sorted(every[:-100])
    assert texts.learn.sentences[:5] != treebank_texts(100, seed=1).learn.sentences[:5]
    web = web_texts(100, seed=0)
    assert sorted(web.learn.sentences) == sorted(load_ud_ewt("train", sample_dir).sentences)
    assert len(web.test.labels) == 100
    published = load_ud_ewt("test", sample_dir).sentences
    assert all(sentence in published for sentence in web.test.sentences)


def test_unknown_words_are_alike_or_go_by_spelling():
    sentences = [["the", f"{x}{x}ing"] for x in "bcdfghjk"] + [["the", f"{x}{x}ed"] for x in "bcdfghjk"]
    labels = [["D", "G"]] * 8 + [["D", "P"]] * 8
    some = SequenceSet(sentences, sentences, labels)
    new = [["the", "going"], ["the", "wanted"]]
    spelling = fitted(hmm("h", [0.1], spelling=True), 0.1, some).model
    assert spelling.predict(new) == [["D", "G"], ["D", "P"]]
    alike = fitted(hmm("h", [0.1], spelling=False), 0.1, some).model.predict(new)
    assert alike[0] == alike[1]


def test_the_paper_s_lines_stand_beside_ours():
    rows = pos_table._rows({("here", "CRF", 500): 9.0, ("here", "SVM", 500): 8.0, ("here", "CRF", 1000): 7.0})
    assert rows[0] == {"corpus": "here", "model": "CRF", "500": 9.0, "1000": 7.0}
    assert rows[1] == {"corpus": "here", "model": "SVM", "500": 8.0}
    assert {row["model"]: row["8000"] for row in rows[2:]} == {
        "HMM words": 15.87,
        "CRF": 6.38,
        "perceptron": 4.49,
        "SVM": 4.08,
    }


def test_losses_over_the_margin_are_those_of_a_chain_of_one():
    margins = np.array([-2.0, 0.0, 0.5, 3.0])
    chain = ChainBatch(np.arange(5), 2)
    scores = {"node": np.stack([margins, np.zeros(4)], axis=1), "edge": np.zeros((2, 2))}
    labels = np.zeros(4, dtype=np.int32)
    cost = {"node": np.array([[0.0, 1.0]] * 4)}
    np.testing.assert_allclose(log_loss(margins), LogLoss(chain, labels).at(scores).values)
    np.testing.assert_allclose(hinge_loss(margins), MarginHinge(chain, labels, cost).at(scores).values)


def test_shares_are_of_all_observations_and_labels(rng):
    X = [rng.normal(size=(3, 2)) for _ in range(6)]
    some = SequenceSet(X, X, [["a", "b", "a"]] * 6)
    task = type("LearningTask", (), {"train": some})
    # not of the linear kernel, whose coefficients are weights, but of one with steep slopes in all directions
    log = dual_sizes(fitted(kernel_crf("log", RBF(gamma=5.0), [0.5], 1e-6), 0.5, some), task)
    model = fitted(kernel_crf("log", RBF(gamma=5.0), [0.5], 1e-6), 0.5, some).model
    observed = np.array([[1, 0], [0, 1], [1, 0]] * 6)
    np.testing.assert_allclose(log, np.abs(observed - np.concatenate(model.predict_marginals(X))), atol=1e-3)
    hinge = dual_sizes(fitted(svm("hinge", [0.5], 1e-3, kernel=Linear(), solver="bcfw"), 0.5, some), task)
    assert log.shape == hinge.shape == (18, 2)
    assert (hinge == 0).any(axis=1).sum() > 0
    assert shares_above(np.array([[0.0, 0.5], [0.1, 0.7]]), np.array([0.0, 0.1, 1.0])).tolist() == [
        0.75,
        0.5,
        0,
    ]
