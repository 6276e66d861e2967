"""Matrices in every form that SciPy and NumPy have: the same numbers make the same model."""

from __future__ import annotations

import numpy as np
import pytest
from pandas import DataFrame
from scipy import sparse
from sklearn.base import clone

from kernelfields import (
    CRF,
    HMM,
    Cascade,
    FixedScores,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelScores,
    LabelPropagation,
    MarkovField,
    Parts,
    Run,
    StructuredPerceptron,
    StructuredSVM,
    frames,
)
from kernelfields.checks import require_unmasked
from kernelfields.data.base_measure import CliqueMeasures
from kernelfields.data.labels import encode_outputs
from kernelfields.data.reading import read_to_fit
from kernelfields.decoders import BayesRule
from kernelfields.errors import InputError
from kernelfields.estimators.hmm import require_distributions
from kernelfields.features import (
    BlurredPixels,
    TokensAndArrays,
    Windows,
    neighbour_averages,
    stack_graph_windows,
    stack_tree_windows,
)
from kernelfields.graphs import PrecomputedGraph
from kernelfields.kernels import RBF, Precomputed, Rescaled
from kernelfields.losses import Log
from kernelfields.metrics import attachment_scores
from kernelfields.structures import (
    Alignment,
    CandidateSegments,
    ChainBatch,
    Dependency,
    DependencyBatch,
    Graph,
    GraphBatch,
    Grid,
    Hierarchy,
    MultiLabel,
    SiblingDependency,
)
from kernelfields.tables import structure_of

from ..house.toys import public_estimators, toys
from ..matrix.every_structure import ARCS, TASKS

Y = [["a", "b", "a"], ["b", "a"]]


def twice(dense):
    """Return a sparse matrix that has every entry in two halves, the columns in no order."""
    whole = sparse.coo_matrix(dense)
    rows, columns = np.tile(whole.row, 2)[::-1], np.tile(whole.col, 2)[::-1]
    order = np.argsort(rows, kind="stable")
    first = np.searchsorted(rows[order], np.arange(len(dense) + 1))
    halves = np.tile(whole.data / 2, 2)[::-1]
    return sparse.csr_matrix((halves[order], columns[order], first), shape=dense.shape)


FORMS = {
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
    "twice": twice,
    "Fortran": np.asfortranarray,
    "backwards": lambda x: x[:, ::-1].copy()[:, ::-1],
    "integers": lambda x: x.astype(np.int16),
    "lists": lambda x: x.tolist(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "make", [CRF, lambda: KernelCRF(run=Run(dtype="float64")), lambda: StructuredPerceptron(random_state=0)]
)
def test_the_form_does_not_matter(make, form, rng):
    X = [rng.integers(-3, 4, size=(len(labels), 4)).astype(float) for labels in Y]
    same = [FORMS[form](x) for x in X]
    model, other = make().fit(X, Y), make().fit(same, Y)
    for a, b in zip(model.predict_marginals(X), other.predict_marginals(same), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)  # both within the tolerance of the search
    if sparse.issparse(same[0]):
        lengths = [x.shape[0] for x in same]
        got = np.concatenate(other.predict_marginals(sparse.vstack(same), lengths=lengths))
        np.testing.assert_allclose(got, np.concatenate(other.predict_marginals(same)), atol=1e-12)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (sparse.csr_matrix((np.ones(3), [0, 5, 1], [0, 1, 2, 3]), shape=(3, 4)), "damaged sparse matrix"),
        (sparse.csr_matrix(np.ones((3, 2), dtype=complex)), "not a matrix of numbers"),
        (np.ones((3, 2), dtype=complex), "its entries are complex128"),
        (np.array([["1"], ["2"], ["3"]]), "its entries are <U1"),
        (np.array(["2020-01-01"] * 3, dtype="M8[D]")[:, None], "its entries are datetime64"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(x, words):
    with pytest.raises(InputError, match=f"Sequence 0 of X is .*{words}"):
        CRF().fit([x, np.ones((2, x.shape[1]))], Y)


@pytest.mark.parametrize("predict", ["predict", "predict_proba"])
def test_columns_that_there_are_not_are_refused_by_classifiers_of_rows(predict):
    model = KernelLogisticRegression().fit(sparse.eye_array(4, format="csr"), ["a", "b", "a", "b"])
    odd = sparse.eye_array(4, format="csr")
    odd.indices[1] = 77
    with pytest.raises(InputError, match=r"^X is a damaged sparse matrix"):
        getattr(model, predict)(odd)


@pytest.mark.parametrize("flat", [False, True])
def test_masks_are_not_ignored(flat):
    from kernelfields import CRF, InputError

    plain = [np.ones((3, 2)), np.zeros((2, 2))]
    hidden = np.ma.masked_array(np.ones((3, 2)), [[0, 0], [0, 1], [0, 0]])
    y = [["a", "b", "a"], ["b", "a"]]
    model = CRF().fit([np.ma.masked_array(x) for x in plain], y)  # nothing is hidden
    with pytest.raises(InputError, match="masked entries"):
        model.predict(hidden, lengths=[3]) if flat else model.predict([hidden])
    with pytest.raises(InputError, match="masked entries"):
        CRF().fit(hidden, y[0], lengths=[3]) if flat else CRF().fit([hidden, plain[1]], y)


def masked(values, place):
    values = np.asarray(values)
    mask = np.zeros(values.shape, bool)
    mask[place] = True
    return np.ma.masked_array(values, mask)


@pytest.mark.parametrize(
    ("y", "name"),
    [
        ([["a", "b", "a"], masked(["b", "a"], 1)], "Sequence 1 of y"),
        ([["a", "b", "a"], list(masked([0, 1], 1))], "Sequence 1 of y"),
        (masked(["a", "b", "a", "b", "a"], 3), "y"),
    ],
    ids=["sequence", "constants", "flat"],
)
def test_masks_of_labels_are_not_ignored(y, name):
    X = [np.ones((3, 2)), np.zeros((2, 2))]
    given = {"lengths": [3, 2]} if name == "y" else {}
    X = np.concatenate(X) if given else X
    with pytest.raises(InputError, match=f"^{name} has masked entries"):
        CRF().fit(X, y, **given)
    model = CRF().fit(X, list("ababa") if given else Y, **given)
    with pytest.raises(InputError, match=f"^{name} has masked entries"):
        model.score(X, y, **given)


@pytest.mark.parametrize(
    ("structure", "X", "y", "name"),
    [
        (Grid(), np.ones((2, 3, 2, 2)), [[["a", "b"]] * 3, masked([["a", "b"]] * 3, (1, 0))], "Grid 1"),
        (Dependency(), [np.ones((2, 2))] * 2, [[2, 0], masked([2, 0], 0)], "Sentence 1"),
        (MultiLabel(), np.ones((2, 3)), masked([[0, 1], [1, 0]], (1, 0)), "y"),
    ],
    ids=["grid", "dependency", "multi-label"],
)
def test_masks_of_other_outputs_are_not_ignored(structure, X, y, name):
    with pytest.raises(InputError, match=f"^{name}( of y)? has masked entries"):
        CRF(structure=structure).fit(list(X) if structure != MultiLabel() else X, y)


def test_masks_of_weights_are_not_ignored():
    X, y, hidden = [np.ones((3, 2)), np.zeros((2, 2))], [["a", "b", "a"], ["b", "a"]], masked([1.0, 2.0], 1)
    for model in (CRF(), HMM(), StructuredSVM(), KernelPerceptron()):
        with pytest.raises(InputError, match="sample_weight has masked entries"):
            model.fit(X, y, sample_weight=hidden)
    with pytest.raises(InputError, match="list of weights has masked entries"):
        ChainBatch([0, 3, 5], 2).marginals({"node": np.zeros((5, 2)), "edge": np.zeros((2, 2))}, hidden)


def test_masks_of_rows_are_not_ignored():
    with pytest.raises(InputError, match=r"^y has masked entries"):
        KernelLogisticRegression().fit(np.eye(3), masked(["a", "b", "a"], 2))


def hide(values):
    """Return numbers, the first of them masked."""
    return masked(values, (0,) * np.ndim(values))


TOYS = toys()
NO_NUMBERS = {"CRF", "MarkovField"}
"""Toys of words and of labels; both estimators are with other inputs below."""


def test_there_is_a_toy_of_every_estimator():
    assert set(TOYS) == {estimator.__name__ for estimator in public_estimators().values()}


@pytest.mark.parametrize("form", [lambda x: x, list], ids=["array", "list of rows"])
@pytest.mark.parametrize("name", sorted(set(TOYS) - NO_NUMBERS))
def test_no_estimator_ignores_masks(name, form):
    model, (X, *rest) = TOYS[name]
    deep = isinstance(X[0][0], list)
    hidden = [form(hide(X[0])), *map(np.array, X[1:])] if deep else form(hide(X))
    with pytest.raises(InputError, match="X has masked entries"):
        clone(model).fit(hidden, *rest)
    fitted = clone(model).fit(X, *rest)
    with pytest.raises(InputError, match="X has masked entries"):
        fitted.predict(hidden)
    fitted.predict([form(np.ma.masked_array(x)) for x in X] if deep else form(np.ma.masked_array(X)))


def first_hidden(task):
    """Return X of a task, a number of its first item masked."""
    if isinstance(task.X, np.ndarray):
        return hide(task.X)
    first = task.X[0]
    first = (hide(first[0]), *first[1:]) if isinstance(first, tuple) else hide(first)
    return [first, *task.X[1:]]


def fits(task):
    """Return a model that can learn the structure of a task."""
    try:
        return StructuredSVM(structure=task.structure, max_iter=3).fit(task.X, task.y)
    except InputError:
        return CRF(structure=task.structure).fit(task.X, task.y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task.features is None])
def test_no_structure_ignores_masks(name):
    task = TASKS[name]
    model, hidden = fits(task), first_hidden(task)
    for ask in (lambda: clone(model).fit(hidden, task.y), lambda: model.predict(hidden)):
        with pytest.raises(InputError, match="X has masked entries"):
            ask()


@pytest.mark.parametrize("name", TASKS)
def test_no_batch_ignores_masks_of_scores(name):
    task = TASKS[name]
    structure = structure_of(task.structure).settled(task.y)
    inputs = structure.spread(read_to_fit(structure, task.features, task.X, None)[0])
    outputs, classes = encode_outputs(structure, task.y, inputs)
    structure = structure.with_labels(classes.tolist(), inputs.links)
    batch = structure.on(inputs.offsets, inputs.links, len(classes))
    given = {clique: np.zeros(shape) for clique, shape in batch.shapes.items()}
    for clique in [clique for clique, values in given.items() if values.size]:
        for ask in (lambda scores: batch.score(scores, outputs), getattr(batch, "argmax", None)):
            if ask is not None:
                with pytest.raises(InputError, match=f"{clique} scores has masked entries"):
                    ask({**given, clique: hide(given[clique])})


SEQUENCE = np.ones((3, 2))
GRAPH_EDGES = np.array([[0, 1], [1, 2]])
GRAPH_ITEM = {"features": SEQUENCE, "edges": GRAPH_EDGES}
LABELS = [["a", "b", "a"]]


class Tensors:
    """A graph of two tensors."""

    def __init__(self, x, edge_index, edge_attr=None):
        self.x, self.edge_index, self.edge_attr = x, edge_index, edge_attr


def learn(structure, item, y=LABELS):
    return lambda: CRF(structure=structure).fit([item], y)


def allowed(form):
    y = [["a", "b", "a"]]
    hidden = np.ma.masked_array(np.ones((3, 2), bool), [[False, True]] * 3)
    model = CRF().fit([SEQUENCE], y)
    return lambda: model.predict([SEQUENCE], allowed=[form(hidden)])


ROW = hide([3, 2])
PARENTS = hide([-1, 0, 0])
SIDE_INPUTS = {
    "edges": learn("graph", (SEQUENCE, hide(GRAPH_EDGES))),
    "edges as rows": learn("graph", (SEQUENCE, list(hide(GRAPH_EDGES)))),
    "edges by type": learn(Graph(edge_types=["near"]), {**GRAPH_ITEM, "edges": {"near": hide(GRAPH_EDGES)}}),
    "edge features": learn("graph", (SEQUENCE, GRAPH_EDGES, hide([[1.0], [2.0]]))),
    "edge features as rows": learn("graph", (SEQUENCE, GRAPH_EDGES, list(hide([[1.0], [2.0]])))),
    "factors": learn(Graph(factors={"far": 3}), {**GRAPH_ITEM, "factors": {"far": hide([[0, 1, 2]])}}),
    "types": learn(Graph(label_sets={0: ["a"], 1: ["a", "b"]}), {**GRAPH_ITEM, "types": hide([0, 1, 0])}),
    "edge_index": learn("graph", Tensors(SEQUENCE, hide(GRAPH_EDGES.T))),
    "x": learn("graph", Tensors(hide(SEQUENCE), GRAPH_EDGES.T)),
    "edge_attr": learn("graph", Tensors(SEQUENCE, GRAPH_EDGES.T, hide([[1.0], [2.0]]))),
    "parents": learn("tree", (SEQUENCE, PARENTS)),
    "parents as list": learn("tree", (SEQUENCE, list(PARENTS))),
    "parents of a hierarchy": lambda: Hierarchy(hide([-1, 0])),
    "pixels as rows": learn(Grid(), list(hide(np.ones((3, 2, 2)))), [[["a", "b"]] * 3]),
    "pixels in rows": learn(Grid(), [list(row) for row in hide(np.ones((3, 2, 2)))], [[["a", "b"]] * 3]),
    "pairs as rows": learn(Alignment(), list(hide(np.ones((2, 2, 2)))), [[(0, 0)]]),
    "arcs": learn(Dependency(pruned=True), (np.ones((3, 2)), hide(np.ones((2, 3), bool))), [[2, 0]]),
    "siblings": learn(
        SiblingDependency(siblings=None), (ARCS[0], hide([[0, 2, 1]]), np.ones((1, 1))), [[2, 0]]
    ),
    "spans": learn(CandidateSegments(2), (SEQUENCE, hide([[0, 1], [1, 2]]))),
    "features of spans": learn(CandidateSegments(2), (SEQUENCE, [(0, 1), (1, 2)], hide([[1.0], [2.0]]))),
    "lengths": lambda: CRF().fit(np.ones((5, 2)), list("ababa"), lengths=ROW),
    "lengths as list": lambda: CRF().fit(np.ones((5, 2)), list("ababa"), lengths=list(ROW)),
    "lengths of rows": lambda: HMM().fit(np.ones((5, 2)), list("ababa"), lengths=ROW),
    "lengths of symbols": lambda: HMM(emissions="categorical").fit(list("xyxyx"), list("ababa"), lengths=ROW),
    "symbols": lambda: HMM(emissions="categorical").fit([hide([1, 2, 1])], LABELS),
    "symbols as list": lambda: HMM(emissions="categorical").fit([list(hide([1, 2, 1]))], LABELS),
    "allowed": allowed(lambda x: x),
    "allowed as rows": allowed(list),
    "weights": lambda: CRF().fit([SEQUENCE] * 2, LABELS * 2, sample_weight=list(hide([1.0, 2.0]))),
    "classes": lambda: CRF(classes=hide([0, 1])).fit([SEQUENCE], [[0, 1, 0]]),
    "cost": lambda: CRF(loss=Log(hide(1 - np.eye(2)))).fit([SEQUENCE], LABELS),
    "cost of a margin": lambda: StructuredSVM(cost=hide(1 - np.eye(2))).fit([SEQUENCE], LABELS),
    "cost of a decoder": lambda: (
        CRF(decoder=BayesRule(hide(1 - np.eye(2)))).fit([SEQUENCE], LABELS).predict([SEQUENCE])
    ),
    "kernel on labels": lambda: KernelCRF(parts=Parts(kernel=KernelScores(labels=hide(np.eye(2))))).fit(
        [SEQUENCE], LABELS
    ),
    "Gram matrix": lambda: KernelCRF(Precomputed(hide(np.eye(3)))).fit([[[0], [1], [2]]], LABELS),
    "adjacency": lambda: LabelPropagation(graph="precomputed").fit(hide(1 - np.eye(3)), ["a", "b", None]),
    "adjacency of a graph": lambda: LabelPropagation(graph=PrecomputedGraph(hide(1 - np.eye(3)))).fit(
        [[0], [1], [2]], ["a", "b", None]
    ),
    "links of a field": lambda: MarkovField(structure="tree", links=PARENTS).fit(LABELS),
    "labels of a field": lambda: MarkovField().fit([hide([0, 1, 0]), [1, 0]]),
    "X of a field": lambda: MarkovField().fit(LABELS, [hide(SEQUENCE)]),
    "numbers beside tokens": lambda: CRF(features=TokensAndArrays("0[0]")).fit(
        [(["x", "y", "x"], hide(SEQUENCE))], LABELS
    ),
    "initial shares": lambda: require_distributions(hide([0.5, 0.5]), (2,), "start"),
    "column of a frame": lambda: frames.fit(
        CRF(),
        DataFrame({"x": list(hide(SEQUENCE)), "y": list("aba"), "s": 0}),
        features=["x"],
        label="y",
        group="s",
    ),
    "groups": lambda: Cascade(CRF(), CRF(), folds=2).fit([SEQUENCE] * 2, LABELS * 2, groups=hide([0, 1])),
    "table of a prior": lambda: CRF(
        parts=Parts(known=FixedScores(CliqueMeasures(edge=hide(np.zeros((2, 2))))))
    ).fit([SEQUENCE], LABELS),
    "rows of a kernel": lambda: RBF()(list(hide(SEQUENCE)), SEQUENCE),
    "centre of a kernel": lambda: Rescaled(RBF(), centre=hide([0.0, 1.0]))(SEQUENCE, SEQUENCE),
    "pixels of strokes": lambda: BlurredPixels((1, 2)).transform(hide(SEQUENCE)),
    "heads of a metric": lambda: attachment_scores([hide([2, 0, 2])], [[2, 0, 2]]),
    "windows": lambda: Windows(3).fit_transform([hide(SEQUENCE)]),
    "weights of windows": lambda: Windows(3, weights=hide([1.0, 1.0, 1.0])).fit_transform([SEQUENCE]),
    "features of neighbours": lambda: neighbour_averages(hide(SEQUENCE), GRAPH_EDGES),
    "edges of neighbours": lambda: neighbour_averages(SEQUENCE, hide(GRAPH_EDGES)),
    "tree windows": lambda: stack_tree_windows([hide(SEQUENCE)], [[-1, 0, 0]], 3),
    "parents of windows": lambda: stack_tree_windows([SEQUENCE], [PARENTS], 3),
    "graph windows": lambda: stack_graph_windows([hide(SEQUENCE)], [GRAPH_EDGES], 3),
    "edges of windows": lambda: stack_graph_windows([SEQUENCE], [hide(GRAPH_EDGES)], 3),
    "offsets": lambda: ChainBatch(hide([0, 3]), 2),
    "edges of a batch": lambda: GraphBatch([0, 3], hide(GRAPH_EDGES), 2),
    "arcs of a batch": lambda: DependencyBatch([2], allowed=hide(np.ones(6, bool))),
    "labels of a batch": lambda: ChainBatch([0, 3], 2).score(
        {"node": np.zeros((3, 2)), "edge": np.zeros((2, 2))}, hide([0, 1, 0])
    ),
}


@pytest.mark.parametrize("name", SIDE_INPUTS)
def test_masks_of_what_comes_beside_numbers_are_not_ignored(name):
    with pytest.raises(InputError, match="has masked entries"):
        SIDE_INPUTS[name]()


def test_masks_of_nothing_are_let_through():
    for value in (
        np.ma.masked_array(np.eye(2)),
        [np.ma.masked_array([1.0])],
        [],
        [[]],
        [[[]]],
        None,
        "ab",
        3,
    ):
        require_unmasked(value, "It")
