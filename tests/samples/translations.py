"""Sentences and translations into a language that is English with other words and order."""

import json
from pathlib import Path

import numpy as np

from ._files import write_text
from .sentences import english


def write_alignments(folder: Path, rng: np.random.Generator) -> None:
    """English and Czech in JSON; English and French in the formats of two shared tasks."""
    here = folder / "word_alignment"
    for part, count in (("train", 60), ("valid", 30)):
        rows = [json.dumps(row(*pair(rng)), ensure_ascii=False) for _ in range(count)]
        write_text(here / "czenali_en_cs" / f"{part}.jsonl.gz", "\n".join(rows) + "\n")
    french = here / "hansards_en_fr"
    pairs = [pair(rng) for _ in range(12)]
    for k, side in enumerate("ef"):
        write_text(french / f"dev.{side}.gz", "".join(" ".join(one[k]) + " \n" for one in pairs))
    lines = [
        f"{n} {i + 1} {j + 1} {'P' if (i + j) % 4 == 3 else 'S'}\n"
        for n, (_, _, links) in enumerate(pairs, 1)
        for i, j in links
    ]
    write_text(french / "dev.wa.nonullalign.gz", "".join(lines))
    pairs = [pair(rng) for _ in range(20)]
    write_text(french / "test.src-tgt.gz", "".join(f"{' '.join(a)} ||| {' '.join(b)}\n" for a, b, _ in pairs))
    gold = [
        " ".join(f"{i + 1}{'p' if (i + j) % 4 == 3 else '-'}{j + 1}" for i, j in links) for *_, links in pairs
    ]
    write_text(french / "test.gold.gz", "\n".join(gold) + "\n")


def row(source: list[str], target: list[str], links: list[tuple[int, int]]) -> dict[str, object]:
    """One line of JSON."""
    return {"src_words": source, "tgt_words": target, "alignment": [list(link) for link in links]}


def pair(rng: np.random.Generator) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """Words, words of the translation and links; articles have none."""
    source = [word for word, _, _ in english(rng)]
    kept = [i for i, word in enumerate(source) if word not in ("the", "a")]
    if len(kept) > 3 and rng.random() < 0.5:
        kept[1], kept[2] = kept[2], kept[1]
    target = [source[i][::-1] + "é" if source[i].isalpha() else source[i] for i in kept]
    return source, target, sorted((i, j) for j, i in enumerate(kept))
