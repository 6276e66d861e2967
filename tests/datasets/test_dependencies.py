"""Dependency trees: the counts that their authors state."""

import gzip
from collections import Counter

import pytest

from kernelfields.datasets import load_ud_trees
from kernelfields.errors import MissingDataError
from kernelfields.io.parents import require_parents


@pytest.mark.data
@pytest.mark.parametrize(
    ("part", "stated"),
    [("train", (12544, 204577, 17, 51)), ("dev", (2001, 25147, 17, 49)), ("test", (2077, 25094, 17, 49))],
)
def test_web_treebank_is_as_stated(data_dir, part, stated):
    found = load_ud_trees(part, data_dir)
    tags, relations = ({one for row in rows for one in row} for rows in (found.labels, found.relations))
    assert (len(found.sentences), sum(map(len, found.sentences)), len(tags), len(relations)) == stated
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
