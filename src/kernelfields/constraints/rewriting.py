"""Tags of one scheme written as those of another."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from ..errors import InputError
from .tags import Tag, TagScheme


def rewritten(
    sequences: Iterable[Sequence[Hashable]], source: TagScheme, target: TagScheme
) -> list[list[str]]:
    """Return the same segments in the tags of another scheme.

    Models that know where segments end, as with IOBES, often find more of them than with IOB2. Where tags are
    at odds with their scheme, as predictions may be, they are read as the conlleval script does: a tag that
    has nothing to go on begins a segment.

    Parameters
    ----------
    sequences : label sequences
        Tags of ``source``.
    source, target : TagScheme
        Such as ``IOB2`` and ``IOBES`` of ``kernelfields.constraints``.

    Examples
    --------
    >>> from kernelfields.constraints import IOB2, IOBES, rewritten
    >>> rewritten([["B-PER", "I-PER", "O", "B-LOC"]], IOB2, IOBES)
    [['B-PER', 'E-PER', 'O', 'S-LOC']]
    """
    return [_rewritten(labels, s, source, target) for s, labels in enumerate(sequences)]


def _rewritten(labels: Sequence[Hashable], s: int, source: TagScheme, target: TagScheme) -> list[str]:
    try:
        tags = [source.tag(label) for label in labels]
    except InputError as error:
        raise InputError(f"Sequence {s}: {error}") from None
    outside = Tag("O", "")
    around = zip([outside, *tags], tags, [*tags[1:], outside], strict=False)
    return [_written(target, *three, source) for three in around]


def _written(target: TagScheme, before: Tag, tag: Tag, after: Tag, source: TagScheme) -> str:
    if tag.letter == "O":
        return "O"
    first = not source.continues(before, tag)
    last = not source.continues(tag, after)
    if first:
        letter = target.single if last and target.single else target.begin
    else:
        letter = target.end if last and target.end else target.inside
    return f"{letter}-{tag.kind}" if tag.kind else letter
