"""The words of ASGI, and requests that are refused with one sentence."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class RefusedError(Exception):
    """A request that is not answered; the message is one sentence for whoever sent it.

    Parameters
    ----------
    status : int
        The HTTP status.
    sentence : str
        What was wrong, and what was expected.
    headers : mapping, optional
        Further headers of the answer, names in lower case.
    """

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, dict(headers or {})

    def body(self) -> bytes:
        """Return the answer as JSON."""
        return json.dumps({"error": self.sentence}).encode()


async def send_refusal(send: Send, refusal: RefusedError) -> None:
    """Answer a request by a refusal."""
    body = refusal.body()
    headers = {"content-type": "application/json", "content-length": str(len(body)), **refusal.headers}
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def header_of(scope: Scope, name: bytes) -> str | None:
    """Return a header of a request; None if it is missing.

    Of several headers of one name it is all values, separated by commas, which no check accepts: two Host
    headers are an attempt to be read in two ways.
    """
    found = [value for key, value in scope["headers"] if key == name]
    return b", ".join(found).decode("latin-1") if found else None
