"""Files that say odd things about calibrations and scalings are refused."""

import numpy as np
import pytest

from kernelfields.decoders import Viterbi
from kernelfields.guarantees import Betting, JudgedAnswers, Missed
from kernelfields.models.calibration import Calibration, Calibrations
from kernelfields.models.scaling import Scaling, Scalings

ANSWERS = JudgedAnswers(np.array([0.5, 0.9]), np.array([True, False]), np.array([0, 1]), np.array([0, 2]))
MISSED = Missed(np.array([0.5, 0.9]), np.array([0, 2]))
GOOD = Calibration(ANSWERS, MISSED, np.array([1, -2]), None, "positions", False, Betting(), Viterbi())
SCALING = Scaling(1.5, np.array([0.1, -0.1]), -2.0, -1.5, 10)


def test_good_ones_pass():
    assert Calibrations().objection(GOOD, {"L": 2}) == ""
    assert Calibrations().objection(GOOD._replace(true_entities=MISSED), {"L": 2}) == ""
    assert Scalings().objection(SCALING, {"L": 2}) == ""
    assert Scalings().objection(SCALING._replace(bias=None), {"L": 2}) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"units": "words"},
        {"per_label": 1},
        {"test": None},
        {"decoder": "viterbi"},
        {"answers": MISSED},
        {"answers": ANSWERS._replace(offsets=np.array([0, 3]))},
        {"answers": ANSWERS._replace(offsets=np.array([0.0, 2.0]))},
        {"answers": ANSWERS._replace(offsets=np.array([0, 3, 2]))},
        {"answers": ANSWERS._replace(confidence=np.array([0.5, 1.9]))},
        {"answers": ANSWERS._replace(confidence=np.array([0.5, np.nan]))},
        {"answers": ANSWERS._replace(wrong=np.array([0, 1]))},
        {"answers": ANSWERS._replace(kinds=np.array([0, -1]))},
        {"true_labels": Missed(np.array([0.5]), np.array([0, 2]))},
        {"true_kinds": np.array([1])},
        {"true_kinds": np.array([0.5, 1.0])},
        {"true_entities": ANSWERS},
    ],
)
def test_odd_calibrations_are_refused(change):
    assert Calibrations().objection(GOOD._replace(**change), {"L": 2})


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.0},
        {"temperature": np.nan},
        {"temperature": "hot"},
        {"before": None},
        {"n_sequences": 2.5},
        {"bias": np.array([0.1])},
        {"bias": [0.1, 0.2]},
        {"bias": np.array([1, 2])},
    ],
)
def test_odd_scalings_are_refused(change):
    assert Scalings().objection(SCALING._replace(**change), {"L": 2})


def test_other_things_are_refused():
    assert Calibrations().objection(SCALING, {"L": 2})
    assert Scalings().objection(GOOD, {"L": 2})
