"""Sparse features from token columns, dictionaries and data frames; windows, images, missing values."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .each import Each, each

if TYPE_CHECKING:
    from ..arrays import FeatureRows, Matrix
    from .brown import BrownClusters
    from .dicts import DictFeatures
    from .extractor import TemplateFeatures
    from .frames import FrameSentences, sentences_of
    from .gazetteer import Gazetteer
    from .graph_windows import stack_graph_windows
    from .images import BlurredPixels, OrientationChannels
    from .missing_values import MissingValues
    from .neighbours import diffused, neighbour_averages
    from .templates import (
        BEGIN,
        BETWEEN,
        END,
        CliqueKind,
        Template,
        TemplatePart,
        Templates,
        Transform,
        parse_templates,
    )
    from .tokens_and_arrays import ArrayTokens, TokensAndArrays
    from .tree_windows import stack_tree_windows
    from .windows import Windows, stack_windows
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            ".arrays": "FeatureRows Matrix",
            "brown": "BrownClusters",
            "dicts": "DictFeatures",
            "extractor": "TemplateFeatures",
            "frames": "FrameSentences sentences_of",
            "gazetteer": "Gazetteer",
            "graph_windows": "stack_graph_windows",
            "images": "BlurredPixels OrientationChannels",
            "missing_values": "MissingValues",
            "neighbours": "diffused neighbour_averages",
            "templates": (
                "BEGIN BETWEEN END CliqueKind Template TemplatePart Templates Transform parse_templates"
            ),
            "tokens_and_arrays": "ArrayTokens TokensAndArrays",
            "tree_windows": "stack_tree_windows",
            "windows": "Windows stack_windows",
        },
    )

__all__ = [
    "BEGIN",
    "BETWEEN",
    "END",
    "ArrayTokens",
    "BlurredPixels",
    "BrownClusters",
    "CliqueKind",
    "DictFeatures",
    "Each",
    "FeatureRows",
    "FrameSentences",
    "Gazetteer",
    "Matrix",
    "MissingValues",
    "OrientationChannels",
    "Template",
    "TemplateFeatures",
    "TemplatePart",
    "Templates",
    "TokensAndArrays",
    "Transform",
    "Windows",
    "diffused",
    "each",
    "neighbour_averages",
    "parse_templates",
    "sentences_of",
    "stack_graph_windows",
    "stack_tree_windows",
    "stack_windows",
]
