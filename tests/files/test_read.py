"""``kernelfields.read``: any file that ``kf`` reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelfields import CRF, read
from kernelfields.errors import InputError

CONLLU = """# text = He runs
1-2 x _ _ _ _ _ _ _ _
1 He _ PRON PRP _ 2 nsubj _ _
2 runs _ VERB _ _ 0 root _ _

""".replace(" ", "\t").replace("#\ttext\t=\tHe\truns", "# text = He runs")
GFF3 = """c1 x gene 1 4 . + . .
c1 x CDS 2 3 . + . .
c1 x CDS 6 6 . - . .
""".replace(" ", "\t")
FILES: dict[str, tuple[str, Any, Any]] = {
    "a.conll": ("He PRON\nruns VERB\n\n", [["He", "runs"]], [["PRON", "VERB"]]),
    "a.jsonl": ('{"tokens": ["He"], "labels": [null]}\n', [["He"]], [[None]]),
    "b.jsonl": ('{"text": "He ran", "label": [[0, 2, "P"]]}', [["He", "ran"]], [["B-P", "O"]]),
    "c.jsonl": ('{"text": "He ran", "spans": []}', [["He", "ran"]], [["O", "O"]]),
    "d.jsonl": ('{"text": "He ran"}', [["He", "ran"]], None),
    "e.jsonl": ('{"text": "x", "tokens": ["He"]}', [["He"]], None),
    "a.json": ('[{"data": {"text": "He"}, "annotations": [{"result": []}]}]', [["He"]], [["O"]]),
    "a.fa": (">c1\nACgtAC\n", [list("ACGTAC")], None),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_formats_are_told_by_name_and_first_line(name: str, tmp_path: Path) -> None:
    text, X, y = FILES[name]
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name) == (X, y)
    assert read(str(tmp_path / name)) == (X, y)


def test_columns_of_conllu(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU)
    assert read(tmp_path / "a.conllu", columns=["form", "UPOS"]) == ([["He", "runs"]], [["PRON", "VERB"]])
    assert read(tmp_path / "a.conllu", columns=[2, 5]) == ([["He", "runs"]], [["PRP", None]])
    with pytest.raises(InputError, match="columns has 'FORMS'; names are those of CoNLL-U"):
        read(tmp_path / "a.conllu", columns=["FORMS"])


def test_labels_of_letters(tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_text(">c1\nACgtAC\n")
    (tmp_path / "a.gff3").write_text(GFF3)
    (tmp_path / "y.fa").write_text(">c1\nNCC_NN\n")
    _, y = read(tmp_path / "a.fa", labels=tmp_path / "a.gff3", types=["CDS"])
    assert y == [["O", "CDS+", "CDS+", "O", "O", "CDS-"]]
    _, y = read(tmp_path / "a.fa", labels=tmp_path / "y.fa")
    assert y == [["N", "C", "C", None, "N", "N"]]
    with pytest.raises(
        InputError, match=r"a\.gff3, line 2: CDS\+ overlaps the gene\+ of line 1 at position 2"
    ):
        read(tmp_path / "a.fa", labels=tmp_path / "a.gff3")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("c1\t.\tCDS\t2\t7\t.\t+\t.\t.\n", r"line 1: the feature ends at 7, but 'c1' has 6 letters"),
        ("c2\t.\tCDS\t2\t3\t.\t+\t.\t.\n", r"has features of 'c2', but of no sequence of"),
    ],
)
def test_features_that_do_not_fit_are_named(labels: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_text(">c1\nACgtAC\n")
    (tmp_path / "a.gff3").write_text(labels)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.fa", labels=tmp_path / "a.gff3")


@pytest.mark.parametrize(
    ("letters", "message"),
    [(">c1\nACC\n", "has 3 labels of 'c1', which has 6 letters"), (">c2\nA\n", "has no labels of 'c1'")],
)
def test_labels_of_letters_that_do_not_fit_are_named(letters: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_text(">c1\nACgtAC\n")
    (tmp_path / "y.fa").write_text(letters)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.fa", labels=tmp_path / "y.fa")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "There is no format 'xml'; choose one of"),
        ({"spans": "drop"}, "--spans is for texts with marked spans, not for conll"),
        ({"offsets": "utf-16"}, "--offsets is for doccano, not for conll"),
        ({"labels": "x.fa"}, "--labels is for FASTA files and profiles, not for conll"),
        ({"format": "fasta"}, r"line 1: expected '>' and a name"),
        ({"parents": 0}, "parents"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text(FILES["a.conll"][0])
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.conll", **options)


def test_numbers_go_into_a_model(tmp_path: Path) -> None:
    """An alignment as a profile: columns have names, and the structure is the labels."""
    text = "# STOCKHOLM 1.0\ns1 ACGTACGT\ns2 ACGTTCGT\n#=GC SS_cons <<>>..>>\n//\n"
    (tmp_path / "a.sto").write_text(text * 2)
    X, y = read(tmp_path / "a.sto")
    assert y is not None
    assert y[0] == ["<", "<", ">", ">", None, None, ">", ">"]
    assert X[0].columns == ("A", "C", "G", "T", "gap")
    assert CRF(penalty=0.01).fit(X, y).predict(X)[0][:4] == ["<", "<", ">", ">"]


def test_several_files_are_one(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"tokens": [name], "labels": [1]}))
    assert read([tmp_path / "a.jsonl", tmp_path / "b.jsonl"]) == ([["a"], ["b"]], [[1], [1]])


def test_texts_without_marks_among_others_have_unknown_labels(tmp_path: Path) -> None:
    lines = [{"text": "He ran", "spans": []}, {"text": "He ran"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert read(tmp_path / "a.jsonl")[1] == [["O", "O"], [None, None]]


def test_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.arange(6.0).reshape(3, 2), lengths=[2, 1])
    X, y = read(tmp_path / "a.npz")
    assert [x.tolist() for x in X] == [[[0, 1], [2, 3]], [[4, 5]]]
    assert y is None
