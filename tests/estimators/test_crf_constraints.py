"""CRF under rules about labels: training, every form of prediction, refusals."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp

from kernelfields import CRF, FreeScores, InfeasibleError, InputError, LinearScores, Parts
from kernelfields.constraints import Constraints
from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.solvers import LBFGS, Stop
from kernelfields.spaces import Boundary, Free, LinearFeatures
from tests._problems import small_chain

RULE = Constraints(
    forbidden_pairs=[("a", "c"), ("b", "b")], forbidden_starts=["b"], forbidden_ends=["a", "c"]
)
LABELS = ["a", "b", "c"]


def lawful(way):
    return (
        way[0] != "b"
        and way[-1] == "b"
        and not any(pair in (("a", "c"), ("b", "b")) for pair in pairwise(way))
    )


def ways(length):
    return [way for way in product(LABELS, repeat=length) if lawful(way)]


@pytest.fixture
def data(rng):
    """Noisy sequences that keep to the rule."""
    X, y = [], []
    for length in [2, 3, 3, 4, 5, 2]:
        X.append(rng.normal(size=(length, 2)))
        y.append(list(ways(length)[rng.integers(len(ways(length)))]))
    assert {label for labels in y for label in labels} == set(LABELS)
    return X, y


@pytest.fixture
def model(data):
    return CRF(0.5, parts=Parts(edges=FreeScores(penalty=0.3)), constraints=RULE, tol=1e-9).fit(*data)


def reference_objective(w, X, y):
    """R by enumeration of the lawful labellings alone."""
    coef, bias, ends, edges = np.split(w, np.cumsum([6, 3, 6]))
    coef, ends, edges = coef.reshape(3, 2), ends.reshape(2, 3), edges.reshape(3, 3)
    index = {label: k for k, label in enumerate(LABELS)}

    def score(x, way):
        k = [index[label] for label in way]
        pairs = sum(edges[a, b] for a, b in pairwise(k))
        return (x @ coef.T + bias)[np.arange(len(k)), k].sum() + pairs + ends[0, k[0]] + ends[1, k[-1]]

    loss = sum(
        logsumexp([score(x, way) for way in ways(len(x))]) - score(x, labels)
        for x, labels in zip(X, y, strict=True)
    )
    return loss + 0.25 * (w[:15] @ w[:15]) + 0.15 * (w[15:] @ w[15:])


def weights_of(model):
    parts = (model.coef_, model.intercept_, model.start_, model.end_, model.transitions_)
    return np.concatenate([part.ravel() for part in parts])


def test_optimum_is_that_of_the_enumeration(data, model):
    X, y = data
    found = weights_of(model)
    value = reference_objective(found, X, y)
    best = minimize(reference_objective, np.zeros(24), args=(X, y), options={"gtol": 1e-7})
    assert value == pytest.approx(model.certificate_.value, rel=1e-10)
    assert best.fun == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(found, best.x, atol=1e-3)
    assert model.certificate_.lower_bound <= best.fun + 1e-9
    assert model.certificate_.relative_gap <= 1e-8


def test_weights_of_what_is_forbidden_stay_zero(model):
    assert (model.transitions_[model.forbidden_.pairs] == 0).all()
    assert (model.start_[model.forbidden_.starts] == 0).all()


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "block-jacobi", "subspace"])
@pytest.mark.parametrize("edge_features", [False, True])
def test_solvers_agree_and_certify(data, solver, edge_features):
    X, y = data
    fine = CRF(
        constraints=RULE, parts=Parts(edge_features=LinearScores() if edge_features else None), tol=1e-8
    ).fit(X, y)
    rough = CRF(
        constraints=RULE,
        parts=Parts(edge_features=LinearScores() if edge_features else None),
        solver=solver,
        tol=1e-2,
    ).fit(X, y)
    assert rough.certificate_.lower_bound <= fine.certificate_.value <= rough.certificate_.value + 1e-9
    single = CRF(
        constraints=RULE,
        parts=Parts(edge_features=LinearScores() if edge_features else None),
        solver=solver,
        tol=1e-4,
    )
    single.fit([x.astype(np.float32) for x in X], y)
    assert single.certificate_.value == pytest.approx(fine.certificate_.value, rel=1e-3)


@pytest.mark.parametrize("decoder", ["viterbi", "posterior"])
def test_predictions_keep_to_the_rule(model, rng, decoder):
    X = [3 * rng.normal(size=(length, 2)) for length in rng.integers(2, 12, size=200)]
    assert all(lawful(way) for way in model.predict(X, decoder=decoder))
    assert all(lawful(way) for draw in model.sample(X, n=3) for way in draw)
    assert all(lawful(way) for best in model.predict_kbest(X, k=4) for way, _ in best)
    first = model.predict(X, decoder=decoder, allowed=[["c"] + [None] * (len(x) - 1) for x in X])
    assert all(lawful(way) and way[0] == "c" for way in first)


def test_probabilities_are_those_of_the_enumeration(model, rng):
    x = rng.normal(size=(4, 2))
    every = list(product(LABELS, repeat=4))
    log_p = model.sequence_log_proba([x] * len(every), every)
    assert [p > -np.inf for p in log_p] == [lawful(way) for way in every]
    assert np.exp(log_p).sum() == pytest.approx(1)
    expected = [
        [np.exp(log_p[[way[t] == label for way in every]]).sum() for label in LABELS] for t in range(4)
    ]
    np.testing.assert_allclose(model.predict_marginals([x])[0], expected, atol=1e-12)
    assert tuple(model.predict([x])[0]) == every[int(np.argmax(log_p))]
    best = model.predict_kbest([x], k=100)[0]
    assert {tuple(way) for way, _ in best} == set(ways(4))


def test_sequences_without_a_lawful_labelling_are_refused(model):
    with pytest.raises(InfeasibleError, match="Sequence 1 has no allowed labelling"):
        model.predict([np.zeros((2, 2)), np.zeros((1, 2))])


def test_certificate_and_hessian_are_finite_under_minus_infinity(rng):
    chain = small_chain()
    offset = {"node": np.zeros(chain.shapes["node"]), "edge": np.zeros((3, 3))}
    offset["edge"][0, 2] = offset["edge"][2, 2] = -np.inf
    offset["node"][chain.first_positions, 1] = -np.inf
    labels = chain.argmax({"node": offset["node"] + rng.normal(size=(16, 3)), "edge": offset["edge"]}).labels
    terms = [
        Term("features", LinearFeatures(chain, "node", rng.normal(size=(16, 2))), 0.5),
        Term("boundaries", Boundary(chain), 0.2),
        Term("edges", Free(chain, "edge"), 1.0),
    ]
    problem = Problem.of(LogLoss(chain, labels), terms, offset)
    optimum = LBFGS().minimize(problem, problem.zero(), Stop(gap=1e-12)).point
    for scale in (0.0, 1.0, 10.0):
        point = problem.at(optimum.element + scale * rng.normal(size=problem.size))
        assert point.certificate.lower_bound <= optimum.value + 1e-9
        direct = point.value - 0.5 * problem.inner(point.gradient, point.gradient)
        np.testing.assert_allclose(point.certificate.lower_bound, direct, rtol=1e-8, atol=1e-8)
        d, h = rng.normal(size=problem.size), 1e-5
        up, down = problem.at(point.element + h * d), problem.at(point.element - h * d)
        numeric = (up.gradient - down.gradient) / (2 * h)
        np.testing.assert_allclose(point.hessian_product(d), numeric, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (list("aabc"), "Sequence 1 ends with the forbidden label 'c' at position 3."),
        (list("bcb"), "Sequence 1 starts with the forbidden label 'b' at position 0."),
        (list("aacb"), "Sequence 1 has the forbidden label pair 'a' → 'c' at position 2."),
    ],
)
def test_training_labels_that_break_the_rule_are_refused(labels, message, rng):
    y = [list("cab"), labels]
    with pytest.raises(InputError, match=f"^{message}$"):
        CRF(constraints=RULE).fit([rng.normal(size=(len(ways), 1)) for ways in y], y)


def test_unobserved_labels_break_no_rule(data):
    X, y = data
    partly = [[None if t == 1 else label for t, label in enumerate(labels)] for labels in y]
    model = CRF(constraints=RULE).fit(X, partly)
    assert all(lawful(way) for way in model.predict(X))


def test_tags(rng):
    names = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    X, y = [], []
    for _ in range(30):
        labels = []
        while len(labels) < 8:
            kind = rng.choice(["PER", "LOC"])
            labels += ["O"] if rng.random() < 0.4 else [f"B-{kind}"] + [f"I-{kind}"] * rng.integers(3)
        X.append(np.eye(5)[[names.index(label) for label in labels]] + rng.normal(size=(len(labels), 5)))
        y.append(labels)
    model = CRF(constraints="iob2").fit(X, y)
    legal = {(a, b) for a in names for b in names if b[0] != "I" or a[2:] == b[2:]}
    for decoder in ("viterbi", "posterior"):
        for way in model.predict([3 * x for x in X], decoder=decoder):
            assert way[0][0] != "I"
            assert set(pairwise(way)) <= legal
    assert model.score(X, y) >= CRF().fit(X, y).score(X, y) - 0.05
    y[3][4:6] = ["O", "I-PER"]
    message = "Sequence 3 has the forbidden label pair 'O' → 'I-PER' at position 5."
    with pytest.raises(InputError, match=message):
        CRF(constraints="iob2").fit(X, y)
    with pytest.raises(InputError, match="Label 'red' is not a tag of IOB2"):
        CRF(constraints="iob2").fit(X[:1], [["red", "O"] * 4 + ["O"] * (len(X[0]) - 8)])
    with pytest.raises(InputError, match="constraints='iob' is not known; did you mean 'iob2'"):
        CRF(constraints="iob").fit(X, y)


def test_only_observed_pairs_have_weights_under_constraints_too():
    random = np.random.default_rng(0)
    X = [sparse.csr_matrix(random.random((4, 12)) < 0.2) for _ in range(6)]
    y = [["a", "b", "a", "b"], ["c", "b", "c", "a"], ["b", "a", "b", "c"]] * 2
    rule = Constraints(forbidden_pairs=[("a", "c")])
    model = CRF(0.1, observed_only=True, constraints=rule).fit(X, y)
    classes = model.classes_.tolist()
    seen = {(classes.index(a), classes.index(b)) for labels in y for a, b in pairwise(labels)}
    pairs = {tuple(pair) for pair in np.argwhere(model.transitions_)}
    assert pairs == seen
    counts = np.zeros((3, 12))
    for x, labels in zip(X, y, strict=True):
        np.add.at(counts, [classes.index(label) for label in labels], x.toarray())
    assert ((model.coef_.toarray() != 0) == (counts > 0)).all()
