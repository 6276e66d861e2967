"""Where labelling happens: a journal, what it says, the model that learns from it, the next question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from ..errors import InputError
from .curve import ErrorCurve
from .journal import Journal
from .learner import LabelGuess, LabelLearner, errors_of, lesson_of
from .material import Look, Material
from .occurrences import Occurrences
from .questions import Questions
from .session import Entry, Session
from .settings import DeskSettings
from .sheets import TagState
from .showing import shown_content, shown_sheet, summary_of
from .tags import keys_of
from .trainer import BackgroundLearner, Snapshot

PATIENCE = 0.25
"""Seconds that a question waits for a model that knows the last answer."""
RECENT = 6
"""Accepted sequences that are listed."""
LISTED = 100
"""Sequences that are listed as begun."""


class Desk:
    """Everything that the page can ask for, by one thread at a time.

    Parameters
    ----------
    material : Material
        What is labelled.
    session : Session
        With the events of the journal done.
    journal : Journal
        Where events go.
    settings : DeskSettings
        How to ask.
    tell : callable
        Called, in any thread, with news for everybody who looks: a dictionary with a "type".
    """

    def __init__(
        self,
        material: Material,
        session: Session,
        journal: Journal,
        settings: DeskSettings | None = None,
        tell: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        self.material, self.session, self.journal = material, session, journal
        self.settings, self.tell = settings or DeskSettings(), tell
        self.questions = Questions(material, self.settings.strategy, self.settings.check)
        self.learner = LabelLearner(material, session.tags, self.settings.penalty)
        self.curve = ErrorCurve(session, self.questions, self.learner, self.settings)
        self.trouble: str | None = None
        self._lock = threading.RLock()
        self._words: Occurrences | None = None
        self._taught = session.version
        self.trainer = BackgroundLearner(self.learner, self._published, self._failed)
        self._teach()

    def close(self) -> None:
        """End the learning, and unlock the journal."""
        self.trainer.close()
        self.journal.close()

    def overview(self) -> dict[str, Any]:
        """Return what the page needs to know besides sequences."""
        tags, snapshot = self.session.tags, self.trainer.snapshot
        keys = zip(tags.names, keys_of(tags.names), strict=True)
        with self._lock:
            return {
                "labels": [{"name": name, "key": key} for name, key in keys],
                "spans": tags.spans,
                "look": self.material.look,
                "shape": self.material.shape,
                "model": {"known": snapshot.model is not None, "settled": snapshot.settled},
                "trouble": self.trouble,
                "curve": self.curve.points(),
                "asked": asdict(self.settings),
                **self._counts(),
            }

    def _counts(self) -> dict[str, Any]:
        sheets, reserved = self.session.sheets, self.questions.reserved
        done = [k for k, sheet in enumerate(sheets) if sheet.done]
        begun = [k for k, sheet in enumerate(sheets) if sheet.is_open and not sheet.is_blank]
        return {
            "sequences": len(sheets),
            "done": len(done),
            "checks": sum(k in reserved for k in done),
            "skipped": sum(sheet.skipped for sheet in sheets),
            "begun": begun[:LISTED],
            "recent": [self._recent(k) for k in self._latest()],
        }

    def _latest(self) -> list[int]:
        """Return the sequences that were accepted last, the last one first."""
        order = dict.fromkeys(self.session.accepted[: -1 - LISTED : -1])
        return [k for k in order if self.session.sheets[k].done][:RECENT]

    def _recent(self, number: int) -> dict[str, Any]:
        sheet = self.session.sheets[number]
        return {
            "item": number,
            "summary": summary_of(self.material, number, sheet.tags),
            "manual": sum(state == TagState.MANUAL for state in sheet.states),
            "check": number in self.questions.reserved,
        }

    def item(self, number: int, why: str | None = None) -> dict[str, Any]:
        """Return a sequence with its labels, those of the model where people gave none."""
        with self._lock:
            sheet = self.session.sheet(number)
            guess = None if sheet.done else self._guess(number, [sheet.tags])
            return {
                "item": number,
                "why": why,
                "check": number in self.questions.reserved,
                **shown_sheet(sheet, guess, self.session.tags),
                **shown_content(self.material, number),
            }

    def ask(self, avoid: int | None = None) -> dict[str, Any] | None:
        """Return the next sequence to label; None if there is no other."""
        with self._lock:
            model = self.trainer.snapshot.model
            found = self.questions.next(self.session.sheets, model, avoid)
            return None if found is None else self.item(found.item, found.why)

    def set(self, number: int, at: int, length: int, name: str | None) -> dict[str, Any]:
        """Give a run of positions a label, or take it away; return the sequence as it is now."""
        with self._lock:
            self._do(self.session.set(number, at, length, name))
            return self.item(number)

    def accept(self, number: int, shown: Sequence[Any]) -> dict[str, Any]:
        """Accept a sequence as it is shown; return the next question, and whether its model knows this."""
        with self._lock:
            entry = self.session.accept(number, shown)
            if not self.session.sheets[number].done and number not in self.questions.reserved:
                guess = self._guess(number)
                if guess is not None:
                    entry = {**entry, "before": list(errors_of(guess, entry["tags"]))}
            self._do(entry)
            version = self.session.version
        learnt = self.trainer.wait(version, PATIENCE)
        return {"next": self.ask(number), "learnt": learnt}

    def skip(self, number: int) -> dict[str, Any]:
        """Put a sequence aside; return the next question."""
        with self._lock:
            self._do(self.session.skip(number))
            return {"next": self.ask(number)}

    def mark(self, number: int, at: int, length: int, name: str | None) -> dict[str, Any]:
        """Give a run of tokens, and all others with the same words that have no label, a label."""
        if self.material.look is not Look.TOKENS:
            raise InputError("Only words occur again: numbers and images cannot all be marked at once.")
        with self._lock:
            self.session.set(number, at, length, name)  # refuses what is not there
            words = self.material.data.items[number].texts[at : at + length]
            self._words = self._words or Occurrences(self.material.data.texts)
            others = [place for place in self._words.of(words) if place != (number, at)]
            entry = self.session.mark(others, length, name)
            entry = {**entry, "places": [[number, at], *entry["places"]]}
            self._do(entry)
            return {**self.item(number), "marked": len(entry["places"])}

    def undo(self) -> dict[str, Any]:
        """Take back the last change; return a sequence that it was about."""
        with self._lock:
            changed = self._do(self.session.undo())
            return self.item(changed[0])

    def frozen(self) -> Session:
        """Return the session as it is now; what happens later does not change it."""
        with self._lock:
            return Session(self.session.tags, self.session.sheets)

    def _do(self, entry: Entry) -> list[int]:
        """Keep an event, and then do it."""
        self.journal.append(entry)
        changed = self.session.apply(entry)
        if entry["do"] in ("accept", "skip", "undo") or any(self.session.sheets[k].done for k in changed):
            self._teach()
        self.tell({"type": "changed", "items": changed[:100], "done": self.session.n_done})
        return changed

    def _teach(self) -> None:
        with self._lock:
            session = self.session
            self._taught = session.version
            self.trainer.teach(lesson_of(session.version, session.sheets, self.questions.reserved))

    def _guess(self, number: int, known: Sequence[Any] | None = None) -> LabelGuess | None:
        model = self.trainer.snapshot.model
        return None if model is None else self.learner.guesses(model, [number], known)[0]

    def _published(self, snapshot: Snapshot) -> None:
        """Tell of a new model, and, once it has settled, of its errors."""
        self.trouble = None
        self.tell({"type": "model", "known": snapshot.model is not None, "settled": snapshot.settled})
        if snapshot.settled and snapshot.model is not None:
            if self._estimate(snapshot):
                self.tell({"type": "estimate", "curve": self.curve.points()})
            self._look(snapshot)

    def _estimate(self, snapshot: Snapshot) -> bool:
        """Count errors, and keep the result; False if there is nothing new."""
        with self._lock:
            if snapshot.version != self._taught:
                return False  # something has changed since, and another model will follow
            counting = self.curve.counting()
        found = counting(snapshot.model)
        with self._lock:
            entry = None if found is None else found.entry()
            if entry is None or (self.session.points and self.session.points[-1] == entry):
                return False
            self.journal.append(entry)
            self.session.apply(entry)
        return True

    def _look(self, snapshot: Snapshot) -> None:
        """Score some sequences while nobody waits."""
        with self._lock:
            if snapshot.version != self._taught:
                return
            sheets = list(self.session.sheets)
            some = self.questions.idle(sheets)
        found = self.questions.scored(sheets, snapshot.model, some)
        with self._lock:
            self.questions.note(*found)

    def _failed(self, error: Exception) -> None:
        self.trouble = f"The model could not learn: {error}"
        self.tell({"type": "trouble", "sentence": self.trouble})
