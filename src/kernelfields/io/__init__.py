"""Readers and writers of sequences, parses and alignments, as text or as arrays."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .word_places import word_places

if TYPE_CHECKING:
    from .alignments import AlignmentLink, WordAlignment, read_naacl, read_pharaoh, write_naacl, write_pharaoh
    from .brackets import read_brackets, write_brackets
    from .brat import read_brat, write_brat
    from .conll import DOCUMENT_MARK, Sentence, read_conll, write_conll
    from .conllu import ParsedSentence, read_conllu, write_conllu
    from .csv import Frames, read_csv
    from .doccano import read_doccano, write_doccano
    from .fasta import LetterSequence, read_fasta, write_fasta
    from .gff3 import SequenceFeature, read_gff3, write_bed, write_gff3
    from .hhm import read_hhm
    from .jsonl import Record, read_jsonl, write_jsonl
    from .label_studio import read_label_studio, write_label_studio
    from .npz import Arrays, read_npz
    from .parallel import SentencePair, read_parallel, write_parallel
    from .parquet import ParquetSentences, read_parquet
    from .prodigy import read_prodigy, write_prodigy
    from .profiles import ResidueProfile
    from .pssm import read_pssm
    from .raw_text import read_text
    from .sentences import BagSentences, ConllSentences, stored_sentences
    from .stockholm import read_stockholm
    from .text_documents import TextDocument, TextSpan
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "alignments": "AlignmentLink WordAlignment read_naacl read_pharaoh write_naacl write_pharaoh",
            "brackets": "read_brackets write_brackets",
            "brat": "read_brat write_brat",
            "conll": "DOCUMENT_MARK Sentence read_conll write_conll",
            "conllu": "ParsedSentence read_conllu write_conllu",
            "csv": "Frames read_csv",
            "doccano": "read_doccano write_doccano",
            "fasta": "LetterSequence read_fasta write_fasta",
            "gff3": "SequenceFeature read_gff3 write_bed write_gff3",
            "hhm": "read_hhm",
            "jsonl": "Record read_jsonl write_jsonl",
            "label_studio": "read_label_studio write_label_studio",
            "npz": "Arrays read_npz",
            "parallel": "SentencePair read_parallel write_parallel",
            "parquet": "ParquetSentences read_parquet",
            "prodigy": "read_prodigy write_prodigy",
            "profiles": "ResidueProfile",
            "pssm": "read_pssm",
            "raw_text": "read_text",
            "sentences": "BagSentences ConllSentences stored_sentences",
            "stockholm": "read_stockholm",
            "text_documents": "TextDocument TextSpan",
        },
    )

__all__ = [
    "DOCUMENT_MARK",
    "AlignmentLink",
    "Arrays",
    "BagSentences",
    "ConllSentences",
    "Frames",
    "LetterSequence",
    "ParquetSentences",
    "ParsedSentence",
    "Record",
    "ResidueProfile",
    "Sentence",
    "SentencePair",
    "SequenceFeature",
    "TextDocument",
    "TextSpan",
    "WordAlignment",
    "read_brackets",
    "read_brat",
    "read_conll",
    "read_conllu",
    "read_csv",
    "read_doccano",
    "read_fasta",
    "read_gff3",
    "read_hhm",
    "read_jsonl",
    "read_label_studio",
    "read_naacl",
    "read_npz",
    "read_parallel",
    "read_parquet",
    "read_pharaoh",
    "read_prodigy",
    "read_pssm",
    "read_stockholm",
    "read_text",
    "stored_sentences",
    "word_places",
    "write_bed",
    "write_brackets",
    "write_brat",
    "write_conll",
    "write_conllu",
    "write_doccano",
    "write_fasta",
    "write_gff3",
    "write_jsonl",
    "write_label_studio",
    "write_naacl",
    "write_parallel",
    "write_pharaoh",
    "write_prodigy",
]
