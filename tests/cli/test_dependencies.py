"""Dependency trees on the command line: from CoNLL-U to a model, to trees with probabilities, to figures."""

import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import load
from kernelfields.cli.app import app
from kernelfields.io import read_conllu
from kernelfields.metrics import attachment_scores
from kernelfields.structures import Dependency


def run(*words, stdin=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin)


def refused(*words, stdin=None):
    """Return the sentence that a command is refused with."""
    done = run(*words, stdin=stdin)
    assert done.exit_code == 2, done.output
    assert done.stderr.strip().count("\n") == 0
    return done.stderr.strip()


LEXICON = {
    "DET": ["the", "a"],
    "NOUN": ["dog", "cat", "town"],
    "VERB": ["sees", "likes"],
    "ADJ": ["old"],
    "PUNCT": ["."],
}


def phrase(rng, start):
    """Return tags, heads and relations of a noun phrase whose first word is ``start``; its head is open."""
    tags = ["DET", *["ADJ"] * int(rng.integers(0, 2)), "NOUN"]
    noun = start + len(tags) - 1
    return tags, [noun] * (len(tags) - 1) + [None], ["det", *["amod"] * (len(tags) - 2)]


def sentences(n=30, seed=0, crossing=False):
    """Draw sentences of one or two noun phrases, a verb and a full stop."""
    rng = np.random.default_rng(seed)
    for s in range(n):
        tags, heads, names = phrase(rng, 1)
        verb = len(tags) + 1
        heads[-1], names = verb, [*names, "nsubj"]
        tags, heads, names = [*tags, "VERB"], [*heads, 0], [*names, "root"]
        if rng.random() < 0.6:
            more, above, below = phrase(rng, verb + 1)
            above[-1] = verb
            tags, heads, names = tags + more, heads + above, [*names, *below, "obj"]
        tags, heads, names = [*tags, "PUNCT"], [*heads, verb], [*names, "punct"]
        if crossing and s == 0:
            heads[0], heads[-1] = verb, 1
        words = [str(rng.choice(LEXICON[tag])) for tag in tags]
        yield [f"# sent_id = {s}"], words, tags, heads, names


def write(path, rows, bare=False, relations=True):
    lines = []
    for comments, words, tags, heads, names in rows:
        lines += comments
        for m, (word, tag, head, name) in enumerate(zip(words, tags, heads, names, strict=True), 1):
            given = ["_", "_"] if bare else [str(head), name if relations else "_"]
            if m == 1:
                lines.append("\t".join(["1-2", word + "x", *"________"]))
            lines.append("\t".join([str(m), word, "_", tag, "_", "_", *given, "_", "SpaceAfter=No"]))
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "train.conllu", sentences())


@pytest.fixture
def model(tmp_path, data):
    done = run("train", data, "--structure", "dependency", "-o", tmp_path / "parser.kf", "--penalty", 0.1)
    assert done.exit_code == 0, done.output
    assert "Dependency trees: projective trees." in done.output
    return tmp_path / "parser.kf"


def test_train_tag_and_evaluate(tmp_path, model):
    test = write(tmp_path / "test.conllu", sentences(20, 1))
    bare = write(tmp_path / "bare.conllu", sentences(20, 1), bare=True)
    done = run("tag", model, bare, "-o", tmp_path / "out.conllu")
    assert done.exit_code == 0, done.output
    answers, truth = list(read_conllu(tmp_path / "out.conllu")), list(read_conllu(test))
    parser = load(model)
    assert parser.structure_.labels == ("amod", "det", "nsubj", "obj", "punct", "root")
    inputs = [list(zip(one.forms, one.tags, strict=True)) for one in truth]
    outputs, marginals = parser.predict(inputs), parser.predict_marginals(inputs)
    classes = parser.classes_.tolist()
    for answer, true, (heads, names), p in zip(answers, truth, outputs, marginals, strict=True):
        assert (answer.heads, answer.relations) == (heads, names)
        assert answer.comments == true.comments
        assert answer.rows[0] == true.rows[0]
        for m, row in enumerate(answer.words):
            share = p[m, heads[m], classes.index(names[m])]
            assert row[9] == f"SpaceAfter=No|Probability={share:.4f}"
    scores = attachment_scores(
        [(one.heads, one.relations) for one in truth], outputs, [one.tags for one in truth]
    )
    assert scores.las > 0.9
    done = run("evaluate", model, test, "--json", "--report", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.splitlines()[-1])
    for name, value in scores._asdict().items():
        assert found[name] == pytest.approx(value)
    assert 0 <= found["ece"] <= 1
    assert (tmp_path / "page.html").read_text().count('class="arc') >= found["answers"]
    shown = run("evaluate", model, test)
    assert all(word in shown.output for word in ("UAS", "LAS", "calibration", "nsubj"))


def test_tags_of_a_stream(tmp_path, model):
    text = write(tmp_path / "bare.conllu", sentences(3, 5), bare=True).read_text()
    streamed = run("tag", model, stdin=text)
    assert streamed.exit_code == 0, streamed.output
    assert streamed.stdout == run("tag", model, tmp_path / "bare.conllu").stdout
    assert len(list(read_conllu(io.StringIO(streamed.stdout)))) == 3


def test_the_k_best_trees_are_comments(tmp_path, model):
    bare = write(tmp_path / "bare.conllu", sentences(4, 5), bare=True)
    done = run("tag", model, bare, "--kbest", 3)
    assert done.exit_code == 0, done.output
    answers, given = list(read_conllu(io.StringIO(done.stdout))), list(read_conllu(bare))
    inputs = [list(zip(one.forms, one.tags, strict=True)) for one in given]
    for one, best in zip(answers, load(model).predict_kbest(inputs, 3), strict=True):
        assert one.comments[1:] == tuple(
            f"# tree_{n} = {log_p:.4f} {' '.join(f'{h}:{r}' for h, r in zip(*tree, strict=True))}"
            for n, (tree, log_p) in enumerate(best, 1)
        )
        assert best[0][0] == (one.heads, one.relations)


def test_held_out_sentences(tmp_path, data):
    done = run(
        "train", data, "--structure", "dependency", "--holdout", 0.3, "-o", tmp_path / "m.kf", "--json"
    )
    assert done.exit_code == 0, done.output
    assert "Held out: UAS" in done.output
    found = json.loads(done.stdout.splitlines()[-1])
    assert 0.5 < found["held_out_las"] <= found["held_out_uas"] <= 1
    dev = write(tmp_path / "dev.conllu", sentences(5, 9, crossing=True))
    assert (
        run("train", data, "--structure", "dependency", "--dev", dev, "-o", tmp_path / "m.kf").exit_code == 0
    )


def test_the_structure_is_that_of_the_data(tmp_path):
    crossing = write(tmp_path / "x.conllu", sentences(10, crossing=True), relations=False)
    done = run("train", crossing, "--structure", "dependency", "-o", tmp_path / "x.kf")
    assert done.exit_code == 0, done.output
    assert "all trees, because some of the data cross" in done.output
    assert load(tmp_path / "x.kf").structure_ == Dependency(projective=False)
    out = run("tag", tmp_path / "x.kf", crossing).stdout
    assert {name for one in read_conllu(io.StringIO(out)) for name in one.relations} == {"_"}


def test_stochastic_training_leaves_rare_features_out(tmp_path, data):
    """A model that learns probabilities one sentence at a time."""
    to_train = ("train", data, "--structure", "dependency", "--model", "sgd", "-o", tmp_path / "m.kf")
    sizes = []
    for options in ((), ("--min-count", 3)):
        done = run(*to_train, "--max-iter", 20, "--penalty", 0.1, *options)
        assert done.exit_code == 0, done.output
        sizes.append(load(tmp_path / "m.kf").n_features_in_)
        done = run("evaluate", tmp_path / "m.kf", data, "--json")
        assert "learns no probabilities" not in done.output
        assert json.loads(done.stdout.splitlines()[-1])["las"] > 0.9
    assert sizes[1] < sizes[0]
    plain = tmp_path / "plain.conll"
    plain.write_text("a X\n")
    assert "--min-count is for --structure dependency" in refused("train", plain, "--min-count", 2)


@pytest.mark.parametrize("kind", ["perceptron", "ssvm"])
def test_other_models(tmp_path, data, kind):
    done = run(
        "train", data, "--structure", "dependency", "--model", kind, "-o", tmp_path / "m.kf", "--max-iter", 5
    )
    assert done.exit_code == 0, done.output
    done = run("evaluate", tmp_path / "m.kf", data, "--json")
    assert done.exit_code == 0, done.output
    assert "learns no probabilities" in done.output
    assert json.loads(done.stdout.splitlines()[-1])["las"] > 0.8


def test_templates_of_a_file(tmp_path, data):
    (tmp_path / "mine.txt").write_text("columns: w pos\ncliques: arcs\npos[h] & pos[m] & direction\n")
    done = run(
        "train",
        data,
        "--structure",
        "dependency",
        "--features",
        tmp_path / "mine.txt",
        "-o",
        tmp_path / "m.kf",
    )
    assert done.exit_code == 0, done.output
    assert load(tmp_path / "m.kf").features_.templates.texts() == ["pos[h]&pos[m]&direction"]


def test_what_is_refused(tmp_path, data, model):
    to_train = ("train", data, "--structure", "dependency", "-o", tmp_path / "m.kf")
    assert "hmm is not for --structure dependency" in refused(*to_train, "--model", "hmm")
    assert "--tune is not for --structure dependency" in refused(*to_train, "--tune")
    assert "--parents is not for --structure dependency" in refused(*to_train, "--parents", 7)
    assert "--kernel is not for crf with --structure dependency" in refused(*to_train, "--kernel", "rbf")
    assert "reads conllu, not jsonl" in refused(*to_train, "--format", "jsonl")
    assert "--columns names column 12, but CoNLL-U has 10" in refused(*to_train, "--columns", "2,12")
    assert "templates of tokens" in refused(*to_train, "--features", "pos")
    assert "neither a file of templates nor arcs" in refused(*to_train, "--features", "nothing")
    bare = write(tmp_path / "bare.conllu", sentences(2), bare=True)
    assert "sentence 0 has no tree" in refused("train", bare, "--structure", "dependency")
    assert "sentence 0 has no tree" in refused("evaluate", model, bare)
    assert "--abstain is not for --structure dependency" in refused("tag", model, bare, "--abstain", 0.5)
    assert "--flat is not for --structure dependency" in refused("evaluate", model, data, "--flat")
    broken = tmp_path / "broken.conllu"
    broken.write_text("1\ta\t_\tX\t_\t_\t1\tx\t_\t_\n")
    assert f"{broken}, line 1: word 1 is its own head" in refused("tag", model, broken)
    empty = tmp_path / "empty.conllu"
    empty.write_text("\n")
    assert "has no sentences" in refused("evaluate", model, empty)
    mixed = write(tmp_path / "mixed.conllu", sentences(2))
    mixed.write_text(mixed.read_text() + write(tmp_path / "a", sentences(2), relations=False).read_text())
    assert "Sentence 2 has no relations, but others have" in refused(
        "train", mixed, "--structure", "dependency"
    )
