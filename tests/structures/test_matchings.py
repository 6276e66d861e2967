"""Pairs as users write them."""

import numpy as np
import pytest

from kernelfields.arrays import offsets_of
from kernelfields.errors import InputError
from kernelfields.structures import Bethe, BetheMatchingBatch, LinkBatch, Matching, MatchingBatch
from tests._listed_pairs import tables

SHAPES = [(3, 2), (0, 4), (1, 1)]


def links_of(*shapes):
    return np.array(shapes, dtype=np.int64).reshape(-1, 2)


def encode(structure, y, *shapes):
    links = links_of(*shapes)
    return structure.encode(y, offsets_of(links.prod(axis=1)), links)


def test_pairs_come_back_sorted():
    y = [[(2, 0), (0, 1)], [], [(0, 0)]]
    structure = Matching()
    outputs = encode(structure, y, *SHAPES)
    assert outputs.tolist() == [0, 1, 0, 0, 1, 0, 1]
    batch = structure.on(None, links_of(*SHAPES), 1)
    assert structure.decode(outputs, batch) == [[(0, 1), (2, 0)], [], [(0, 0)]]
    for form in ([{(2, 0), (0, 1)}, set(), [(0, 0)]], [np.array([[2, 0], [0, 1]]), [], np.array([[0, 0]])]):
        np.testing.assert_array_equal(encode(structure, form, *SHAPES), outputs)


@pytest.mark.parametrize(
    ("structure", "fertility"), [(Matching(), 1), (Matching(True), 1), (Matching(fertility=2), 2)]
)
def test_outputs_and_nothing_else_are_read(structure, fertility):
    listed, accepted = {tuple(y) for y in tables(2, 3, fertility, structure.complete).tolist()}, set()
    for table in tables(2, 3, 3, False).tolist():
        pairs = [divmod(k, 3) for k, there in enumerate(table) if there]
        try:
            assert encode(structure, [pairs], (2, 3)).tolist() == table
        except InputError:
            continue
        accepted.add(tuple(table))
    assert accepted == listed


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 2)], r"Item 1 of y has the pair \(0, 2\), expected rows 0 to 2 and columns 0 to 1\."),
        ([(-1, 0)], r"Item 1 of y has the pair \(-1, 0\)"),
        ([(0, 1), (0, 1)], r"Item 1 of y has the pair \(0, 1\) twice\."),
        ([(0, 0), (0, 1)], r"Item 1 of y: row 0 is in 2 pairs; fertility=2 allows that\."),
        ([(0, 1), (2, 1)], r"Item 1 of y: column 1 is in 2 pairs; fertility=2 allows that\."),
        ([(0.5, 1)], r"Item 1 of y is not a list of pairs \(i, j\), which are whole numbers\."),
        ([(0, 1), (1,)], r"Item 1 of y is not a list of pairs"),
        ("ab", r"Item 1 of y is not a list of pairs"),
        (None, r"Item 1 of y is not a list of pairs"),
        ([0, 1], r"Item 1 of y is not a list of pairs"),
    ],
)
def test_bad_pairs_are_named(pairs, message):
    with pytest.raises(InputError, match=message):
        encode(Matching(), [[], pairs], (1, 1), (3, 2))


def test_incomplete_matchings_are_named():
    with pytest.raises(
        InputError, match=r"Item 0 of y has 1 pairs, expected 2; complete=False allows that\."
    ):
        encode(Matching(complete=True), [[(0, 0)]], (2, 3))
    with pytest.raises(InputError, match="X has 2 items, but y has 1"):
        encode(Matching(), [[]], (1, 1), (1, 1))
    with pytest.raises(InputError, match="y must be a list"):
        encode(Matching(), "a", (1, 1))


def test_forms_of_items():
    array = np.arange(12.0).reshape(2, 3, 2)
    features, shapes = Matching().split(
        [array, (array.reshape(6, 2), (2, 3)), array.tolist(), np.zeros((0, 3, 2))]
    )
    assert shapes == [(2, 3), (2, 3), (2, 3), (0, 3)]
    for rows in features[:3]:
        np.testing.assert_array_equal(rows, array.reshape(6, 2))
    for bad in (
        array[0],
        "text",
        (array.reshape(6, 2), (2, 3, 4)),
        (array.reshape(6, 2), (2.0, 3)),
        [[1], [2, 3], [4]],
    ):
        with pytest.raises(
            InputError, match=r"Item 1 of X is neither an array of numbers of shape \(m, n, D\)"
        ):
            Matching().split([array, bad])
    with pytest.raises(InputError, match=r"Item 1 of X has 5 rows, expected 2 × 3 for the shape \(2, 3\)\."):
        Matching().links([(1, 1), (2, 3)], np.array([0, 1, 6]))
    with pytest.raises(InputError, match="lengths= is for sequences"):
        Matching().split([array], [1])
    with pytest.raises(InputError, match="X must be a list"):
        Matching().split("text")


def test_settings_choose_the_batch():
    links = links_of((2, 2))
    assert type(Matching().on(None, links, 1)) is MatchingBatch
    assert type(Matching(inference=Bethe()).on(None, links, 1)) is BetheMatchingBatch
    batch = Matching(fertility=3, prices=0.5 * np.ones(1)).on(None, links, 1)
    assert type(batch) is LinkBatch
    assert batch.prices == (0.5, 1.0)
    assert Matching(fertility=3, prices=[0.5, 0.6]).on(None, links, 1).prices == (0.5, 0.6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"complete": 1}, "complete is 1; it must be True or False"),
        ({"fertility": 0}, "fertility"),
        ({"fertility": 3, "prices": [1.0, 2.0, 3.0]}, "prices has 3 numbers, expected one, or 2"),
        ({"prices": 1.0}, "prices is 1.0; it must be a list"),
        ({"inference": "bethe"}, "inference is 'bethe'; it must be Bethe"),
        (
            {"inference": Bethe(), "fertility": 2},
            "inference goes with fertility=1 only, not with fertility=2",
        ),
        ({"complete": True, "fertility": 2}, "complete goes with fertility=1 only"),
    ],
)
def test_odd_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Matching(**settings)
