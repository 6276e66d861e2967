"""Answers of a service are those of its models."""

import json

import numpy as np
import pytest

from kernelfields.serving import answering

from .conftest import as_json, attributes, graphs, numbers, trees, words

INPUTS = {"words": words, "attributes": attributes, "numbers": numbers, "trees": trees, "graphs": graphs}


def post(client, path, **body):
    answer = client.post(f"/models/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("name", INPUTS)
def test_labels_marginals_and_best_labellings(client, models, name):
    X, _ = INPUTS[name](7, seed=3)
    model, sequences = models[name], [as_json(x) for x in X]
    tagged = post(client, f"{name}/tag", sequences=sequences)
    assert tagged["labels"] == model.predict(X)
    marginals = model.predict_marginals(X)
    found = post(client, f"{name}/marginals", sequences=sequences)
    assert found["classes"] == model.classes_.tolist()
    for left, right, y, p in zip(
        found["marginals"], marginals, tagged["labels"], tagged["probabilities"], strict=True
    ):
        np.testing.assert_allclose(left, right, atol=1e-6)
        columns = [model.classes_.tolist().index(label) for label in y]
        np.testing.assert_allclose(p, right[np.arange(len(y)), columns], atol=1e-6)
    best = post(client, f"{name}/kbest", sequences=sequences, k=3)["kbest"]
    for left, right in zip(best, model.predict_kbest(X, 3), strict=True):
        assert [one["labels"] for one in left] == [labels for labels, _ in right]
        np.testing.assert_allclose([one["log_probability"] for one in left], [p for _, p in right])


@pytest.mark.parametrize("level", [0.0, 0.9, 1.0])
def test_abstaining(client, models, level):
    X, _ = words(9, seed=4)
    found = post(client, "words/tag", sequences=[as_json(x) for x in X], abstain=level)
    assert found["labels"] == models["words"].predict(X, abstain=level)
    most = [p.max(axis=1) for p in models["words"].predict_marginals(X)]
    for y, p, top in zip(found["labels"], found["probabilities"], most, strict=True):
        assert [a for a, label in zip(p, y, strict=True) if label is None] == pytest.approx(
            [b for b, label in zip(top, y, strict=True) if label is None], abs=1e-6
        )


@pytest.mark.parametrize("confidence", [None, 0.8])
def test_promises(client, models, confidence):
    X, _ = words(9, seed=4)
    body = {"sequences": [as_json(x) for x in X], "error_at_most": 0.1, "confidence": confidence}
    found = post(client, "words/tag", **body)
    model = models["words"]
    promise = model.guarantees(0.1, 0.95 if confidence is None else confidence)
    assert found["labels"] == model.predict(X, error_at_most=promise)
    assert found["guarantees"]["all"] == {"holds": promise[None].holds, "answered": promise[None].answered}
    assert post(client, "words/tag", **body) == found


def test_columns_may_be_named_or_left_out(client, models):
    named = post(client, "words/tag", sequences=[[{"w": "Ana", "pos": "A"}, {"w": "saw", "pos": "s"}]])
    assert named["labels"] == models["words"].predict([[("Ana", "A"), ("saw", "s")]])
    alone = post(client, "words/tag", sequences=[["Ana", ["saw"]]])
    assert alone["labels"] == models["words"].predict([[("Ana", ""), ("saw", "")]])
    assert "expect more errors" in alone["notes"][0]


def test_nothing_is_answered_by_nothing(client):
    assert post(client, "words/tag", sequences=[])["labels"] == []
    assert post(client, "words/tag", sequences=[[], ["Ana"], []])["labels"][::2] == [[], []]
    assert post(client, "numbers/marginals", sequences=[[]])["marginals"] == [[]]
    assert "probabilities" not in post(client, "words/tag", sequences=[["a"]], probabilities=False)


def test_any_text_is_a_word(client):
    sequences = [["\u0000", "\U0001f600", "\u202e", "", " ", "e\u0301" * 500]]
    assert len(post(client, "words/tag", sequences=sequences)["labels"][0]) == 6


def test_pages(client, models):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "/models/words/tag" in page.text
    listed = client.get("/models").json()["models"]
    assert set(listed) == set(models)
    assert listed["words"]["columns"] == ["w", "pos"]
    assert listed["words"]["calibrated"]
    assert listed["numbers"]["width"] == 2
    assert client.get("/models/trees").json()["structure"] == "tree"
    assert client.get("/models/none").status_code == 404


def test_metrics_count(client):
    def total(line):
        text = client.get("/metrics").text
        return sum(float(one.rsplit(" ", 1)[1]) for one in text.splitlines() if one.startswith(line))

    good, wrong = 'kf_requests_total{model="words",operation="tag",status="200"}', 'status="422"} '
    before = (
        total(good),
        total("kf_sequences_total"),
        total("kf_positions_total"),
        total("kf_request_seconds_count"),
    )
    post(client, "words/tag", sequences=[["a", "b"], ["c"]])
    after = (
        total(good),
        total("kf_sequences_total"),
        total("kf_positions_total"),
        total("kf_request_seconds_count"),
    )
    assert np.subtract(after, before).tolist() == [1, 2, 3, 1]
    client.post("/models/words/tag", json={})
    assert wrong in client.get("/metrics").text


def test_health(client, models):
    found = client.get("/health").json()
    assert found["status"] == "ok"
    assert {name: one["error"] for name, one in found["models"].items()} == dict.fromkeys(models)


def test_the_example_of_the_page_works(client):
    """The command that the index shows is one that the model answers."""
    from html import unescape

    for block in client.get("/").text.split("<pre>")[1:]:
        command = unescape(block.partition("</pre>")[0])
        body = json.loads(command.partition("-d '")[2].rstrip("'"))
        path = command.split()[1].removeprefix("http://127.0.0.1")
        assert client.post(path, json=body).status_code == 200, command


@pytest.mark.parametrize(
    "value", [[[0.5, 1], []], [{"labels": ["ä", None]}, {}], [], [[[1]], [[2]]], ["a", [1]]]
)
def test_tables_are_written_row_by_row(value, monkeypatch):
    """No other thread runs while something is written."""
    assert json.loads(answering._text(value)) == value
    sizes = []

    class Counting(json.JSONEncoder):
        def encode(self, one):
            sizes.append(len(one) if isinstance(one, list) else 1)
            return super().encode(one)

    monkeypatch.setattr(answering, "ENCODER", Counting())
    answering._text([[0.5] * 3] * 1000)
    assert sizes == [3] * 1000
