"""``kf serve`` as users start and stop it."""

import signal
import socket
import sys

import httpx
import pytest
from typer.testing import CliRunner

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from kernelfields.cli.app import app
from tests.serving._process import ServeProcess

from ._files import write_columns
from .test_dependencies import sentences as parses
from .test_dependencies import write as write_parses


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    data = write_columns(folder / "train.conll")
    done = CliRunner().invoke(app, ["train", str(data), "-o", str(folder / "ner.kf")])
    assert done.exit_code == 0, done.output
    return folder / "ner.kf"


def refused(*words):
    done = CliRunner().invoke(app, ["serve", *map(str, words)])
    assert done.exit_code == 2, done.output
    assert done.stderr.strip().count("\n") == 0
    return done.stderr.strip()


def test_from_a_file_of_sentences_to_labels(model):
    """Two names of one file, loopback without a token, Ctrl-C."""
    server = ServeProcess(model, f"other={model}")
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        body = {"sequences": [["Ana", "Diaz", "saw"]]}
        for name in ("ner", "other"):
            found = client.post(f"/models/{name}/tag", json=body).json()
            assert found["labels"] == [["B-PER", "I-PER", "O"]]
        assert client.get("/health", headers={"host": "evil.example"}).status_code == 421
    assert server.stop(signal.SIGINT) == 0
    assert server.said.startswith("Serving ner, other on http://127.0.0.1:")
    assert server.said.endswith("Stopped.\n")


def test_others_need_the_token_that_is_printed(model):
    server = ServeProcess(model, "--host", "0.0.0.0", "--name", "labels.example")
    try:
        token = server.said.split("Bearer ")[1].strip()
        address, key = f"{server.url}/models", {"authorization": f"Bearer {token}"}
        assert httpx.get(address, trust_env=False, timeout=60).status_code == 401
        assert httpx.get(address, headers=key, trust_env=False, timeout=60).status_code == 200
        for host, status in (("labels.example", 200), ("evil.example", 421)):
            assert (
                httpx.get(address, headers={**key, "host": host}, trust_env=False, timeout=60).status_code
                == status
            )
    finally:
        assert server.stop(signal.SIGTERM) == 0


def test_what_cannot_be_served_is_one_sentence(model, tmp_path):
    assert "no-such.kf" in refused(tmp_path / "no-such.kf")
    (tmp_path / "bad.kf").write_bytes(b"no model")
    assert str(tmp_path / "bad.kf") in refused(tmp_path / "bad.kf")
    assert "same name, ner" in refused(model, model)
    assert "16 characters" in refused(model, "--token", "short")
    assert "Port 70000" in refused(model, "--port", 70000)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"Cannot listen on port {port}" in refused(model, "--port", port)


def test_parsers_are_refused(tmp_path):
    data = write_parses(tmp_path / "train.conllu", parses(10))
    words = ["train", str(data), "--structure", "dependency", "-o", str(tmp_path / "parser.kf")]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert "parses sentences" in refused(tmp_path / "parser.kf")


def test_missing_packages_are_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert refused(model).endswith('pip install "kernelfields[web]".')
