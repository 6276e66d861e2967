"""Figures that all models of a table have, against counts by hand, and columns of a second pass."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from experiments.lib.accuracy import CALIBRATION, ERROR, LIKELIHOOD, SUREST, judged
from experiments.lib.row_models import RowModel
from experiments.lib.second_pass import cross_fitted, with_elsewhere
from experiments.lib.tag_marginals import as_iob2
from kernelfields.constraints import IOB2, IOBES
from kernelfields.metrics import expected_calibration_error

CLASSES = ["a", "b"]
Y = [["a", "b", None], ["b", "c", "a", "a", "b"]]
P = [
    np.array([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]),
    np.array([[0.2, 0.8], [0.3, 0.7], [0.95, 0.05], [0.51, 0.49], [0.0, 1.0]]),
]


def test_figures_are_those_counted_by_hand() -> None:
    found = judged(Y, P, CLASSES)
    # Seven labels are known; wrong are the "b" at 0.6 and the "c", which the model does not know.
    assert found[ERROR] == pytest.approx(100 * 2 / 7)
    # The surest six are all but the one at 0.51.
    assert found[SUREST] == pytest.approx(100 * 2 / 6)
    own = [0.9, 0.4, 0.8, 1e-12, 0.95, 0.51, 1.0]
    assert found[LIKELIHOOD] == pytest.approx(np.log(own).mean())
    assert found[CALIBRATION] == expected_calibration_error(Y, P, CLASSES)


def test_classifiers_of_rows_skip_what_is_not_known_or_rare() -> None:
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 2)) for _ in range(10)]
    y = [["p" if row[0] > 0 else "n" for row in x] for x in X]
    y[0][0], y[1][1] = None, "once"
    model = RowModel(LogisticRegression(), least=2).fit(X, y)
    assert list(model.classes_) == ["n", "p"]
    marginals = model.predict_marginals(X)
    assert [p.shape for p in marginals] == [(4, 2)] * 10
    alone = LogisticRegression().fit(
        np.concatenate(X)[[k for k in range(40) if k not in (0, 5)]],
        [label for k, label in enumerate(chain.from_iterable(y)) if k not in (0, 5)],
    )
    np.testing.assert_allclose(np.concatenate(marginals), alone.predict_proba(np.concatenate(X)))


def test_probabilities_of_one_scheme_as_of_another() -> None:
    p, classes = [np.array([[0.1, 0.2, 0.3, 0.15, 0.25]])], ["B-X", "E-X", "I-X", "O", "S-X"]
    found, names = as_iob2(p, np.array(classes), IOBES)
    assert names == ["B-X", "I-X", "O"]
    np.testing.assert_allclose(found[0], [[0.35, 0.5, 0.15]])
    assert as_iob2(p, classes, IOB2)[0][0] is p[0]


class Remembering:
    """Says "B-X" of words it has seen."""

    def fit(self, X: list, y: list) -> Remembering:
        self.seen = {token[0] for sentence in X for token in sentence}
        return self

    def predict(self, X: list) -> list[list[str]]:
        return [["B-X" if token[0] in self.seen else "O" for token in sentence] for sentence in X]


def test_first_models_have_not_seen_what_they_label() -> None:
    X = [[(f"w{k}",)] for k in range(40)]
    assert cross_fitted(Remembering, X, [["B-X"]] * 40, 4, 0) == [["O"]] * 40
    repeated = [[("w",)]] * 40
    assert cross_fitted(Remembering, repeated, [["B-X"]] * 40, 4, 0) == [["B-X"]] * 40


def test_words_elsewhere_do_not_count_themselves() -> None:
    X = [[("Ana",), ("va",)], [("Ana",)], [("Luz",)], [("Ana",)]]
    labels = [["B-PER", "O"], ["B-LOC"], ["B-PER"], ["B-PER"]]
    found = with_elsewhere(X, labels, None, reach=1)
    assert found[0] == [("Ana", "B-PER", "B-LOC", "B-LOC"), ("va", "O", "-", "-")]
    assert found[1] == [("Ana", "B-LOC", "B-PER", "B-PER")]
    assert found[2] == [("Luz", "B-PER", "none", "none")]
    assert found[3] == [("Ana", "B-PER", "none", "B-LOC")]
    by_text = with_elsewhere(X, labels, [0, 1, 1, 0], reach=0)
    assert [sentence[0][2] for sentence in by_text] == ["B-PER", "none", "none", "B-PER"]
