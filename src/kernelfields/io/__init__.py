"""Readers and writers of sequences, parses and alignments, as text or as arrays."""

from .alignments import AlignmentLink, WordAlignment, read_naacl, read_pharaoh, write_naacl, write_pharaoh
from .brackets import read_brackets, write_brackets
from .conll import DOCUMENT_MARK, Sentence, read_conll, write_conll
from .conllu import ParsedSentence, read_conllu, write_conllu
from .csv import Frames, read_csv
from .jsonl import Record, read_jsonl, write_jsonl
from .npz import Arrays, read_npz
from .parallel import SentencePair, read_parallel, write_parallel
from .parquet import ParquetSentences, read_parquet
from .sentences import BagSentences, ConllSentences, stored_sentences

__all__ = [
    "DOCUMENT_MARK",
    "AlignmentLink",
    "Arrays",
    "BagSentences",
    "ConllSentences",
    "Frames",
    "ParquetSentences",
    "ParsedSentence",
    "Record",
    "Sentence",
    "SentencePair",
    "WordAlignment",
    "read_brackets",
    "read_conll",
    "read_conllu",
    "read_csv",
    "read_jsonl",
    "read_naacl",
    "read_npz",
    "read_parallel",
    "read_parquet",
    "read_pharaoh",
    "stored_sentences",
    "write_brackets",
    "write_conll",
    "write_conllu",
    "write_jsonl",
    "write_naacl",
    "write_parallel",
    "write_pharaoh",
]
