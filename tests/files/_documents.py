"""Texts with marks to write and to read again: random ones, and those of real sentences."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from kernelfields.files.tagged_text import marked_text, spaced_text
from kernelfields.io import (
    TextDocument,
    TextSpan,
    read_brat,
    read_conll,
    read_doccano,
    read_label_studio,
    read_prodigy,
    write_brat,
    write_doccano,
    write_label_studio,
    write_prodigy,
)

PIECES = [
    "Ana",
    "Müller",
    "e\u0301t",
    "👩‍🚀",
    "𝔘",
    "東京",
    "हिन्दी",
    " ",
    "  ",
    "\r\n",
    "\n",
    "\t",
    "\u2028",
    "\u00a0",
    "3,5",
    "x_y",
    ".",
    '"',
    "\\",
]
LABELS = ["PER", "LOC", "Ärzte", "a-b"]
TOOLS: dict[str, tuple[Any, Any, str]] = {
    "brat": (read_brat, write_brat, "folder"),
    "doccano": (read_doccano, write_doccano, "file.jsonl"),
    "labelstudio": (read_label_studio, write_label_studio, "file.json"),
    "prodigy": (read_prodigy, write_prodigy, "file.jsonl"),
}


def random_document(seed: int, gaps: bool = False) -> TextDocument:
    """A text of odd characters with spans that may overlap and cut words."""
    draw = random.Random(seed)
    text = "".join(draw.choice(PIECES) for _ in range(draw.randint(0, 30))) + "."
    spans = []
    for n in range(draw.randint(0, 5)):
        start = draw.randrange(len(text))
        end = draw.randint(start + 1, len(text))
        pieces: tuple[tuple[int, int], ...] = ()
        if gaps and end - start > 3 and draw.random() < 0.5:
            pieces = ((start, start + 1), (start + 2, end))
        spans.append(TextSpan(start, end, draw.choice(LABELS), round(draw.random(), 4), pieces, f"T{n + 1}"))
    return TextDocument(text, tuple(spans), name=f"d{seed:04}")


def real_documents(sample_dir: Path, count: int = 300) -> list[TextDocument]:
    """Spanish sentences with a space between words, and their entities."""
    result = []
    for sentence in read_conll(sample_dir / "conll2002" / "esp.testa.gz"):
        text, places = spaced_text(sentence.columns[0])
        result.append(marked_text(TextDocument(text), places, sentence.columns[-1]))
        if len(result) == count:
            break
    return result


def places(document: TextDocument) -> list[tuple[Any, ...]]:
    """What must be the same after a round trip."""
    return [(span.start, span.end, span.label, span.pieces) for span in document.spans or ()]
