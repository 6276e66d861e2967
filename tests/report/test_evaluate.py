"""All numbers of an evaluation, against plain counting."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from kernelfields import CRF, InputError
from kernelfields.report import evaluate, ranking
from kernelfields.report.path import path_of
from tests.report._stand_in import StandIn, random_case


def test_numbers_against_plain_counting(rng) -> None:
    model, y = random_case(rng)
    found = evaluate(model, model.inputs, y, threshold=0.7)
    positions = [
        (label, dict(zip(model.classes_, p, strict=True)))
        for labels, rows in zip(y, model.marginals, strict=True)
        for label, p in zip(labels, rows, strict=True)
    ]
    best = [max(p, key=p.get) for _, p in positions]
    wrong = [answer != label for answer, (label, _) in zip(best, positions, strict=True)]
    sure = [p[answer] >= 0.7 for answer, (_, p) in zip(best, positions, strict=True)]
    numbers = found.as_dict()
    assert numbers["tokens"] == len(positions) == 49
    assert numbers["sequences"] == 5
    assert numbers["token_error"] == pytest.approx(np.mean(wrong))
    assert numbers["nll"] == pytest.approx(-np.mean([math.log(p[label]) for label, p in positions]))
    assert numbers["answered"] == pytest.approx(np.mean(sure))
    assert numbers["answered_error"] == pytest.approx(
        sum(w and s for w, s in zip(wrong, sure, strict=True)) / sum(sure)
    )
    table = numbers["confusion"]
    for i, true in enumerate(table["labels"]):
        for j, answer in enumerate(table["labels"]):
            pairs = sum(a == answer and b == true for a, (b, _) in zip(best, positions, strict=True))
            assert table["counts"][i][j] == pairs
    assert sum(numbers["calibration"]["support"]) == 49
    assert numbers["entity_f1"] is None
    json.dumps(numbers, allow_nan=False)


def test_entities_where_labels_are_of_a_scheme() -> None:
    classes = ["B-X", "I-X", "O"]
    model = StandIn(classes, [np.eye(3)[[0, 1, 2, 0]] * 0.97 + 0.01])
    found = evaluate(model, model.inputs, [["B-X", "I-X", "O", "O"]])
    assert found.entities is not None
    assert found.as_dict()["entity_precision"] == 0.5
    assert found.as_dict()["entity_recall"] == 1.0
    assert found.as_dict()["entity_f1"] == pytest.approx(2 / 3)


def test_unseen_labels_make_the_likelihood_nil() -> None:
    model = StandIn(["a", "b"], [[[0.9, 0.1]], [[0.2, 0.8]]])
    found = evaluate(model, model.inputs, [["a"], ["z"]])
    assert found.nll == math.inf
    assert found.as_dict()["nll"] is None
    assert found.unseen == 1
    assert found.token_error == 0.5


def test_a_decoder_that_abstains_is_taken_by_its_best_labels() -> None:
    model = StandIn(["a", "b"], [[[0.6, 0.4], [0.2, 0.8]]], predicted=[[None, "b"]])
    found = evaluate(model, model.inputs, [["a", "a"]])
    assert found.sequences.answers == [["a", "b"]]
    assert found.token_error == 0.5


def test_worst_first_and_slowest(monkeypatch) -> None:
    monkeypatch.setattr(ranking, "BUDGET", 60.0)  # on a busy machine a second is soon over
    marginals = [[[0.9, 0.1]] * 3, [[0.6, 0.4]] * 3, [[0.8, 0.2]] * 3, [[0.7, 0.3]] * 3]
    model = StandIn(["a", "b"], marginals)
    y = [["a", "a", "a"], ["a", "a", "a"], ["a", "b", "b"], ["b", "a", "b"]]
    found = evaluate(model, model.inputs, y)
    # Two wrong: 3 is less certain than 2. None wrong: 1 is less certain than 0.
    assert [row.sequence for row in found.worst] == [3, 2, 1, 0]
    assert [row.wrong for row in found.worst] == [2, 2, 0, 0]
    seconds = [row.seconds for row in found.slowest]
    assert found.timings.timed == 4
    assert seconds == sorted(seconds, reverse=True)


def test_boundaries_are_none_where_labels_never_change() -> None:
    model = StandIn(["a", "b"], [[[0.9, 0.1]] * 2, [[0.1, 0.9]]])
    assert evaluate(model, model.inputs, [["a", "a"], ["b"]]).boundary_accuracy is None
    assert evaluate(model, model.inputs, [["a", "b"], ["b"]]).boundary_accuracy == 0.0


def test_texts() -> None:
    model = StandIn(["a", "b"], [[[0.9, 0.1]] * 2])
    y = [["a", "a"]]
    assert evaluate(model, model.inputs, y).sequences.tokens == [["0", "1"]]
    assert evaluate(model, model.inputs, y, [["x", 3]]).sequences.tokens == [["x", "3"]]
    with pytest.raises(InputError, match="Sequence 0 has 1 texts in tokens, but 2 labels in y"):
        evaluate(model, model.inputs, y, [["x"]])
    with pytest.raises(InputError, match="tokens has 2 sequences, but y has 1"):
        evaluate(model, model.inputs, y, [["x", "y"], []])
    with pytest.raises(InputError, match="X has 2 sequences, but y has 1"):
        evaluate(model, model.inputs * 2, y)
    with pytest.raises(InputError, match="threshold is 2"):
        evaluate(model, model.inputs, y, threshold=2)


def test_texts_of_tokens_with_columns() -> None:
    sentences = [[("The", "DT"), ("dog", "NN")], [("Dogs", "NN")]]
    labels = [["B-NP", "I-NP"], ["B-NP"]]
    model = CRF(penalty=0.1, features="chunking").fit(sentences, labels)
    found = evaluate(model, sentences, labels)
    assert found.sequences.tokens == [["The", "dog"], ["Dogs"]]
    assert found.as_dict()["entity_f1"] == 1.0
    assert found.path is not None
    assert found.path.relative_gap is not None
    assert found.path.relative_gap <= 1e-3


def test_labels_that_json_does_not_know() -> None:
    model = StandIn([("a", 1), ("b", 2)], [[[0.9, 0.1]]])
    found = evaluate(model, model.inputs, [[("a", 1)]])
    assert found.as_dict()["labels"]["labels"] == ["('a', 1)"]


def test_paths() -> None:
    assert path_of(SimpleNamespace(), None) is None
    certificate = SimpleNamespace(value=2.0, lower_bound=1.0)
    path = path_of(SimpleNamespace(certificate_=certificate, stop_reason_="Enough."), None)
    assert path is not None
    assert (path.steps, path.relative_gap, path.reason) == ([], 0.5, "Enough.")
    records = [{"value": 4.0, "size": 10}, {"value": np.float64(3.0), "size": 20, "lower_bound": 2.0}]
    path = path_of(SimpleNamespace(path_=records), None)
    assert path is not None
    assert path.sized
    assert [step.at for step in path.steps] == [10, 20]
    assert [step.lower_bound for step in path.steps] == [-math.inf, 2.0]
    path = path_of(SimpleNamespace(path_=records), [{"value": math.nan}, {"value": 1.0}])
    assert path is not None
    assert [step.at for step in path.steps] == [1]


def test_a_repr_is_short_whatever_the_test():
    model = StandIn(["A", "B"], [[[0.9, 0.1]] * 5000] * 3)
    shown = repr(evaluate(model, model.inputs, [["A"] * 5000] * 3))
    assert shown.startswith("Evaluation(StandIn on 15,000 positions of 3 sequences: token error 0.00%")
    assert len(shown) < 200
