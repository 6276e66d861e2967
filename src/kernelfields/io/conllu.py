"""CoNLL-U: one word per line with its head and relation, an empty line after each sentence.

    # text = She saw it
    1	She	she	PRON	PRP	Case=Nom	2	nsubj	_	_
    2	saw	see	VERB	VBD	_	0	root	_	_
    3	it	it	PRON	PRP	_	2	obj	_	_

Ten columns, separated by tabs: ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS and MISC; "_" for
nothing. Lines for a token of several words (ID 3-4) and for words that are not said (ID 3.1) are kept and
written again, but are not words: heads and relations are those of the lines with whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..checks import require_whole
from ..errors import InputError, quoted
from .heads import require_heads
from .lines import LONGEST_TEXT, Source, TextLine, read_lines, require_short, write_lines

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, _LEMMA, UPOS, XPOS, _FEATS, HEAD, DEPREL, _DEPS, MISC = range(len(COLUMNS))
NOTHING = "_"
PROBABILITY = "Probability"
"""The name of an arc's probability in MISC."""
LONGEST_LINE = 2**20
MOST_WORDS = 100_000
"""Words of a sentence: a longer one is a file without empty lines."""

Row = tuple[str, ...]


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence of CoNLL-U, with its tree if it has one."""

    rows: tuple[Row, ...]
    """The ten columns of every line, those of tokens of several words and of unsaid words among them."""
    comments: tuple[str, ...] = ()
    """Lines before the first word, which begin with "#"."""

    @cached_property
    def words(self) -> list[Row]:
        """The lines of words."""
        return [row for row in self.rows if row[ID].isdecimal()]

    @property
    def forms(self) -> list[str]:
        """The words."""
        return [row[FORM] for row in self.words]

    @property
    def tags(self) -> list[str]:
        """UPOS of every word."""
        return [row[UPOS] for row in self.words]

    @property
    def heads(self) -> list[int] | None:
        """The head of every word, counted from 1, 0 for the root; None if the file has none."""
        given = [row[HEAD] for row in self.words]
        return None if given[0] == NOTHING else [int(head) for head in given]

    @property
    def relations(self) -> list[str]:
        """The relation of every word to its head; "_" where the file has none."""
        return [row[DEPREL] for row in self.words]

    def with_arcs(
        self,
        heads: Sequence[int],
        relations: Sequence[str] | None = None,
        probabilities: Sequence[float] | None = None,
    ) -> ParsedSentence:
        """Return the sentence with other heads and relations; all other columns and lines stay.

        Parameters
        ----------
        heads : list of int
            Of every word, 0 for the root.
        relations : list of str, optional
            Without them the column has "_": relations of the file belong to its heads.
        probabilities : list of float, optional
            Of every arc, added to MISC as ``Probability=0.9731``.
        """
        columns: list[Sequence[object] | None] = [heads, relations, probabilities]
        for values in columns:
            if values is not None and len(values) != len(self.words):
                raise InputError(f"The sentence has {len(self.words)} words, but {len(values)} were given.")
        rows, m = [], 0
        for row in self.rows:
            if row[ID].isdecimal():
                relation = NOTHING if relations is None else relations[m]
                misc = row[MISC] if probabilities is None else _with_probability(row[MISC], probabilities[m])
                row = (*row[:HEAD], str(int(heads[m])), relation, row[_DEPS], misc)
                m += 1
            rows.append(row)
        return replace(self, rows=tuple(rows))

    def with_column(
        self, column: int, values: Sequence[str], probabilities: Sequence[float] | None = None
    ) -> ParsedSentence:
        """Return the sentence with another column of its words; all else stays.

        Parameters
        ----------
        column : int
            Number of the column, counted from 0: 3 for UPOS, 4 for XPOS.
        values : list of str
            Of every word.
        probabilities : list of float, optional
            Of every value, added to MISC as ``Probability=0.9731``.
        """
        require_whole("column", column, 0, MISC)
        for given in (values, probabilities):
            if given is not None and len(given) != len(self.words):
                raise InputError(f"The sentence has {len(self.words)} words, but {len(given)} were given.")
        rows, m = [], 0
        for row in self.rows:
            if row[ID].isdecimal():
                row = (*row[:column], values[m], *row[column + 1 :])
                if probabilities is not None:
                    row = (*row[:MISC], _with_probability(row[MISC], probabilities[m]))
                m += 1
            rows.append(row)
        return replace(self, rows=tuple(rows))


def read_conllu(
    source: Source, *, single_root: bool = True, encoding: str = "utf-8"
) -> Iterator[ParsedSentence]:
    r"""Read sentences one by one.

    Lines end with LF or CRLF. Malformed input raises an `InputError` that names file, line and reason: lines
    without ten columns, numbers of words out of order, heads that are out of range or make a cycle. Heads are
    known for all words of a sentence or, where HEAD is "_", for none.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    single_root : bool
        Whether trees with several words below the root are refused; Universal Dependencies have none.
    encoding : str
        Any encoding that contains ASCII.

    Yields
    ------
    ParsedSentence
        A sentence with at least one word.

    Examples
    --------
    >>> from io import StringIO
    >>> row = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_\n"
    >>> file = StringIO(row.format(1, "She", "PRON", 2, "nsubj") + row.format(2, "ran", "VERB", 0, "root"))
    >>> [sentence] = read_conllu(file)
    >>> sentence.forms, sentence.heads, sentence.relations
    (['She', 'ran'], [2, 0], ['nsubj', 'root'])
    """
    lines: list[TextLine] = []
    rows: list[Row] = []
    comments: list[TextLine] = []
    for line in read_lines(source, encoding, LONGEST_LINE):
        if line.text.startswith("#"):
            if rows:
                raise line.error("a comment is between words; comments are before the first one.")
            comments.append(line)
        elif line.text.strip(" \t"):
            lines.append(line)
            rows.append(_row(line))
            if len(rows) > MOST_WORDS:
                raise line.error(f"the sentence has more than {MOST_WORDS:,} lines; is there no empty one?")
        elif rows:
            yield _sentence(lines, rows, comments, single_root)
            lines, rows, comments = [], [], []
        elif comments:
            raise comments[-1].error("no words follow this comment.")
    if rows:
        yield _sentence(lines, rows, comments, single_root)
    elif comments:
        raise comments[-1].error("no words follow this comment.")


def write_conllu(
    sentences: Iterable[ParsedSentence], target: Source, *, single_root: bool = True, encoding: str = "utf-8"
) -> None:
    """Write sentences so that `read_conllu` reads the same ones; refuse what it would refuse.

    A file with LF, one empty line after each sentence and no byte order mark comes back to the byte.

    Parameters
    ----------
    sentences : iterable of ParsedSentence
        With or without heads.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    single_root : bool
        Whether trees with several words below the root are refused.
    encoding : str
        Any encoding that contains ASCII.
    """
    write_lines(
        (line for s, one in enumerate(sentences) for line in conllu_lines(one, s, single_root)),
        target,
        encoding,
    )


def conllu_lines(sentence: ParsedSentence, number: int = 0, single_root: bool = True) -> Iterator[str]:
    """Return the lines of a sentence, the empty one at its end too."""
    what = f"Sentence {number}"
    for comment in sentence.comments:
        if not comment.startswith("#") or _breaks(comment):
            raise InputError(f"{what}: {comment!r} is not a comment, which is one line that begins with '#'.")
    texts = []
    for t, row in enumerate(sentence.rows):
        if any("\t" in field or _breaks(field) for field in row):
            raise InputError(f"{what}, line {t}: a field may not contain a tab or the end of a line.")
        texts.append(TextLine(what, t, "\t".join(row)))
    if not texts:
        raise InputError(f"{what} has no words.")
    _sentence(texts, [_row(text) for text in texts], [], single_root)
    yield from sentence.comments
    yield from (text.text for text in texts)
    yield ""


def _row(line: TextLine) -> Row:
    """Split a line into ten columns."""
    row = tuple(line.text.split("\t"))
    if len(row) != len(COLUMNS):
        raise line.error(
            f"expected {len(COLUMNS)} columns between tabs, but found {len(row)}: {quoted(line.text)}."
        )
    if "" in row:
        raise line.error(f"{COLUMNS[row.index('')]} is empty; '_' stands for nothing.")
    if line.text.startswith(" "):
        raise line.error(f"ID is {quoted(row[ID], 40)}, which begins with a space.")
    if len(line.text) > LONGEST_TEXT:
        for name, field in zip(COLUMNS, row, strict=True):
            try:
                require_short(field, name)
            except InputError as error:
                raise line.error(str(error)) from None
    return row


def _sentence(
    lines: list[TextLine], rows: list[Row], comments: list[TextLine], single_root: bool
) -> ParsedSentence:
    """Check numbers and tree."""
    words = _require_numbers(lines, rows)
    result = ParsedSentence(tuple(rows), tuple(comment.text for comment in comments))
    given = [rows[t][HEAD] for t in words]
    if given[0] == NOTHING or NOTHING in given:
        odd = next((m for m, head in enumerate(given) if (head == NOTHING) != (given[0] == NOTHING)), None)
        if odd is not None:
            raise lines[words[odd]].error(
                f"HEAD is {quoted(given[odd], 40)}, but that of word 1 is {quoted(given[0], 40)}: "
                "heads are known for all words of a sentence or for none."
            )
        return result
    heads = []
    for t, text in zip(words, given, strict=True):
        if not _is_number(text):
            raise lines[t].error(f"HEAD is {quoted(text, 40)}, expected 0 (the root) to {len(words)}.")
        heads.append(int(text))
    fault = require_heads(heads, single_root)
    if fault is not None:
        raise lines[words[fault.word - 1]].error(fault.reason)
    return result


_RANGE = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})", re.ASCII)
_UNSAID = re.compile(r"(0|[1-9]\d{0,8})\.([1-9]\d{0,8})", re.ASCII)


def _require_numbers(lines: list[TextLine], rows: list[Row]) -> list[int]:
    """Refuse numbers out of order; return the lines of words."""
    words: list[int] = []
    covered = unsaid = 0
    open_range: TextLine | None = None
    for t, row in enumerate(rows):
        text, n = row[ID], len(words)
        if text == str(n + 1):
            words.append(t)
            unsaid = 0
        elif (found := _RANGE.fullmatch(text)) and int(found[1]) == n + 1 > covered:
            covered, open_range = int(found[2]), lines[t]
            if covered < n + 1:
                raise lines[t].error(f"ID is {quoted(text, 40)}, a range that ends before it begins.")
        elif (found := _UNSAID.fullmatch(text)) and (int(found[1]), int(found[2])) == (n, unsaid + 1):
            unsaid += 1
        else:
            raise lines[t].error(f"ID is {quoted(text, 40)}, expected {n + 1} after word {n}.")
    if not words:
        raise lines[0].error("the sentence has no words, only lines that are none.")
    if covered > len(words) and open_range is not None:
        raise open_range.error(f"the range ends at {covered}, but the sentence has {len(words)} words.")
    return words


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 9


def _with_probability(misc: str, probability: float) -> str:
    """Return MISC with the probability at its end, instead of the one that it had."""
    kept = [] if misc == NOTHING else misc.split("|")
    kept = [entry for entry in kept if not entry.startswith(f"{PROBABILITY}=")]
    return "|".join([*kept, f"{PROBABILITY}={probability:.4f}"])


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
