"""Data sets: some come with the package, others are read from the folder in KERNELFIELDS_DATA."""

from .alignments import AlignedSentences, load_alignments
from .citations import CitationGraph, load_citations
from .conll2002 import Entities, load_conll2002, spelling_templates
from .dependencies import ParsedSentences, load_ud_trees
from .folder import data_file, data_folder
from .genome import Genome, load_genome
from .gestures import Gestures, load_gestures
from .images import LabelledImages, load_horses, load_snakes
from .letters import Letters, draw_letter, load_letters
from .mouse_genes import MouseGene, load_mouse_genes
from .parts_of_speech import TaggedSentences, load_ptb_sample, load_ud_ewt
from .prosody import Prosody, load_prosody, prosody_templates
from .prosody_numbers import ProsodyLanguage, prosody_numbers
from .proteins import Proteins, load_cb513, load_jpred4
from .scenes import Scenes, load_scene
from .treebank import Treebank, load_ptb_trees

__all__ = [
    "AlignedSentences",
    "CitationGraph",
    "Entities",
    "Genome",
    "Gestures",
    "LabelledImages",
    "Letters",
    "MouseGene",
    "ParsedSentences",
    "Prosody",
    "ProsodyLanguage",
    "Proteins",
    "Scenes",
    "TaggedSentences",
    "Treebank",
    "data_file",
    "data_folder",
    "draw_letter",
    "load_alignments",
    "load_cb513",
    "load_citations",
    "load_conll2002",
    "load_genome",
    "load_gestures",
    "load_horses",
    "load_jpred4",
    "load_letters",
    "load_mouse_genes",
    "load_prosody",
    "load_ptb_sample",
    "load_ptb_trees",
    "load_scene",
    "load_snakes",
    "load_ud_ewt",
    "load_ud_trees",
    "prosody_numbers",
    "prosody_templates",
    "spelling_templates",
]
