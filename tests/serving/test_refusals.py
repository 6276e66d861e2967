"""Requests that are refused, each with one sentence that names what is wrong."""

import json

import pytest

from kernelfields.serving import Limits, questions

from ._client import AppClient
from .conftest import app_of, shelf_of

WRONG = {
    "words/tag": [
        ([], "The body is a list"),
        ({}, 'no "sequences"'),
        ({"sequences": "ab"}, '"sequences" is a string'),
        ({"sequences": ["ab"]}, "Sequence 0 is a string"),
        ({"sequences": [["a"], ["b", 3]]}, "Sequence 1, position 1: a token must be a string"),
        ({"sequences": [["a", ["b", 1]]]}, "Sequence 0, position 1: a token must be"),
        ({"sequences": [["a", ["b", "c", "d"]]]}, "Sequence 0, position 1: the token has 3 columns"),
        ({"sequences": [["a", []]]}, "Sequence 0, position 1: the token has 0 columns"),
        ({"sequences": [[{"pos": "x"}]]}, "Sequence 0, position 0: the object has no 'w'"),
        ({"sequences": [[{"w": "x", "tag": "y"}]]}, "there is no column 'tag'"),
        ({"sequences": [[{"w": None}]]}, "column 'w' is null"),
        ({"sequences": [["a", "\ud800"]]}, "half of a character"),
        ({"sequences": [["a"]], "abstain": 2}, "abstain must be a number from 0 to 1"),
        ({"sequences": [["a"]], "abstain": True}, "abstain must be"),
        ({"sequences": [["a"]], "abstain": "0.5"}, "abstain must be"),
        ({"sequences": [["a"]], "error_at_most": 0}, "error_at_most must be"),
        ({"sequences": [["a"]], "error_at_most": 0.1, "abstain": 0.1}, "does not go with"),
        ({"sequences": [["a"]], "confidence": 0.9}, "which is missing"),
        ({"sequences": [["a"]], "probabilities": 1}, "not true or false"),
        ({"sequences": [["a"]], "k": 3}, "no option 'k'"),
    ],
    "attributes/tag": [
        ({"sequences": [[{"a": 1}, "word"]]}, "Sequence 0, position 1: features must be an object"),
        ({"sequences": [[{"a": None}]]}, "position 0: feature 'a' must be"),
        ({"sequences": [[{"a": {"b": "c"}}]]}, "position 0: feature 'a' must be"),
        ({"sequences": [[{"a": 1e31}]]}, "beyond 1e+30"),
        ({"sequences": [["a"]], "error_at_most": 0.1}, "needs a calibrated model"),
    ],
    "numbers/tag": [
        ({"sequences": [[[1, 2], [3]]]}, "Sequence 0, position 1: the row has 1 numbers, expected 2"),
        (
            {"sequences": [[[1, 2]], [[1, 2], [3, "4"]]]},
            "Sequence 1, position 1: number 1 of the row is a string",
        ),
        ({"sequences": [[[1, None]]]}, "number 1 of the row is null"),
        ({"sequences": [[[1, True]]]}, "number 1 of the row is a boolean"),
        ({"sequences": [[[1, 10**40]]]}, "beyond 1e+30"),
        ({"sequences": [["a"]]}, "position 0: a row must be a list"),
    ],
    "numbers/kbest": [
        ({"sequences": []}, "k must be a whole number from 1 to 100"),
        ({"sequences": [], "k": 0}, "k must be"),
        ({"sequences": [], "k": 101}, "k must be"),
        ({"sequences": [], "k": 1.5}, "k must be"),
        ({"sequences": [], "k": True}, "k must be"),
    ],
    "graphs/tag": [
        ({"sequences": [{"tokens": ["a"], "parents": [-1]}]}, 'with "tokens" and "edges"'),
        ({"sequences": [{"tokens": ["a"], "edges": [[0, 1]]}]}, "Graph 0, edge 0 joins 0 and 1"),
    ],
    "trees/tag": [
        ({"sequences": [["a"]]}, 'Tree 0 must be an object with "tokens" and "parents"'),
        ({"sequences": [{"tokens": ["a"], "parents": [0]}]}, "Tree 0, token 0 is its own ancestor"),
        ({"sequences": [{"tokens": ["a"], "parents": []}]}, "Tree 0, there are 1 tokens, but 0 parents"),
        ({"sequences": [{"tokens": ["a"], "parents": [5]}]}, "the parent of token 0 is 5"),
        ({"sequences": [{"tokens": "a", "parents": []}]}, '"tokens" is a string'),
    ],
}
CASES = [(path, body, said) for path, several in WRONG.items() for body, said in several]


@pytest.mark.parametrize(("path", "body", "said"), CASES)
def test_wrong_bodies(client, path, body, said):
    answer = client.post(
        f"/models/{path}", content=json.dumps(body), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422, answer.text
    sentence = answer.json()["error"]
    assert said in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nothing",
        b'{"sequences": [[NaN]]}',
        b'{"sequences": [[Infinity]]}',
        b'{"sequences": [["\xff"]]}',
        b"\xef\xbb\xbf{}",
        b'{"sequences": ' + b"[" * 100_000,
        b'{"sequences": [[[' + b"9" * 10_000 + b"]]]}",
        b'{"sequences": []} {}',
        b'{"sequences": [], "sequences": []}',
    ],
    ids=range(11),
)
def test_bodies_that_are_no_json(client, body):
    answer = client.post("/models/numbers/tag", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"].startswith("The body")


def test_numbers_beyond_all_are_refused_by_position(client):
    body = b'{"sequences": [[[1, 2], [1e999, 2]]]}'
    answer = client.post("/models/numbers/tag", content=body, headers={"content-type": "application/json"})
    assert answer.json() == {"error": "Sequence 0, position 1: number 0 of the row is not finite."}


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_only_json_is_read(client, kind):
    answer = client.post("/models/words/tag", content=b'{"sequences": []}', headers={"content-type": kind})
    assert answer.status_code == 415


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/models/words/tag", 405),
        ("DELETE", "/models/words", 405),
        ("POST", "/health", 405),
        ("POST", "/models/other/tag", 404),
        ("POST", "/models/words/train", 404),
        ("GET", "/models/words/", 404),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd", 404),
        ("GET", "/models/..%2f..%2fetc%2fpasswd", 404),
        ("GET", "/models/%00", 404),
    ],
)
def test_other_paths_and_methods(client, method, path, status):
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"].endswith(".")


def test_too_much_is_refused(folder):
    limits = Limits(sequences=3, positions=6, longest=4, numbers=20)
    cases = [
        ("tag", {"sequences": [["a"]] * 4}, "There are 4 sequences"),
        ("tag", {"sequences": [["a"], ["a"] * 5]}, "Sequence 1 has 5 positions"),
        ("tag", {"sequences": [["a"] * 3] * 3}, "There are 9 positions"),
        ("kbest", {"sequences": [["a"] * 3], "k": 7}, "would have 21"),
    ]
    with AppClient(app_of(shelf_of(folder / "words.kf"), limits)) as client:
        for operation, body, said in cases:
            answer = client.post(f"/models/words/{operation}", json=body)
            assert answer.status_code == 422
            assert said in answer.json()["error"]
        assert client.post("/models/words/tag", json={"sequences": [["a"] * 3] * 2}).status_code == 200


def test_brackets_are_counted_before_they_are_read(folder, monkeypatch):
    """More than a million lists would keep all threads waiting for half a second."""
    monkeypatch.setattr(questions, "parse_value", None)
    with AppClient(app_of(shelf_of(folder / "words.kf"))) as client:
        body = b'{"sequences": [' + b"[]," * 250_000 + b"[]]}"
        headers = {"content-type": "application/json"}
        answer = client.post("/models/words/tag", content=body, headers=headers)
    assert b"has 250003 lists and objects, at most 250000 are read" in answer.content


def test_everything_needs_the_token(folder):
    app = app_of(shelf_of(folder / "words.kf"), token="correct-horse-battery")
    with AppClient(app) as client:
        for path in ("/", "/health", "/metrics", "/models", "/openapi.json"):
            assert client.get(path).status_code == 401
            assert (
                client.get(path, headers={"authorization": "Bearer correct-horse-battery"}).status_code == 200
            )
        assert client.post("/models/words/tag", json={"sequences": []}).status_code == 401
