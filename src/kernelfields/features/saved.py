"""Features as parts of a model file."""

from __future__ import annotations

import numpy as np

from .. import features
from ..errors import ModelFormatError
from ..persistence.objects import Check, Parts, StoredClass, stored_by_settings
from .saved_scalers import SAVED_TRANSFORMERS


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
