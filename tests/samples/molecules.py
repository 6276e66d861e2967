"""Proteins with profiles, and strands of bases with genes."""

from pathlib import Path

import numpy as np

from ._files import offsets_of, write_arrays, write_text

RESIDUES = "ARNDCQEGHILKMFPSTWYV"
STOPS = ("TAA", "TAG", "TGA")


def write_proteins(folder: Path, rng: np.random.Generator) -> None:
    """JPred4 in seven folds and a blind set, and CB513 with both kinds of profiles."""
    lengths = rng.integers(24, 40, 8 * 12).tolist()
    states, scores, residues = chains(lengths, rng)
    names = [f"s{n:05}_".encode() for n in range(len(lengths) - 1)]
    write_arrays(
        folder / "jpred4" / "jpred4_pssm.npz",
        ids=np.array([*names, b"d3arcz_"]),  # one that is left out
        offsets=offsets_of(lengths),
        fold=np.append(np.arange(len(names)) % 8, 0).astype(np.uint8),
        seq=residues,
        ss3=states,
        pssm=scores,
    )
    hmm = np.clip(
        100 * np.hstack([scores, scores[:, :4]]) + rng.integers(-90, 90, (len(scores), 24)), -1200, 600
    )
    write_arrays(
        folder / "jpred4" / "jpred4_hmm.npz", hmm100=hmm.astype(np.int16), offsets=offsets_of(lengths)
    )
    write_cb513(folder / "cb513", rng)


def chains(lengths: list[int], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Runs of three states, log-odds of residues that depend on them, and residues."""
    states = np.concatenate([runs(length, 3, 6, rng) for length in lengths]).astype(np.uint8)
    centres = rng.normal(0, 2.5, (3, 20))
    scores = np.clip(np.round(centres[states] + rng.normal(0, 2, (len(states), 20))), -9, 15).astype(np.int8)
    letters = np.frombuffer(RESIDUES.encode(), np.uint8)[scores.argmax(axis=1)]
    return states, scores, letters


def runs(length: int, kinds: int, mean: int, rng: np.random.Generator) -> np.ndarray:
    """A sequence that stays with a kind for a while."""
    found: list[int] = []
    while len(found) < length:
        found += [int(rng.integers(kinds))] * int(rng.integers(mean // 2, 2 * mean))
    return np.array(found[:length])


def write_cb513(folder: Path, rng: np.random.Generator) -> None:
    """Two chains of most proteins; some states are unknown."""
    lengths = rng.integers(20, 36, 84).tolist()
    states, scores, residues = chains(lengths, rng)
    dssp = np.array([rng.choice(list(("HGI", "EB", "TS_")[state])) for state in states])
    dssp[:: len(dssp) // 6] = "?"
    counts = rng.poisson(np.exp(np.clip(scores, -4, 4) / 2.0)).astype(np.uint16)
    ids = [f"{n // 2:04}-{1 + n % 2}-SAMPLE" for n in range(len(lengths))]
    write_arrays(
        folder / "cb513.npz",
        ids=np.array([name.encode() for name in ids]),
        offsets=offsets_of(lengths),
        seq=residues,
        dssp8=np.frombuffer("".join(dssp).encode(), np.uint8),
        align_counts=np.hstack([counts, rng.poisson(1, (len(counts), 1)).astype(np.uint16)]),
        from_rs126=(np.arange(len(lengths)) % 3 == 0).astype(np.uint8),
    )
    tenths = np.clip(np.round(5 + scores.astype(int)), 0, 10).astype(np.uint8)
    write_arrays(folder / "cb513_psiblast.npz", pssm_tenths=tenths)
    blocks = []
    for name, start, length in zip(ids, offsets_of(lengths)[:-1], lengths, strict=True):
        own = bytes(residues[start : start + length]).decode()
        others = [mutated(own, rng) for _ in range(24 if start == 0 else 1)]
        rows = "".join(f"align{n}\t{row}\n" for n, row in enumerate([own, *others], 1))
        blocks.append(f">{name}\nRES\t{own}\nDSSP\t{''.join(dssp[start : start + length])}\n{rows}")
    write_text(folder / "cb513_alignments.txt.gz", "".join(blocks))


def mutated(residues: str, rng: np.random.Generator) -> str:
    """A sequence aligned to another one: three of ten residues are replaced, some by gaps."""
    other = rng.choice(list(RESIDUES + "."), len(residues))
    kept = rng.random(len(residues)) < 0.7
    return "".join(np.where(kept, list(residues), other))


def gene(codons: int, rng: np.random.Generator) -> str:
    """A start codon, codons that prefer some bases, and a stop codon."""
    inner = ["".join(rng.choice(list("ACGT"), 3, p=[0.2, 0.2, 0.4, 0.2])) for _ in range(codons)]
    return "ATG" + "".join("GCA" if codon in STOPS else codon for codon in inner) + str(rng.choice(STOPS))


def opposite(bases: str) -> str:
    """The other strand, read in its own direction."""
    return bases[::-1].translate(str.maketrans("ACGT", "TGCA"))


def write_genomes(folder: Path, rng: np.random.Generator) -> None:
    """One long strand with genes on both strands, and genes with introns."""
    parts, labels = [], []
    while sum(map(len, parts)) < 120_000:
        parts.append(
            "".join(rng.choice(list("ACGT"), int(rng.integers(20, 200)), p=[0.35, 0.15, 0.15, 0.35]))
        )
        found = gene(int(rng.integers(40, 200)), rng)
        strand = str(rng.choice(["C", "R"]))
        parts.append(found if strand == "C" else opposite(found))
        labels += ["N", strand]
    parts.append("ACGT" * 20)
    labels.append("N")
    ends = np.cumsum([len(part) for part in parts]).astype(np.int32)
    write_arrays(
        folder / "strep_genome" / "strep_pyogenes.npz",
        seq=np.frombuffer("".join(parts).encode(), np.uint8),
        run_start=np.append(0, ends[:-1]).astype(np.int32),
        run_end=ends,
        run_label=np.frombuffer("".join(labels).encode(), np.uint8),
    )
    rows = [split_gene(n, rng) for n in range(1, 49)]
    write_text(folder / "mouse_genes" / "mouse_genes.tsv.gz", "id\theader\tcds\tsequence\n" + "".join(rows))


def split_gene(number: int, rng: np.random.Generator) -> str:
    """A gene whose coding part is cut by introns; all sites have the surroundings that such sites like."""
    coding = gene(int(rng.integers(30, 90)), rng)
    cuts = sorted(rng.choice(np.arange(5, len(coding) - 5), int(rng.integers(0, 4)), replace=False).tolist())
    text, spans = "".join(rng.choice(list("ACGT"), 60)) + "GCCGCCACC", []
    for a, b in zip([0, *cuts], [*cuts, len(coding)], strict=True):
        if a:
            text += (
                "GTAAGTA" + "".join(rng.choice(list("ACGT"), int(rng.integers(60, 250)))) + 11 * "TC" + "AG"
            )
        spans.append(f"{len(text) + 1}-{len(text) + b - a}")
        text += coding[a:b]
    text += "AATA" + "".join(rng.choice(list("ACGT"), 80))
    return f"{number:03}\tsample {number}\t{','.join(spans)}\t{text}\n"
