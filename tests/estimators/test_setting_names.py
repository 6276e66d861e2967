"""Settings that are names: an unknown one is answered with all that there are, and the nearest."""

import pytest

from kernelfields import CRF, HMM, KernelCRF, StructuredSVM
from kernelfields.errors import InputError
from kernelfields.losses import Log

WORDS = [["Anna", "went", "to", "Paris"], ["Bob", "slept"]]
TAGS = [["B-PER", "O", "O", "B-LOC"], ["B-PER", "O"]]
NUMBERS = [[[0.0], [1.0]], [[1.0], [0.0]]]


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        ("features", "nre", "ner"),
        ("solver", "lbgfs", "lbfgs"),
        ("structure", "Chain ", "chain"),
        ("constraints", "iob", "iob2"),
        ("loss", "logg", "log"),
        ("decoder", "viterbo", "viterbi"),
        ("posterior", "lapalce", "laplace"),
    ],
)
def test_names_of_a_linear_model(name, given, meant):
    with pytest.raises(InputError, match=f"{name}='{given}' is not known; did you mean '{meant}'\\? Choose"):
        CRF(**{"features": "pos", name: given}).fit(WORDS, TAGS)


@pytest.mark.parametrize(
    ("model", "name", "given", "meant"),
    [
        (KernelCRF, "kernel", "rfb", "rbf"),
        (KernelCRF, "basis", "nystrom", "nystroem"),
        (StructuredSVM, "rescaling", "margins", "margin"),
        (StructuredSVM, "cost", "haming", "hamming"),
        (StructuredSVM, "solver", "n_slack", "n-slack"),
        (HMM, "emissions", "gausssian", "gaussian"),
    ],
)
def test_names_of_other_models(model, name, given, meant):
    with pytest.raises(InputError, match=f"{name}='{given}' is not known; did you mean '{meant}'\\? Choose"):
        model(**{name: given}).fit(NUMBERS, [["a", "b"], ["b", "a"]])


def test_names_of_class_weights():
    with pytest.raises(
        InputError, match="class_weight='balance' is not known; did you mean 'balanced'\\? Choose"
    ):
        Log(class_weight="balance")


def test_entities_are_found_in_plain_words():
    model = CRF(features="ner", penalty=0.1).fit(WORDS, TAGS)
    assert model.predict(WORDS) == TAGS
    assert model.features_.templates.columns == ("w",)
    tagged = [[(word, "X") for word in words] for words in WORDS]
    assert CRF(features="ner").fit(tagged, TAGS).features_.templates.columns == ("w", "pos")
