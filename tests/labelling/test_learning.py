"""The model learns what a fit from nothing learns, never from checks, and its errors are counted right."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields import CRF
from kernelfields.active import sequence_scores
from kernelfields.guarantees import learn_threshold
from kernelfields.labelling.curve import RECENT, estimate_beforehand, estimate_held_out, judged
from kernelfields.labelling.learner import LabelGuess, LabelLearner, Lesson, lesson_of
from kernelfields.labelling.questions import Questions
from kernelfields.labelling.sheets import Sheet, TagState
from kernelfields.labelling.tags import Tags
from kernelfields.labelling.trainer import BackgroundLearner
from tests.labelling._cases import TAGS, number_material, open_text, settle, text_material

UP = Tags(("up", "down"))


@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_small_steps_come_to_the_optimum(kind) -> None:
    (material, truth), tags = (text_material(), TAGS) if kind == "text" else (number_material(), UP)
    learner, model = LabelLearner(material, tags), None
    for n in range(1, 13):
        lesson = Lesson(n, tuple(range(n)), tuple(map(tuple, truth[:n])))
        model = learner.step(model, lesson, 3)
    for _ in range(40):
        model = learner.step(model, lesson, 10)
    fresh = CRF(
        classes=list(tags.classes), observed_only=kind == "text", constraints="iob2" if tags.spans else None
    )
    fresh.fit(material.inputs(range(12)), truth[:12])
    assert model.objective_ == pytest.approx(fresh.objective_, rel=2e-3)
    expected = fresh.predict_marginals(material.inputs(range(12, 18)))
    guesses = learner.guesses(model, range(12, 18))
    for guess, table in zip(guesses, expected, strict=True):
        assert guess.probability == pytest.approx(table.max(axis=1), abs=0.05)


def test_guesses_keep_what_is_known_and_end_spans() -> None:
    material, truth = text_material()
    learner = LabelLearner(material, TAGS)
    model = learner.step(None, Lesson(0, tuple(range(20)), tuple(map(tuple, truth[:20]))), 100)
    k = next(k for k in range(20, 30) if len(truth[k]) == 6)  # two words for a person
    known = [None] * 6
    assert learner.guesses(model, [k], [known])[0].tags == truth[k]
    known[0] = "B-PER"  # and no more than that one word
    assert learner.guesses(model, [k], [known])[0].tags[1] != "I-PER"
    known[0] = "B-LOC"
    assert learner.guesses(model, [k], [known])[0].tags[0] == "B-LOC"


def test_no_lesson_no_model_and_checks_are_no_lesson() -> None:
    material, truth = text_material(4)
    assert LabelLearner(material, TAGS).step(None, Lesson(0, (), ()), 5) is None
    done = [Sheet(tuple(tags), (TagState.MANUAL,) * len(tags), done=True) for tags in truth]
    done[3] = Sheet.blank(len(truth[3]))
    assert lesson_of(7, done, frozenset({1})) == Lesson(7, (0, 2), (done[0].tags, done[2].tags))


def test_questions_are_the_best_by_their_strategy() -> None:
    material, truth = text_material(40)
    model = LabelLearner(material, TAGS).step(None, Lesson(0, (0, 1), tuple(map(tuple, truth[:2]))), 100)
    questions = Questions(material, "margin", 0.0)
    sheets = [Sheet.blank(len(tags)) for tags in truth]
    for _ in range(4):  # looks at all of them, some at a time
        found = questions.next(sheets, model)
    scores = sequence_scores(model, material.inputs(range(40)), "margin")
    assert found.why == "unsure"
    assert scores[found.item] == scores.max()


def test_every_sequence_is_asked_for_once_and_checks_are_a_random_share() -> None:
    material, truth = text_material(40)
    questions = Questions(material, "margin", 0.25)
    sheets = [Sheet.blank(len(tags)) for tags in truth]
    asked = []
    while (found := questions.next(sheets, None)) is not None:
        asked.append(found)
        tags = tuple(truth[found.item])
        sheets[found.item] = Sheet(tags, (TagState.MANUAL,) * len(tags), done=True)
    assert sorted(one.item for one in asked) == list(range(40))
    for n in range(1, 41):
        assert sum(one.why == "check" for one in asked[:n]) == n // 4
    assert {one.item for one in asked if one.why == "check"} == questions.reserved
    assert Questions(material, "margin", 0.25).checks == questions.checks
    assert Questions(material, "margin", 0.0).checks == []


def test_skipped_and_empty_sequences_are_not_asked_for() -> None:
    material, _ = text_material(3)
    sheets = [Sheet.blank(0), Sheet((None,), (None,), skipped=True), Sheet.blank(5)]
    questions = Questions(material, "margin", 0.0)
    assert questions.next(sheets, None).item == 2
    assert questions.next(sheets, None, avoid={2}) is None


def test_errors_are_counted_by_hand_and_promised_by_the_guarantee() -> None:
    rng = np.random.default_rng(0)
    truth = [["a"] * int(n) for n in rng.integers(1, 9, 300)]
    sure = [rng.uniform(0.8, 1, len(one)) for one in truth]
    guesses = [
        LabelGuess(["a" if u < p else "b" for p, u in zip(ps, rng.uniform(size=len(ps)), strict=True)], ps)
        for ps in sure
    ]
    found = estimate_held_out(9, guesses, truth, 0.1, 0.9)
    flat = [tag for guess in guesses for tag in guess.tags]
    assert (found.wrong, found.of) == (flat.count("b"), len(flat))
    assert found.low < found.error < found.high
    expected = learn_threshold(judged(guesses, truth), 0.1, 0.9)
    assert expected.holds
    assert found.answered == expected.answered
    assert (found.threshold, found.limit) == (expected.threshold.least, expected.threshold.limit)
    none = estimate_held_out(9, guesses[:3], truth[:3], 0.1, 0.9)
    assert none.answered is None
    partly = estimate_held_out(1, [LabelGuess(["a", "b"], np.ones(2))], [["a", None]], 0.1, 0.9)
    assert (partly.wrong, partly.of) == (0, 1)


def test_errors_beforehand_are_those_of_the_last() -> None:
    found = estimate_beforehand(50, [(9, 9), *[(1, 4)] * RECENT])
    assert (found.wrong, found.of, found.sequences, found.how) == (RECENT, 4 * RECENT, RECENT, "beforehand")
    assert found.answered is None


def test_the_curve_is_of_sequences_never_learnt_from(tmp_path) -> None:
    desk, truth = open_text(tmp_path, 40, check=0.5)
    asked = desk.ask()["next"]
    for _ in range(16):
        asked = desk.accept(asked["item"], truth[asked["item"]])["next"]
    settle(desk)
    point = desk.curve.points()[-1]
    checks = [k for k in desk.questions.checks if desk.session.sheets[k].done]
    assert (point["how"], point["sequences"], len(checks)) == ("held out", 8, 8)
    guesses = desk.learner.guesses(desk.trainer.snapshot.model, checks)
    wrong = sum(
        a != b for k, g in zip(checks, guesses, strict=True) for a, b in zip(g.tags, truth[k], strict=True)
    )
    assert point["wrong"] == wrong
    lesson = lesson_of(0, desk.session.sheets, desk.questions.reserved)
    assert not set(lesson.items) & set(checks)
    desk.close()


def test_without_checks_the_curve_is_of_predictions_before_learning(tmp_path) -> None:
    desk, truth = open_text(tmp_path, check=0.0)
    counts = []
    asked = desk.ask()["next"]
    for n in range(8):
        settle(desk)
        k = asked["item"]
        if n:
            counts.append(sum(a != b for a, b in zip(desk.item(k)["tags"], truth[k], strict=True)))
        asked = desk.accept(k, truth[k])["next"]
    settle(desk)
    point = desk.curve.points()[-1]
    assert (point["how"], point["wrong"], point["sequences"]) == ("beforehand", sum(counts), 7)
    desk.close()


def test_a_model_that_cannot_learn_says_so_and_goes_on() -> None:
    material, truth = text_material(6)
    learner, said = LabelLearner(material, TAGS), []
    trainer = BackgroundLearner(learner, failed=said.append)
    bad = Lesson(1, (0,), (("B-PER", "I-LOC", *truth[0][2:]),))  # against the rules of spans
    trainer.teach(bad)
    assert trainer.wait(1, 120, settled=True)
    assert "I-LOC" in str(said[0])
    trainer.teach(Lesson(2, (0, 1), tuple(map(tuple, truth[:2]))))
    assert trainer.wait(2, 120, settled=True)
    assert trainer.snapshot.model is not None
    trainer.close()
    assert not trainer._thread.is_alive()


def test_nothing_new_is_no_new_fit() -> None:
    material, truth = text_material(6)
    trainer, models = BackgroundLearner(LabelLearner(material, TAGS)), []
    for version in (1, 2):
        trainer.teach(Lesson(version, (0, 1), tuple(map(tuple, truth[:2]))))
        assert trainer.wait(version, 120, settled=True)
        models.append(trainer.snapshot.model)
    assert models[0] is models[1]
    trainer.close()
