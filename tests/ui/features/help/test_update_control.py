"""The daily look for updates, with a real https server."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from PySide6.QtCore import QEvent, QSettings
from PySide6.QtWidgets import QApplication

from playground.app import App
from playground.ui.features.help.control import ADDRESS, DAILY, DAY, LAST
from playground.ui.widgets import loop
from tests.support.fault_server import FaultServer, send, whole

PAGE = "https://project.example/download"
FILE = json.dumps({"version": "999.0", "page": PAGE, "notes": "Calmer."}).encode()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """An https server that this system trusts."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with FaultServer(context) as running:
        running.play(send(whole(200, "application/json", FILE)))
        yield running


def address(server: FaultServer) -> str:
    return server.url.replace("http://", "https://") + "/latest.json"


def start_application(
    qapp: QApplication, folder: Path, set_up: dict[str, object], now: float = 1e9
) -> tuple[str, list[str]]:
    """Start the application with these settings. Gives what the notice says, and the pages a person asked for."""
    messages: list[str] = []
    requests: list[str] = []
    apps: list[App] = []

    async def main() -> None:
        app = App(qapp, folder=folder)
        apps.append(app)
        for key, value in set_up.items():
            app.settings.setValue(key, value)
        control = app.actions.features.help.updates
        control._now = lambda: now
        app.actions.features.help.link_asked.disconnect()  # it would ask whether to open a browser
        control.download_asked.connect(requests.append)
        app.show()
        for task in [item for item in loop._tasks if item.get_name() == "look for updates"]:
            await task
        notice = app.window.pane.notice
        messages.append(notice.words if notice.isVisible() else "")
        if messages[0] and notice.buttons:
            notice.buttons[0].click()
        app.quit()

    loop.run(qapp, main)
    for item in apps:
        item.window.deleteLater()
        item.theme.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # or every later style is worked out for them, too
    qapp.setStyleSheet("")
    return messages[0], requests


def test_updates_are_requested_only_when_enabled(qapp: QApplication, tmp_path: Path, server: FaultServer) -> None:
    assert start_application(qapp, tmp_path, {ADDRESS: address(server)})[0] == ""
    assert not server.requests


def test_newer_version_is_offered_once_a_day(qapp: QApplication, tmp_path: Path, server: FaultServer) -> None:
    message, request = start_application(qapp, tmp_path, {ADDRESS: address(server), DAILY: True})
    assert message == "Version 999.0 of Gateway Playground is available. Calmer."
    assert request == [PAGE]
    assert len(server.requests) == 1
    assert start_application(qapp, tmp_path, {}, now=1e9 + DAY / 2)[0] == "", "it was asked today"
    assert len(server.requests) == 1
    assert start_application(qapp, tmp_path, {}, now=1e9 + DAY + 1)[0]
    assert len(server.requests) == 2
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    assert float(str(settings.value(LAST))) == 1e9 + DAY + 1
