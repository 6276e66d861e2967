"""Fragments of trees against enumeration."""

from __future__ import annotations

from collections import Counter
from io import StringIO
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelfields import KernelCRF, Parts, load
from kernelfields.errors import InputError
from kernelfields.io import read_brackets
from kernelfields.kernels import Normalized, TreeFragments

WORDS = st.sampled_from(["u", "v"])
TREES = st.recursive(
    st.tuples(st.sampled_from("AB")) | st.tuples(st.sampled_from("AB"), WORDS),
    lambda below: st.tuples(st.sampled_from("AB"), below | WORDS, below),
    max_leaves=5,
)
Fragment = tuple[Any, int]


def nodes(tree: Any) -> list[Any]:
    return [tree, *(n for child in tree[1:] if isinstance(child, tuple) for n in nodes(child))]


def rooted(tree: Any, complete: bool) -> list[Fragment]:
    """All fragments with this root, and the number of nodes in each that have their children."""
    choices: list[list[Fragment]] = []
    for child in tree[1:]:
        if not isinstance(child, tuple):
            choices.append([(("leaf", child), 0)])
        else:
            choices.append(rooted(child, complete) + ([] if complete else [(("cut", child[0]), 0)]))
    return [
        (("node", tree[0], *(shape for shape, _ in below)), 1 + sum(size for _, size in below))
        for below in product(*choices)
    ]


def features(tree: Any, complete: bool) -> Counter[Fragment]:
    return Counter(fragment for node in nodes(tree) for fragment in rooted(node, complete))


def expected(X: Any, Y: Any, decay: float, complete: bool) -> Any:
    left, right = ([features(tree, complete) for tree in some] for some in (X, Y))
    return [[sum(n * b[u] * decay ** u[1] for u, n in a.items()) for b in right] for a in left]


def in_brackets(tree: Any) -> str:
    parts = (in_brackets(child) if isinstance(child, tuple) else child for child in tree[1:])
    return f"({' '.join([tree[0], *parts])})"


@given(st.lists(TREES, max_size=4), st.lists(TREES, max_size=4), st.sampled_from([0.3, 1.0]), st.booleans())
@settings(deadline=None, max_examples=80)
def test_fragments_are_those_of_enumeration(X: Any, Y: Any, decay: float, complete: bool) -> None:
    kernel, values = TreeFragments(decay, complete), expected(X, Y, decay, complete)
    np.testing.assert_allclose(kernel(X, Y), np.reshape(values, (len(X), len(Y))), rtol=1e-12)
    own = np.diagonal(np.reshape(expected(X, X, decay, complete), (len(X), len(X))))
    np.testing.assert_allclose(kernel(X).diagonal(), own, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), own, rtol=1e-12)
    text = [in_brackets(tree) for tree in X]
    np.testing.assert_array_equal(kernel(text, Y), kernel(X, Y))


def test_known_values() -> None:
    """(D the) (N dog): of NP → D N there are four fragments, of each word one."""
    [tree] = read_brackets(StringIO("(NP (D the) (N dog))"))
    decay = 0.5
    assert TreeFragments(decay)([tree])[0, 0] == pytest.approx(2 * decay + decay * (1 + decay) ** 2)
    assert TreeFragments(decay, complete=True)([tree])[0, 0] == pytest.approx(2 * decay + decay**3)


def test_a_leaf_is_no_node_of_the_same_name() -> None:
    assert TreeFragments()(["(S (A))"], ["(S A)"])[0, 0] == 0
    assert TreeFragments()([("S", ("A", "u"), "u")], [("S", "u", ("A", "u"))])[0, 0] == pytest.approx(0.4)


def test_deep_trees() -> None:
    """Without recursion; a chain of n has n complete subtrees, each once."""
    deep = "(S " * 3000 + ")" * 3000
    tree: Any = ("S",)
    for _ in range(2999):
        tree = ("S", tree)
    assert TreeFragments(1.0, complete=True)([deep], [tree])[0, 0] == 3000


@pytest.mark.parametrize(
    "tree",
    ["dog", "(S (A u)", "(S u))", "((S u) v)", "()", "(S) (S)", "", (), ("S", ()), 3, (("S",), "u")],
    ids=repr,
)
def test_what_is_no_tree(tree: Any) -> None:
    with pytest.raises(InputError, match="is no tree"):
        TreeFragments()([tree])


def questions(rng: np.random.Generator, count: int) -> tuple[list[str], list[str]]:
    """Sentences whose words say nothing: in questions the verb comes first."""
    X, y = [], []
    for _ in range(count):
        noun, verb = rng.choice(["dog", "cat", "fox"]), rng.choice(["barks", "sees", "runs"])
        phrase = f"(NP (D {rng.choice(['a', 'the'])}) (N {noun}))"
        asked = rng.random() < 0.5
        X.append(f"(S (V {verb}) {phrase})" if asked else f"(S {phrase} (V {verb}))")
        y.append("question" if asked else "statement")
    return X, y


def test_trees_can_be_told_apart(rng: np.random.Generator, tmp_path: Any) -> None:
    (X, y), (X_test, y_test) = questions(rng, 40), questions(rng, 60)
    kernel = Normalized(TreeFragments())
    model = KernelCRF(kernel, penalty=0.1).fit([X[:20], X[20:]], [y[:20], y[20:]])
    assert model.predict([X_test]) == [y_test]
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").predict([X_test]) == [y_test]
    alone = KernelCRF(kernel, penalty=0.1, parts=Parts(edges=None, boundaries=None))
    alone.fit([[x] for x in X], [[label] for label in y])
    assert alone.predict([[x] for x in X_test]) == [[label] for label in y_test]
