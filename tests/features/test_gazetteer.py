"""Names of a training set as columns."""

from __future__ import annotations

import pytest

from kernelfields import CRF
from kernelfields.errors import InputError
from kernelfields.features import Gazetteer

SENTENCES = [["la", "Ana"], ["Ana", "Ruiz", "vive"], ["en", "Ana", "Mar"], ["la", "casa"]]
LABELS = [["O", "B-PER"], ["B-PER", "I-PER", "O"], ["O", "B-LOC", "I-LOC"], ["O", "O"]]


def test_the_longest_phrase_counts() -> None:
    names = Gazetteer().fit(SENTENCES, LABELS)
    assert names.phrases_ == {("Ana",): "PER", ("Ana", "Ruiz"): "PER", ("Ana", "Mar"): "LOC"}
    marked = names.transform([["Ana", "Mar", "Ana", "Ruiz", "Ana", "x"]])[0]
    assert [token[1] for token in marked] == ["B-LOC", "I-LOC", "B-PER", "I-PER", "B-PER", "O"]
    assert [token[2] for token in marked] == ["PER", "LOC!", "PER", "PER!", "PER", "?"]
    short = Gazetteer(longest=1).fit(SENTENCES, LABELS).transform([["Ana", "Mar"]])[0]
    assert [token[1] for token in short] == ["B-PER", "O"]


def test_columns_are_kept() -> None:
    tagged = [[("la", "D"), ("Ana", "N")]]
    marked = Gazetteer().fit(SENTENCES, LABELS).transform(tagged)
    assert marked == [[("la", "D", "O", "O!"), ("Ana", "N", "B-PER", "PER")]]


def test_a_part_of_the_training_set_does_not_know_its_own_names() -> None:
    names = Gazetteer(folds=4)
    marked = names.fit_transform(SENTENCES, LABELS)
    for k, sentence in enumerate(marked):
        others = [i for i in range(4) if i != k]
        alone = Gazetteer().fit([SENTENCES[i] for i in others], [LABELS[i] for i in others])
        assert sentence == alone.transform([SENTENCES[k]])[0]
    assert marked[1][1] == ("Ruiz", "O", "?")
    assert names.transform([["Ruiz"]])[0] == [("Ruiz", "O", "PER!")]


def test_templates_see_the_columns() -> None:
    names = Gazetteer(folds=2)
    X = names.fit_transform(SENTENCES, LABELS)
    model = CRF(1.0, features="columns: w phrase kind\nw[0]\nphrase[0]\nkind[-1..1]").fit(X, LABELS)
    assert len(model.predict(names.transform([["la", "Ana"]]))[0]) == 2


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(InputError, match="There are 4 sentences, but 1 label"):
        Gazetteer().fit(SENTENCES, LABELS[:1])
    with pytest.raises(InputError, match="Sentence 0 has 2 tokens, but 1 labels"):
        Gazetteer().fit([["a", "b"]], [["O"]])
    with pytest.raises(InputError, match="not a tag of IOB2"):
        Gazetteer().fit([["a"]], [["E-X"]])
    with pytest.raises(InputError, match="not fitted"):
        Gazetteer().transform(SENTENCES)
    with pytest.raises(InputError, match="folds is 1"):
        Gazetteer(folds=1).fit(SENTENCES, LABELS)
