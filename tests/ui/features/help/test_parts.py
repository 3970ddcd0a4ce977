"""Versions and licences in the About dialog."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from playground import __version__
from playground.ui.features.help.about_dialog import details, installed, parts, read_notice

NOTICE = """What is in this application, and under which licence. The texts are in the folders beside this file.

gateway-playground 1.0.0: MIT
httpx 0.28.1: BSD-3-Clause
PySide6_Essentials 6.11.3: LGPL
Python 3.11.7: PSF-2.0
libssl3 (from the system this was built on): see its file
"""


def test_requirements_and_theirs_are_listed() -> None:
    names = {part.name.lower() for part in installed()}
    assert {"httpx", "httpcore", "pydantic", "keyring", "starlette"} <= names
    assert any("pyside6" in name for name in names)
    assert not names & {"pytest", "gateway-playground", "ruff"}
    for part in installed():
        assert part.version
        assert part.licence
        assert "\n" not in part.licence


def test_packaged_application_reads_its_notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "licences").mkdir()
    (tmp_path / "licences" / "NOTICE.txt").write_text(NOTICE, encoding="utf-8")
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert [part.name for part in parts()] == ["Python", "httpx", "PySide6_Essentials"]
    assert [part.licence for part in read_notice(NOTICE)] == ["MIT", "BSD-3-Clause", "LGPL", "PSF-2.0"]


def test_details_name_versions_and_no_user() -> None:
    text = details("6.11.3", "platform offscreen")
    assert __version__ in text
    assert "Qt 6.11.3" in text
    assert "httpx " in text
    assert str(Path.home()) not in text
