"""The papers' tables and figures, with our own numbers beside theirs."""

from collections.abc import Mapping

from .active import ACTIVE
from .align import ALIGN
from .cb513 import CB513
from .chunking import CHUNKING
from .collective import COLLECTIVE
from .evidence import EVIDENCE_SEARCH
from .explicit import EXPLICIT
from .galaxy import GALAXY
from .gaussian_hmm import GAUSSIAN_HMM
from .gene import GENE
from .gestures import GESTURES
from .gestures_semi import GESTURES_SEMI
from .guarantee import GUARANTEE
from .hidden import HIDDEN
from .horses import HORSES
from .letters import LETTERS
from .letters_semi import LETTERS_SEMI
from .letters_svm import LETTERS_SVM
from .lib.claims import Claim
from .lib.experiment import Experiment, reproduce
from .lib.results import Outcome, claims_of, columns_of, last_result, text_of
from .loss_curves import LOSS_CURVES
from .margin_length import MARGIN_LENGTH
from .missing import MISSING
from .ner import NER
from .ner_300 import NER_300
from .ner_table1 import NER_TABLE1
from .parse import PARSE
from .penn import PENN
from .pitch_accent import PITCH_ACCENT
from .pos_table import POS_TABLE
from .posterior import POSTERIOR
from .protein import PROTEIN
from .protein_semi import PROTEIN_SEMI
from .scene import SCENE
from .segments import SEGMENTS
from .snakes import SNAKES
from .sparsity import SPARSITY
from .two_by_two import TWO_BY_TWO

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        LETTERS,
        LETTERS_SVM,
        NER_TABLE1,
        PITCH_ACCENT,
        PROTEIN,
        CB513,
        EXPLICIT,
        SPARSITY,
        GAUSSIAN_HMM,
        MARGIN_LENGTH,
        GENE,
        SEGMENTS,
        CHUNKING,
        NER,
        NER_300,
        TWO_BY_TWO,
        POS_TABLE,
        LOSS_CURVES,
        COLLECTIVE,
        SNAKES,
        HORSES,
        SCENE,
        GALAXY,
        ACTIVE,
        ALIGN,
        LETTERS_SEMI,
        PROTEIN_SEMI,
        PARSE,
        GESTURES,
        GESTURES_SEMI,
        HIDDEN,
        MISSING,
        PENN,
        GUARANTEE,
        POSTERIOR,
        EVIDENCE_SEARCH,
    )
}

__all__ = [
    "EXPERIMENTS",
    "Claim",
    "Experiment",
    "Outcome",
    "claims_of",
    "columns_of",
    "last_result",
    "reproduce",
    "text_of",
]
