"""Features as parts of a model file."""

from __future__ import annotations

import numpy as np

from ..persistence.objects import Check, Parts, StoredClass
from .brown import BrownClusters
from .dicts import DictFeatures
from .extractor import TemplateFeatures
from .templates import Templates, parse_templates


def _template_parts(found: TemplateFeatures) -> Parts:
    names = ("min_count", "n_hash", "boundaries", "by_frequency", "dtype", "clusters")
    settings = {name: getattr(found, name) for name in names}
    vocabulary = None if found._index is None else found.export()
    return {"templates": found.templates, **settings, "vocabulary": vocabulary}


def _template_features(parts: Parts, check: Check) -> TemplateFeatures:
    vocabulary = parts.pop("vocabulary")
    result = TemplateFeatures(**check(TemplateFeatures, parts))
    return result if vocabulary is None else result.restore(vocabulary)


def _cluster_parts(found: BrownClusters) -> Parts:
    settings = {name: getattr(found, name) for name in ("n_clusters", "min_count", "column")}
    if not found.fitted:
        return {**settings, "words": None}
    words, paths = (
        np.array(texts, dtype=object) for texts in (list(found.paths), list(found.paths.values()))
    )
    information = None if np.isnan(found.mutual_information_) else found.mutual_information_
    return {**settings, "words": words, "paths": paths, "counts": found.counts_, "information": information}


def _brown_clusters(parts: Parts, check: Check) -> BrownClusters:
    learnt = {name: parts.pop(name, None) for name in ("words", "paths", "counts", "information")}
    result = BrownClusters(**check(BrownClusters, parts))
    if learnt["words"] is None:
        return result
    information = float("nan") if learnt["information"] is None else float(learnt["information"])
    paths = dict(zip(learnt["words"].tolist(), learnt["paths"].tolist(), strict=True))
    return result.restore(paths, learnt["counts"], information)


def _dict_parts(found: DictFeatures) -> Parts:
    settings = {name: getattr(found, name) for name in ("min_count", "by_frequency", "dtype")}
    names = None if found._pool is None else np.array(found.names(), dtype=object)
    return {**settings, "names": names}


def _dict_features(parts: Parts, check: Check) -> DictFeatures:
    names = parts.pop("names")
    result = DictFeatures(**check(DictFeatures, parts))
    return result if names is None else result.restore(names.tolist())


SAVED = (
    StoredClass("TemplateFeatures", TemplateFeatures, _template_parts, _template_features),
    StoredClass("BrownClusters", BrownClusters, _cluster_parts, _brown_clusters),
    StoredClass("DictFeatures", DictFeatures, _dict_parts, _dict_features),
    StoredClass(
        "Templates",
        Templates,
        lambda found: {"text": str(found)},
        lambda parts, _: parse_templates(parts["text"]),
    ),
)
