"""Where labelling happens: a journal, what it says, the model that learns from it, the next question."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from ..errors import InputError
from .changes import ConflictError, Entry, Sender
from .curve import ErrorCurve
from .journal import Journal
from .learner import LabelGuess, LabelLearner, errors_of, lesson_of
from .leases import Leases
from .material import Look, Material
from .occurrences import Occurrences
from .questions import Questions
from .session import Session
from .settings import DeskSettings
from .sheets import TagState
from .showing import shown_content, shown_sheet, summary_of
from .tags import keys_of
from .trainer import BackgroundLearner, Snapshot

PATIENCE = 0.25
"""Seconds that a question waits for a model that knows the last answer."""
RECENT = 6
"""Accepted sequences that are listed."""
NOBODY = Sender()
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
        self.leases = Leases()
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
                "session": self.name,
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
                "name": self.material.data.items[number].name,
                "revision": self.session.log.of(number).revision,
                "why": why,
                "check": number in self.questions.reserved,
                **shown_sheet(sheet, guess, self.session.tags),
                **shown_content(self.material, number),
            }

    def visit(self, number: int, window: str | None) -> dict[str, Any]:
        """Return a sequence that a window shows from now on."""
        with self._lock:
            found = self.item(number)
            self.leases.hold(window, number)
            return found

    def begin(self, window: str | None = None) -> dict[str, Any]:
        """Return what a window that opens shows: what it had, what was begun, or the next question."""
        with self._lock:
            sheets, others = self.session.sheets, self.leases.of_others(window)
            own = self.leases.of(window)
            begun = (k for k, sheet in enumerate(sheets) if sheet.is_open and not sheet.is_blank)
            first = own if own is not None and sheets[own].is_open else None
            if first is None:
                first = next((k for k in begun if k not in others), None)
            return self.ask(window) if first is None else {"next": self.visit(first, window), "elsewhere": 0}

    def ask(self, window: str | None = None, avoid: int | None = None) -> dict[str, Any]:
        """Return the next sequence to label, one that no other window shows.

        It is None if there is no other; "elsewhere" is then the number of those that other windows show.
        """
        with self._lock:
            others = self.leases.of_others(window)
            model, sheets = self.trainer.snapshot.model, self.session.sheets
            found = self.questions.next(sheets, model, others if avoid is None else others | {avoid})
            self.leases.hold(window, None if found is None else found.item)
            shown = None if found is None else self.item(found.item, found.why)
            return {"next": shown, "elsewhere": sum(sheets[k].is_open for k in others)}

    def set(
        self, number: int, at: int, length: int, name: str | None, sender: Sender = NOBODY
    ) -> dict[str, Any]:
        """Give a run of positions a label, or take it away; return the sequence as it is now."""
        with self._lock:
            if self._is_new(sender, number):
                self._do(self.session.set(number, at, length, name), sender)
            return self.visit(number, sender.window)

    def accept(self, number: int, shown: Sequence[Any], sender: Sender = NOBODY) -> dict[str, Any]:
        """Accept a sequence as it is shown; return the next question, and whether its model knows this."""
        with self._lock:
            if not self._is_new(sender, number):
                return {**self.ask(sender.window, number), "learnt": False}
            entry = self.session.accept(number, shown)
            if not self.session.sheets[number].done and number not in self.questions.reserved:
                guess = self._guess(number)
                if guess is not None:
                    entry = {**entry, "before": list(errors_of(guess, entry["tags"]))}
            self._do(entry, sender)
            version = self.session.version
        learnt = self.trainer.wait(version, PATIENCE)
        return {**self.ask(sender.window, number), "learnt": learnt}

    def skip(self, number: int, sender: Sender = NOBODY) -> dict[str, Any]:
        """Put a sequence aside; return the next question."""
        with self._lock:
            if self._is_new(sender, number):
                self._do(self.session.skip(number), sender)
            return self.ask(sender.window, number)

    def mark(
        self, number: int, at: int, length: int, name: str | None, sender: Sender = NOBODY
    ) -> dict[str, Any]:
        """Give a run of tokens, and all others with the same words that have no label, a label."""
        if self.material.look is not Look.TOKENS:
            raise InputError("Only words occur again: numbers and images cannot all be marked at once.")
        with self._lock:
            if not self._is_new(sender, number):
                return {**self.item(number), "marked": 1}
            self.session.set(number, at, length, name)  # refuses what is not there
            words = self.material.data.items[number].texts[at : at + length]
            self._words = self._words or Occurrences(self.material.data.texts)
            others = [place for place in self._words.of(words) if place != (number, at)]
            entry = self.session.mark(others, length, name)
            entry = {**entry, "places": [[number, at], *entry["places"]]}
            self._do(entry, sender)
            return {**self.visit(number, sender.window), "marked": len(entry["places"])}

    def undo(self, sender: Sender = NOBODY) -> dict[str, Any]:
        """Take back the last change; return a sequence that it was about."""
        with self._lock:
            if not self._is_new(sender):
                return self.visit(self.leases.of(sender.window) or 0, sender.window)
            changed = self._do(self.session.undo(), sender)
            return self.visit(changed[0], sender.window)

    def frozen(self) -> Session:
        """Return the session as it is now; what happens later does not change it."""
        with self._lock:
            return Session(self.session.tags, self.session.sheets)

    @cached_property
    def name(self) -> str:
        """A name of what is labelled here: pages do not send what they did elsewhere."""
        about = f"{self.material.digest} {self.journal.path.resolve()}"
        return hashlib.sha256(about.encode()).hexdigest()[:16]

    def _is_new(self, sender: Sender, number: int | None = None) -> bool:
        """Return whether a change is to be made; refuse one of what another window changed meanwhile."""
        log = self.session.log
        if log.is_done(sender):
            return False
        if number is not None and log.is_late(number, sender):
            last, sheet = log.of(number), self.session.sheet(number)
            what = "accepted" if sheet.done else "skipped" if sheet.skipped else "changed"
            sentence = f"Sequence {number} was {what} in another window meanwhile; choose which labels stay."
            raise ConflictError(sentence, last, self.item(number))
        return True

    def _do(self, entry: Entry, sender: Sender = NOBODY) -> list[int]:
        """Keep an event, and then do it."""
        entry = self.session.log.signed(entry, sender)
        self.journal.append(entry)
        changed = self.session.apply(entry)
        if entry["do"] in ("accept", "skip", "undo") or any(self.session.sheets[k].done for k in changed):
            self._teach()
        self.tell({"type": "changed", "items": changed[:100], "window": sender.window})
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
