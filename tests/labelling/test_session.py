"""Events make the state; undoing and replaying come to the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.labelling.occurrences import Occurrences
from kernelfields.labelling.session import Session
from kernelfields.labelling.sheets import Sheet, TagState
from kernelfields.labelling.tags import Tags, keys_of

LENGTHS = (1, 4, 6)
SPANS, SINGLE = Tags(("PER", "LOC"), spans=True), Tags(("a", "b", "c"))


def blank(tags: Tags) -> Session:
    return Session(tags, [Sheet.blank(n) for n in LENGTHS])


def is_valid(tags) -> bool:
    """Whether no span goes on that did not begin; what is not known may have begun it."""
    pairs = zip(["O", *tags[:-1]], tags, strict=True)
    return all(
        tag is None or tag[0] != "I" or last is None or last in (f"B{tag[1:]}", tag) for last, tag in pairs
    )


def random_event(data, session: Session):
    item = data.draw(st.integers(0, len(LENGTHS) - 1))
    at = data.draw(st.integers(0, LENGTHS[item] - 1))
    length = data.draw(st.integers(1, LENGTHS[item] - at))
    name = data.draw(st.sampled_from([None, *session.tags.names]))
    shown = data.draw(
        st.lists(
            st.sampled_from([None, *session.tags.classes]), min_size=LENGTHS[item], max_size=LENGTHS[item]
        )
    )
    kind = data.draw(st.sampled_from(["set", "accept", "skip", "mark", "undo"]))
    if kind == "undo" and not session._past:
        kind = "set"
    return {
        "set": lambda: session.set(item, at, length, name),
        "accept": lambda: session.accept(item, shown),
        "skip": lambda: session.skip(item),
        "mark": lambda: session.mark([(k, 0) for k in range(len(LENGTHS))], 1, name),
        "undo": session.undo,
    }[kind]()


@pytest.mark.parametrize("tags", [SPANS, SINGLE], ids=["spans", "single"])
@settings(max_examples=60)
@given(data=st.data())
def test_undo_takes_back_and_replay_repeats(tags, data) -> None:
    session, entries, past = blank(tags), [], []
    for _ in range(data.draw(st.integers(1, 12))):
        entry = random_event(data, session)
        before = list(session.sheets)
        session.apply(entry)
        entries.append(json.loads(json.dumps(entry)))
        if entry["do"] == "undo":
            assert session.sheets == past.pop()
        else:
            past.append(before)
        for sheet in session.sheets:
            assert not tags.spans or is_valid(sheet.tags)
            assert all(
                (tag is None) == (state is None) for tag, state in zip(sheet.tags, sheet.states, strict=True)
            )
    again = blank(tags)
    again.replay(entries, "j")
    assert again.sheets == session.sheets
    assert (again.version, again.accepted, again.before) == (
        session.version,
        session.accepted,
        session.before,
    )
    while past:
        session.apply(session.undo())
        assert session.sheets == past.pop()
    assert session.sheets == blank(tags).sheets
    with pytest.raises(InputError, match="nothing to undo"):
        session.undo()


def test_states_say_who_decided() -> None:
    session = blank(SPANS)
    session.apply(session.set(1, 1, 2, "LOC"))
    session.apply(session.accept(1, ["B-PER", "O", "O", "O"]))
    sheet = session.sheets[1]
    assert sheet.tags == ("B-PER", "B-LOC", "I-LOC", "O")
    assert sheet.states == (TagState.REVIEWED, TagState.MANUAL, TagState.MANUAL, TagState.REVIEWED)
    assert sheet.done
    session.apply(session.set(1, 0, 2, None))  # cuts a span: its rest begins anew
    assert session.sheets[1].tags == ("O", "O", "B-LOC", "O")
    assert session.sheets[1].done


def test_marking_leaves_what_people_said() -> None:
    session = blank(SINGLE)
    session.apply(session.set(0, 0, 1, "a"))
    session.apply(session.accept(2, ["b"] * 6))
    entry = session.mark([(0, 0), (1, 2), (2, 3)], 1, "c")
    assert entry["places"] == [[1, 2]]
    session.apply(entry)
    assert session.sheets[1].tags == (None, None, "c", None)
    assert not session.sheets[1].done


def test_labels_that_were_given_stay() -> None:
    session = blank(SINGLE)
    session.apply(session.set(0, 0, 1, "c"))
    session.apply(session.undo())
    session.apply(session.labels(Tags(("b", "d"))))
    session.apply(session.set(0, 0, 1, "d"))
    session.apply(session.set(0, 0, 1, "b"))
    with pytest.raises(InputError, match="'d' has been given"):
        session.labels(Tags(("b", "c")))
    again = blank(SINGLE)
    again.apply(again.labels(SPANS))
    assert again.tags == SPANS


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.set(3, 0, 1, "a"), "no sequence 3; they are numbered 0 to 2"),
        (lambda s: s.set(-1, 0, 1, "a"), "no sequence -1"),
        (lambda s: s.set(1, 3, 2, "a"), "has 4 positions, but 3 to 4 were marked"),
        (lambda s: s.set(1, 0, 0, "a"), "4 positions"),
        (lambda s: s.set(1, 0, 1, "z"), "no label 'z'; there are a, b, c"),
        (lambda s: s.accept(1, ["a"]), "4 positions, but 1 labels came"),
        (lambda s: s.accept(0, ["z"]), "Sequence 0 has the label 'z' at position 0"),
    ],
)
def test_what_cannot_be_done_is_refused(call, message) -> None:
    session = blank(SINGLE)
    with pytest.raises(InputError, match=message):
        call(session)
    assert session.sheets == blank(SINGLE).sheets


@pytest.mark.parametrize(
    "entry",
    [
        {"do": "set", "item": 9, "at": 0, "tags": ["a"]},
        {"do": "set", "item": -1, "at": 0, "tags": ["a"]},
        {"do": "set", "item": True, "at": 0, "tags": ["a"]},
        {"do": "skip", "item": -1},
        {"do": "mark", "places": [[-1, 0]], "tags": ["a"]},
        {"do": "accept", "item": -3, "tags": ["a"], "states": ["manual"]},
        {"do": "set", "item": 0, "at": 0, "tags": ["a", "a"]},
        {"do": "accept", "item": 0, "tags": [], "states": []},
        {"do": "accept", "item": 0, "tags": ["a"], "states": ["odd"]},
        {"do": "undo"},
        {"do": "dance", "item": 0},
        {},
    ],
)
def test_a_journal_of_other_data_names_its_line(entry) -> None:
    session = blank(SINGLE)
    fine = session.set(0, 0, 1, "a")
    entries = [entry] if entry.get("do") == "undo" else [fine, entry]
    with pytest.raises(InputError, match=f"j, line {len(entries) + 1}: "):
        session.replay(entries, "j")


@pytest.mark.parametrize(
    ("names", "spans", "message"),
    [
        ((), False, "no labels"),
        (("a", "a"), False, "twice"),
        ((" ",), False, "empty"),
        (("O",), True, "O cannot"),
    ],
)
def test_odd_labels_are_refused(names, spans, message) -> None:
    with pytest.raises(InputError, match=message):
        Tags(names, spans)


@given(st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=60))
def test_keys_differ(names) -> None:
    keys = [key for key in keys_of(names) if key]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 1 and key not in "*?/.," for key in keys)


@given(
    st.lists(st.lists(st.sampled_from("ab"), max_size=7), max_size=4),
    st.lists(st.sampled_from("ab"), min_size=1, max_size=3),
)
def test_occurrences_are_all_that_do_not_overlap(texts, words) -> None:
    expected = []
    for item, text in enumerate(texts):
        at = 0
        while at + len(words) <= len(text):
            found = text[at : at + len(words)] == words
            expected += [(item, at)] if found else []
            at += len(words) if found else 1
    assert Occurrences(texts).of(words) == expected


def test_a_lost_change_is_not_mistaken_for_another() -> None:
    session = blank(SINGLE)
    entries = [session.set(0, 0, 1, "a"), {"do": "lost"}, {"do": "undo"}, session.set(1, 0, 1, "b")]
    session.replay(entries, "j")
    assert session.sheets[0].tags == ("a",)
    session.apply(session.undo())
    assert session.sheets[0].tags == ("a",)
    session.apply({"do": "lost"})
    with pytest.raises(InputError, match="lost with a damaged line"):
        session.undo()
