"""ONNX graphs of chain models, run by onnxruntime: the same labels and marginals as the models'."""

import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from kernelfields import (
    CRF,
    HMM,
    MEMM,
    InputError,
    KernelCRF,
    KernelScores,
    LinearScores,
    Parts,
    SequencePipeline,
    StructuredPerceptron,
    StructuredSVM,
)
from kernelfields.approximation import Nystroem, RandomFourier
from kernelfields.compat.onnx import save_onnx, to_onnx
from kernelfields.datasets import load_letters
from kernelfields.decoders import Abstain, Viterbi
from kernelfields.features import MissingValues, Windows, each
from kernelfields.kernels import RBF, Columns, Laplacian, Linear, Polynomial
from kernelfields.testing.estimators import labelled_sequences

runtime = pytest.importorskip("onnxruntime")

SCALED = [each(StandardScaler()), Windows(3)]
MODELS = {
    "CRF": CRF(),
    "posterior": CRF(decoder="posterior"),
    "edges see features": CRF(parts=Parts(edge_features=LinearScores())),
    "StructuredSVM": StructuredSVM(),
    "StructuredPerceptron": StructuredPerceptron(random_state=0),
    "RBF": KernelCRF(RBF(0.5)),
    "polynomial": KernelCRF(Polynomial(3, gamma=0.5)),
    "sum": KernelCRF(RBF(0.5) * Linear() + 0.5 * Columns(RBF(), [0, 2])),
    "kernel per label": KernelCRF({"red": RBF(0.5), "green": Linear(), "blue": RBF(2.0)}),
    "kernel of edges": KernelCRF("rbf", parts=Parts(edge_kernel=KernelScores(RBF(0.2)))),
    "Nyström": KernelCRF("rbf", basis=Nystroem(8), random_state=0),
    "Fourier": KernelCRF(
        "rbf", basis=RandomFourier(10), parts=Parts(edge_kernel=KernelScores("rbf")), random_state=0
    ),
    "HMM": HMM(),
    "full HMM": HMM("gaussian-full"),
    "pipeline": SequencePipeline(SCALED, CRF()),
    "by itself": SequencePipeline(
        [each(StandardScaler(), per_sequence=True), Windows(5, stride=2, padding="edge")], CRF()
    ),
    "PCA": SequencePipeline(
        [each(RobustScaler()), each(PCA(2, whiten=True)), each(MinMaxScaler((-1, 2)))], CRF()
    ),
    "nested": SequencePipeline(
        [each(MaxAbsScaler())], SequencePipeline([Windows(3, weights=[0.5, 1, 0.5])], CRF())
    ),
}


def session(model, **how):
    return runtime.InferenceSession(
        to_onnx(model, **how).SerializeToString(), providers=["CPUExecutionProvider"]
    )


def compare(model, X, tolerance=1e-9, **how):
    """Everything is the same for every sequence, long or short."""
    run = session(model, **how)
    kind = how.get("dtype", np.float64)
    for x, labels, marginals in zip(X, model.predict(X), model.predict_marginals(X), strict=True):
        found = dict(
            zip([one.name for one in run.get_outputs()], run.run(None, {"X": x.astype(kind)}), strict=True)
        )
        assert found["labels"].tolist() == labels
        assert model.classes_[found["indices"]].tolist() == labels
        np.testing.assert_allclose(found["marginals"], marginals, atol=tolerance)


@pytest.fixture
def data(rng):
    X, y = labelled_sequences(rng, 20)
    return [*X, rng.normal(size=(150, 3)), rng.normal(size=(1, 3))], [
        *y,
        rng.choice(["red", "green", "blue"], 150).tolist(),
        ["red"],
    ]


@pytest.mark.parametrize("name", MODELS)
def test_models(name, data):
    X, y = data
    model = MODELS[name].fit(X, y)
    kernels = isinstance(model, KernelCRF)  # whose values are in single precision
    compare(model, X, 1e-5 if kernels else 1e-9)


def test_single_precision(data):
    X, y = data
    compare(CRF().fit(X, y), X, 1e-4, dtype=np.float32)


@pytest.mark.parametrize("decoder", ["viterbi", "posterior"])
def test_rules(decoder, data):
    X, y = data
    tags = {"red": "O", "green": "B-X", "blue": "I-X"}
    y = [[tags[one] for one in labels] for labels in y]
    for labels in y:
        for t, one in enumerate(labels):
            if one == "I-X" and (t == 0 or labels[t - 1] == "O"):
                labels[t] = "B-X"
    model = CRF(constraints="iob2", decoder=decoder).fit(X, y)
    loose = CRF(decoder=decoder).fit(X, y)
    assert model.predict(X) != loose.predict(X)
    compare(model, X)


def test_recalibration_and_whole_numbers(data):
    X, y = data
    numbers = {"red": 7, "green": -1, "blue": 3}
    y = [[numbers[one] for one in labels] for labels in y]
    model = CRF().fit(X, y)
    before = model.predict_marginals(X)
    model.recalibrate(X, y, method="vector")
    assert any((a != b).any() for a, b in zip(before, model.predict_marginals(X), strict=True))
    compare(model, X)


def test_left_to_right_states(rng):
    """Probabilities of zero are −inf, and stay zero."""
    X, y = [], []
    for n in (5, 9, 3):
        labels = np.sort(rng.integers(0, 3, size=n))
        X.append(np.eye(3)[labels] + 0.5 * rng.normal(size=(n, 3)))
        y.append([f"s{k}" for k in labels])
    model = HMM(constraints="left-right").fit(X, y)
    compare(model, X)
    run = session(model)
    assert run.run(["marginals"], {"X": X[0]})[0][0, 2] < 1


def test_other_labels_are_places(data, tmp_path):
    X, y = data
    names = {"red": ("a", 1), "green": "z", "blue": 3.5}
    model = CRF().fit(X, [[names[one] for one in labels] for labels in y])
    save_onnx(model, tmp_path / "m.onnx")
    run = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    assert [one.name for one in run.get_outputs()] == ["indices", "marginals"]
    indices = run.run(["indices"], {"X": X[3]})[0]
    assert [model.classes_.tolist()[k] for k in indices] == model.predict(X[3:4])[0]


@pytest.mark.parametrize(
    "estimator",
    [CRF(penalty=3.0), KernelCRF(RBF(0.02), penalty=0.1, basis=Nystroem(60), random_state=0)],
)
def test_handwritten_words(estimator):
    """Real words of 3 to 14 letters, with PCA and windows in the graph."""
    letters = load_letters()
    X, y = (part[::20] for part in letters.split(0))
    X_test, _ = (part[::60] for part in letters.split(1))
    model = SequencePipeline([each(PCA(20, random_state=0)), Windows(3)], estimator).fit(X, y)
    assert len({len(x) for x in X_test}) >= 6
    compare(model, X_test, 1e-5)


def test_refusals(data):
    X, y = data
    fitted = CRF().fit(X, y)
    words = [["a", "b"], ["b"]]
    tags = [["x", "y"], ["y"]]
    for message, model, how in (
        ("not fitted yet", CRF(), {}),
        ("must be float64 or float32", fitted, {"dtype": np.int32}),
        ("order one", CRF(structure="chain2").fit(X, y), {}),
        ("order one", CRF(structure="tree").fit([(x, [-1, *range(len(x) - 1)]) for x in X], y), {}),
        ("not Laplacian", KernelCRF(Laplacian()).fit(X, y), {}),
        ("reads tokens", CRF(features="columns: w\nw[0]").fit(words, tags), {}),
        ("reads tokens or missing", CRF(features=MissingValues()).fit(X, y), {}),
        ("Gaussian emissions, not", HMM("categorical").fit(words, tags), {}),
        ("LocalScorer", MEMM().fit(X, y), {}),
        ("decoders Viterbi and Posterior", CRF(decoder=Abstain(Viterbi(), 0.5)).fit(X, y), {}),
        (
            "does not know Each",
            SequencePipeline([each(QuantileTransformer(n_quantiles=5))], CRF()).fit(X, y),
            {},
        ),
        (
            "sequence by sequence",
            SequencePipeline([each(MinMaxScaler(), per_sequence=True)], CRF()).fit(X, y),
            {},
        ),
    ):
        with pytest.raises((InputError, ValueError), match=message):
            to_onnx(model, **how)


def test_without_the_package(data, monkeypatch):
    X, y = data
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"pip install 'kernelfields\[onnx\]'"):
        to_onnx(CRF().fit(X, y))
