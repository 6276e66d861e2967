"""Model files that are wrong: each is refused with the reason, whatever is wrong with it."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelfields import CRF, InputError, KernelCRF, ModelFormatError, load
from kernelfields.errors import InfeasibleError, ScoreError
from kernelfields.io.container import Container, write_container
from kernelfields.losses import Log, MarginalLog, Piecewise, VariationalEM
from kernelfields.persistence import files
from kernelfields.structures import MultiLabel
from kernelfields.tables import LOSSES
from tests.fuzz.mutations import mutate, repair
from tests.regression.write import models as written

SEEDS = sorted((Path(__file__).parents[1] / "regression").rglob("*.kf"))
NEWEST = SEEDS[-1].parent


def altered(name: str, change: Callable[[dict[str, Any], dict[str, Any]], None], folder: Path) -> Path:
    """A file whose header and arrays were changed, with new checksums."""
    found = Container(NEWEST / f"{name}.kf")
    arrays = {key: found.array(key).copy() for key in found.tensors}
    header = found.header
    change(header, arrays)
    write_container(folder / "altered.kf", arrays, header)
    return folder / "altered.kf"


def model_of(header: dict[str, Any]) -> dict[str, Any]:
    return header["model"]


def setting(name: str, value: Any) -> Callable[[Any, Any], None]:
    return lambda header, arrays: model_of(header)["parameters"].__setitem__(name, value)


def state(name: str, value: Any) -> Callable[[Any, Any], None]:
    return lambda header, arrays: model_of(header)["state"].__setitem__(name, value)


def array(name: str, value: Any) -> Callable[[Any, Any], None]:
    return lambda header, arrays: arrays.__setitem__(name, np.asarray(value))


def nested(depth: int) -> Any:
    node: Any = 1
    for _ in range(depth):
        node = [node]
    return node


def symbols_of(header: dict[str, Any]) -> list[Any]:
    """Symbols of a vocabulary that are no texts, the one that stands for all unknown words last."""
    others = model_of(header)["state"]["emissions_"]["parts"]["vocabulary"]["parts"]["others"]
    return sorted(others, key=lambda other: other[1]["parts"]["shape"] == "any")


def field_of(header: dict[str, Any]) -> dict[str, Any]:
    """What a classifier among others has learnt."""
    return model_of(header)["state"]["classifiers_"][0]["$model"]["state"]["_field"]["$model"]


def abstaining(threshold):
    """An object of a decoder."""
    inner = {"$object": "Viterbi", "parts": {}}
    return {"$object": "Abstain", "parts": {"decoder": inner, "threshold": threshold}}


def trail(**parts: Any) -> Callable[[Any, Any], None]:
    """What learning goes on with, some of it wrong."""
    known = {"sequences": 4, "steps": 8, "averaged": 9, "step": None, "last": None, "variance": None}
    return state("_trail", {"$object": "Trail", "parts": {**known, **parts}})


def record(name: str, kind: str, **parts: Any) -> Callable[[Any, Any], None]:
    """Something that was learnt, of a class with these parts."""
    return state(name, {"$object": kind, "parts": parts})


CERTIFICATE = {"value": 1.0, "lower_bound": 0.5, "exact": True}
LAYOUT = {"links": None, "own": False, "shape": None, "covariates": False}
PROVENANCE = {"data_hash": "", "sequences": 1, "positions": 1, "features": 3, "date": ""}


def filling(**parts: Any) -> Callable[[Any, Any], None]:
    """What fills in missing numbers, some of it wrong."""
    known = {"method": "mean", "mean_": {"$array": "start_"}, "covariance_": None, "n_features_in_": 3}
    columns = {"indicated_": {"$array": "columns"}, "feature_names_in_": None}

    def change(header: Any, arrays: Any) -> None:
        arrays["columns"] = np.array([0, 7])
        model_of(header)["state"]["features_"] = {
            "$object": "MissingValues",
            "parts": {**known, **columns, **parts},
        }

    return change


def missing_weights(header: Any, arrays: Any) -> None:
    """NaN announced where no observations are."""
    arrays["coef_"] = np.full((3, 3), np.nan)
    model_of(header)["state"]["coef_"]["missing"] = True


HOSTILE = [
    ("crf", missing_weights, "holds NaN"),
    ("crf", filling(), "MissingValues do not fit each other"),
    ("crf", filling(indicated_={"$array": "start_"}), "MissingValues do not fit each other"),
    ("crf", filling(method=3), "takes method of type str"),
    ("markov-field", state("layout_", 3), "layout_ is of type int"),
    ("markov-field", record("layout_", "FieldLayout", **LAYOUT | {"own": True}), "links that are none"),
    ("markov-field", record("layout_", "FieldLayout", **LAYOUT | {"shape": 3}), "a shape that is none"),
    (
        "crf",
        record("certificate_", "Certificate", **CERTIFICATE | {"value": "x"}),
        "takes value of type float",
    ),
    (
        "crf",
        record("certificate_", "Certificate", **CERTIFICATE | {"value": None}),
        "takes value of type float",
    ),
    (
        "crf",
        record("provenance_", "Provenance", **PROVENANCE, versions={"$dict": [[1, ""]]}),
        "takes versions of type dict",
    ),
    ("structure-learner", state("trials_", ["x"]), "trials_ has items that are no Trial"),
    ("label-propagation", state("vertices_", None), "describes no model"),
    ("label-spreading", lambda h, a: model_of(h)["state"].pop("vertices_"), "describes no model"),
    ("label-spreading", state("graph_", "precomputed"), "describes no model"),
    (
        "sequence-pipeline",
        lambda h, a: model_of(h)["state"]["estimator_"]["$model"].pop("state"),
        "describes no model.*not fitted",
    ),
    ("markov-field", array("edge_coef_", np.ones((2, 3, 3))), "edge_coef_ has shape"),
    ("arow", trail(steps=-1), "_trail has counts that are none"),
    ("arow", trail(averaged=0), "_trail has counts that are none"),
    ("arow", trail(step=-0.5), "_trail has a step that is none"),
    ("arow", state("_trail", 3), "_trail is no record of learning"),
    (
        "crf",
        lambda h, a: h.__setitem__("format", files.FORMAT + 1),
        f"format {files.FORMAT + 1}, of a later kernelfields",
    ),
    ("crf", lambda h, a: h.__setitem__("format", True), "does not say what model"),
    ("crf", lambda h, a: h.__setitem__("format", "1"), "does not say what model"),
    ("crf", lambda h, a: h.pop("model"), "does not say what model"),
    ("crf", lambda h, a: model_of(h).__setitem__("recipe", "os.system"), "no estimator 'os.system'"),
    ("crf", lambda h, a: model_of(h).__setitem__("recipe", ["crf"]), "describes no model"),
    ("crf", setting("penalty", "high"), "takes penalty of type float, not str"),
    ("crf", setting("danger", 1), "no setting 'danger'"),
    ("crf", setting("decoder", {"$object": "eval", "parts": {}}), "unknown class 'eval'"),
    ("crf", setting("decoder", {"$object": "RBF", "parts": {}}), "takes decoder of type"),
    ("crf", setting("decoder", {"$object": "Abstain", "parts": {"threshold": "x"}}), "takes threshold"),
    ("crf", setting("decoder", abstaining(2.0)), "threshold is 2.0"),
    ("crf", setting("decoder", "oracle"), "decoder='oracle' is not known"),
    ("crf", setting("base_measure", nested(60)), "nested more than"),
    ("crf", setting("solver", {"$pickle": "x"}), "no values of the kind '\\$pickle'"),
    ("crf", state("coef_", None), "coef_ is no array"),
    ("crf", state("danger_", 1), "learns no 'danger_'"),
    ("crf", state("coef_", {"$array": "start_"}), "coef_ has 1 axes, expected 2"),
    ("crf", state("n_features_in_", 7), "expected \\(3, 7\\)"),
    ("crf", state("n_features_in_", 1.5), "n_features_in_ is of type float"),
    ("label-propagation", state("n_features_in_", False), "n_features_in_ is of type bool"),
    ("crf", state("coef_", {"$array": "coef_", "axes": [0, 0]}), "other axes"),
    ("crf", lambda h, a: model_of(h)["labels"].append("more"), "expected \\(4,"),
    ("crf", lambda h, a: model_of(h).__setitem__("labels", ["a", "a", "b"]), "occurs twice"),
    ("crf", lambda h, a: model_of(h).__setitem__("labels", ["a", None, "b"]), "occurs twice, or is none"),
    ("crf", lambda h, a: model_of(h).__setitem__("labels", [["a"], "c", "b"]), "describes no model"),
    ("crf", array("coef_", np.full((3, 3), np.nan)), "holds NaN"),
    ("crf", array("coef_", np.full((3, 3), np.inf)), "holds NaN or infinity"),
    ("crf", array("coef_", np.ones((3, 3), np.int64)), "array of int64"),
    ("crf", array("transitions_", np.ones((3, 2))), "transitions_ has shape"),
    ("kernel-crf-nystroem", array("dual_coef_", np.ones((4, 3))), "dual_coef_ has shape"),
    ("kernel-crf-fourier", array("dual_coef_", np.ones((7, 3))), "fourier_ has size"),
    ("kernel-crf", state("_kernels", {"$object": "RBF", "parts": {}}), "_kernels is no set of kernels"),
    ("kernel-crf", state("edge_kernel_", None), "describes no model"),
    ("kernel-crf", state("forbidden_", {"$tuple": [1, 2, 3]}), "forbidden_ is not made of masks"),
    ("crf", lambda h, a: model_of(h).pop("state"), "nothing learnt"),
    ("structured-svm", state("coef_", None), "describes no model"),
    ("structured-svm", setting("cost", {"$object": "eval", "parts": {}}), "unknown class 'eval'"),
    ("structured-svm-kernel", array("dual_coef_", np.ones((2, 2))), "dual_coef_ has shape"),
    ("structured-svm-kernel", state("_kernels", None), "describes no model"),
    ("stochastic-crf", array("transitions_", np.ones((3, 2))), "transitions_ has shape"),
    ("hmm", array("start_", np.array([2.0, -1.0, 0.0])), "start_ has numbers that are no probability"),
    ("hmm", state("emissions_", {"$object": "RBF", "parts": {}}), "emissions_ are no emissions"),
    ("hmm", setting("emissions", 3), "takes emissions of type"),
    ("hmm", array("emissions_.means", np.zeros((3, 2))), "describes no model.*covariances have shape"),
    ("hmm", array("emissions_.covariances", -np.ones((3, 3, 3))), "not positive definite"),
    ("hmm", array("emissions_.covariances", np.ones((3, 3))), "not an array with 3 axes"),
    ("hmm", lambda h, a: model_of(h)["state"].__setitem__("n_features_in_", 4), "emissions_ has size"),
    ("hmm-mixture", array("emissions_.weights", np.full((3, 3), 0.3)), "differ in number"),
    ("hmm-words", array("emissions_.probabilities", np.full((3, 2), 0.5)), "vocabulary of emissions"),
    ("hmm-counts", array("emissions_.rates", np.full((3, 3), -1.0)), "rates of emissions is not between"),
    ("hmm-bernoulli", array("emissions_.probabilities", np.full((3, 3), 2.0)), "is not between 0.0 and 1.0"),
    ("kernel-perceptron", array("_changes.rows", np.array([], np.int64)), "_changes has shape"),
    (
        "kernel-perceptron",
        lambda h, a: a["_changes.rows"].__setitem__(0, len(a["dual_coef_"])),
        "_changes have rows that are none",
    ),
    (
        "kernel-perceptron",
        lambda h, a: a["_changes.ends"].__setitem__(0, 99),
        "_changes have rows that are none",
    ),
    ("hmm-words", lambda h, a: symbols_of(h)[-1].__setitem__(1, "?"), "no symbol for unknown words"),
    ("hmm-words", lambda h, a: symbols_of(h)[-1].__setitem__(0, 99), "positions beyond its size"),
    ("hmm-words", lambda h, a: symbols_of(h)[1].__setitem__(1, symbols_of(h)[0][1]), "symbol twice"),
    ("kernel-perceptron", state("_changes", []), "_changes are no changes"),
    ("kernel-crf-selection", state("_kernels", {"$tuple": [1, 2]}), "no set of kernels"),
    (
        "kernel-crf-selection",
        setting("selection", {"$object": "RBF", "parts": {}}),
        "takes basis of type",
    ),
    ("classifier-markov-model", state("classifiers_", []), "classifiers_ is no list of classifiers"),
    ("classifier-markov-model", state("classifiers_", [1]), "classifiers_ has classifiers that are none"),
    (
        "classifier-markov-model",
        lambda h, a: field_of(h).__setitem__("labels", [0, 1, 3]),
        "classifiers_ has classifiers of other labels",
    ),
    ("classifier-markov-model", state("n_features_in_", 4), "classifiers_ has classifiers of other features"),
    ("classifier-markov-model", state("kind_", "pmm"), "describes no model"),
    ("classifier-markov-model", array("trust_", np.array([2.0])), "trust_ has numbers that are no prob"),
    ("cascade", state("first_", []), "first_ is no list of models"),
    ("cascade", state("first_", [1]), "first_ is no list of models"),
    ("cascade", state("second_", 7), "second_ is of type int"),
    ("cascade", lambda h, a: model_of(h)["state"]["second_"]["$model"].pop("state"), "describes no model"),
    ("cascade", lambda h, a: model_of(h)["labels"].pop(), "describes no model"),
    ("structure-learner", state("model_", None), "model_ is of type NoneType"),
]


def part(name: str, place: Any, value: Any) -> Callable[[Any, Any], None]:
    """Change one entry of an array."""
    return lambda header, arrays: arrays["forests_.0." + name].__setitem__(place, value)


TREES = [
    (part("children", (0, 0), 10**6), "does not come behind its parent"),
    (part("children", (0, 1), -1), "does not come behind its parent"),
    (part("children", (0, 0), 0), "does not come behind its parent"),  # round and round
    (part("children", (0, 1), 3), "does not come behind its parent"),  # the next tree
    (part("features", 0, 2), "column that there is not"),
    (part("features", 0, -1), "column that there is not"),
    (part("leaves", slice(None), False), "does not come behind its parent"),
    (part("sets", slice(None), 99), "set of names that there is not"),
    (part("places", slice(None), 9), "names in a column that has none"),
    (part("sizes", 0, -3), "do not come in rounds"),
    (part("sizes", 0, 10**9), "do not fit one another"),
    (part("values", 0, np.inf), "holds NaN or infinity"),
    (array("forests_.0.children", np.zeros((1, 2), np.int32)), "do not fit one another"),
    (array("forests_.0.children", np.zeros((9, 2))), "no array of its kind"),
    (array("forests_.0.known", np.zeros((0, 8), np.uint32)), "names in a column that has none"),
    (array("forests_.0.left_sets", np.zeros((0, 8), np.uint32)), "another shape"),
    (array("forests_.0.places", np.zeros(3, np.int32)), "column that there is not|look at other columns"),
    (lambda h, a: model_of(h)["state"].__setitem__("forests_", {"$dict": []}), "not those of vertices"),
    (lambda h, a: model_of(h)["labels"].pop(), "expected|another number of labels"),
]


@pytest.mark.parametrize(("change", "reason"), TREES)
def test_trees_that_lead_out_of_their_arrays_or_round_and_round(
    change: Any, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelFormatError, match=reason):
        load(altered("boosted-crf", change, tmp_path))


@pytest.mark.parametrize(("name", "change", "reason"), HOSTILE)
def test_hostile_headers(name: str, change: Any, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=reason):
        load(altered(name, change, tmp_path))


def tensor_ending(arrays: dict[str, Any], end: str) -> str:
    return next(name for name in arrays if name.endswith(end))


@pytest.mark.parametrize("end", ["indices", "indptr", "data"])
@pytest.mark.parametrize("value", [-1, 10**6])
def test_sparse_weights_that_lead_out_of_their_arrays(end: str, value: int, tmp_path: Path) -> None:
    def change(header: Any, arrays: dict[str, Any]) -> None:
        name = tensor_ending(arrays, f"coef_.{end}")
        arrays[name] = (
            arrays[name][1:] if end == "data" else np.r_[arrays[name][:-1], arrays[name].dtype.type(value)]
        )

    with pytest.raises(ModelFormatError, match="sparse matrix"):
        load(altered("crf-dicts", change, tmp_path))


def test_sparse_weights_whose_differences_overflow(tmp_path: Path) -> None:
    """Compiled code of SciPy would follow them out of its arrays."""

    def change(header: Any, arrays: dict[str, Any]) -> None:
        arrays[tensor_ending(arrays, "coef_.indptr")][5:7] = 8_323_331, -2_147_451_136

    with pytest.raises(ModelFormatError, match="sparse matrix"):
        load(altered("crf-dicts", change, tmp_path))


@pytest.mark.parametrize("value", [-1, 2**30])
def test_vocabularies_that_lead_out_of_their_arrays(value: int, tmp_path: Path) -> None:
    found = Container(NEWEST / "crf-words.kf")
    names = [name for name in found.tensors if "vocabulary" in name]
    assert len(names) == 4
    for name in names:

        def change(header: Any, arrays: dict[str, Any], name: str = name) -> None:
            arrays[name][-1] = value if arrays[name].dtype != np.uint8 else 255

        try:
            model = load(altered("crf-words", change, tmp_path))
        except ModelFormatError:
            continue
        assert found.array(name).dtype == np.uint8  # other words, no harm
        model.predict([["the", "cat"]])


def test_one_long_label_does_not_blow_up_the_others(tmp_path: Path) -> None:
    """An array of strings gives each as much room as the longest: here 40 GB."""

    def change(header: Any, arrays: Any) -> None:
        model_of(header)["labels"] = ["x" * 100_000, *map(str, range(100_000))]

    path = altered("crf", change, tmp_path)
    tracemalloc.start()
    with pytest.raises(ModelFormatError, match="too long"):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 100 * path.stat().st_size
    tracemalloc.stop()


def test_large_claims_take_no_memory(tmp_path: Path) -> None:
    for shape, name in (((10**15, 0), "basis_"), ((0, 10**15), "dual_coef_")):
        tracemalloc.start()
        with pytest.raises(ModelFormatError):
            load(altered("kernel-crf", array(name, np.zeros(shape)), tmp_path))
        assert tracemalloc.get_traced_memory()[1] < 10**6
        tracemalloc.stop()


def test_older_formats_are_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there had been one more format before the first, which called settings otherwise."""
    order: list[int] = []

    def first(header: dict[str, Any]) -> dict[str, Any]:
        model = dict(header["model"])
        model["parameters"] = model.pop("settings")
        return {**header, "model": model}

    def noted(number: int, upgrade: Any) -> Any:
        return lambda header: order.append(number) or upgrade(header)

    later = {number + 1: upgrade for number, upgrade in files.UPGRADES.items()}
    every = {number: noted(number, upgrade) for number, upgrade in {1: first, **later}.items()}
    monkeypatch.setattr(files, "UPGRADES", every)
    monkeypatch.setattr(files, "FORMAT", files.FORMAT + 1)

    def old(header: Any, arrays: Any) -> None:
        model_of(header)["settings"] = model_of(header).pop("parameters")

    assert load(altered("crf", old, tmp_path)).penalty == 1.0
    assert order == list(range(1, files.FORMAT))


@pytest.mark.parametrize(
    ("version", "name", "kind", "width"),
    [
        (3, "rbf", "RBF", "gamma"),
        (4, "laplacian", "Laplacian", "gamma"),
        (4, "matern", "Matern", "length_scale"),
        (4, "chi2", "ExponentialChiSquare", "gamma"),
    ],
)
def test_kernels_by_name_keep_their_width_in_older_files(
    version: int, name: str, kind: str, width: str
) -> None:
    function = {"$object": "FunctionOfSklearn", "parts": {"name": name, "parameters": {}}}
    clique = {"$object": "CliqueKernel", "parts": {"clique": "edge", "kernel": name}}
    parameters = {
        "kernel": [name, "linear", function, clique],
        "edge_kernel": name,
        "features": name,
    }
    header = {"format": version, "model": {"recipe": "kernel-crf", "parameters": parameters}}
    fixed = {"$object": kind, "parts": {width: 1.0}}
    clique = {"$object": "CliqueKernel", "parts": {"clique": "edge", "kernel": fixed}}
    assert files.UPGRADES[version](header)["model"]["parameters"] == {
        "kernel": [fixed, "linear", function, clique],
        "edge_kernel": fixed,
        "features": name,
    }


def test_settings_of_how_a_fit_is_run_are_one_setting_of_newer_files() -> None:
    inner = {"recipe": "crf", "parameters": {"patience": 3, "checkpoint": None, "checkpoint_seconds": 30.0}}
    parameters = {"estimator": {"$model": inner}, "dtype": "float64", "memory_limit": None, "tol": 0.1}
    header = {"format": 5, "model": {"recipe": "kernel-crf", "parameters": parameters}}
    new = {"patience": 3, "checkpoint_seconds": 30.0}
    assert files.UPGRADES[5](header)["model"]["parameters"] == {
        "estimator": {"$model": {"recipe": "crf", "parameters": {"run": {"$object": "Run", "parts": new}}}},
        "run": {"$object": "Run", "parts": {"dtype": "float64", "memory_limit": None}},
        "tol": 0.1,
    }


@pytest.mark.parametrize("name", ["rbf", "laplacian", "matern", "chi2"])
def test_a_model_of_format_3_is_fitted_again_with_the_width_1(name: str, tmp_path: Path) -> None:
    X, y = [[[1.0], [9.0], [4.0]]], [["a", "b", "a"]]
    KernelCRF(name, random_state=0).fit(X, y).save(tmp_path / "a.kf")
    found = Container(tmp_path / "a.kf")
    arrays = {key: found.array(key) for key in found.tensors}
    write_container(tmp_path / "old.kf", arrays, found.header | {"format": 3})
    model = load(tmp_path / "old.kf").fit(X, y).kernel_
    assert (model.length_scale if name == "matern" else model.gamma) == 1.0


@pytest.mark.parametrize(
    ("recipe", "old", "loss"),
    [
        ("crf", {"loss": "log", "class_weight": None, "cost": None}, "log"),
        ("crf", {"loss": "log", "class_weight": "balanced"}, {"Log": {"class_weight": "balanced"}}),
        ("hidden-unit-crf", {"class_weight": None, "cost": "hamming"}, {"Log": {"cost": "hamming"}}),
        ("hidden-unit-crf", {"class_weight": None, "cost": None}, None),
        (
            "kernel-crf",
            {"loss": "pseudo", "class_weight": {"a": 2.0}, "cost": None},
            {"PseudoLikelihood": {"class_weight": {"a": 2.0}}},
        ),
        ("crf", {"loss": "marginal-log", "cost": "hamming"}, "marginal-log"),
        ("crf", {"loss": "entropy", "class_weight": "balanced"}, {"Log": {"class_weight": "balanced"}}),
        (
            "crf",
            {"loss": {"$object": "VariationalEM", "parts": {"rounds": 3}}, "class_weight": "balanced"},
            {"VariationalEM": {"rounds": 3, "class_weight": "balanced"}},
        ),
        (
            "crf",
            {"loss": {"$object": "EntropyRegularised", "parts": {"weight": 0.2}}, "cost": "hamming"},
            {"Log": {"cost": "hamming"}},
        ),
        (
            "crf",
            {"loss": {"$object": "OwnedStates", "parts": {}}, "class_weight": None},
            {"OwnedStates": {}},
        ),
    ],
)
def test_class_weights_and_costs_go_into_the_loss(recipe: str, old: dict[str, Any], loss: Any) -> None:
    """Also in models within models."""
    model = {"recipe": recipe, "parameters": {"penalty": 1.0, **old}}
    header = {"format": 5, "model": {"recipe": "cascade", "parameters": {"first": model}}}
    found = files.UPGRADES[5](header)["model"]["parameters"]["first"]["parameters"]
    if isinstance(loss, dict):
        [(kind, parts)] = loss.items()
        loss = {"$object": kind, "parts": parts}
    assert found == {"penalty": 1.0} | ({} if loss is None else {"loss": loss})


@pytest.mark.parametrize(
    "loss",
    [
        Log(class_weight={"a": 2.0}),
        Log(np.array([[0.0, 2.0], [1.0, 0.0]])),
        MarginalLog(class_weight="balanced"),
        Piecewise(class_weight="balanced"),
        VariationalEM(1, class_weight={"b": 3.0}),
    ],
    ids=repr,
)
def test_a_model_of_format_5_is_fitted_again_with_its_loss(loss: Any, tmp_path: Path) -> None:
    X, y = [[[1.0], [9.0], [4.0]]], [["a", "b", "a"]]
    model = CRF(loss=loss).fit(X, y)
    model.save(tmp_path / "a.kf")
    found = Container(tmp_path / "a.kf")
    header, old = found.header, model_of(found.header)["parameters"]
    parts = old["loss"]["parts"]
    old |= {name: parts.pop(name, None) for name in ("class_weight", "cost")}
    if not parts:
        old["loss"] = next(name for name in LOSSES if isinstance(LOSSES[name], type(loss)))
    arrays = {key: found.array(key) for key in found.tensors}
    write_container(tmp_path / "old.kf", arrays, header | {"format": 5})
    again = load(tmp_path / "old.kf")
    assert repr(again.loss) == repr(loss)
    assert again.predict_marginals(X)[0].tolist() == model.predict_marginals(X)[0].tolist()
    np.testing.assert_array_equal(again.fit(X, y).coef_, model.coef_)


def test_settings_that_a_file_lacks_have_their_defaults(tmp_path: Path) -> None:
    path = altered("crf", lambda h, a: model_of(h)["parameters"].pop("tol"), tmp_path)
    assert load(path).tol == CRF().tol


def test_messages_name_the_file_once(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError) as refusal:
        load(altered("kernel-logistic-regression", array("_field.dual_coef_", np.ones((1, 1))), tmp_path))
    assert str(refusal.value).count("altered.kf") == 1


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.kf")


@pytest.mark.parametrize("name", ["crf-words", "structured-perceptron", "kernel-crf-words"])
def test_vocabularies_that_are_no_text_or_of_another_size(name: str, tmp_path: Path) -> None:
    def no_text(header: Any, arrays: dict[str, Any]) -> None:
        arrays[tensor_ending(arrays, "vocabulary.0")][5] = 255

    def cut_within_a_character(header: Any, arrays: dict[str, Any]) -> None:
        text, ends = (arrays[tensor_ending(arrays, end)] for end in ("vocabulary.0", "vocabulary.1"))
        text[ends[0] - 1 : ends[0] + 1] = list("é".encode())

    def smaller(header: Any, arrays: dict[str, Any]) -> None:
        arrays[tensor_ending(arrays, "vocabulary.3")] = np.zeros(0, np.int32)

    for change, reason in (
        (no_text, "can't decode"),
        (cut_within_a_character, "inside a character"),
        (smaller, "has 0 features"),
    ):
        with pytest.raises(ModelFormatError, match=reason):
            load(altered(name, change, tmp_path))


def test_labels_that_are_not_those_of_the_structure(tmp_path: Path, rng: Any) -> None:
    model = CRF(structure=MultiLabel()).fit(rng.normal(size=(8, 3)), rng.integers(2, size=(8, 3)))
    model.save(tmp_path / "multi.kf")
    found = Container(tmp_path / "multi.kf")
    header = found.header
    model_of(header)["labels"] = list("abcdef")
    write_container(tmp_path / "other.kf", {key: found.array(key) for key in found.tensors}, header)
    with pytest.raises(ModelFormatError, match="not those of the structure"):
        load(tmp_path / "other.kf")


INPUTS = {name: X for name, (_, X, _) in written().items()}


def read_or_refused(content: bytes, folder: Path, X: Any) -> None:
    """Load a model, and ask it: what is wrong is said by an error of this package, with the path."""
    path = folder / "model.kf"
    path.write_bytes(content)
    message = ""
    try:
        model = load(path)
    except ModelFormatError as error:
        message = str(error)
    assert not message or str(path) in message
    if message:
        return
    questions = [
        partial(getattr(model, name), X) for name in ("predict", "predict_marginals") if hasattr(model, name)
    ]
    with warnings.catch_warnings(action="ignore"):  # of numbers beyond all measure
        for ask in (*questions, model._repr_html_):
            with suppress(InputError, ScoreError, InfeasibleError, ModelFormatError):
                ask()


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("label-propagation", 40),
        ("markov-field", 52),
        ("label-spreading", 63),
        ("crf-words", 72),
        ("label-spreading", 156),
        ("structure-learner", 156),
        ("classifier-markov-model", 156),
        ("crf-calibrated", 348),
        ("memm", 369),
        ("kernel-crf-nystroem", 487),
        ("sequence-pipeline", 556),
        ("structured-perceptron", 200387),
        ("kernel-crf-posterior", 501453),
        ("crf-calibrated", 100374),  # asked for 32 GB
    ],
)
def test_mutants_that_once_failed_with_plain_errors(name: str, seed: int, tmp_path: Path) -> None:
    read_or_refused(mutate((NEWEST / f"{name}.kf").read_bytes(), seed), tmp_path, INPUTS[name])


def test_what_a_fuzzer_found_interesting() -> None:
    """Files that `tests/fuzz/model_files.py` kept, the smaller ones of different reasons."""
    refused = 0
    for path in (Path(__file__).parents[1] / "fuzz" / "corpus").iterdir():
        try:
            load(path)
        except ModelFormatError:
            refused += 1
    assert refused > 20


@settings(max_examples=60, deadline=None)
@given(which=st.sampled_from(SEEDS), seed=st.integers(0, 2**31))
def test_changed_headers(which: Path, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    read_or_refused(mutate(which.read_bytes(), seed), tmp_path_factory.getbasetemp(), INPUTS[which.stem])


@settings(max_examples=40, deadline=None)
@given(
    which=st.sampled_from(SEEDS),
    place=st.integers(0, 10**4),
    new=st.binary(max_size=9),
    old=st.integers(0, 9),
    mended=st.booleans(),
)
def test_changed_bytes(
    which: Path, place: int, new: bytes, old: int, mended: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = which.read_bytes()
    place %= len(content)
    content = content[:place] + new + content[place + old :]
    changed = repair(content) if mended else content
    read_or_refused(changed, tmp_path_factory.getbasetemp(), INPUTS[which.stem])


def test_loading_imports_nothing_that_a_file_names(tmp_path: Path) -> None:
    """Neither kernels by a path of modules nor scikit-learn's by another name."""
    for name in ("os.system", "builtins.eval", "sklearn.Kernel", "sklearn.GenericKernelMixin", "sklearn.np"):
        kernel = {"$object": name, "parts": {}}
        with pytest.raises(ModelFormatError, match="unknown class"):
            load(altered("kernel-crf", setting("kernel", kernel), tmp_path))
    assert isinstance(load(NEWEST / "kernel-crf.kf"), KernelCRF)
