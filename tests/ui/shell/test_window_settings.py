"""The window's own settings: what stands in the file never keeps the window from opening, and is never lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from playground.app import App
from playground.ui.features.storage.banner import StorageBanner
from playground.ui.shell.window_settings import open_settings
from playground.ui.widgets.kept_number import number

SOUND = b"[General]\nzoom=1.15\n; a remark\n\n[window]\nof_a_newer_version=@ByteArray(\\x1\\0)\n"


@pytest.mark.parametrize(
    "damage",
    [
        b"garbage\n" + SOUND,
        SOUND + b"cut of\n",
        SOUND.replace(b"[window]", b"[window"),
        SOUND + b"\xff\xfe=1\n",
        bytes(100),
    ],
)
def test_a_file_that_is_written_anew_without_some_lines_is_copied_first(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    path.write_bytes(damage)
    settings, words = open_settings(path)
    settings.setValue("more", 1)
    settings.sync()
    (aside,) = tmp_path.glob("window.damaged-*.ini")
    assert aside.read_bytes() == damage
    assert words == f"Some of the window's settings could not be read. The file is kept as {aside}."


def test_a_sound_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    assert open_settings(path)[1] == ""
    path.write_bytes(SOUND)
    settings, words = open_settings(path)
    assert words == ""
    assert number(settings, "zoom", 1.0, 0.5, 4.0) == 1.15
    settings.setValue("more", "=[a\nb]\0\u2028;")
    settings.sync()
    assert b"of_a_newer_version" in path.read_bytes()
    assert open_settings(path)[1] == ""
    assert [one.name for one in tmp_path.iterdir()] == ["window.ini"]


@pytest.mark.parametrize("value", ["abc", "nan", "inf", "0", "-1", "1e9", "@ByteArray(x)", "a, b"])
def test_a_number_that_is_none_is_the_usual_one(value: str, tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    path.write_text(f"[General]\nzoom={value}\n")
    assert number(open_settings(path)[0], "zoom", 1.0, 0.5, 4.0) == 1.0


def test_whatever_stands_in_it_the_window_opens_and_says_so(qapp: QApplication, tmp_path: Path) -> None:
    lines = ("zoom=wide", "theme=3", "enter_runs=perhaps", "[window]", "geometry=flat", "state=7", "cut of")
    (tmp_path / "window.ini").write_text("[General]\n" + "\n".join(lines) + "\n")
    (tmp_path / "gateways.json").write_text("{")
    app = App(qapp, folder=tmp_path)
    try:
        told = [banner.words for banner in app.window.findChildren(StorageBanner) if banner.words]
        assert len(told) == 1
        assert "Some of the window's settings could not be read." in told[0]
        assert "The list of gateways could not be read" in told[0]
        assert app.window.pane.view.zoom == 1.0
    finally:
        app.demo.stop()
        app.window.deleteLater()
