"""Token columns, dictionaries and data frames to sparse features."""

from .dicts import DictFeatures
from .extractor import BinaryRows, Matrix, TemplateFeatures
from .frames import FrameSentences, sentences_of
from .parsing import parse_templates
from .templates import BEGIN, END, Part, Template, Templates, Transform
from .windows import stack_windows

__all__ = [
    "BEGIN",
    "END",
    "BinaryRows",
    "DictFeatures",
    "FrameSentences",
    "Matrix",
    "Part",
    "Template",
    "TemplateFeatures",
    "Templates",
    "Transform",
    "parse_templates",
    "sentences_of",
    "stack_windows",
]
