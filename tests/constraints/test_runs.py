"""Labels split by their place in a run, against all label sequences."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from kernelfields import CRF, load
from kernelfields.constraints import RunParts
from kernelfields.errors import InputError


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_is_allowed_is_what_comes_of_splitting(depth: int) -> None:
    parts = RunParts(depth)
    whole = {T: [list(one) for one in itertools.product("ab", repeat=T)] for T in range(1, 7)}
    names = sorted({name for T in whole for labels in parts.split(whole[T]) for name in labels})
    masks = parts.forbidden(names)
    for T in range(1, 5 if depth < 3 else 4):  # a million sequences otherwise
        split = {tuple(labels) for labels in parts.split(whole[T])}
        for path in itertools.product(range(len(names)), repeat=T):
            assert masks.allows(np.array(path)) == (tuple(names[k] for k in path) in split)


def test_long_runs_are_allowed() -> None:
    parts = RunParts(2)
    labels = [list("aaaaaaabbbbbba"), list("b"), list("aabba")]
    assert parts.obeyed_by(parts.split(labels))
    assert not parts.obeyed_by([["0:0:a", "0:0:a"]])


def test_probabilities_are_sums_over_parts(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = [list("aaabba"), list("bbab"), list("a")]
    X = [rng.normal(size=(len(labels), 2)) for labels in y]
    parts = RunParts(2)
    model = CRF(constraints=parts).fit(X, parts.split(y))
    probabilities, labels = parts.joined(model.predict_marginals(X), model.classes_)
    assert labels == ["a", "b"]
    for p, fine in zip(probabilities, model.predict_marginals(X), strict=True):
        mine = [name.endswith(":a") for name in model.classes_]
        np.testing.assert_allclose(p[:, 0], np.asarray(fine)[:, mine].sum(axis=1))
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.constraints == parts
    np.testing.assert_array_equal(again.predict_marginals(X)[0], model.predict_marginals(X)[0])


def test_labels_that_cannot_be_split_are_named() -> None:
    with pytest.raises(InputError, match="Sequence 1, position 0: None is not a string"):
        RunParts().split([["a"], [None]])
    for name in ("a", "0:a", "2:0:a", ":0:a", 3):
        with pytest.raises(InputError, match="no place in a run of depth 1"):
            RunParts().forbidden([name])
