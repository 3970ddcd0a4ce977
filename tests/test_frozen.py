"""What the frozen application gives back before it starts other programs."""

from __future__ import annotations

import sys

import pytest

from playground import frozen

BORROWED = {
    "LD_LIBRARY_PATH": "/opt/app/_internal",
    "LD_LIBRARY_PATH_ORIG": "/opt/mine",
    "QT_PLUGIN_PATH": "/opt/app/_internal/PySide6/Qt/plugins",
    "QML2_IMPORT_PATH": "/opt/app/_internal/PySide6/Qt/qml",
    "_PYI_APPLICATION_HOME_DIR": "/opt/app/_internal",
    "HOME": "/nowhere",
}


def test_a_frozen_application_restores_what_the_user_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    environment = dict(BORROWED)
    frozen.give_back(environment)
    assert environment == {"LD_LIBRARY_PATH": "/opt/mine", "HOME": "/nowhere"}


def test_where_there_was_nothing_nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    environment = {"LD_LIBRARY_PATH": "/opt/app/_internal", "LD_LIBRARY_PATH_ORIG": ""}
    frozen.give_back(environment)
    assert environment == {}


def test_an_installed_application_changes_nothing() -> None:
    environment = dict(BORROWED)
    frozen.give_back(environment)
    assert environment == BORROWED
