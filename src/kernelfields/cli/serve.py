"""``kf serve``: models as a JSON service."""

from __future__ import annotations

import gc
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from ._errors import plain_errors
from ._loaded import load_labeller, warning_of
from ._options import Debug
from ._parse_tasks import task_of
from ._suited import Suit

SWITCH = 0.001
"""Seconds after which a thread that predicts lets the one that talks to clients go on: Python's 5 ms, at
each of several system calls of a request, would add up."""
COLLECTED = (50_000, 20, 100)
"""When Python looks for cycles of garbage, as `gc.set_threshold` takes it: each look at all the lists of a
large request stops every thread, and requests leave no cycles."""


def serve(
    models: Annotated[
        list[str], typer.Argument(help="Model files, served under the names of the files, or NAME=FILE.")
    ],
    host: Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 is everywhere.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Which port; 0 takes any that is free.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="KF_TOKEN", help="What requests have to know; made up unless only this machine can ask."
        ),
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option(help="A further name of this server, which clients use.")
    ] = None,
    max_body: Annotated[float, typer.Option(help="Megabytes of a request.", min=0.001, max=1024.0)] = 4.0,
    memory: Annotated[
        float, typer.Option(help="Megabytes for all requests under way together.", min=16.0, max=1048576.0)
    ] = 512.0,
    threads: Annotated[int, typer.Option(help="Threads of one prediction.", min=1)] = 1,
    debug: Debug = False,
) -> None:
    """Serve models: labels, probabilities and k best labellings as JSON, described by /openapi.json.

    Requests that wait are answered together. A model file that changes is read again; one that cannot be read
    leaves the old model in place, and /health says why. Ctrl-C and SIGTERM answer what is under way first.
    Anything but loopback needs a token: Authorization: Bearer TOKEN.

    For example:
        kf serve ner.kf
        kf serve en=english.kf nl=dutch.kf --port 0
        KF_TOKEN=... kf serve ner.kf --host 0.0.0.0
    """
    with plain_errors(debug):
        from ..web import require_web

        require_web("kf serve")
        _serve(
            models, host, port, token, tuple(name or ()), int(max_body * 2**20), int(memory * 2**20), threads
        )


def _serve(
    models: list[str],
    host: str,
    port: int,
    token: str | None,
    names: tuple[str, ...],
    size: int,
    memory: int,
    threads: int,
) -> None:
    from ..serving import Limits, Shelf, model_files, service
    from ..serving.pages import POLICY
    from ..web import Guards, address_of, choose_token, guarded, listen, run_server

    files = model_files(models)
    secret = choose_token(host, token)
    shelf = Shelf(files, read_served, partial(Suit, hint="give those that it was trained on"))
    for file in files:
        warning = warning_of(shelf[file.name].model)
        if warning is not None:
            typer.echo(f"{file.name}: {warning}", err=True)
    limits = Limits(bytes=size, memory=memory)
    app = service(shelf, limits, secured=secret is not None, thread_starts=partial(_limit_threads, threads))
    guards = Guards(host, secret, names, POLICY, most=size)
    listening = listen(host, port)
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()  # what is there now stays, and is not looked at again
    gc.set_threshold(*COLLECTED)
    warnings.filterwarnings("ignore", "No threshold is proved")  # the answer says so

    def started() -> None:
        typer.echo(f"Serving {', '.join(shelf.names)} on {address_of(listening)} (Ctrl-C ends it).", err=True)
        if token is None and secret is not None:
            typer.echo(f"Requests need the header Authorization: Bearer {secret}", err=True)

    run_server(guarded(app, guards), listening, started)
    typer.echo("Stopped.", err=True)


def read_served(path: Path) -> Any:
    """Read a model that labels; those that parse, or label fields, have no service."""
    from ..fields import MarkovField

    found = load_labeller(path)
    if isinstance(found, MarkovField):
        raise InputError(f"{path} holds a MarkovField, which kf serve cannot ask; use it from Python.")
    if task_of(found) is not None:
        raise InputError(f"{path} parses sentences, which kf serve cannot do; use kf tag.")
    return found


def _limit_threads(count: int) -> None:
    """Set how many threads predictions of this thread use: OpenMP asks every thread by itself."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=count)
