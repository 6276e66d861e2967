"""Sparse features from token columns, dictionaries and data frames."""

from .dicts import DictFeatures
from .extractor import TemplateFeatures
from .frames import FrameSentences, sentences_of
from .parsing import parse_templates
from .rows import FeatureRows, Matrix
from .templates import BEGIN, END, Template, TemplatePart, Templates, Transform
from .tree_windows import stack_tree_windows
from .windows import stack_windows

__all__ = [
    "BEGIN",
    "END",
    "DictFeatures",
    "FeatureRows",
    "FrameSentences",
    "Matrix",
    "Template",
    "TemplateFeatures",
    "TemplatePart",
    "Templates",
    "Transform",
    "parse_templates",
    "sentences_of",
    "stack_tree_windows",
    "stack_windows",
]
