"""Check for a newer version: over https only, from a real server, with any content."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from importlib.metadata import metadata
from pathlib import Path

import pytest
import trustme

from playground.engine.io.updates import (
    MAX_FILE_SIZE,
    UpdateError,
    default_address,
    is_newer,
    look_for_update,
    read_update,
)
from tests.support.each_case import each_case
from tests.support.fault_server import FaultServer, hold, send, whole

PAGE = "https://project.example/download"


def update_file(**fields: object) -> bytes:
    return json.dumps({"version": "1.2.0", "page": PAGE, **fields}).encode()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """An https server whose authority this system trusts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with FaultServer(context) as running:
        yield running


def address(server: FaultServer) -> str:
    return server.url.replace("http://", "https://").removesuffix("/v1") + "/latest.json"


async def test_update_with_a_newer_version_is_reported(server: FaultServer) -> None:
    server.play(send(whole(200, "application/json", update_file(notes="Faster,\n and\u202ecalmer", other=1))))
    update = await look_for_update(address(server), "1.1.9")
    assert update.newer
    assert (update.version, update.page) == ("1.2.0", PAGE)
    assert "\n" not in update.notes
    assert "\u202e" not in update.notes
    request = server.requests[0]
    assert request.header("authorization") is None
    assert request.header("cookie") is None


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (whole(404, "text/plain", b"no"), "HTTP 404"),
        (whole(302, "text/plain", b"", "Location: https://elsewhere.example/"), "HTTP 302"),
        (whole(200, "text/html", b"<html></html>"), "does not say which version"),
        (whole(200, "application/json", b"[" * 50_000), "does not say which version"),
        (whole(200, "application/json", b" " * (MAX_FILE_SIZE + 1)), ""),
    ],
    ids=["not found", "redirect", "a page", "nested", "too large"],
)
async def test_update_with_another_answer_is_refused(server: FaultServer, answer: bytes, words: str) -> None:
    server.play(send(answer))
    with pytest.raises(UpdateError) as raised:
        await look_for_update(address(server), "1.0")
    assert words in str(raised.value)
    assert str(raised.value).endswith((".", "?"))


async def test_update_from_an_untrusted_server_is_refused(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    server.play(hold())
    with pytest.raises(UpdateError, match="certificate"):
        await look_for_update(address(server), "1.0")
    assert not server.requests


@pytest.mark.parametrize(
    "typed", ["http://127.0.0.1:9/latest.json", "file:///etc/passwd", "latest.json", "", "https://"]
)
async def test_update_address_without_https_is_refused(typed: str) -> None:
    with pytest.raises(UpdateError, match="https://"):
        await look_for_update(typed, "1.0")


@each_case(
    "fields", [{"version": 2}, {"version": "soon"}, {"page": "http://project.example"}, {"page": "javascript:alert(1)"}]
)
def test_invalid_update_file_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(UpdateError):
        read_update(update_file(**fields), "1.0")


@each_case(
    ("theirs", "ours", "newer"),
    [
        ("1.0.1", "1.0", True),
        ("1.10", "1.9", True),
        ("1.2.0", "1.2.0rc1", True),
        ("1.2.0rc1", "1.2.0", False),
        ("1.2.0", "1.2.0+local", False),
        ("nonsense", "1.0", False),
    ],
)
def test_version_is_newer_by_its_numbers(theirs: str, ours: str, newer: bool) -> None:
    assert is_newer(theirs, ours) is newer


def test_default_address_is_that_of_the_metadata() -> None:
    named = [
        line for line in metadata("gateway-playground").get_all("Project-URL") or [] if line.startswith("Updates,")
    ]
    assert default_address().startswith("https://") if named else not default_address()
