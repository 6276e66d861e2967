"""Graphs on the command line: from JSON lines with edges to a model, to labels, to figures."""

import json

import numpy as np
import pytest

from kernelfields import CRF, load
from kernelfields.features.sets import pos
from kernelfields.io import Record, read_jsonl, write_jsonl
from kernelfields.structures import Graph

from .test_trees import refused, run, write


def graphs(n=30, seed=0):
    """Random graphs whose neighbours mostly share labels, seen through words that are wrong at times."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        size = int(rng.integers(1, 8))
        labels = rng.choice(["A", "B"], size=size).tolist()
        edges = [
            [a, b]
            for a in range(size)
            for b in range(a)
            if rng.random() < (0.6 if labels[a] == labels[b] else 0.1)
        ]
        words = [{"A": "an", "B": "be"}[y] if rng.random() < 0.7 else "it" for y in labels]
        yield {"tokens": words, "labels": labels, "edges": edges}


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "graphs.jsonl", graphs())


@pytest.fixture
def model(tmp_path, data):
    done = run("train", data, "-o", tmp_path / "graph.kf")
    assert done.exit_code == 0, done.output
    return tmp_path / "graph.kf"


def test_edges_make_a_model_of_graphs(model):
    """The same model as by the estimator."""
    rows = list(graphs())
    X, y = [(row["tokens"], row["edges"]) for row in rows], [row["labels"] for row in rows]
    ours = CRF(features=pos(), structure="graph", observed_only=True).fit(X, y)
    theirs = load(model)
    assert theirs.structure_ == Graph()
    np.testing.assert_allclose(theirs.transitions_, ours.transitions_, atol=1e-9)
    for a, b in zip(theirs.predict_marginals(X), ours.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_tagging_keeps_edges_and_everything_else(model):
    row = {"tokens": ["it", "be", "it"], "edges": [[0, 1], [2, 1]], "id": "x7"}
    stdin = json.dumps(row) + "\n"
    [line] = run("tag", model, "-", "--format", "jsonl", "--marginals", stdin=stdin).stdout.splitlines()
    said = json.loads(line)
    assert {key: said[key] for key in row} == row
    [expected] = load(model).predict_marginals([(row["tokens"], row["edges"])])
    np.testing.assert_allclose(said["marginals"], expected, atol=1e-6)


def test_evaluation_is_that_of_the_estimator(tmp_path, model):
    rows = list(graphs(seed=1))
    file = write(tmp_path / "t.jsonl", rows)
    done = run("evaluate", model, file, "--json", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.splitlines()[-1])
    X, y = [(row["tokens"], row["edges"]) for row in rows], [row["labels"] for row in rows]
    assert found["token_error"] == pytest.approx(1 - load(model).score(X, y))
    assert "Pictures" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "label \\ neighbour" in run("inspect", model).stdout


def test_what_does_not_fit(tmp_path, model):
    words = write(tmp_path / "w.jsonl", graphs(3), without=("edges",))
    assert "has no edges, but the model labels graphs" in refused("tag", model, words)
    assert "--structure graph needs edges" in refused(
        "train", words, "--structure", "graph", "-o", tmp_path / "m"
    )
    flat = tmp_path / "flat.kf"
    assert run("train", words, "-o", flat).exit_code == 0
    data = write(tmp_path / "g.jsonl", graphs(3))
    assert "has edges, but the model labels sequences; --flat leaves the edges out." in refused(
        "tag", flat, data
    )
    assert run("tag", flat, data, "--flat").exit_code == 0
    assert "Edges of graphs have no place in conll" in refused("convert", data, "-o", tmp_path / "g.conll")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 2]], "edge 0 joins 0 and 2, but there are 2 tokens."),
        ([[0, 1], [1, 1]], "edge 1 joins token 1 to itself."),
        ([[0, 1], [1, 0], [0, 1]], "edges 0 and 2 both lead from 0 to 1."),
        ([[0, 1.5]], "edge 0 is not a list of two whole numbers."),
        ([0, 1], "edge 0 is not a list of two whole numbers."),
        ("01", '"edges" is not a list.'),
    ],
)
def test_bad_edges(tmp_path, model, edges, message):
    file = write(tmp_path / "bad.jsonl", [{"tokens": ["a", "b"], "edges": edges}])
    assert refused("tag", model, file).endswith(f"line 1: {message}")


def test_both_parents_and_edges(tmp_path, model):
    row = {"tokens": ["a", "b"], "edges": [], "parents": [-1, 0]}
    assert "there are parents and edges" in refused("tag", model, write(tmp_path / "b.jsonl", [row]))


def test_records_are_written_as_they_are_read(tmp_path):
    record = Record(["a", "b"], ["A", None], {"id": 3}, edges=[[1, 0]])
    write_jsonl([record], tmp_path / "one.jsonl")
    assert list(read_jsonl(tmp_path / "one.jsonl")) == [record]
