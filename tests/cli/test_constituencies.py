"""Constituency trees on the command line: from Penn brackets to a model, to brackets, to figures."""

import io
import json

import numpy as np
import pytest

from kernelfields import load
from kernelfields.io import read_brackets, write_brackets
from kernelfields.io.phrases import leaves_of
from kernelfields.metrics import bracket_scores

from .test_dependencies import refused, run


def trees(n=25, seed=0):
    """Draw sentences of noun phrases and verbs, with function tags, traces and full stops."""
    rng = np.random.default_rng(seed)

    def phrase(label):
        adjective = [("JJ", "old")] if rng.random() < 0.4 else []
        return (
            label,
            ("DT", str(rng.choice(["the", "a"]))),
            *adjective,
            ("NN", str(rng.choice(["dog", "cat"]))),
        )

    for _ in range(n):
        verb = ("VBZ", str(rng.choice(["sees", "likes"])))
        verbal = ("VP", verb, phrase("NP")) if rng.random() < 0.5 else ("VP", verb, ("NP", ("-NONE-", "*T*")))
        yield ("S", phrase("NP-SBJ-1"), verbal, (".", "."))


@pytest.fixture
def data(tmp_path):
    write_brackets(trees(), tmp_path / "train.mrg")
    return tmp_path / "train.mrg"


@pytest.fixture
def model(tmp_path, data):
    done = run("train", data, "--structure", "constituency", "-o", tmp_path / "parser.kf", "--penalty", 0.1)
    assert done.exit_code == 0, done.output
    return tmp_path / "parser.kf"


def test_train_tag_and_evaluate(tmp_path, model):
    test = tmp_path / "test.mrg"
    write_brackets(trees(15, 1), test)
    truth = list(read_brackets(test, functions=False, traces=False))
    parser = load(model)
    assert parser.classes_.tolist() == ["", "NP", "S", "VP"]
    flat = tmp_path / "flat.mrg"
    write_brackets([("X", *leaves_of(tree)) for tree in truth], flat, outer=False)
    done = run("tag", model, flat)
    assert done.exit_code == 0, done.output
    answers = list(read_brackets(io.StringIO(done.stdout)))
    assert [leaves_of(tree) for tree in answers] == [leaves_of(tree) for tree in truth]
    scores = bracket_scores(truth, answers)
    assert scores.f1 > 0.95
    assert answers == list(read_brackets(io.StringIO(run("tag", model, stdin=flat.read_text()).stdout)))
    done = run("evaluate", model, test, "--json", "--report", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["f1"], found["exact"]) == (pytest.approx(scores.f1), pytest.approx(scores.exact))
    assert "bracket F1" in done.output
    text = (tmp_path / "page.html").read_text()
    assert text.count('class="arc right"') + text.count('class="arc wrong"') == found["answers"]


def test_phrases_with_probabilities(tmp_path, data, model):
    done = run("tag", model, data, "--to", "jsonl")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    inputs = [
        [(leaf.word, leaf.tag) for leaf in leaves_of(tree)]
        for tree in read_brackets(data, functions=False, traces=False)
    ]
    parser = load(model)
    for row, p in zip(rows, parser.predict_marginals(inputs), strict=True):
        [tree] = read_brackets(io.StringIO(row["tree"]))
        assert [leaf.word for leaf in leaves_of(tree)] == row["tokens"]
        for label, start, end, share in row["phrases"]:
            k = parser.classes_.tolist().index(label)
            n = len(row["tokens"])
            places = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
            assert share == pytest.approx(p[places.index((start, end)), k], abs=1e-6)


def test_the_k_best_trees(tmp_path, data, model):
    done = run("tag", model, data, "--to", "jsonl", "--kbest", 3)
    assert done.exit_code == 0, done.output
    for row in map(json.loads, done.stdout.splitlines()):
        assert row["kbest"][0]["tree"] == row["tree"]
        values = [one["log_probability"] for one in row["kbest"]]
        assert values == sorted(values, reverse=True)
        assert len({one["tree"] for one in row["kbest"]}) == 3
    assert "--kbest has no place in brackets; choose --to jsonl" in refused("tag", model, data, "--kbest", 2)


def test_held_out_trees(tmp_path, data):
    done = run(
        "train", data, "--structure", "constituency", "--holdout", 0.4, "-o", tmp_path / "m.kf", "--json"
    )
    assert done.exit_code == 0, done.output
    assert "Held out: bracket F1" in done.output
    assert json.loads(done.stdout.splitlines()[-1])["held_out_f1"] > 0.8


def test_what_is_refused(tmp_path, data, model):
    broken = tmp_path / "broken.mrg"
    broken.write_text("(S (NP (DT the)\n")
    assert f"{broken}, line 1: the tree that begins here" in refused("tag", model, broken)
    assert "no output format 'conll' of constituency" in refused("tag", model, data, "--to", "conll")
    to_train = ("train", data, "--structure", "constituency", "-o", tmp_path / "m.kf")
    assert "needs templates of spans" in refused(*to_train, "--features", "arcs")
    assert "reads brackets, not conllu" in refused(*to_train, "--format", "conllu")
