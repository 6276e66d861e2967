"""The compiled core: the only file that imports it."""

from __future__ import annotations

import os

# libgomp reads this once, when it is loaded. Threads that spin while they wait slow down every BLAS
# call that follows (16 ms instead of 0.7 ms for a region of 0.64 ms), so they sleep instead.
_given = os.environ.get("OMP_WAIT_POLICY")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
try:
    from ._core import (
        AttributePool,
        FeatureIndex,
        Tokens,
        chain2_argmax,
        chain2_covariance,
        chain2_entropy,
        chain2_kbest,
        chain2_log_partition,
        chain2_marginals,
        chain2_sample,
        chain2_score,
        chain_argmax,
        chain_covariance,
        chain_entropy,
        chain_kbest,
        chain_log_partition,
        chain_marginals,
        chain_sample,
        chain_score,
        fit_features,
        hashed_features,
        isa,
        linear_chain,
        observed_pairs,
        pack_tokens,
        rank_rows,
        score_dot,
        sparse_adjoint,
        sparse_scores,
        sparse_times,
        supported_isas,
        tree_argmax,
        tree_check,
        tree_covariance,
        tree_entropy,
        tree_log_partition,
        tree_marginals,
        tree_sample,
        tree_score,
    )
finally:
    if _given is None:
        del os.environ["OMP_WAIT_POLICY"]

__all__ = [
    "AttributePool",
    "FeatureIndex",
    "Tokens",
    "chain2_argmax",
    "chain2_covariance",
    "chain2_entropy",
    "chain2_kbest",
    "chain2_log_partition",
    "chain2_marginals",
    "chain2_sample",
    "chain2_score",
    "chain_argmax",
    "chain_covariance",
    "chain_entropy",
    "chain_kbest",
    "chain_log_partition",
    "chain_marginals",
    "chain_sample",
    "chain_score",
    "fit_features",
    "hashed_features",
    "isa",
    "linear_chain",
    "observed_pairs",
    "pack_tokens",
    "rank_rows",
    "score_dot",
    "sparse_adjoint",
    "sparse_scores",
    "sparse_times",
    "supported_isas",
    "tree_argmax",
    "tree_check",
    "tree_covariance",
    "tree_entropy",
    "tree_log_partition",
    "tree_marginals",
    "tree_sample",
    "tree_score",
]
