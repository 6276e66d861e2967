"""Dependency trees: the counts that their authors state."""

import gzip
from collections import Counter

import pytest

from kernelfields.datasets import load_ud_trees
from kernelfields.errors import MissingDataError
from kernelfields.io.parents import require_parents

STATED = {"train": (12544, 204577, 17, 51), "dev": (2001, 25147, 17, 49), "test": (2077, 25094, 17, 49)}
"""Sentences, words, tags and relations."""


@pytest.mark.data
def test_web_treebank_is_as_stated(data_dir):
    counts = {}
    for part in STATED:
        found = load_ud_trees(part, data_dir)
        kinds = [len({one for row in rows for one in row}) for rows in (found.labels, found.relations)]
        counts[part] = (len(found.sentences), sum(map(len, found.sentences)), *kinds)
        assert_trees(found)
    assert counts == STATED


@pytest.mark.parametrize(("part", "count"), [("train", 700), ("dev", 250), ("test", 200)])
def test_sentences_are_trees(sample_dir, part, count):
    found = load_ud_trees(part, sample_dir)
    assert len(found.sentences) == count
    assert_trees(found)


def assert_trees(found):
    for words, labels, parents, relations, tags in zip(*found, strict=True):
        assert len(words) == len(labels) == len(relations) == len(tags)
        require_parents(parents, len(words))
        assert Counter(parents)[-1] == 1
        assert relations[parents.index(-1)] == "root"


def test_columns_by_hand(tmp_path):
    (tmp_path / "ud_english_ewt").mkdir()
    with gzip.open(tmp_path / "ud_english_ewt" / "dev.trees.tsv.gz", "wt") as file:
        file.write("# sent_id = 1\nGo\tVERB\tVB\t0\troot\nnow\tADV\tRB\t1\tadvmod\n\n")
    found = load_ud_trees("dev", tmp_path)
    assert found == ([["Go", "now"]], [["VERB", "ADV"]], [[-1, 0]], [["root", "advmod"]], [["VB", "RB"]])
    with pytest.raises(MissingDataError, match="is missing"):
        load_ud_trees("test", tmp_path)
