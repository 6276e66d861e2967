"""The embedded letters are the ones of the original data."""

import numpy as np

from kernelfields.datasets import load_letters


def test_counts_are_those_of_the_original():
    letters = load_letters()
    assert len(letters.images) == 6877
    assert sum(map(len, letters.images)) == 52152
    assert np.bincount(letters.fold).tolist() == [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]
    assert {len(image) == len(word) for image, word in zip(letters.images, letters.labels, strict=True)} == {
        True
    }
    assert len({"".join(word) for word in letters.labels}) == 55
    assert set(np.unique(np.concatenate(letters.images[:50]))) == {0.0, 1.0}


def test_split_takes_whole_folds():
    letters = load_letters()
    X, y = letters.split(1, 9)
    assert len(X) == len(y) == 704 + 675
