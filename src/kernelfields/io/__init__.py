"""Readers and writers of sequences (columns of text, JSON lines, tables, arrays) and of named arrays."""

from .conll import DOCUMENT_MARK, Sentence, read_conll, write_conll
from .csv import Frames, read_csv
from .jsonl import Record, read_jsonl, write_jsonl
from .npz import Arrays, read_npz

__all__ = [
    "DOCUMENT_MARK",
    "Arrays",
    "Frames",
    "Record",
    "Sentence",
    "read_conll",
    "read_csv",
    "read_jsonl",
    "read_npz",
    "write_conll",
    "write_jsonl",
]
