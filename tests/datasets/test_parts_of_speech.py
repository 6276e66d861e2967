"""Sentences with parts of speech: the counts that their authors state, and what is easily misread."""

import gzip

import pytest

from kernelfields.datasets import load_ptb_sample, load_ud_ewt
from kernelfields.errors import MissingDataError


def counts(found):
    assert [len(words) for words in found.sentences] == [len(tags) for tags in found.labels]
    tags = {tag for labels in found.labels for tag in labels}
    return len(found.sentences), sum(map(len, found.labels)), len(tags)


@pytest.mark.data
def test_treebank_sample_is_as_stated(data_dir):
    found = load_ptb_sample(data_dir)
    assert counts(found) == (3914, 94084, 45)
    assert max(map(len, found.sentences)) == 249
    assert found.sentences[0][:4] == ["Pierre", "Vinken", ",", "61"]
    assert found.labels[0][:4] == ["NNP", "NNP", ",", "CD"]


@pytest.mark.data
def test_web_treebank_is_as_stated(data_dir):
    stated = {"train": (12544, 204577, 49), "dev": (2001, 25147, 49), "test": (2077, 25094, 48)}
    assert {part: counts(load_ud_ewt(part, data_dir)) for part in stated} == stated


def test_a_hash_may_be_a_word(tmp_path):
    (tmp_path / "ptb_sample").mkdir()
    text = "# doc = wsj_0001\n#\t#\n# doc = \tNN\n5\tCD\n\n\n# doc = wsj_0002\nYes\tUH"
    with gzip.open(tmp_path / "ptb_sample" / "pos.tsv.gz", "wt") as file:
        file.write(text)
    found = load_ptb_sample(tmp_path)
    assert found.sentences == [["#", "# doc = ", "5"], ["Yes"]]
    assert found.labels == [["#", "NN", "CD"], ["UH"]]


def test_tags_of_the_treebank_are_the_last_column(tmp_path):
    (tmp_path / "ud_english_ewt").mkdir()
    with gzip.open(tmp_path / "ud_english_ewt" / "dev.tsv.gz", "wt") as file:
        file.write("# sent_id = 1\nGo\tVERB\tVB\n\n")
    assert load_ud_ewt("dev", tmp_path).labels == [["VB"]]


@pytest.mark.parametrize("load", [load_ptb_sample, load_ud_ewt])
def test_missing_files_are_named(tmp_path, load):
    with pytest.raises(MissingDataError, match="is missing"):
        load(folder=tmp_path)
