"""Formats of model files, and how the header of an older one becomes that of the next.

1: the first. 2: the setting ``structure`` instead of ``order``. 3: one name for settings that mean the same.
4: the kernel named "rbf" takes its width from the data. 5: so do "laplacian", "matern" and "chi2", and no
posterior is linearised. 6: settings that belong together are one object, such as the loss with its
costs, and the parts of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

FORMAT = 6
"""Version of the files written here."""

Settings = dict[str, Any]


def _in_models(node: Any, change: Callable[[str, Settings], None]) -> Any:
    """Return a part of a header in which ``change`` has seen all settings, in models within models too."""
    if isinstance(node, list):
        return [_in_models(part, change) for part in node]
    if not isinstance(node, dict):
        return node
    node = {name: _in_models(part, change) for name, part in node.items()}
    if isinstance(node.get("recipe"), str) and isinstance(node.get("parameters"), dict):
        change(node["recipe"], node["parameters"])
    return node


def _name_structure(recipe: str, settings: Settings) -> None:
    """Turn the ``order`` of format 1 into the ``structure`` of format 2."""
    if "order" in settings:
        settings["structure"] = "chain2" if settings.pop("order") == 2 else "chain"


_NEW_NAMES = {
    "bias": "fit_intercept",
    "epochs": "max_iter",
    "restarts": "n_init",
    "rounds": "max_iter",
    "shrinkage": "learning_rate",
    "step": "learning_rate",
}


def _rename_settings(recipe: str, settings: Settings) -> None:
    """Give the settings of format 2 their names of format 3; no estimator had both names."""
    for old in _NEW_NAMES.keys() & settings.keys():
        settings[_NEW_NAMES[old]] = settings.pop(old)


_WIDTHS = {
    "chi2": ("ExponentialChiSquare", "gamma"),
    "laplacian": ("Laplacian", "gamma"),
    "matern": ("Matern", "length_scale"),
    "rbf": ("RBF", "gamma"),
}
"""By names of kernels, their classes and settings of their width."""
_FUNCTION = "FunctionOfSklearn"
"""Has names of functions, which are no names of kernels."""


def _fix_widths(names: Collection[str], recipe: str, settings: Settings) -> None:
    """Give kernels of some names the width 1 that they had before it came from the data."""
    for name in ("kernel", "edge_kernel"):
        if name in settings:
            settings[name] = _with_width(settings[name], names)


def _with_width(kernel: Any, names: Collection[str]) -> Any:
    """Return the setting of a kernel, or of several, with that width."""
    if isinstance(kernel, str) and kernel in names:
        kind, width = _WIDTHS[kernel]
        return {"$object": kind, "parts": {width: 1.0}}
    if isinstance(kernel, list):
        return [_with_width(part, names) for part in kernel]
    if isinstance(kernel, dict) and kernel.get("$object") != _FUNCTION:
        return {name: _with_width(part, names) for name, part in kernel.items()}
    return kernel


def _average_functions(node: Any) -> Any:
    """Drop "linearised", which format 4 had: models average over the functions that they have kept."""
    if isinstance(node, list):
        return [_average_functions(part) for part in node]
    if not isinstance(node, dict):
        return node
    result = {name: _average_functions(part) for name, part in node.items()}
    if result.get("$object") in ("Laplace", "Averaging") and isinstance(result.get("parts"), dict):
        result["parts"].pop("linearised", None)
    return result


UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: lambda header: _in_models(header, _name_structure),
    2: lambda header: _in_models(header, _rename_settings),
    3: lambda header: _in_models(header, partial(_fix_widths, ("rbf",))),
    4: lambda header: _average_functions(
        _in_models(header, partial(_fix_widths, ("laplacian", "matern", "chi2")))
    ),
    5: lambda header: _in_models(_in_models(header, _penalise_candidates), compose),
}
"""By version, what turns the header of older files into that of the next version."""


OldSettings = dict[str, Any]

OF_PARTS = frozenset(
    [
        *("arow", "boosted-crf", "crf", "gp-sequence-classifier", "hidden-unit-crf", "kernel-crf"),
        *("kernel-logistic-regression", "markov-field", "passive-aggressive", "stochastic-crf"),
        *("structured-perceptron", "structured-svm"),
    ]
)
"""Estimators, by their names in files, that are made of parts."""
TAKEN = {
    "bias": ("fit_intercept", ["bias"]),
    "boundaries": ("boundaries", ["boundaries"]),
    "edges": ("edges", ["edges", "durations", "rules"]),
}
"""Flags that take parts away."""
LINEAR = ("features", "edge_features", "segment_features")
EXPANDED = ("kernel", "edge_kernel")
_LOSSES = {
    "log": "Log",
    "marginal-log": "MarginalLog",
    "pseudo": "PseudoLikelihood",
    "piecewise": "Piecewise",
    "pseudo-em": "VariationalEM",
    "VariationalEM": "VariationalEM",
    # class weights and costs went with it only where it is the log loss
    **dict.fromkeys(["entropy", "EntropyRegularised"], "Log"),
}
"""By names of losses or of their classes, the classes that take their class weights."""


_RUN = ("dtype", "memory_limit", "patience", "checkpoint_seconds", "quick_start")
"""What says how a fit is run."""


def _compose_run(recipe: str, settings: OldSettings) -> None:
    """Put what says how a fit is run into one setting; models within models had their checkpoints saved."""
    parts = {name: settings.pop(name) for name in _RUN if name in settings}
    settings.pop("callback", None)
    settings.pop("checkpoint", None)
    if parts:
        settings["run"] = {"$object": "Run", "parts": parts}


def compose(recipe: str, settings: OldSettings) -> None:
    """Turn the settings of an estimator into those of format 6."""
    _compose_loss(recipe, settings)
    _compose_basis(recipe, settings)
    _compose_run(recipe, settings)
    compose_parts(recipe, settings)


def _penalise_candidates(recipe: str, settings: OldSettings) -> None:
    """Give what a `StructureLearner` may add the penalties that its estimator had for it."""
    if recipe != "structure-learner":
        return
    known, own = (
        settings["estimator"]["$model"]["parameters"],
        ("second_order_penalty", "edge_kernel_penalty"),
    )
    edges = known.get("edge_penalty")
    triples, kernel = (edges if known.get(name) is None else known[name] for name in own)
    penalties = {"Edges": edges, "SecondOrder": triples, "InputEdges": kernel}
    settings["candidates"] = _with_penalties(settings["candidates"], penalties)


def _with_penalties(node: Any, penalties: Mapping[str, Any]) -> Any:
    if not isinstance(node, dict):
        return [_with_penalties(one, penalties) for one in node] if isinstance(node, list) else node
    node = {name: _with_penalties(one, penalties) for name, one in node.items()}
    if penalties.get(node.get("$object")) is not None:
        node["parts"] = {**node["parts"], "penalty": penalties[node["$object"]]}
    return node


def _compose_loss(recipe: str, settings: OldSettings) -> None:
    """Put class weights and costs into the loss."""
    if recipe not in ("crf", "kernel-crf", "hidden-unit-crf"):
        return
    given = {name: settings.pop(name, None) for name in ("cost", "class_weight")}
    loss, parts = settings.get("loss", "log"), {}
    name = loss.get("$object") if isinstance(loss, dict) else loss
    if name == "VariationalEM":
        parts = loss["parts"]
    kind = _LOSSES.get(str(name))
    if kind != "Log":
        del given["cost"]
    given = {name: value for name, value in given.items() if value is not None}
    if kind is not None and given:
        settings["loss"] = {"$object": kind, "parts": {**parts, **given}}


def _compose_basis(recipe: str, settings: OldSettings) -> None:
    """Turn ``approximation`` or ``selection`` into ``basis``, kernels and their weights into `Weighted`."""
    given = [settings.pop(name) for name in ("approximation", "selection") if name in settings]
    if given:
        settings["basis"] = next((one for one in given if one is not None), None)
    by, kernels = settings.pop("kernel_weights", None), settings.get("kernel")
    if by is not None and (isinstance(kernels, list) or (isinstance(kernels, dict) and "$tuple" in kernels)):
        settings["kernel"] = {"$object": "Weighted", "parts": {"kernels": kernels, "by": by}}


def compose_parts(recipe: str, settings: OldSettings) -> None:
    """Put what says of which parts a model is made into one setting, ``parts``.

    The penalty of edges was that of label triples, lengths of runs, rules, factors, edge types and features
    of edges, too, where a model had such.
    """
    if recipe not in OF_PARTS:
        return
    parts: dict[str, Any] = {}
    pairs = _pairs_of(settings.get("structure", "chain"))
    for flag, names in TAKEN.values():
        if settings.pop(flag, True) is False:
            every = [*names, *pairs] if flag == "edges" else names
            parts |= {name: None for name in every if name != "second_order"}
    if settings.pop("edge_features", False):
        _change(parts, "edge_features")
    if settings.pop("edge_trees", False):
        parts["edge_trees"] = {"$object": "TreeScores", "parts": {}}
    _add_kernels(parts, settings)
    _add_penalties(parts, recipe, settings)
    norms = settings.pop("norms", None)
    for name, norm in (norms or {}).get("$dict", []):
        _change(parts, name, norm=norm)
    measure = settings.pop("base_measure", None)
    if measure is not None:
        parts["known"] = {"$object": "FixedScores", "parts": {"measure": measure}}
    if parts:
        settings["parts"] = {"$object": "Parts", "parts": parts}


def _add_kernels(parts: dict[str, Any], settings: OldSettings) -> None:
    labels, kernel = settings.pop("label_kernel", None), settings.pop("edge_kernel", None)
    if labels is not None:
        _change(parts, "kernel", labels=labels)
    if kernel is not None:
        _change(parts, "edge_kernel", **({} if kernel is True else {"kernel": kernel}))
    given = settings.pop("clique_kernels", None) or []
    for n, one in enumerate(given if isinstance(given, list) else given.get("$tuple", [given])):
        parts[f"clique_kernel {n}"] = one


def _add_penalties(parts: dict[str, Any], recipe: str, settings: OldSettings) -> None:
    edges, triples = settings.pop("edge_penalty", None), settings.pop("second_order_penalty", None)
    of_kernel = settings.pop("edge_kernel_penalty", None)
    given = dict.fromkeys(_pairs_of(settings.get("structure", "chain")), edges)
    if recipe == "boosted-crf":
        edges = None if edges == 1 else edges
        given = dict.fromkeys(["bias", "boundaries", *given], edges)
    if "second_order" in given and triples is not None:
        given["second_order"] = triples
    if "edge_features" in parts:
        given["edge_features"] = edges
    if "edge_kernel" in parts:
        given["edge_kernel"] = edges if of_kernel is None else of_kernel
    for name, penalty in given.items():
        if penalty is not None and parts.get(name, {}) is not None:
            _change(parts, name, penalty=penalty)


_WITHOUT_EDGES: Mapping[Any, tuple[str, ...]] = {
    **dict.fromkeys(["Constituency", "Dependency", "Matching", "SiblingDependency"], ()),
    **dict.fromkeys(["Grammar", "GrammarTrees"], ("rules",)),
    "Alignment": ("factor jump",),
}


def _pairs_of(structure: Any) -> list[str]:
    """Return the parts that scored several labels of a structure by the penalty of edges."""
    kind = structure.get("$object") if isinstance(structure, dict) else structure
    known = structure["parts"] if isinstance(structure, dict) else {}
    if kind == "chain2" or (kind == "Chain" and known.get("order") == 2):
        return ["edges", "second_order"]
    if kind in ("segments", "Segments", "CandidateSegments"):
        return ["edges", "durations"]
    if kind in _WITHOUT_EDGES:
        return list(_WITHOUT_EDGES[kind])
    types = [*_names(known.get("edge_types")), *_names(known.get("factors"))] if kind == "Graph" else []
    return ["edges", *(f"factor {name}" for name in types)]


def _names(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [name for name, _ in node["$dict"]] if "$dict" in node else list(node.get("$tuple", []))
    return list(node or [])


def _change(parts: dict[str, Any], name: str, **settings: Any) -> None:
    """Give a part settings, those of its kind."""
    kind = "LinearScores" if name in LINEAR else "KernelScores" if name in EXPANDED else "FreeScores"
    parts.setdefault(name, {"$object": kind, "parts": {}})["parts"].update(settings)
