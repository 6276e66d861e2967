"""Rules about label sequences: schemes against a reading of segments, named pairs, refusals."""

from itertools import pairwise, product

import numpy as np
import pytest

from kernelfields.constraints import BILOU, BMES, IOB2, IOBES, Constraints
from kernelfields.errors import InputError


def tags(scheme, kinds=("X", "Y")):
    return [f"{letter}-{kind}" for letter in scheme.letters for kind in kinds] + ["O"]


def allowed(rule, names, sequence):
    """Whether a sequence of indices breaks no rule."""
    mask = rule.forbidden(names)
    pairs = any(mask.pairs[a, b] for a, b in pairwise(sequence))
    return not (pairs or mask.starts[sequence[0]] or mask.ends[sequence[-1]])


def written(scheme, length, kinds=("X", "Y")):
    """All tag sequences of a length that some segmentation gives, built segment by segment."""
    if length == 0:
        return {()}
    result = {("O", *rest) for rest in written(scheme, length - 1, kinds)}
    for size, kind in product(range(1, length + 1), kinds):
        letters = [scheme.begin] + [scheme.inside] * (size - 1)
        if scheme.end:
            letters[-1] = scheme.end if size > 1 else scheme.single
        segment = tuple(f"{letter}-{kind}" for letter in letters)
        result |= {segment + rest for rest in written(scheme, length - size, kinds)}
    return result


@pytest.mark.parametrize("scheme", [IOB2, IOBES, BILOU, BMES], ids=lambda scheme: scheme.name)
def test_schemes_allow_exactly_what_segmentations_write(scheme):
    names = tags(scheme)
    for length in (1, 2, 3):
        found = {
            tuple(names[k] for k in sequence)
            for sequence in product(range(len(names)), repeat=length)
            if allowed(scheme, names, sequence)
        }
        assert found == written(scheme, length)


def test_letters_alone_are_segments_of_one_kind():
    bare, named = BMES.forbidden(["B", "E", "M", "S"]), BMES.forbidden(["B-W", "E-W", "M-W", "S-W"])
    for a, b in zip(bare, named, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("scheme", [IOB2, IOBES, BILOU, BMES], ids=lambda scheme: scheme.name)
def test_which_labellings_obey_a_scheme(scheme):
    right = written(scheme, 3)
    assert scheme.obeyed_by([*right, ()])
    for wrong in set(product(tags(scheme), repeat=3)) - right:
        assert not scheme.obeyed_by([*right, wrong])
    assert not scheme.obeyed_by([*right, ("O", "NN")])


@pytest.mark.parametrize("label", ["B-", "X-PER", "PER", "o", "O-PER", "", 3, None, ("B", "PER"), "E-PER"])
def test_labels_of_another_form_are_refused(label):
    with pytest.raises(InputError, match="is not a tag of IOB2, whose tags are 'B-…', 'I-…' and 'O'"):
        IOB2.forbidden(["O", label])


def test_kinds_may_contain_hyphens():
    assert not IOB2.forbidden(["B-A-B", "I-A-B"]).pairs[0, 1]
    assert IOB2.forbidden(["B-A", "I-A-B"]).pairs[0, 1]


def test_named_rules():
    rule = Constraints([("a", "b"), ("a", "nowhere")], forbidden_starts=["b"], forbidden_ends=("a", "c"))
    mask = rule.forbidden(["a", "b", "c"])
    np.testing.assert_array_equal(mask.pairs, [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(mask.starts, [False, True, False])
    np.testing.assert_array_equal(mask.ends, [True, False, True])
    assert not any(part.any() for part in Constraints().forbidden([1, 2]))
