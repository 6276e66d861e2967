"""Every estimator, written to a file and read back, is the same model."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import kernelfields
from kernelfields import (
    AROW,
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    Cascade,
    ClassifierMarkovModel,
    FixedScores,
    GPSequenceClassifier,
    HiddenStates,
    HiddenUnitCRF,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelScores,
    LinearScores,
    ModelFormatError,
    Parts,
    PassiveAggressive,
    Run,
    SelfTraining,
    SequenceAdaBoost,
    SequencePipeline,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    StructureLearner,
    TreeScores,
    kernels,
    load,
)
from kernelfields.approximation import IncompleteCholesky, KMeans, LeverageScores, Nystroem, RandomFourier
from kernelfields.constraints import Constraints, LeftRight
from kernelfields.decoders import Abstain, BayesRule, MinimumRisk, Posterior
from kernelfields.emissions import (
    Categorical,
    CategoricalEmissions,
    GaussianMixture,
    SphericalGaussian,
    TiedGaussian,
    UnknownWords,
)
from kernelfields.estimators.registry import RECIPES
from kernelfields.features import (
    DictFeatures,
    MissingValues,
    TemplateFeatures,
    Windows,
    each,
    parse_templates,
)
from kernelfields.lazy import class_at
from kernelfields.losses import Log, MarginalLog, Piecewise, PseudoLikelihood
from kernelfields.models.clique_types import Edges, FurtherKernel, InputEdges
from kernelfields.persistence import files
from kernelfields.selection import (
    SGSA,
    GainBound,
    GreedyCliques,
    ImportVectors,
    InTurn,
    RefitNew,
    WholeSequences,
)
from kernelfields.solvers import LBFGS, OWLQN, BlockFrankWolfe
from kernelfields.testing.estimators import labelled_sequences
from tests._names import shown

TEMPLATES = "columns: w\nw[-1..1]\nsuffix2(w[0])\nw[-1] & w[0]"
WORDS = [["the", "dog", "barks"], ["a", "cat", "sleeps", "now"], ["dogs", "bark"], ["thé", "ca\udc80t"]]
WORD_TAGS = [["D", "N", "V"], ["D", "N", "V", "A"], ["N", "V"], ["D", "N"]]
DICTS = [[{"w": word, "len": len(word) / 5} for word in sentence] for sentence in WORDS]


def dense(rng: np.random.Generator) -> tuple[Any, Any]:
    return labelled_sequences(rng)


def positive(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = labelled_sequences(rng)
    return [np.abs(x) for x in X], y


def scarce(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = labelled_sequences(rng)
    return [sparse.csr_matrix(np.where(x > 0.5, x, 0)) for x in X], y


def tagged(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = labelled_sequences(rng)
    return X, [
        ["B-X" if t == 0 else "I-X" if label == "red" else "O" for t, label in enumerate(s)] for s in y
    ]


def tagged_well(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = tagged(rng)
    for labels in y:
        for t in range(1, len(labels)):
            if labels[t] == "I-X" and labels[t - 1] == "O":
                labels[t] = "B-X"
    return X, y


def words(rng: np.random.Generator) -> tuple[Any, Any]:
    return [sentence[:2] if "\udc80" not in sentence[1] else ["thé", "cat"] for sentence in WORDS], [
        tags[:2] for tags in WORD_TAGS
    ]


def brackets(rng: np.random.Generator) -> tuple[Any, Any]:
    return [["(S (A u) (B v))", "(S (B v))"], ["(S (B v) (A thé))"]], [["a", "b"], ["a"]]


def dictionaries(rng: np.random.Generator) -> tuple[Any, Any]:
    return DICTS[:3], WORD_TAGS[:3]


def numbered(rng: np.random.Generator) -> tuple[Any, Any]:
    return [np.arange(3.0)[:, None], np.array([[2.0], [1.0]])], [["a", "b", "a"], ["b", "a"]]


def gaps(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = labelled_sequences(rng)
    return [np.where(rng.random(x.shape) < 0.1, np.nan, x) for x in X], y


def named(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = tagged_well(rng)
    return [np.column_stack([rng.integers(4, size=len(x)), x]) for x in X], y


def dense_without_labels(rng: np.random.Generator) -> tuple[Any, Any]:
    return labelled_sequences(rng)[0], None


def symbols(rng: np.random.Generator) -> tuple[Any, Any]:
    y = [rng.integers(2, size=8).tolist() for _ in range(10)]
    return [[2 * label + int(rng.integers(3)) for label in labels] for labels in y], y


def symbols_without_labels(rng: np.random.Generator) -> tuple[Any, Any]:
    return symbols(rng)[0], None


def counts(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = labelled_sequences(rng)
    return [np.floor(np.abs(3 * x)) for x in X], y


def bits(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = labelled_sequences(rng)
    return [(x > 0.5).astype(float) for x in X], y


GRAM = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.5]])


def kernel_table() -> list[Any]:
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, RationalQuadratic
    from sklearn.metrics.pairwise import rbf_kernel

    own = [
        (kernels.AdditiveChiSquare(), positive),
        (kernels.ExponentialChiSquare(), positive),
        (kernels.Cosine() + kernels.Constant(0.5), dense),
        (kernels.Hamming(), numbered),
        (kernels.Jaccard(), positive),
        (kernels.Laplacian(gamma=0.3), dense),
        (kernels.Linear() * kernels.RBF(np.float32(0.5)), dense),
        (kernels.Matern(), dense),
        (kernels.Normalized(kernels.Polynomial(degree=3)), dense),
        (2.0 * kernels.RBF() ** 2, dense),
        (kernels.Tanimoto(), positive),
        (kernels.Spectrum(), words),
        (kernels.Normalized(kernels.Subsequence(decay=0.4)), words),
        (kernels.Normalized(kernels.TreeFragments(decay=0.3)), brackets),
        (kernels.WindowSum(kernels.RBF(), width=3), dense),
        (kernels.WindowProduct(kernels.RBF(), width=3), dense),
        (kernels.Columns(kernels.RBF(), slice(0, 2)) + kernels.Columns(kernels.Linear(), [2]), dense),
        (kernels.Precomputed(GRAM), numbered),
        (kernels.GaussianProcessKernel(RationalQuadratic(alpha=0.7)), dense),
        (ConstantKernel(2.0) * RBF([1.0, 2.0, 3.0]), dense),
        (kernels.MatrixFunction(rbf_kernel, {"gamma": 0.5}), dense),
        ("linear", dense),
    ]
    return [pytest.param(KernelCRF(kernel), data, id=shown(kernel)) for kernel, data in own]


MODELS = [
    (CRF(), dense),
    (CRF(features=MissingValues("interpolate", indicators=True)), gaps),
    (KernelCRF(kernels.Expected(kernels.Standardized(kernels.RBF("scale")))), gaps),
    (CRF(structure="chain2"), dense),
    (CRF(parts=Parts(edge_features=LinearScores()), loss=Log(class_weight={"red": 2.0})), dense),
    (CRF(parts=Parts(bias=None, boundaries=None), decoder=Posterior()), dense),
    (CRF(l1=0.1, penalty=0.01, solver=OWLQN(memory=5)), dense),
    (CRF(loss=Log(np.array([[0.0, 1, 1], [2, 0, 1], [1, 1, 0]]))), dense),
    (CRF(loss=PseudoLikelihood(class_weight="balanced")), dense),
    (CRF(loss=Piecewise(class_weight={"red": 2.0})), dense),
    (CRF(loss=MarginalLog(class_weight={"red": 2.0})), dense),
    (HiddenUnitCRF(n_units=2, loss=Log("hamming"), random_state=0), dense),
    (CRF(loss="marginal-log", solver=LBFGS(memory=7), random_state=np.random.RandomState(3)), dense),
    (CRF(observed_only=True), scarce),
    (CRF(), scarce),
    (CRF(constraints="iob2"), tagged_well),
    (
        CRF(constraints=Constraints(forbidden_pairs=[("red", "red2")]), decoder=Abstain(Posterior(), 0.5)),
        dense,
    ),
    (CRF(decoder=BayesRule(vertex_cost=np.array([[0.0, 1, 2], [1, 0, 1], [3, 1, 0]]))), dense),
    (CRF(features=TEMPLATES), words),
    (CRF(features=TEMPLATES, observed_only=True), words),
    (CRF(features=TemplateFeatures(parse_templates(TEMPLATES), n_hash=64, dtype="float32")), words),
    (CRF(), dictionaries),
    (CRF(features=DictFeatures(min_count=1)), dictionaries),
    (KernelCRF(), dense),
    (KernelCRF(), scarce),
    (KernelCRF(run=Run(dtype=np.float64), structure="chain2"), dense),
    (KernelCRF("linear", features=TEMPLATES), words),
    (KernelCRF(["rbf", kernels.Linear()], penalty=[1.0, 2.0]), dense),
    (KernelCRF({"red": "rbf", "green": "rbf", "blue": kernels.Linear()}), dense),
    (KernelCRF(parts=Parts(edge_kernel=KernelScores())), dense),
    (KernelCRF(parts=Parts(edge_kernel=KernelScores("linear"))), dense),
    (KernelCRF(parts=Parts(kernel=KernelScores(labels=np.eye(3) + 0.5))), dense),
    (KernelCRF(parts=Parts(known=FixedScores({"red": -1.0, "blue": 0.5}))), dense),
    (KernelCRF(constraints="iob2"), tagged_well),
    (KernelCRF(parts=Parts(edges=None, boundaries=None)), dense),
    (KernelCRF(basis="cholesky"), dense),
    (KernelCRF(basis=IncompleteCholesky(rank=5, scratch=Path())), scarce),
    (KernelCRF(basis=Nystroem(rank=6, landmarks=KMeans()), random_state=0), dense),
    (KernelCRF(basis=Nystroem(rank=6, landmarks=LeverageScores()), random_state=0), dense),
    (KernelCRF(basis=RandomFourier(rank=8), random_state=0), dense),
    (KernelCRF(basis="fourier", parts=Parts(edge_kernel=KernelScores()), random_state=0), dense),
    (GPSequenceClassifier(4 * kernels.RBF()), dense),
    (StructuredPerceptron(random_state=0), dense),
    (StructuredPerceptron(features=TEMPLATES, random_state=0), words),
    (PassiveAggressive(random_state=0), dense),
    (PassiveAggressive(observed_only=True, random_state=0), scarce),
    (AROW(random_state=0), dense),
    (MEMM(), dense),
    (MEMM(features=TEMPLATES), words),
    (SequenceAdaBoost(10), dense),
    (SequenceAdaBoost(10, features=TEMPLATES), words),
    (ClassifierMarkovModel(KernelLogisticRegression("linear")), dense),
    (ClassifierMarkovModel(KernelLogisticRegression("linear"), kind="pmm"), scarce),
    (StochasticCRF(max_iter=2, random_state=0), dense),
    (StochasticCRF(max_iter=2, features=TEMPLATES, random_state=0), words),
    (StructuredSVM(tol=0.1), dense),
    (StructuredSVM(tol=0.1, structure="chain2", constraints="iob2", warm_start=True), tagged_well),
    (StructuredSVM(tol=0.1, cost={"red": 2.0}, solver=BlockFrankWolfe(seed=3)), scarce),
    (StructuredSVM(tol=0.1, features=TEMPLATES, rescaling="slack", solver="n-slack"), words),
    (StructuredSVM(kernels.RBF(), tol=0.1), dense),
    (StructuredSVM({"red": "rbf", "green": "rbf", "blue": kernels.Linear()}, tol=0.1), dense),
    (KernelPerceptron(kernels.RBF(), max_iter=3, random_state=0), dense),
    (KernelPerceptron("linear", combination="voted", max_iter=3, random_state=0), dense),
    (KernelPerceptron("linear", combination="voted", budget=4, max_iter=3, random_state=0), scarce),
    (KernelPerceptron("linear", max_iter=3, random_state=0), dictionaries),
    (BoostedCRF(2, min_samples_leaf=2, random_state=0), gaps),
    (
        BoostedCRF(
            2, min_samples_leaf=2, parts=Parts(edge_trees=TreeScores()), structure="chain2", random_state=0
        ),
        dense,
    ),
    (BoostedCRF(2, min_samples_leaf=2, categorical=[0], constraints="iob2", random_state=0), named),
    (BoostedCRF(1, min_samples_leaf=1000, random_state=0), dense),
    (HMM("gaussian"), gaps),
    (HMM("gaussian-spherical"), dense),
    (HMM("gaussian-full", constraints=LeftRight(), n_states=3), dense_without_labels),
    (HMM(TiedGaussian(0.1)), dense),
    (HMM(GaussianMixture(2, SphericalGaussian(0.1))), dense),
    (HMM("gaussian-mixture", n_states=2, max_iter=3, tol=0, random_state=0), dense_without_labels),
    (HMM("categorical"), words),
    (HMM(Categorical(unknown=UnknownWords(least=1))), words),
    (HMM("categorical", n_states=2, max_iter=2, tol=0, random_state=0), symbols),
    (HMM(Categorical(symbols=5)), symbols),
    (HMM(CategoricalEmissions(np.full((2, 5), 0.2)), max_iter=2, tol=0), symbols_without_labels),
    (HMM("poisson"), counts),
    (HMM("multinomial"), counts),
    (HMM("bernoulli"), bits),
    (Cascade(CRF(), CRF(), window=3, folds=2, random_state=0), dense),
    (
        Cascade(
            HMM(),
            BoostedCRF(2, random_state=0),
            folds=2,
            window=3,
            refit=False,
            keep_inputs=True,
            random_state=0,
        ),
        dense,
    ),
    (Cascade(CRF(features=TEMPLATES), KernelCRF(), folds=2, window=1, random_state=0), words),
    (GPSequenceClassifier("rbf", sparse=True, random_state=0), dense),
    (GPSequenceClassifier("rbf", sparse=SGSA(size=6, order=InTurn()), random_state=0), dense),
    (GPSequenceClassifier("rbf", sparse=WholeSequences(size=4), warm_start=True, random_state=0), dense),
    (KernelCRF(basis=GreedyCliques(size=6, by=GainBound(50), refit=RefitNew(4))), scarce),
    (KernelCRF(["rbf", "linear"], basis=GreedyCliques(size=6), random_state=0), dense),
    (
        KernelCRF(
            basis=GreedyCliques(size=6), parts=Parts(edge_kernel=KernelScores("linear")), random_state=0
        ),
        dense,
    ),
    (
        SelfTraining(KernelLogisticRegression("rbf"), k_best=3),
        dense,
    ),
    (SequencePipeline([each(StandardScaler()), Windows(3, weights=[0.5, 1, 0.5])], CRF()), dense),
    (SequencePipeline([each(RobustScaler(), per_sequence=True)], KernelCRF()), dense),
    (SequencePipeline([MissingValues(), each(PCA(2))], HMM()), dense),
    (SequencePipeline([Windows(3), each(MaxAbsScaler())], CRF()), scarce),
    (SequencePipeline([each(MinMaxScaler())], SequencePipeline([Windows(3)], CRF())), dense),
    (HiddenStates(CRF(features=TEMPLATES), n_init=1, random_state=0), words),
    (HiddenStates(CRF(constraints="iob2"), n_init=1, random_state=0), named),
    (HiddenStates(KernelCRF(structure="chain2"), method="em", share=0.5, n_init=1, random_state=0), dense),
    (HiddenUnitCRF(n_units=3, constraints="iob2", random_state=0), named),
    (HiddenUnitCRF(n_units=3, features=TEMPLATES, random_state=0), words),
    (
        StructureLearner(
            KernelCRF(parts=Parts(edges=None)),
            candidates=[Edges(), InputEdges(kernels.Linear()), FurtherKernel("linear", 2.0)],
        ),
        dense,
    ),
]


@pytest.mark.parametrize(
    ("model", "data"), [*(pytest.param(m, d, id=shown(m)[:60]) for m, d in MODELS), *kernel_table()]
)
def test_round_trip(model: Any, data: Any, rng: np.random.Generator, tmp_path: Path) -> None:
    """Predictions are the same to the last bit, settings and attributes as they were."""
    X, y = data(rng)
    model = copy.deepcopy(model).fit(X, y)
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert type(again) is type(model)
    if not any(word in repr(model) for word in ("<", "Path(", "RandomState")):
        assert repr(again) == repr(model)
    assert again.predict(X) == model.predict(X)
    for left, right in zip(again.predict_marginals(X), model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(left, right)
    assert again.classes_.dtype == model.classes_.dtype
    assert vars(again).keys() == vars(model).keys() - set(model._transient)
    assert again.certificate_ == model.certificate_ if hasattr(model, "certificate_") else True
    again.save(tmp_path / "again.kf")
    assert (tmp_path / "again.kf").read_bytes() == (tmp_path / "model.kf").read_bytes()
    assert pickle.loads(pickle.dumps(again)).predict(X) == model.predict(X)
    again.fit(X, y)


def test_kernel_logistic_regression(rng: np.random.Generator, tmp_path: Path) -> None:
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    for settings in (
        {},
        {"basis": "nystroem", "random_state": 1},
        {"penalty": 0.1},
        {"basis": ImportVectors(4, refit=RefitNew(4)), "random_state": 1},
    ):
        model = KernelLogisticRegression(**settings).fit(X, y)
        model.save(tmp_path / "model.kf")
        again = load(tmp_path / "model.kf")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert vars(again).keys() == vars(model).keys()
        assert repr(again) == repr(model)


@pytest.mark.parametrize(
    "names",
    [
        ("red", "green", "blue"),
        (1, 2, 3),
        (1.5, float("inf"), -2.0),
        (True, False, "x"),
        (("a", 1), "z", 3.5),
        (b"\xff", frozenset({1}), 10**30),
        (np.int64(1), np.str_("x"), "\ud800"),
    ],
)
def test_labels_keep_their_types(names: tuple[Any, ...], rng: np.random.Generator, tmp_path: Path) -> None:
    X, y = labelled_sequences(rng)
    rename = dict(zip(("red", "green", "blue"), names, strict=True))
    model = CRF().fit(X, [[rename[label] for label in labels] for labels in y])
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.predict(X) == model.predict(X)
    assert [type(label) for label in again.classes_.tolist()] == [
        type(label) for label in model.classes_.tolist()
    ]


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (KernelCRF(kernels.PairFunction(lambda x, z: float(x @ z))), "The kernel is a Python function"),
        (KernelCRF(lambda X, Z: np.asarray(X) @ np.asarray(Z).T), "kernel is a function"),
        (
            KernelCRF(parts=Parts(known=FixedScores(lambda X: np.zeros((X.shape[0], 3))))),
            r"parts\.known\.measure is a function",
        ),
        (CRF(decoder=MinimumRisk(lambda y, z: 0.0)), "decoder is of type MinimumRisk"),
    ],
)
def test_functions_cannot_be_saved(model: Any, what: str, rng: np.random.Generator, tmp_path: Path) -> None:
    model.fit(*labelled_sequences(rng))
    with pytest.raises(InputError, match=f"{what}, which a model file cannot hold"):
        model.save(tmp_path / "model.kf")
    assert list(tmp_path.iterdir()) == []


def test_labels_that_are_objects_cannot_be_saved(rng: np.random.Generator, tmp_path: Path) -> None:
    X, y = labelled_sequences(rng)
    things = {name: type(name, (), {})() for name in ("red", "green", "blue")}
    model = CRF().fit(X, [[things[label] for label in labels] for labels in y])
    with pytest.raises(InputError, match="which a model file cannot hold"):
        model.save(tmp_path / "model.kf")


def test_every_estimator_has_a_name_in_files() -> None:
    public = [getattr(kernelfields, name) for name in kernelfields.__all__]
    estimators = {one for one in public if isinstance(one, type) and hasattr(one, "fit")}
    assert estimators == set(map(class_at, RECIPES.values()))


def test_a_cascade_of_others_cannot_be_saved(rng: np.random.Generator, tmp_path: Path) -> None:
    class Mine(CRF):
        pass

    X, y = labelled_sequences(rng)
    model = Cascade(Mine(), CRF(), folds=2, window=1, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="Mine is none of the estimators"):
        model.save(tmp_path / "model.kf")


def test_what_is_learnt_must_be_declared(rng: np.random.Generator, tmp_path: Path) -> None:
    model = CRF().fit(*labelled_sequences(rng))
    model.note = "mine"  # no attribute of a fit
    model.save(tmp_path / "model.kf")
    model.more_ = 1
    with pytest.raises(TypeError, match="CRF does not declare more_ in _learnt"):
        model.save(tmp_path / "model.kf")


def test_compact_models(rng: np.random.Generator, tmp_path: Path) -> None:
    X, y = labelled_sequences(rng)
    model = KernelCRF().fit(X, y).compact()
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").predict(X) == model.predict(X)


def test_only_fitted_models_are_saved(tmp_path: Path) -> None:
    for model in (CRF(), KernelCRF(), KernelLogisticRegression(), MEMM(), AROW(random_state=0)):
        with pytest.raises(ValueError, match="not fitted"):
            model.save(tmp_path / "model.kf")


def test_subclasses_are_not_taken_for_their_parents(rng: np.random.Generator, tmp_path: Path) -> None:
    class Mine(CRF):
        pass

    with pytest.raises(InputError, match="Mine is none of the estimators"):
        Mine().fit(*labelled_sequences(rng)).save(tmp_path / "model.kf")


def test_callbacks_stay_behind(rng: np.random.Generator, tmp_path: Path) -> None:
    CRF(run=Run(callback=lambda progress: None)).fit(*labelled_sequences(rng)).save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").run == Run()


def test_provenance(rng: np.random.Generator, tmp_path: Path) -> None:
    """The hash is that of the data: other labels, other hash; other settings, the same."""
    X, y = labelled_sequences(rng)
    first, second = CRF().fit(X, y), CRF(penalty=2.0).fit(X, y)
    assert first.provenance_.data_hash == second.provenance_.data_hash
    y[0][0] = "green" if y[0][0] != "green" else "red"
    assert CRF().fit(X, y).provenance_.data_hash != first.provenance_.data_hash
    X[0][0, 0] += 1e-9
    assert CRF().fit(X, y).provenance_.data_hash != CRF().fit(X[::-1], y[::-1]).provenance_.data_hash
    assert first.provenance_.sequences == len(X)
    assert first.provenance_.positions == sum(map(len, X))
    assert first.provenance_.versions["kernelfields"] == kernelfields.__version__


def test_origins_of_basis_functions(rng: np.random.Generator) -> None:
    X, y = labelled_sequences(rng)
    X.append(X[0][:1].copy())  # once more what was there
    y.append(y[0][:1])
    some = Nystroem(rank=6)
    for model in (
        KernelCRF(),
        KernelCRF(parts=Parts(edge_kernel=KernelScores("linear"))),
        KernelCRF(basis=some, random_state=0),
    ):
        model.fit(X, y)
        assert len(model.basis_origin_) == len(model.basis_)
        for row, (s, t) in zip(model.basis_, model.basis_origin_, strict=True):
            np.testing.assert_array_equal(row, X[s][t].astype(np.float32))
        assert (model.basis_origin_[:, 0] < len(X) - 1).all()
    made = KernelCRF(basis=Nystroem(rank=4, landmarks=KMeans()), random_state=0).fit(X, y)
    assert (made.basis_origin_ == -1).all()
    sparse_X = [sparse.csr_matrix(np.where(x > 0.5, x, 0)) for x in X]
    model = KernelCRF(basis="cholesky").fit(sparse_X, y)
    for row, (s, t) in zip(model.basis_.toarray(), model.basis_origin_, strict=True):
        np.testing.assert_array_equal(row, sparse_X[s].toarray()[t].astype(np.float32))


class TestLargeFiles:
    """What is read only when it is used: here everything, as if files were large."""

    @pytest.fixture(autouse=True)
    def nothing_is_small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "SMALL", -1)

    def test_arrays_wait(self, rng: np.random.Generator, tmp_path: Path) -> None:
        X, y = labelled_sequences(rng)
        model = CRF().fit(X, y)
        model.save(tmp_path / "model.kf")
        again = load(tmp_path / "model.kf")
        assert "coef_" not in vars(again)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        assert vars(again).keys() == vars(model).keys()
        assert not hasattr(again, "nonsense_")
        for other in (copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))):
            assert other(load(tmp_path / "model.kf")).predict(X) == model.predict(X)

    def test_many_threads_may_be_first(self, rng: np.random.Generator, tmp_path: Path) -> None:
        X, y = labelled_sequences(rng)
        model = CRF().fit(X, y)
        model.save(tmp_path / "model.kf")
        for _ in range(5):
            again = load(tmp_path / "model.kf")
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda _, again=again: again.predict(X), range(8)))
            assert found == [model.predict(X)] * 8

    @pytest.mark.parametrize("model", [CRF(), KernelCRF(), KernelLogisticRegression(), AROW(random_state=0)])
    def test_damage_is_found_before_use(self, model: Any, rng: np.random.Generator, tmp_path: Path) -> None:
        X, y = labelled_sequences(rng)
        model.fit(X, y)
        path = tmp_path / "model.kf"
        model.save(path)
        broken = bytearray(path.read_bytes())
        broken[-1] ^= 1
        path.write_bytes(broken)
        again = load(path)
        for _ in range(2):
            with pytest.raises(ModelFormatError, match="checksum"):
                again.predict(X)
        with pytest.raises(ModelFormatError, match="checksum"):
            again.save(tmp_path / "other.kf")

    def test_nested_models_wait_too(self, rng: np.random.Generator, tmp_path: Path) -> None:
        X = rng.normal(size=(30, 2))
        model = KernelLogisticRegression().fit(X, X[:, 0] > 0)
        model.save(tmp_path / "model.kf")
        again = load(tmp_path / "model.kf")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
