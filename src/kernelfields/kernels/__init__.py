"""Kernels, one per file; `check_gram` tests whether a function is one, `as_kernel` makes one from a name."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import Composite, Kernel, ProductKernel
    from .alignment import Alignments, alignment_weights, alignments, centred_alignment, shares_of
    from .chi_square import AdditiveChiSquare, ExponentialChiSquare
    from .columns import Columns
    from .constant import Constant
    from .cosine import Cosine
    from .data_kernel import DataKernel
    from .expected import Expected, GaussianExpectation
    from .feature_map import FeatureMapKernel
    from .functions import MatrixFunction, PairFunction
    from .gaussian_process import GaussianProcessKernel
    from .graph import GraphKernel
    from .hamming import Hamming
    from .jaccard import Jaccard
    from .laplacian import Laplacian
    from .linear import Linear
    from .matern import Matern
    from .normalized import Normalized
    from .observations import Observations
    from .polynomial import Polynomial
    from .power import Power
    from .precomputed import Precomputed
    from .product import Product
    from .rbf import RBF
    from .rescaled import Rescaled
    from .scaled import Scaled
    from .specification import as_kernel, check_gram
    from .spectral import SpectralKernel
    from .spectrum import Spectrum
    from .standardized import Standardized
    from .subsequence import Subsequence
    from .sum import Sum
    from .tanimoto import Tanimoto
    from .tree_fragments import TreeFragments
    from .weighted import Weighted
    from .window import WindowProduct, WindowSum
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "Composite Kernel ProductKernel",
            "alignment": "Alignments alignment_weights alignments centred_alignment shares_of",
            "chi_square": "AdditiveChiSquare ExponentialChiSquare",
            "columns": "Columns",
            "constant": "Constant",
            "cosine": "Cosine",
            "data_kernel": "DataKernel",
            "expected": "Expected GaussianExpectation",
            "feature_map": "FeatureMapKernel",
            "functions": "MatrixFunction PairFunction",
            "gaussian_process": "GaussianProcessKernel",
            "graph": "GraphKernel",
            "hamming": "Hamming",
            "jaccard": "Jaccard",
            "laplacian": "Laplacian",
            "linear": "Linear",
            "matern": "Matern",
            "normalized": "Normalized",
            "observations": "Observations",
            "polynomial": "Polynomial",
            "power": "Power",
            "precomputed": "Precomputed",
            "product": "Product",
            "rbf": "RBF",
            "rescaled": "Rescaled",
            "scaled": "Scaled",
            "specification": "as_kernel check_gram",
            "spectral": "SpectralKernel",
            "spectrum": "Spectrum",
            "standardized": "Standardized",
            "subsequence": "Subsequence",
            "sum": "Sum",
            "tanimoto": "Tanimoto",
            "tree_fragments": "TreeFragments",
            "weighted": "Weighted",
            "window": "WindowProduct WindowSum",
        },
    )

__all__ = [
    "RBF",
    "AdditiveChiSquare",
    "Alignments",
    "Columns",
    "Composite",
    "Constant",
    "Cosine",
    "DataKernel",
    "Expected",
    "ExponentialChiSquare",
    "FeatureMapKernel",
    "GaussianExpectation",
    "GaussianProcessKernel",
    "GraphKernel",
    "Hamming",
    "Jaccard",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "MatrixFunction",
    "Normalized",
    "Observations",
    "PairFunction",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "ProductKernel",
    "Rescaled",
    "Scaled",
    "SpectralKernel",
    "Spectrum",
    "Standardized",
    "Subsequence",
    "Sum",
    "Tanimoto",
    "TreeFragments",
    "Weighted",
    "WindowProduct",
    "WindowSum",
    "alignment_weights",
    "alignments",
    "as_kernel",
    "centred_alignment",
    "check_gram",
    "shares_of",
]
