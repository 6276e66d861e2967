"""Hinge losses against all labellings."""

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError, InputError
from kernelfields.losses import (
    CallbackHinge,
    CountedMarginHinge,
    MarginHinge,
    SlackHinge,
    ZeroOneHinge,
    edge_cost,
    hamming_cost,
    vertex_cost,
)
from kernelfields.structures import SumOracle
from kernelfields.testing import Enumerated, check_loss
from tests._problems import small_chain, small_forest, small_labels, small_scores, small_second_order

TABLE = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])


def f1_like(true, guess):
    """A cost of whole labellings that adds up over nothing."""
    right = np.sum((true == guess) & (true > 0))
    return 1 - 2 * right / max(np.sum(true > 0) + np.sum(guess > 0), 1) if (true != guess).any() else 0.0


def pair_table(rng):
    table = rng.random((3, 3, 3, 3))
    table.reshape(9, 9)[np.arange(9), np.arange(9)] = 0
    return table


def hamming(true, guess):
    return np.sum(true != guess)


def cases(rng, structure):
    """Loss, its cost of two labellings of one instance, and how it rescales."""
    labels = small_labels(structure, rng)
    weights = rng.random(structure.n_instances) + 0.1
    pairs, tails, heads = pair_table(rng), structure.edge_tails, structure.edge_heads

    def by_pairs(true, guess, s):
        mine = slice(structure.edge_offsets[s], structure.edge_offsets[s + 1])
        t, h = tails[mine] - structure.offsets[s], heads[mine] - structure.offsets[s]
        return pairs[true[t], true[h], guess[t], guess[h]].sum() + hamming(true, guess)

    everything = {**edge_cost(structure, labels, pairs), **hamming_cost(structure, labels)}
    result = {
        "margin": (
            MarginHinge(structure, labels, hamming_cost(structure, labels), weights),
            hamming,
            "margin",
        ),
        "margin, table": (
            MarginHinge(structure, labels, vertex_cost(structure, labels, TABLE)),
            lambda true, guess: TABLE[true, guess].sum(),
            "margin",
        ),
        "margin, pairs": (MarginHinge(structure, labels, everything), by_pairs, "margin"),
        "perceptron": (MarginHinge(structure, labels), lambda true, guess: 0.0, "margin"),
        "zero-one": (
            ZeroOneHinge(structure, labels, weights),
            lambda true, guess: float((true != guess).any()),
            "slack",
        ),
        "slack": (SlackHinge(structure, labels, None, weights), hamming, "slack"),
        "slack, table": (
            SlackHinge(structure, labels, vertex_cost(structure, labels, TABLE)["node"]),
            lambda true, guess: TABLE[true, guess].sum(),
            "slack",
        ),
        "slack, root": (
            SlackHinge(structure, labels, worth=np.sqrt),
            lambda true, guess: np.sqrt(hamming(true, guess)),
            "slack",
        ),
        "margin, root": (
            CountedMarginHinge(structure, labels, worth=np.sqrt),
            lambda true, guess: np.sqrt(hamming(true, guess)),
            "margin",
        ),
    }
    if hasattr(structure, "kbest"):
        result["callback"] = (CallbackHinge(structure, labels, f1_like), f1_like, "margin")
        result["callback, slack"] = (CallbackHinge(structure, labels, f1_like, slack=True), f1_like, "slack")
    return result


STRUCTURES = {
    "chain": small_chain,
    "chain, own edges": lambda: small_chain(shared_edges=False),
    "forest": small_forest,
}
NAMES = [
    (kind, name) for kind, make in STRUCTURES.items() for name in cases(np.random.default_rng(0), make())
]


def by_enumeration(loss, cost, rescaling, scores):
    structure = loss.structure
    every = Enumerated(structure, scores)
    observed = structure.score(scores, loss.outputs)
    result = np.zeros(structure.n_instances)
    for s in range(structure.n_instances):
        true = loss.outputs[structure.offsets[s] : structure.offsets[s + 1]]
        for guess, value in zip(every.outputs(s), every.values(s), strict=True):
            price = cost(true, guess, s) if cost.__name__ == "by_pairs" else cost(true, guess)
            above = value - observed[s]
            result[s] = max(result[s], price * (1 + above) if rescaling == "slack" else price + above)
    return result


@pytest.mark.parametrize("scale", [0.3, 3.0])
@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_value_is_the_largest_of_all_labellings(kind, name, scale, rng):
    loss, cost, rescaling = cases(rng, STRUCTURES[kind]())[name]
    scores = small_scores(loss.structure, rng, scale)
    found = loss.at(scores)
    expected = by_enumeration(loss, cost, rescaling, scores)
    np.testing.assert_allclose(found.values, expected, atol=1e-10)
    weights = np.ones(len(expected)) if loss.weights is None else loss.weights
    np.testing.assert_allclose(found.value, expected @ weights)


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_loss_passes_all_checks(kind, name, rng):
    loss = cases(rng, STRUCTURES[kind]())[name][0]
    check_loss(loss, small_scores(loss.structure, rng), rng)


@pytest.mark.parametrize("name", ["margin", "slack", "zero-one", "callback"])
def test_forbidden_labellings_cost_nothing(name, rng):
    chain = small_chain()
    loss, cost, rescaling = cases(rng, chain)[name]
    scores = small_scores(chain, rng)
    banned = rng.random(scores["node"].shape) < 0.4
    banned[np.arange(chain.n_vertices), loss.outputs] = False
    scores["node"][banned] = -np.inf
    np.testing.assert_allclose(
        loss.at(scores).values, by_enumeration(loss, cost, rescaling, scores), atol=1e-10
    )


def test_hinge_is_never_below_the_cost_of_the_prediction(rng):
    chain = small_chain()
    labels = small_labels(chain, rng)
    loss = MarginHinge(chain, labels, hamming_cost(chain, labels))
    scores = small_scores(chain, rng)
    predicted = chain.argmax(scores).labels
    assert (loss.at(scores).values >= loss.total_cost(predicted) - 1e-12).all()


def test_margin_and_zero_one_serve_second_order_but_slack_refuses(rng):
    chain = small_second_order()
    labels = small_labels(chain, rng)
    scores = small_scores(chain, rng)
    for loss, cost, rescaling in [
        (MarginHinge(chain, labels, hamming_cost(chain, labels)), hamming, "margin"),
        (ZeroOneHinge(chain, labels), lambda true, guess: float((true != guess).any()), "slack"),
    ]:
        np.testing.assert_allclose(
            loss.at(scores).values, by_enumeration(loss, cost, rescaling, scores), atol=1e-10
        )
    with pytest.raises(TypeError, match=r"Slack rescaling needs .* SecondOrderChainBatch does not give"):
        SlackHinge(chain, labels)


def test_what_has_no_oracle_is_refused_at_construction(rng):
    class Sums(SumOracle):
        offsets = output_offsets = np.zeros(1, dtype=np.int64)
        cliques = {}  # noqa: RUF012
        take = subtract_parts = score = log_partition = marginals = entropy = None

    labels = np.zeros(0)
    for make in (MarginHinge, SlackHinge, ZeroOneHinge, lambda s, y: CallbackHinge(s, y, hamming)):
        with pytest.raises(TypeError, match="which Sums does not give"):
            make(Sums(), labels)


def test_forbidden_observation_is_refused_by_name(rng):
    chain = small_chain()
    labels = small_labels(chain, rng)
    scores = small_scores(chain, rng)
    scores["node"][4, labels[4]] = -np.inf
    with pytest.raises(InfeasibleError, match="sequence 1 are forbidden"):
        SlackHinge(chain, labels).at(scores)


def test_callback_that_cannot_be_proved_or_breaks_its_bound_is_refused(rng):
    chain = small_chain()
    labels = np.zeros(chain.n_vertices, dtype=np.int32)
    flat = {clique: np.zeros(shape) for clique, shape in chain.shapes.items()}
    with pytest.raises(InputError, match="is not exact"):
        CallbackHinge(chain, labels, lambda t, g: 0.0 if (t == g).all() else 0.5, limit=64).at(flat)
    with pytest.raises(InputError, match=r"cost 2\.0 is not between 0 and the bound"):
        CallbackHinge(chain, labels, lambda t, g: 0.0 if (t == g).all() else 2.0).at(flat)
    with pytest.raises(InputError, match="observed labelling costs"):
        CallbackHinge(chain, labels, lambda t, g: 1.0).at(flat)


def test_tables_of_costs_are_checked(rng):
    chain = small_chain()
    labels = small_labels(chain, rng)
    with pytest.raises(InputError, match="shape"):
        vertex_cost(chain, labels, np.zeros((2, 2)))
    with pytest.raises(InputError, match="what is right must cost nothing"):
        vertex_cost(chain, labels, np.ones((3, 3)))
    with pytest.raises(ValueError, match="0 for none"):
        SlackHinge(chain, labels, worth=np.cos).at(small_scores(chain, rng))


@pytest.mark.parametrize("cliques", [("triple",), ("node", "triple"), ("edge", "triple")])
def test_instances_keep_the_costs_of_every_clique_type(cliques, rng):
    structure = small_second_order()
    labels = small_labels(structure, rng)
    untied = {**structure.untied(["edge"]).shapes, "node": structure.shapes["node"]}
    cost = {clique: rng.random(untied[clique]) for clique in cliques}
    loss = MarginHinge(structure, labels, cost)
    scores = small_scores(structure, rng)
    whole = loss.at(scores).values
    parts = [loss.take([s]).at(structure.cut(scores, [s])).values[0] for s in range(structure.n_instances)]
    np.testing.assert_allclose(parts, whole)
    assert not np.allclose(MarginHinge(structure, labels).at(scores).values, whole)


def test_costs_of_cliques_that_are_none_are_refused(rng):
    structure = small_chain()
    with pytest.raises(InputError, match="cost has 'triple', which ChainBatch does not have"):
        MarginHinge(structure, small_labels(structure, rng), {"triple": np.zeros((3, 3, 3))})
