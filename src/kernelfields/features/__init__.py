"""Token columns, dictionaries and data frames to sparse features."""

from .extractor import BinaryRows, Matrix, TemplateFeatures
from .parsing import parse_templates
from .templates import BEGIN, END, Part, Template, Templates, Transform

__all__ = [
    "BEGIN",
    "END",
    "BinaryRows",
    "Matrix",
    "Part",
    "Template",
    "TemplateFeatures",
    "Templates",
    "Transform",
    "parse_templates",
]
