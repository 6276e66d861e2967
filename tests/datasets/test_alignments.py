"""Sentence pairs with links, by the published numbers."""

import pytest

from kernelfields.datasets import load_alignments
from kernelfields.errors import InputError

SIZES = {
    ("czech-english", "train"): (2250, 53_861, 47_661, 40_054, 40_054),
    ("czech-english", "test"): (250, 5_832, 5_196, 4_238, 4_238),
    ("hansards", "train"): (37, 661, 721, 338, 338 + 1446),
    ("hansards", "test"): (447, 7_020, 7_761, 4_038, 4_038 + 13_400),
}


@pytest.mark.data
def test_numbers_are_the_published_ones(data_dir):
    found = {which: load_alignments(*which, data_dir) for which in SIZES}
    assert {
        which: (len(one.source), *(sum(map(len, column)) for column in one)) for which, one in found.items()
    } == SIZES


@pytest.mark.parametrize(("corpus", "part"), SIZES)
def test_links_are_within_their_sentences(corpus, part, sample_dir):
    found = load_alignments(corpus, part)
    assert sum(map(len, found.possible)) > len(found.source) > 10
    for source, target, sure, possible in zip(*found, strict=True):
        assert {*sure} <= {*possible}
        assert all(0 <= i < len(source) and 0 <= j < len(target) for i, j in possible)


def test_others_are_refused():
    with pytest.raises(InputError, match="corpus is 'klingon'; it must be"):
        load_alignments("klingon")
    with pytest.raises(InputError, match="part is 'dev'; it must be"):
        load_alignments("hansards", "dev")
