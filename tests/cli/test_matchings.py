"""Word alignments on the command line: from pairs of sentences to a model, to links, to figures."""

import io
import json

import numpy as np
import pytest

from kernelfields import load
from kernelfields.io import (
    AlignmentLink,
    SentencePair,
    WordAlignment,
    read_naacl,
    read_parallel,
    read_pharaoh,
    write_parallel,
)
from kernelfields.metrics import alignment_scores
from kernelfields.structures import Bethe, Matching

from .test_dependencies import refused, run

LEXICON = {"the": "das", "house": "Haus", "is": "ist", "green": "gruen", "old": "alt"}


def pairs(n=12, seed=0, double=False):
    """Draw sentences and translations in another order, some words left out."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        words = [str(word) for word in rng.permutation(list(LEXICON))[: rng.integers(2, 5)]]
        order = rng.permutation(len(words)).tolist()
        target = [LEXICON[words[i]] for i in order]
        links = [AlignmentLink(i, j, rng.random() < 0.9) for j, i in enumerate(order)]
        if double:
            target, links = [*target, "!"], [*links, AlignmentLink(order[0], len(order))]
        yield SentencePair(words, target, WordAlignment(tuple(links)))


@pytest.fixture
def data(tmp_path):
    write_parallel(pairs(), tmp_path / "train.txt")
    return tmp_path / "train.txt"


@pytest.fixture
def model(tmp_path, data):
    done = run("train", data, "--structure", "matching", "-o", tmp_path / "aligner.kf", "--penalty", 0.1)
    assert done.exit_code == 0, done.output
    assert "every word in one at most" in done.output
    return tmp_path / "aligner.kf"


def test_train_tag_and_evaluate(tmp_path, model):
    test, bare = tmp_path / "test.txt", tmp_path / "bare.txt"
    write_parallel(pairs(10, 1), test)
    write_parallel((pair._replace(alignment=None) for pair in pairs(10, 1)), bare)
    aligner = load(model)
    assert aligner.structure_ == Matching(inference=Bethe())
    inputs, truth = [pair[:2] for pair in pairs(10, 1)], [pair.alignment for pair in pairs(10, 1)]
    outputs, marginals = aligner.predict(inputs), aligner.predict_marginals(inputs)
    answers = {to: run("tag", model, bare, "--to", to).stdout for to in ("parallel", "pharaoh", "naacl")}
    assert [pair.alignment.sure for pair in read_parallel(io.StringIO(answers["parallel"]))] == outputs
    assert [one.sure for one in read_pharaoh(io.StringIO(answers["pharaoh"]))] == outputs
    for number, one in read_naacl(io.StringIO(answers["naacl"])).items():
        assert one.sure == outputs[number - 1]
        for link in one.links:
            assert link.confidence == pytest.approx(marginals[number - 1][link[:2]], abs=1e-5)
    scores = alignment_scores([one.sure for one in truth], [one.possible for one in truth], outputs)
    done = run("evaluate", model, test, "--json", "--report", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["error_rate"] == pytest.approx(scores.error_rate)
    assert scores.error_rate < 0.3
    assert "alignment error rate" in done.output
    assert (tmp_path / "page.html").read_text().count('class="link') == found["answers"]


def test_words_in_several_links(tmp_path):
    write_parallel(pairs(double=True), tmp_path / "double.txt")
    to_train = ("train", tmp_path / "double.txt", "--structure", "matching", "-o", tmp_path / "m.kf")
    done = run(*to_train, "--model", "perceptron", "--holdout", 0.2)
    assert done.exit_code == 0, done.output
    assert "every word in 2 at most, without probabilities" in done.output
    assert load(tmp_path / "m.kf").structure_ == Matching(fertility=2)
    done = run("tag", tmp_path / "m.kf", tmp_path / "double.txt", "--to", "naacl")
    assert {
        link.confidence for one in read_naacl(io.StringIO(done.stdout)).values() for link in one.links
    } == {None}
    assert run("evaluate", tmp_path / "m.kf", tmp_path / "double.txt").exit_code == 0


def test_what_is_refused(tmp_path, data, model):
    broken = tmp_path / "broken.txt"
    broken.write_text("a b ||| c ||| 0-1\n")
    assert f"{broken}, line 1: a link joins words 0 and 1" in refused("evaluate", model, broken)
    bare = tmp_path / "bare.txt"
    bare.write_text("a b ||| c\n")
    assert "--kbest has no place in parallel." in refused("tag", model, bare, "--kbest", 2)
    assert "pair 0 has no links" in refused("evaluate", model, bare)
    assert "needs templates of pairs" in refused(
        "train", data, "--structure", "matching", "--features", "spans"
    )
