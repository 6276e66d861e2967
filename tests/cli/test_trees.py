"""Trees on the command line: from JSON lines with parents to a model, to labels, to figures."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import kernelfields
from kernelfields import CRF, load
from kernelfields.cli.app import app
from kernelfields.features import DictFeatures
from kernelfields.features.sets import pos
from kernelfields.structures import Tree


def run(*words, stdin=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin)


def refused(*words, stdin=None):
    """Return the sentence that a command is refused with."""
    done = run(*words, stdin=stdin)
    assert done.exit_code == 2, done.output
    assert done.stderr.strip().count("\n") == 0
    return done.stderr.strip()


def trees(n=30, seed=0, path=False):
    """Random trees whose labels alternate with depth, seen through words that are wrong now and then."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        size = int(rng.integers(1, 8))
        parents = [t - 1 if path else int(rng.integers(-1, t)) if t else -1 for t in range(size)]
        labels = []
        for parent in parents:
            labels.append("A" if parent < 0 else "AB"[labels[parent] == "A"])
        words = [{"A": "an", "B": "be"}[y] if rng.random() < 0.8 else "it" for y in labels]
        yield {"tokens": words, "labels": labels, "parents": parents}


def write(file, rows, without=()):
    lines = (json.dumps({k: v for k, v in row.items() if k not in without}) for row in rows)
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "trees.jsonl", trees())


@pytest.fixture
def model(tmp_path, data):
    done = run("train", data, "-o", tmp_path / "tree.kf")
    assert done.exit_code == 0, done.output
    return tmp_path / "tree.kf"


def test_parents_make_a_model_of_trees(data, model):
    """The same model as by the estimator."""
    rows = list(trees())
    X, y = [(row["tokens"], row["parents"]) for row in rows], [row["labels"] for row in rows]
    ours = CRF(features=pos(), structure="tree", observed_only=True).fit(X, y)
    theirs = load(model)
    assert theirs.structure_ == Tree()
    np.testing.assert_allclose(theirs.transitions_, ours.transitions_, atol=1e-9)
    for a, b in zip(theirs.predict_marginals(X), ours.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_paths_are_sequences(tmp_path):
    """Trees without branches give what sequences give, in training and in tagging."""
    rows = list(trees(path=True))
    for name, without in (("tree", ()), ("chain", ("parents",))):
        run(
            "train",
            write(tmp_path / f"{name}.jsonl", rows, without),
            "-o",
            tmp_path / f"{name}.kf",
            "--tol",
            1e-7,
        )
    answers = [
        [
            json.loads(line)
            for line in run("tag", tmp_path / f"{name}.kf", tmp_path / f"{name}.jsonl").stdout.splitlines()
        ]
        for name in ("tree", "chain")
    ]
    for tree, chain in zip(*answers, strict=True):
        assert tree["predicted"] == chain["predicted"]
        np.testing.assert_allclose(tree["probabilities"], chain["probabilities"], atol=1e-3)


def test_tagging_keeps_parents_and_everything_else(tmp_path, model):
    row = {"tokens": ["it", "be", "it"], "parents": [1, -1, 1], "id": "x7"}
    stdin = json.dumps(row) + "\n"
    [line] = run("tag", model, "-", "--format", "jsonl", "--marginals", stdin=stdin).stdout.splitlines()
    said = json.loads(line)
    assert {key: said[key] for key in row} == row
    estimator = load(model)
    [expected] = estimator.predict_marginals([(row["tokens"], row["parents"])])
    np.testing.assert_allclose(said["marginals"], expected, atol=1e-6)
    assert said["predicted"] == estimator.predict([(row["tokens"], row["parents"])])[0]


def test_known_labels_decide_others(tmp_path, model):
    row = {"tokens": ["it", "it"], "parents": [1, -1], "labels": [None, "B"]}
    [line] = run("tag", model, write(tmp_path / "a.jsonl", [row]), "--allowed").stdout.splitlines()
    said = json.loads(line)
    assert said["predicted"] == ["A", "B"]
    [expected] = load(model).predict_marginals([(row["tokens"], row["parents"])], allowed=[row["labels"]])
    np.testing.assert_allclose(said["probabilities"], [expected[0, 0], 1.0], atol=1e-6)


def test_evaluation_is_that_of_the_estimator(tmp_path, model):
    rows = list(trees(seed=1))
    done = run(
        "evaluate", model, write(tmp_path / "t.jsonl", rows), "--json", "--report", tmp_path / "r.html"
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.splitlines()[-1])
    X, y = [(row["tokens"], row["parents"]) for row in rows], [row["labels"] for row in rows]
    assert found["token_error"] == pytest.approx(1 - load(model).score(X, y))
    assert found["trees"]
    assert "tree error" in done.stderr
    assert "<h2>Trees</h2>" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_trees_and_sequences_are_not_mixed_up(tmp_path, data, model):
    bare = write(tmp_path / "bare.jsonl", trees(), ("parents",))
    run("train", bare, "-o", tmp_path / "chain.kf")
    for command in ("tag", "evaluate"):
        assert refused(command, model, bare).startswith(
            "Sequence 0 has no parents, but the model labels trees"
        )
        said = refused(command, tmp_path / "chain.kf", data)
        assert said == "Tree 0 has parents, but the model labels sequences; --flat leaves the parents out."
        assert run(command, tmp_path / "chain.kf", data, "--flat").exit_code == 0
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(data.read_text() + bare.read_text(), encoding="utf-8")
    assert refused("train", mixed) == f"{mixed}: item 30 has no parents, but others have."
    assert refused("train", data, "--dev", bare) == f"{data} has trees, but {bare} has sequences."


def test_a_user_may_say_otherwise(tmp_path, data):
    """Sequences of what were trees are what sequences would have been."""
    bare = write(tmp_path / "bare.jsonl", trees(), ("parents",))
    run("train", data, "-o", tmp_path / "a.kf", "--structure", "chain")
    run("train", bare, "-o", tmp_path / "b.kf")
    np.testing.assert_array_equal(load(tmp_path / "a.kf").transitions_, load(tmp_path / "b.kf").transitions_)
    run("train", data, "-o", tmp_path / "c.kf", "--structure", "chain2")
    assert load(tmp_path / "c.kf").second_order_.shape == (2, 2, 2)
    said = refused("train", bare, "--structure", "tree")
    assert said.startswith("--structure tree needs parents, and the data have none")
    assert refused("train", bare, "--structure", "bush").startswith("There is no structure 'bush'")


@pytest.mark.parametrize("name", ["crf", "kernel-crf", "gp", "ssvm", "perceptron"])
def test_every_model_of_trees(tmp_path, data, name):
    done = run("train", data, "-o", tmp_path / "m.kf", "--model", name, "--holdout", "0.2", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout.splitlines()[-1])["held_out_token_error"] < 0.25
    assert load(tmp_path / "m.kf").structure_ == Tree()


@pytest.mark.parametrize("name", ["AROW", "PassiveAggressive", "StochasticCRF", "StructuredPerceptron"])
def test_online_learners_of_tokens(name):
    """Features of tokens are in single precision, those of dictionaries need not be: the same model."""
    rows = list(trees())
    y, parents = [row["labels"] for row in rows], [row["parents"] for row in rows]
    single = [[{row["tokens"][t]: 1.0} for t in range(len(row["tokens"]))] for row in rows]
    double = DictFeatures(dtype=np.float64)
    fits = [
        getattr(kernelfields, name)(structure="tree", features=features, random_state=0).fit(
            list(zip(single, parents, strict=True)), y
        )
        for features in (None, double)
    ]
    np.testing.assert_allclose(fits[0].transitions_, fits[1].transitions_, atol=1e-6)


def test_k_best_labellings(tmp_path, model):
    row = {"tokens": ["it", "it", "an"], "parents": [-1, 0, 0]}
    [line] = run("tag", model, write(tmp_path / "a.jsonl", [row]), "--kbest", 8).stdout.splitlines()
    few = json.loads(line)["kbest"]
    assert len({tuple(one["labels"]) for one in few}) == 8
    assert sum(np.exp(one["log_probability"]) for one in few) == pytest.approx(1.0)


def test_the_panel_of_trees(tmp_path, data):
    done = run("train", data, "-o", tmp_path / "m.kf", "--model", "auto")
    assert done.exit_code == 0, done.output
    assert "held-out trees" in " ".join(done.stderr.split())
    assert load(tmp_path / "m.kf").structure_ == Tree()


def test_hidden_markov_models_are_for_sequences(data):
    said = refused("train", data, "--model", "hmm")
    assert said.startswith("hmm has no structure tree: choose one of crf, kernel-crf,")


def test_settings_are_tuned_on_whole_trees(tmp_path, data):
    done = run("train", data, "-o", tmp_path / "m.kf", "--tune")
    assert done.exit_code == 0, done.output
    assert "cross-validated" in done.stderr
    few = write(tmp_path / "few.jsonl", trees(3))
    assert "needs at least 5 trees; there are 3" in refused("train", few, "--tune")


def test_models_are_compared_on_the_same_trees(data):
    done = run("compare", data, "--models", "crf,hmm", "--folds", 2, "--json")
    assert done.exit_code == 0, done.output
    assert list(json.loads(done.stdout.splitlines()[-1])["models"]) == ["crf"]
    assert "hmm was left out: hmm has no structure tree" in done.stderr
    flat = run("compare", data, "--models", "crf,hmm", "--folds", 2, "--json", "--structure", "chain")
    assert list(json.loads(flat.stdout.splitlines()[-1])["models"]) == ["crf", "hmm"]


def test_only_json_lines_hold_trees(tmp_path, data, model):
    for kind in ("conll", "csv"):
        said = f"Parents of trees have no place in {kind}; choose jsonl."
        assert refused("convert", data, "-o", tmp_path / f"a.{kind}") == said
        assert refused("tag", model, data, "--to", kind) == said
    done = run("convert", data, "-o", tmp_path / "b.jsonl")
    assert "30 trees" in done.stdout
    assert (tmp_path / "b.jsonl").read_text() == data.read_text()


def columns(rows):
    """Columns of text as treebanks have them, parents counted from 1."""
    tokens = [zip(row["tokens"], row["parents"], row["labels"], strict=True) for row in rows]
    return "\n".join(
        "".join(f"{word}\t{above + 1}\t{label}\n" for word, above, label in one) for one in tokens
    )


def test_columns_of_a_treebank(tmp_path, data, model):
    """The same model from columns, one of which has the parents; tagging keeps all of them."""
    bank = tmp_path / "bank.conll"
    bank.write_text(columns(trees()), encoding="utf-8")
    done = run("train", bank, "--parents", 2, "-o", tmp_path / "m.kf")
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(load(tmp_path / "m.kf").transitions_, load(model).transitions_)
    tagged = run("tag", model, bank, "--parents", 2, "--labelled").stdout.splitlines()
    assert ["\t".join(line.split("\t")[:3]) for line in tagged] == [*columns(trees()).splitlines(), ""]
    run("convert", bank, "--parents", 2, "-o", tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text() == data.read_text()


@pytest.mark.parametrize(
    ("parents", "said"),
    [
        ("0 _", "Tree 0: the parent of token 1 is '_', expected 0 to 2."),
        ("0 3", "Tree 0, tokens counted from 0: the parent of token 1 is 2, expected -1 to 1."),
        ("2 1", "Tree 0, tokens counted from 0: token 0 is its own ancestor, by its parents."),
    ],
)
def test_columns_that_are_no_trees(tmp_path, parents, said):
    bank, (first, second) = tmp_path / "bank.conll", parents.split()
    bank.write_text(f"a {first} X\nb {second} Y\n", encoding="utf-8")
    assert refused("train", bank, "--parents", 2) == said
    assert refused("train", bank, "--parents", 4) == "--parents names column 4, but there are 3."


def test_lines_with_circles_are_named(tmp_path):
    odd = write(tmp_path / "odd.jsonl", [{"tokens": ["a"], "labels": ["X"], "parents": [0]}])
    assert refused("train", odd) == f"{odd}, line 1: token 0 is its own ancestor, by its parents."
    assert refused("train", odd, "--parents", 2) == "--parents is for columns of text, not for jsonl."


def test_what_is_inside(model):
    done = run("inspect", model)
    assert "tree" in done.stdout
    assert "parent" in done.stdout
    found = json.loads(run("inspect", model, "--json").stdout)
    estimator = load(model)
    assert found["structure"] == "tree"
    assert found["ends"] == {"root": estimator.start_.tolist(), "leaf": estimator.end_.tolist()}
