"""The environment that the frozen application restores before it starts other programs."""

from __future__ import annotations

import sys

import pytest

from playground.system import frozen

BORROWED = {
    "LD_LIBRARY_PATH": "/opt/app/_internal",
    "LD_LIBRARY_PATH_ORIG": "/opt/mine",
    "QT_PLUGIN_PATH": "/opt/app/_internal/PySide6/Qt/plugins",
    "QML2_IMPORT_PATH": "/opt/app/_internal/PySide6/Qt/qml",
    "_PYI_APPLICATION_HOME_DIR": "/opt/app/_internal",
    "HOME": "/nowhere",
}


def test_frozen_application_gives_back_what_it_borrowed(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = dict(BORROWED)
    frozen.give_back(installed)
    assert installed == BORROWED, "an installed application has borrowed nothing"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    environment = dict(BORROWED)
    frozen.give_back(environment)
    assert environment == {"LD_LIBRARY_PATH": "/opt/mine", "HOME": "/nowhere"}
    environment = {"LD_LIBRARY_PATH": "/opt/app/_internal", "LD_LIBRARY_PATH_ORIG": ""}
    frozen.give_back(environment)
    assert environment == {}
