"""Models of CRFsuite as estimators: made of weights, read from files, written, looked into."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...arrays import Array
from ...data.rules import barred_scores
from ...estimators import CRF
from ...features import DictFeatures
from ...io.crfsuite import CrfsuiteModel
from ...models.parts import Parts
from ...native import AttributeTagger


def model_of(
    labels: list[str], attributes: list[str], states: Any, transitions: Array, **settings: Any
) -> CRF:
    """Return the estimator with these weights.

    Parameters
    ----------
    labels, attributes : lists of str
        Names.
    states : scipy-sparse (D, L) matrix
        Weights of attributes; those that have none are dropped.
    transitions : (L, L) array
        Weights of label pairs.
    settings : dict
        Of the estimator.
    """
    states = sparse.csr_matrix(states, dtype=np.float64)
    states.sum_duplicates()
    states.eliminate_zeros()
    used = np.flatnonzero(np.diff(states.indptr))
    states = states[used]
    states.indptr, states.indices = states.indptr.astype(np.int32), states.indices.astype(np.int32)
    L = len(labels)
    model = CRF(parts=Parts(bias=None, boundaries=None), observed_only=True, **settings)
    model.classes_ = np.array(labels)
    model.features_ = DictFeatures().restore([attributes[a] for a in used.tolist()])
    model.n_features_in_ = len(used)
    model.coef_, model.transitions_ = states.T, np.ascontiguousarray(transitions, dtype=np.float64)
    model.intercept_, model.start_, model.end_ = np.zeros(L), np.zeros(L), np.zeros(L)
    model.certificate_, model.forbidden_, model.mismatch_ = None, None, {}
    return model


def tagger_of(model: CRF) -> AttributeTagger:
    """Return what labels one sequence after the other with a model, in the core."""
    assert isinstance(model.features_, DictFeatures)
    coef: Any = model.coef_
    ends, transitions = np.stack([model.intercept_, model.start_, model.end_]), model.transitions_
    if model.forbidden_ is not None:
        barred = barred_scores(model.forbidden_)
        ends, transitions = ends + barred.small, transitions + barred.edge
    table: Any = sparse.csr_matrix(coef.T)
    return AttributeTagger(
        model.features_.pool,
        tuple(model.classes_.tolist()),
        table.indptr.astype(np.int32, copy=False),
        table.indices.astype(np.int32, copy=False),
        table.data.astype(np.float64, copy=False),
        np.ascontiguousarray(ends, dtype=np.float64),
        np.ascontiguousarray(transitions, dtype=np.float64),
    )


def converted(file: CrfsuiteModel) -> CRF:
    """Return the estimator of a model that CRFsuite wrote: the same tags, the same probabilities."""
    L, D = len(file.labels), len(file.attributes)
    f = file.states
    states = sparse.csr_matrix((f["weight"], (f["source"], f["target"])), shape=(D, L))
    transitions = np.zeros((L, L))
    np.add.at(
        transitions, (file.transitions["source"], file.transitions["target"]), file.transitions["weight"]
    )
    return model_of(file.labels, file.attributes, states, transitions)
