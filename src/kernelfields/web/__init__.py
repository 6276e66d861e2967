"""What the servers on this package have in common: who may ask, how much, and how they start and stop.

The guards are plain ASGI; starlette and uvicorn are loaded when a server starts.
"""

from .asgi import RefusedError, send_refusal
from .guards import Guards, guarded
from .listening import address_of, is_loopback, listen
from .packages import require_web
from .refusals import refusal_handlers
from .running import run_server
from .tokens import choose_token

__all__ = [
    "Guards",
    "RefusedError",
    "address_of",
    "choose_token",
    "guarded",
    "is_loopback",
    "listen",
    "refusal_handlers",
    "require_web",
    "run_server",
    "send_refusal",
]
