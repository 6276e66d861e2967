"""Settings that format 5 of model files had one by one, composed to those of format 6."""

from __future__ import annotations

from typing import Any

Settings = dict[str, Any]

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


def _compose_run(recipe: str, settings: Settings) -> None:
    """Put what says how a fit is run into one setting; models within models had their checkpoints saved."""
    parts = {name: settings.pop(name) for name in _RUN if name in settings}
    settings.pop("callback", None)
    settings.pop("checkpoint", None)
    if parts:
        settings["run"] = {"$object": "Run", "parts": parts}


def compose(recipe: str, settings: Settings) -> None:
    """Turn the settings of an estimator into those of format 6."""
    _compose_loss(recipe, settings)
    _compose_basis(recipe, settings)
    _compose_run(recipe, settings)
    compose_parts(recipe, settings)


def _compose_loss(recipe: str, settings: Settings) -> None:
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


def _compose_basis(recipe: str, settings: Settings) -> None:
    """Turn ``approximation`` or ``selection`` into ``basis``, kernels and their weights into `Weighted`."""
    given = [settings.pop(name) for name in ("approximation", "selection") if name in settings]
    if given:
        settings["basis"] = next((one for one in given if one is not None), None)
    by, kernels = settings.pop("kernel_weights", None), settings.get("kernel")
    if by is not None and (isinstance(kernels, list) or (isinstance(kernels, dict) and "$tuple" in kernels)):
        settings["kernel"] = {"$object": "Weighted", "parts": {"kernels": kernels, "by": by}}


def compose_parts(recipe: str, settings: Settings) -> None:
    """Put what says of which parts a model is made into one setting, ``parts``.

    The penalty of edges was that of label triples, lengths of runs, rules, factors, edge types and features
    of edges, too, where a model had such.
    """
    if recipe not in OF_PARTS:
        return
    parts: dict[str, Any] = {}
    for flag, names in TAKEN.values():
        if settings.pop(flag, True) is False:
            parts |= dict.fromkeys(names)
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


def _add_kernels(parts: dict[str, Any], settings: Settings) -> None:
    labels, kernel = settings.pop("label_kernel", None), settings.pop("edge_kernel", None)
    if labels is not None:
        _change(parts, "kernel", labels=labels)
    if kernel is not None:
        _change(parts, "edge_kernel", **({} if kernel is True else {"kernel": kernel}))
    given = settings.pop("clique_kernels", None) or []
    for n, one in enumerate(given if isinstance(given, list) else given.get("$tuple", [given])):
        parts[f"clique_kernel {n}"] = one


def _add_penalties(parts: dict[str, Any], recipe: str, settings: Settings) -> None:
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


def _pairs_of(structure: Any) -> list[str]:
    """Return the parts that scored several labels of a structure by the penalty of edges."""
    kind = structure.get("$object") if isinstance(structure, dict) else structure
    known = structure["parts"] if isinstance(structure, dict) else {}
    if kind == "chain2" or (kind == "Chain" and known.get("order") == 2):
        return ["edges", "second_order"]
    if kind in ("segments", "Segments"):
        return ["edges", "durations"]
    if kind in ("Grammar", "GrammarTrees"):
        return ["rules"]
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
