"""What notebooks show of a model."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import kernelfields as kf
from kernelfields import Parts
from kernelfields.models.clique_types import Edges
from kernelfields.structures import Grid

_rng = np.random.default_rng(0)
Y = [["a", "b", "b"], ["b", "a"], ["a", "b", "b"], ["b"]] * 4
X = [np.eye(2)[[int(label == "b") for label in y]] + 0.8 * _rng.normal(size=(len(y), 2)) for y in Y]
ROWS, LABELS = np.concatenate(X), np.concatenate(Y)
MODELS = {
    **{
        name: (getattr(kf, name)(), (X, Y))
        for name in (
            *("AROW", "CRF", "GPSequenceClassifier", "KernelCRF", "KernelPerceptron", "MEMM"),
            *("PassiveAggressive", "SequenceAdaBoost", "StochasticCRF", "StructuredPerceptron"),
            *("StructuredSVM", "HiddenUnitCRF"),
        )
    },
    "HMM": (kf.HMM("gaussian"), (X, Y)),
    "BoostedCRF": (kf.BoostedCRF(2, min_samples_leaf=1), (X, Y)),
    "Cascade": (kf.Cascade(kf.CRF(), kf.CRF(), folds=2, window=3), (X, Y)),
    "ClassifierMarkovModel": (kf.ClassifierMarkovModel(kf.KernelLogisticRegression("linear")), (X, Y)),
    "HiddenStates": (kf.HiddenStates(kf.CRF(), n_init=1), (X, Y)),
    "SelfTraining": (kf.SelfTraining(kf.CRF()), (X, [*Y[:-1], None])),
    "SequencePipeline": (kf.SequencePipeline([], kf.CRF()), (X, Y)),
    "StructureLearner": (
        kf.StructureLearner(kf.KernelCRF(parts=Parts(edges=None)), candidates=[Edges()]),
        (X, Y),
    ),
    "KernelLogisticRegression": (kf.KernelLogisticRegression(), (ROWS, LABELS)),
    "TransductiveSVM": (kf.TransductiveSVM(), (ROWS, [*LABELS[:-2], None, None])),
    "LabelPropagation": (kf.LabelPropagation(), (ROWS, [*LABELS[:-2], None, None])),
    "LabelSpreading": (kf.LabelSpreading(), (ROWS, [*LABELS[:-2], None, None])),
    "PoissonLearning": (kf.PoissonLearning(), (ROWS, [*LABELS[:-2], None, None])),
    "SequenceClustering": (kf.SequenceClustering(2, random_state=0), (X,)),
    "FieldClustering": (kf.FieldClustering(2, random_state=0), (X,)),
    "MarkovField": (kf.MarkovField(structure=Grid()), ([np.array([["a", "b"], ["b", "a"]])] * 3,)),
}


def clean(count):
    """Sequences that are easy to label."""
    labels = [Y[n % len(Y)] for n in range(count)]
    return [np.eye(2)[[int(label == "b") for label in y]] for y in labels], labels


def text_of(markup):
    """Parse the markup, which thereby is well-formed; return its text."""
    return "".join(ElementTree.fromstring(markup).itertext())


def test_all_estimators_are_here():
    assert {name for name in kf.__all__ if hasattr(getattr(kf, name), "fit")} == set(MODELS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_card(name):
    model, given = MODELS[name]
    assert "sk-container" in model._repr_html_()  # not fitted: as scikit-learn shows it
    text = text_of(model.fit(*given)._repr_html_())
    assert text.startswith(f"{name}, fitted")
    assert "labels" in text


def test_what_it_says_of_a_linear_model():
    model = kf.CRF(penalty=0.5).fit(X, Y)
    text = text_of(model._repr_html_())
    assert "CRF(penalty=0.5)" in text
    assert "labelsa, b" in text
    assert f"objective {model.certificate_.value:.6g}, at most " in text
    k, j = np.unravel_index(abs(model.coef_).argmax(), model.coef_.shape)
    assert f"feature {j} {model.coef_[k, j]:+.3g}" in text
    assert "16 sequences" in text


def test_what_it_says_of_a_kernel_model():
    model = kf.KernelCRF("rbf").fit(X, Y)
    text = text_of(model._repr_html_())
    o = abs(model.dual_coef_[:, 0]).argmax()
    sequence, position = model.basis_origin_[o]
    assert f"{sequence}:{position} {model.dual_coef_[o, 0]:+.3g}" in text
    assert "RBF(gamma=" in text


def test_what_held_out_data_said():
    model = kf.CRF().fit(X[:8], Y[:8]).recalibrate(X[8:], Y[8:]).calibrate(X, Y)
    text = text_of(model._repr_html_())
    assert f"temperature {model.scaling_.temperature:.3g}, by 8 sequences" in text
    assert "answers nothing, by 16 sequences, positions" in text
    model = kf.CRF().fit(*clean(8)).calibrate(*clean(400))
    text = text_of(model._repr_html_())
    assert f"answers {100 * model.guarantees(0.05, 0.95)[None].answered:.3g} %" in text


def test_names_are_no_markup():
    labels = [["<script>alert(1)</script>", "O"], ["O", '"&\x00']] * 4
    model = kf.CRF(features="columns: w\nw[0]").fit([["<b>", "</div>"], ["&lt;", "'"]] * 4, labels)
    markup = model._repr_html_()
    assert "<script" not in markup
    assert "<b>" not in markup
    text = text_of(markup)
    assert "<script>alert(1)</script>" in text
    assert "</div>" in text


def test_many_and_long_names_are_cut():
    long = "x" * 5000
    labels = [[f"{long}{k}" for k in range(60)]] * 2
    model = kf.CRF().fit([np.eye(60)] * 2, labels)
    assert len(model._repr_html_()) < 20_000
    assert "… (60)" in text_of(model._repr_html_())
