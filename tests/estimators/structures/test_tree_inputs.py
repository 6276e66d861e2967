"""Trees as users bring them: tokens, dictionaries, frames, matrices; and what is wrong with some."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kernelfields import (
    AROW,
    CRF,
    MEMM,
    InfeasibleError,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    StructuredSVM,
)
from kernelfields.constraints import Constraints
from kernelfields.losses import LogLoss
from kernelfields.structures import ChainBatch, Tree, TreeBatch

from ._explicit import random_task

PAIR = (np.eye(3), [-1, 0, 1])
GOOD = [PAIR, (np.eye(3)[:1], [-1])], [["a", "b", "a"], ["b"]]


@pytest.mark.parametrize(
    "model",
    [CRF(), KernelCRF(), StructuredSVM(), MEMM(), AROW(shuffle=False)],
    ids=lambda m: type(m).__name__,
)
def test_forms_of_features(model, rng):
    """The same numbers in other forms give the same labels."""
    task = random_task(rng, "tree", sizes=(4, 0, 5, 1, 6, 3))
    items = [item._replace(x=np.round(item.x, 2)) for item in task.items]
    forms = {
        "array": [(i.x, i.parents) for i in items],
        "list": [[i.x.reshape(len(i.x), 2).tolist(), i.parents.tolist()] for i in items if len(i.x)],
        "sparse": [(sparse.csr_matrix(i.x), i.parents) for i in items],
        "frame": [(pd.DataFrame(i.x, columns=["u", "v"]), i.parents) for i in items],
        "dictionaries": [([{"u": a, "v": b} for a, b in i.x.tolist()], i.parents) for i in items],
    }
    found = {}
    for name, X in forms.items():
        labels = [y for y, item in zip(task.labels, items, strict=True) if name != "list" or len(item.x)]
        fitted = model.set_params(structure="tree").fit(X, labels)
        found[name] = [one for one in fitted.predict(X) if one]
    assert all(each == found["array"] for each in found.values())


def test_tokens():
    X = [(["the", "dog", "barks"], [1, 2, -1]), (["dogs", "bark"], [1, -1])]
    y = [["D", "N", "V"], ["N", "V"]]
    model = CRF(0.01, structure="tree", features="pos").fit(X, y)
    assert model.predict(X) == y
    assert model.predict([(["the", "dogs", "bark"], [1, 2, -1])]) == [["D", "N", "V"]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([PAIR, (np.eye(3), [1, 0, -1])], "Tree 1 of X: vertex 0 is its own ancestor."),
        ([(np.eye(3), [1, 2, 1])], "Tree 0 of X: vertex 2 is its own ancestor."),
        ([(np.eye(3), [0, -1, -1])], "Tree 0 of X: vertex 0 is its own ancestor."),
        ([PAIR, (np.eye(3), [-1, 0, 3])], "Tree 1 of X: the parent of vertex 2 is 3, expected −1 to 2."),
        ([PAIR, (np.eye(3), [-1, 0])], "Tree 1 of X has 3 vertices and 2 parents."),
        ([PAIR, (np.eye(3), [-1.0, 0, 1])], "The parents of tree 1 of X are not a list of whole numbers."),
        ([PAIR, (np.eye(3), None)], "The parents of tree 1 of X are not a list of whole numbers."),
        ([PAIR, np.eye(3)], "Tree 1 of X is not a pair (features, parents)."),
        ("abc", "X must be a list of pairs (features, parents)."),
        ([PAIR, (np.eye(3) * np.nan, [-1, 0, 1])], "Tree 1 of X holds NaN or infinity at vertex 0."),
        ([PAIR, (np.eye(2), [-1, 0])], "Tree 1 of X has 2 features per vertex, expected 3."),
    ],
)
def test_bad_trees(X, message):
    """Tree and vertex are named, in training and afterwards; a model stays as it was."""
    model = CRF(structure="tree").fit(*GOOD)
    before = model.coef_.copy()
    y = [["a", "b", "a"]] * len(X)
    for ask in (
        lambda: model.fit(X, y),
        lambda: model.predict(X),
        lambda: KernelCRF(structure=Tree()).fit(X, y),
    ):
        with pytest.raises(InputError) as error:
            ask()
        assert str(error.value) == message
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a", "b", "a"]], "X has 2 trees, but y has 1."),
        ([["a", "b", "a"], []], "Tree 1 has 1 vertices in X, but 0 labels in y."),
        ([["a", "a", "b"], ["b"]], "Tree 0 has the forbidden label pair 'a' → 'a' at vertex 1."),
        ([["b", "a", "b"], ["b"]], "Tree 0 starts with the forbidden label 'b' at vertex 0."),
    ],
)
def test_bad_labels(y, message):
    rule = Constraints([("a", "a")], ["b"], ["c"])
    with pytest.raises(InputError) as error:
        CRF(structure="tree", constraints=rule, classes=["a", "b", "c"]).fit(GOOD[0], y)
    assert str(error.value) == message


def test_nothing_is_left():
    rule = Constraints([("a", "b"), ("a", "a")], [], [])
    model = CRF(structure="tree", constraints=rule).fit(GOOD[0], [["b", "b", "a"], ["b"]])
    with pytest.raises(InfeasibleError, match=r"^Tree 1 has no allowed labelling\.$"):
        model.predict([PAIR, PAIR], allowed=[None, ["a", None, None]])


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        ([None], "X has 2 trees, but allowed has 1."),
        (5, "allowed must be a list with one entry per tree."),
        ([None, [None]], "Tree 1 has 3 vertices in X, but 1 in allowed."),
        ([None, [None, [], None]], "Tree 1 of allowed has no label at vertex 1."),
        (
            [None, [None, "position 1", None]],
            "Tree 1 of allowed has the unknown label 'position 1' at vertex 1.",
        ),
    ],
)
def test_bad_knowledge(allowed, message):
    """Words are those of trees, and labels that look like words of sequences stay as they are."""
    model = CRF(structure="tree").fit(*GOOD)
    with pytest.raises(InputError) as error:
        model.predict([PAIR, PAIR], allowed=allowed)
    assert str(error.value) == message


def test_weights_and_held_out_trees_have_its_words():
    with pytest.raises(InputError, match=r"^sample_weight of tree 1 is -1\.0; "):
        CRF(structure="tree").fit(*GOOD, sample_weight=[1.0, -1.0])
    with pytest.raises(InputError, match=r"^X has 1 trees, but y_dev has 2\.$"):
        CRF(structure="tree").fit(*GOOD, X_dev=[PAIR], y_dev=[["a"], ["b"]])


def test_batches_name_their_instances():
    node = np.zeros((2, 2))
    node[1] = -np.inf
    scores = {"node": node, "edge": np.zeros((2, 2))}
    for batch, name in ((TreeBatch([0, 1, 2], [-1, -1], 2), "Tree"), (ChainBatch([0, 1, 2], 2), "Sequence")):
        with pytest.raises(InfeasibleError, match=rf"^{name} 1 has no allowed labelling\.$"):
            batch.argmax(scores)
        with pytest.raises(InfeasibleError, match=rf"^The labels of {name.lower()} 1 are forbidden"):
            LogLoss(batch, np.zeros(2, dtype=np.int32)).at(scores)


def test_chains_keep_their_words():
    with pytest.raises(InputError, match=r"^Sequence 1 of X has 2 features per position, expected 3\.$"):
        CRF().fit([np.eye(3), np.eye(2)], [["a", "b", "a"], ["a", "b"]])


def test_rows_of_trees_have_its_words():
    model = KernelLogisticRegression(structure="tree").fit(*GOOD)
    bad = [PAIR, (np.eye(3) * np.nan, [-1, 0, 1])]
    for ask in (lambda: model.predict(bad), lambda: model.fit(bad, [["a", "b", "a"]] * 2)):
        with pytest.raises(InputError, match=r"^Tree 1 of X holds NaN or infinity at vertex 0\.$"):
            ask()
