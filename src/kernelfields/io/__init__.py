"""Files of sequences: columns of text and JSON lines."""

from .conll import DOCUMENT_MARK, Sentence, read_conll, write_conll
from .jsonl import Record, read_jsonl, write_jsonl

__all__ = [
    "DOCUMENT_MARK",
    "Record",
    "Sentence",
    "read_conll",
    "read_jsonl",
    "write_conll",
    "write_jsonl",
]
