"""Phrase trees of the Penn Treebank: the counts that the README of the data states."""

import itertools

import pytest

from kernelfields.datasets import load_ptb_sample, load_ptb_trees
from kernelfields.structures import binary_spans


def leaves(tree):
    return [tree] if isinstance(tree[1], str) else list(itertools.chain.from_iterable(map(leaves, tree[1:])))


def labels(tree):
    return set() if isinstance(tree[1], str) else {tree[0]}.union(*map(labels, tree[1:]))


@pytest.mark.data
def test_counts(data_dir):
    found = load_ptb_trees(folder=data_dir)
    assert len(found.trees) == len(found.documents) == 3914
    assert len(set(found.documents)) == 199
    assert_leaves_are_those_of(load_ptb_sample(folder=data_dir), found)
    names = set().union(*map(labels, found.trees))
    assert len({name.split("|")[0] for name in names}) == 26  # ADVP|PRT is one of two
    found = load_ptb_trees(functions=True, traces=True, folder=data_dir)
    assert sum(len(leaves(tree)) for tree in found.trees) == 100_676


def test_leaves_are_the_tagged_words(sample_dir):
    found = load_ptb_trees(folder=sample_dir)
    assert len(found.trees) == len(found.documents) == 398
    assert found.documents[:3] == ["wsj_0001", "wsj_0001", "wsj_0002"]
    assert_leaves_are_those_of(load_ptb_sample(folder=sample_dir), found)


def assert_leaves_are_those_of(tagged, found):
    for tree, words, tags in zip(found.trees, tagged.sentences, tagged.labels, strict=True):
        assert [(tag, word) for word, tag in zip(words, tags, strict=True)] == leaves(tree)
        assert len(binary_spans(tree)) == 2 * len(words) - 1


@pytest.mark.parametrize("functions", [False, True])
@pytest.mark.parametrize("traces", [False, True])
def test_what_is_kept(sample_dir, functions, traces):
    """Every fifth sample has a trace; all have a subject, and every other one a place."""
    trees = load_ptb_trees(functions, traces, sample_dir).trees
    silent = [sum(tag == "-NONE-" for tag, _ in leaves(tree)) for tree in trees]
    assert silent == [int(traces and n % 5 == 0) for n in range(398)]
    names = set().union(*map(labels, trees))
    assert names == {"S", "VP", "NP", *(("NP-SBJ-1", "PP-LOC") if functions else ("PP",))}
