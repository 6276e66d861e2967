"""Features as parts of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .. import features
from ..errors import InputError, ModelFormatError
from ..persistence.fields import Sizes, shape_objection
from ..persistence.objects import Check, Parts, StoredClass, stored_by_settings


def _template_parts(found: features.TemplateFeatures) -> Parts:
    names = ("min_count", "n_hash", "boundaries", "by_frequency", "dtype", "clusters")
    settings = {name: getattr(found, name) for name in names}
    vocabulary = None if found._index is None else found.export()
    return {"templates": found.templates, **settings, "vocabulary": vocabulary}


def _template_features(parts: Parts, check: Check) -> features.TemplateFeatures:
    vocabulary = parts.pop("vocabulary")
    result = features.TemplateFeatures(**check(features.TemplateFeatures, parts))
    return result if vocabulary is None else result.restore(vocabulary)


def _cluster_parts(found: features.BrownClusters) -> Parts:
    settings = {name: getattr(found, name) for name in ("n_clusters", "min_count", "column")}
    if not found.fitted:
        return {**settings, "words": None}
    words, paths = (
        np.array(texts, dtype=object) for texts in (list(found.paths), list(found.paths.values()))
    )
    information = None if np.isnan(found.mutual_information_) else found.mutual_information_
    return {**settings, "words": words, "paths": paths, "counts": found.counts_, "information": information}


def _brown_clusters(parts: Parts, check: Check) -> features.BrownClusters:
    learnt = {name: parts.pop(name, None) for name in ("words", "paths", "counts", "information")}
    result = features.BrownClusters(**check(features.BrownClusters, parts))
    if learnt["words"] is None:
        return result
    information = float("nan") if learnt["information"] is None else float(learnt["information"])
    paths = dict(zip(learnt["words"].tolist(), learnt["paths"].tolist(), strict=True))
    return result.restore(paths, learnt["counts"], information)


def _dict_parts(found: features.DictFeatures) -> Parts:
    settings = {name: getattr(found, name) for name in ("min_count", "by_frequency", "dtype")}
    names = None if found._pool is None else np.array(found.names(), dtype=object)
    return {**settings, "names": names}


def _dict_features(parts: Parts, check: Check) -> features.DictFeatures:
    names = parts.pop("names")
    result = features.DictFeatures(**check(features.DictFeatures, parts))
    return result if names is None else result.restore(names.tolist())


LEARNT = ("mean_", "covariance_", "indicated_", "n_features_in_", "feature_names_in_")
"""Of missing values."""


def _missing_parts(found: features.MissingValues) -> Parts:
    known = vars(found) if "mean_" in vars(found) else {}
    return {**found.get_params(deep=False), **{name: known.get(name) for name in LEARNT}}


def _missing_values(parts: Parts, check: Check) -> features.MissingValues:
    learnt = {name: parts.pop(name, None) for name in LEARNT}
    result = features.MissingValues(**check(features.MissingValues, parts))
    if learnt["mean_"] is None:
        return result
    if not _sound(learnt):
        raise ModelFormatError("The means and columns of MissingValues do not fit each other.")
    vars(result).update(learnt)
    return result


def _sound(learnt: Parts) -> bool:
    """Tell whether arrays are as `MissingValues.fit` makes them: columns are followed."""
    mean, covariance, indicated = (learnt[name] for name in LEARNT[:3])
    D, names = learnt["n_features_in_"], learnt["feature_names_in_"]
    return (
        isinstance(mean, np.ndarray)
        and mean.shape == (D,)
        and (covariance is None or (isinstance(covariance, np.ndarray) and covariance.shape == (D, D)))
        and isinstance(indicated, np.ndarray)
        and indicated.ndim == 1
        and indicated.dtype.kind == "i"
        and bool(((indicated >= 0) & (indicated < D)).all())
        and (names is None or (isinstance(names, np.ndarray) and names.shape == (D,)))
    )


def _joint_parts(found: features.TokensAndArrays) -> Parts:
    known = vars(found)
    learnt = {name: known.get(name) for name in ("tokens_", "arrays_", "n_numbers_")}
    return {**found.get_params(deep=False), **learnt}


def _joint(parts: Parts, check: Check) -> features.TokensAndArrays:
    tokens, arrays, width = (parts.pop(name) for name in ("tokens_", "arrays_", "n_numbers_"))
    result = features.TokensAndArrays(**check(features.TokensAndArrays, parts))
    if tokens is None:
        return result
    if (
        not isinstance(tokens, features.TemplateFeatures | features.DictFeatures)
        or type(width) is not int
        or width < 0
    ):
        raise ModelFormatError("The parts of TokensAndArrays are none.")
    if arrays is not None and not hasattr(arrays, "transform"):
        raise ModelFormatError("The transformer of TokensAndArrays is none.")
    result.tokens_, result.arrays_, result.n_numbers_ = tokens, arrays, width
    return result


class ScalerRow(NamedTuple):
    """A class of scikit-learn, and what its objects learn."""

    module: str
    arrays: Mapping[str, str]
    """The axes of each attribute: D columns in, K columns out; none for a number."""
    counts: tuple[str, ...] = ()
    """Attributes that are numbers of rows or columns: one, or one for every column."""


SCALERS: Mapping[str, ScalerRow] = {
    "StandardScaler": ScalerRow(
        "sklearn.preprocessing", {"mean_": "D", "var_": "D", "scale_": "D"}, ("n_samples_seen_",)
    ),
    "MinMaxScaler": ScalerRow(
        "sklearn.preprocessing",
        {"min_": "D", "scale_": "D", "data_min_": "D", "data_max_": "D", "data_range_": "D"},
        ("n_samples_seen_",),
    ),
    "MaxAbsScaler": ScalerRow(
        "sklearn.preprocessing", {"scale_": "D", "max_abs_": "D"}, ("n_samples_seen_",)
    ),
    "RobustScaler": ScalerRow("sklearn.preprocessing", {"center_": "D", "scale_": "D"}),
    "PCA": ScalerRow(
        "sklearn.decomposition",
        {
            "components_": "K D",
            "mean_": "D",
            "explained_variance_": "K",
            "explained_variance_ratio_": "K",
            "singular_values_": "K",
            "noise_variance_": "",
        },
        ("n_components_", "n_samples_"),
    ),
    "TruncatedSVD": ScalerRow(
        "sklearn.decomposition",
        {
            "components_": "K D",
            "explained_variance_": "K",
            "explained_variance_ratio_": "K",
            "singular_values_": "K",
        },
    ),
}
"""What `each` can be saved with, by name."""


def _class_of(name: str) -> Any:
    return getattr(import_module(SCALERS[name].module), name)


def _each_parts(found: features.Each) -> Parts:
    fitted = vars(found).get("transformer_")
    return {
        **_scaler_parts(found.transformer),
        "per_sequence": found.per_sequence,
        "learnt": None if fitted is None else _learnt(fitted),
        **_columns(found),
    }


def _scaler_parts(given: Any) -> Parts:
    name = type(given).__name__
    if name not in SCALERS or type(given) is not _class_of(name):
        known = ", ".join(SCALERS)
        raise InputError(f"A model file cannot hold a {name}; each can be saved with {known}.")
    return {"scaler": name, "settings": given.get_params(deep=False)}


def _learnt(fitted: Any) -> dict[str, Any]:
    row = SCALERS[type(fitted).__name__]
    return {name: getattr(fitted, name) for name in (*row.arrays, *row.counts)}


def _columns(found: Any) -> Parts:
    known = vars(found)
    return {name: known.get(name) for name in ("n_features_in_", "feature_names_in_")}


def _each(parts: Parts, check: Check) -> features.Each:
    name, settings = parts["scaler"], parts["settings"]
    if name not in SCALERS or not isinstance(settings, dict):
        raise ModelFormatError(f"There is no scaler {name!r} to make.")
    cls = _class_of(name)
    result = features.Each(
        cls(**check(cls, settings)), **check(features.Each, {"per_sequence": parts["per_sequence"]})
    )
    _restore_columns(result, parts)
    if parts["learnt"] is None:
        return result
    if not isinstance(parts["learnt"], dict) or "n_features_in_" not in vars(result):
        raise ModelFormatError(f"The numbers of {name} are none.")
    result.transformer_ = cls(**settings)
    D = result.n_features_in_
    vars(result.transformer_).update(_checked(name, parts["learnt"], {"D": D}), n_features_in_=D)
    return result


def _checked(name: str, learnt: Mapping[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Refuse numbers that a scaler would not have learnt."""
    row = SCALERS[name]
    if learnt.keys() != {*row.arrays, *row.counts}:
        raise ModelFormatError(f"{name} learns other things than the file has.")
    for attribute, axes in row.arrays.items():
        value = learnt[attribute]
        if value is None and attribute in ("mean_", "var_", "scale_", "center_"):
            continue  # a scaler that does not centre, or not scale
        objection = shape_objection(np.shape(value), axes.split(), sizes)
        if objection or np.asarray(value).dtype.kind != "f":
            raise ModelFormatError(f"{attribute} of {name} {objection or 'is not made of numbers'}.")
    for attribute in row.counts:
        if np.asarray(learnt[attribute]).dtype.kind not in "iuf":  # weights make fractions of rows
            raise ModelFormatError(f"{attribute} of {name} is no number.")
    return dict(learnt)


def _restore_columns(result: Any, parts: Parts) -> None:
    """Give a transformer the columns that it takes; none if it was not fitted."""
    D, names = parts["n_features_in_"], parts["feature_names_in_"]
    if D is None:
        return
    named = names is None or (isinstance(names, np.ndarray) and names.shape == (D,))
    if type(D) is not int or D < 0 or not named:
        raise ModelFormatError(f"The columns of {type(result).__name__} are none.")
    result.n_features_in_, result.feature_names_in_ = D, names


def _window_parts(found: features.Windows) -> Parts:
    return {**found.get_params(deep=False), **_columns(found)}


def _windows(parts: Parts, check: Check) -> features.Windows:
    columns = {name: parts.pop(name) for name in ("n_features_in_", "feature_names_in_")}
    if not isinstance(parts["padding"], Real | str):
        raise ModelFormatError("The padding of Windows is neither a number nor a text.")
    result = features.Windows(**check(features.Windows, parts))
    _restore_columns(result, columns)
    return result


SAVED_TRANSFORMERS = (
    StoredClass("Each", ".features.each:Each", _each_parts, _each),
    StoredClass("Windows", ".features.windows:Windows", _window_parts, _windows),
)

SAVED = (
    *SAVED_TRANSFORMERS,
    stored_by_settings(".features.images:BlurredPixels"),
    stored_by_settings(".features.images:OrientationChannels"),
    StoredClass(
        "TemplateFeatures", ".features.extractor:TemplateFeatures", _template_parts, _template_features
    ),
    StoredClass("TokensAndArrays", ".features.tokens_and_arrays:TokensAndArrays", _joint_parts, _joint),
    StoredClass("BrownClusters", ".features.brown:BrownClusters", _cluster_parts, _brown_clusters),
    StoredClass("DictFeatures", ".features.dicts:DictFeatures", _dict_parts, _dict_features),
    StoredClass("MissingValues", ".features.missing_values:MissingValues", _missing_parts, _missing_values),
    StoredClass(
        "Templates",
        ".features.templates:Templates",
        lambda found: {"text": str(found)},
        lambda parts, _: features.parse_templates(parts["text"]),
    ),
)
