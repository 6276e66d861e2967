"""The description is exact: what it allows is answered as it says, what it forbids is refused."""

import os
import threading
import time

import pytest
from hypothesis import HealthCheck, Phase, given, settings

pytest.importorskip("schemathesis")

import schemathesis
import uvicorn
from schemathesis import GenerationMode

from kernelfields.serving import Limits
from kernelfields.web import address_of, listen

from .conftest import app_of, shelf_of

EXAMPLES = int(os.environ.get("KERNELFIELDS_SCHEMA_EXAMPLES", "5"))
"""Of every operation and kind; more take longer."""
SMALL = Limits(sequences=4, longest=5, positions=20, kbest=5, numbers=1000)
"""Limits at which large requests are quick to make."""
pytestmark = pytest.mark.filterwarnings("ignore:No threshold is proved", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def address(folder):
    listening = listen("127.0.0.1", 0)
    app = app_of(
        shelf_of(*(folder / f"{name}.kf" for name in ("words", "attributes", "numbers", "trees"))), SMALL
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield address_of(listening)
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def operations(address):
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    schema.validate()
    return {result.ok().label: result.ok() for result in schema.get_all_operations()}


PATHS = [
    *(f"GET {path}" for path in ("/", "/health", "/metrics", "/models", "/models/words")),
    *(f"POST /models/{name}/tag" for name in ("words", "attributes", "numbers", "trees")),
    *(f"POST /models/words/{name}" for name in ("kbest", "marginals")),
]


def check(operation, address, mode, excluded):
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        case.call_and_validate(base_url=address, excluded_checks=excluded)

    ask()


@pytest.mark.parametrize("path", PATHS)
def test_what_is_allowed_is_answered(operations, address, path):
    # That there are as many parents as tokens is nothing that a JSON schema can say.
    loose = [schemathesis.checks.positive_data_acceptance] if "trees" in path else []
    check(operations[path], address, GenerationMode.POSITIVE, loose)


@pytest.mark.parametrize("path", [path for path in PATHS if path.startswith("POST")])
def test_what_is_forbidden_is_refused(operations, address, path):
    check(operations[path], address, GenerationMode.NEGATIVE, [])


def test_every_model_and_operation_is_described(operations):
    posts = {label for label in operations if label.startswith("POST")}
    names = ("words", "attributes", "numbers", "trees")
    assert posts == {
        f"POST /models/{name}/{what}" for name in names for what in ("tag", "marginals", "kbest")
    }
