"""What the native chain refuses."""

import numpy as np
import pytest

from tests.online._textbook import Tiny


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("column", lambda a: a + 90, "index holds"),
        ("first", lambda a: a + 1, "first must"),
        ("labels", lambda a: a + 3, "labels holds"),
        ("labels", lambda a: a[1:], "labels has shape"),
        ("offsets", lambda a: a[:-1], "offsets ends"),
        ("weight", lambda a: np.ones(2), "weight has shape"),
        ("small_offset", lambda a: a[1:], "small_offset has shape"),
        ("edge_offset", lambda a: np.zeros((2, 3)), "has shape"),
        ("pair_label", lambda a: a + 9, "pair_label holds"),
        ("edge_pairs", lambda a: np.ones((2, 2), np.uint8), "edge_pairs has shape"),
        ("value", lambda a: a[1:], "value has shape"),
    ],
)
def test_arrays_that_do_not_fit(rng, field, value, message):
    examples = Tiny(rng).sweep.examples
    with pytest.raises(ValueError, match=message):
        examples._replace(**{field: value(getattr(examples, field))}).core()


def test_orders_and_weights_that_do_not_fit(rng):
    core = Tiny(rng).sweep.core
    for order in ([7], [-1]):
        with pytest.raises(ValueError, match="order holds"):
            core.perceptron(np.array(order))
    with pytest.raises(ValueError, match="weights has shape"):
        core.load(np.zeros(3), np.zeros((6, 3)))
    with pytest.raises(ValueError, match="free has shape"):
        core.load(core.weights()[0], np.zeros((3, 3)))
    with pytest.raises(TypeError):
        core.perceptron(np.zeros(1, dtype=np.int32))


def test_arrays_live_as_long_as_the_chain(rng):
    """The chain looks at the arrays it was given; nobody else may hold them."""
    core = Tiny(rng).sweep.examples.take(np.arange(7)).core()
    rubbish = [np.full(1000, 7, np.int32) for _ in range(100)]
    losses = [core.descend(np.arange(7), 0.0, 0.0, 0.0, 0, 0.0) for _ in range(2)]
    assert len(rubbish) == 100
    assert losses[0] == losses[1] > 0
