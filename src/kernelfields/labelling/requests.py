"""What the page sends, read and checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..errors import quoted
from ..web import RefusedError
from .changes import Sender

WHOLE = 2**31
NAME = re.compile(r"[A-Za-z0-9-]{1,40}")


class SentFields:
    """The fields of an object that the page sent; what is not as expected is refused in one sentence."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    @staticmethod
    def of(body: bytes) -> SentFields:
        """Read a body."""
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError(400, "The body is not JSON.") from None
        if not isinstance(given, dict):
            raise RefusedError(400, "The body is not an object.")
        return SentFields(given)

    def whole(self, name: str) -> int:
        """Return a whole number that is not negative."""
        value = self._given.get(name)
        if type(value) is not int or not 0 <= value < WHOLE:
            raise RefusedError(422, f"{name} is {_shown(value)}, expected a whole number from 0 on.")
        return value

    def sender(self) -> Sender:
        """Return who sent it; what is missing is not known."""
        window = self._given.get("window")
        if window is not None and not (isinstance(window, str) and NAME.fullmatch(window)):
            raise RefusedError(422, f"window is {_shown(window)}, expected up to 40 letters and digits.")
        numbers = [self.whole(key) if key in self._given else None for key in ("number", "revision")]
        return Sender(window, *numbers)

    def require_session(self, name: str) -> None:
        """Refuse a change of something else, which a page made before another server took the address."""
        given = self._given.get("session", name)
        if given != name:
            raise RefusedError(410, "This page labels something else than the server now: load it again.")

    def label(self, name: str) -> str | None:
        """Return a label, or None for none."""
        value = self._given.get(name)
        if value is not None and not isinstance(value, str):
            raise RefusedError(422, f"{name} is {_shown(value)}, expected a label or null.")
        return value

    def labels(self, name: str) -> list[str | None]:
        """Return a list of labels."""
        value = self._given.get(name)
        if not isinstance(value, list) or not all(one is None or isinstance(one, str) for one in value):
            raise RefusedError(422, f"{name} is {_shown(value)}, expected a list of labels.")
        return value


def _shown(value: Any) -> str:
    return quoted(json.dumps(value), 60)[1:-1]
