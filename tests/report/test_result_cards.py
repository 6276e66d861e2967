"""Results in notebooks: tables, with everything in them escaped."""

import numpy as np
import pytest

from kernelfields import CRF, HMM, KernelCRF, compare, tune
from kernelfields.errors import InputError
from kernelfields.report import evaluate

EVIL = "<script>alert(1)</script>"


def labelled():
    random = np.random.default_rng(0)
    X = [random.normal(size=(6, 2)) for _ in range(10)]
    return X, [[EVIL if row[0] > 0 else "b" for row in x] for x in X]


def test_numbers_of_an_evaluation():
    words, tags = [["Anna", "slept"], ["Bob", "ran"]], [["B-<i>", "O"], ["B-<i>", "O"]]
    page = evaluate(CRF(0.1, features="ner").fit(words, tags), words, tags)._repr_html_()
    assert "entity F1" in page
    assert "&lt;i&gt;" in page
    assert "<i>" not in page
    X, y = labelled()
    assert "calibration error" in evaluate(CRF().fit(X, y), X, y)._repr_html_()


def test_settings_that_were_tried_and_models_that_were_compared():
    X, y = labelled()
    found = tune(KernelCRF(), X, y, folds=2, budget="10m", refit=False)
    page = found._repr_html_()
    assert page.count("<tr>") == 1 + len(found.tried)
    assert f"Chosen: {found.tried[0].label}" in page
    page = compare({EVIL: CRF(), "hmm": HMM("gaussian")}, X, y, folds=2, budget="10m")._repr_html_()
    assert "wrong labels" in page
    assert "<script>" not in page


def test_frames_are_told_where_to_go():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"kernelfields\.frames\.fit\(model, frame"):
        KernelCRF().fit(pandas.DataFrame({"a": [1.0], "label": ["x"]}), "label")
