"""The settings of the window: a damaged file never keeps it from opening, and is never lost."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from playground.app import App
from playground.ui.features.storage.banner import StorageBanner
from playground.ui.shell.window_settings import open_settings
from playground.ui.widgets.kept_number import number
from tests.support.each_case import each_case

SOUND = b"[General]\nzoom=1.15\n; a remark\n\n[window]\nof_a_newer_version=@ByteArray(\\x1\\0)\n"


@each_case(
    "damage",
    [
        b"garbage\n" + SOUND,
        SOUND + b"cut of\n",
        SOUND.replace(b"[window]", b"[window"),
        SOUND + b"\xff\xfe=1\n",
        bytes(100),
    ],
)
def test_damaged_settings_file_is_copied_before_it_is_written(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    path.write_bytes(damage)
    settings, words = open_settings(path)
    settings.setValue("more", 1)
    settings.sync()
    (copy,) = tmp_path.glob("window.damaged-*.ini")
    assert copy.read_bytes() == damage
    assert words == f"Some of the window's settings could not be read. The file is kept as {copy}."
    copy.unlink()


def test_settings_of_a_newer_version_stay_and_are_not_copied(tmp_path: Path) -> None:
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
    assert [file.name for file in tmp_path.iterdir()] == ["window.ini"]


def test_setting_that_is_no_number_has_its_default(tmp_path: Path) -> None:
    for index, value in enumerate(("abc", "nan", "inf", "0", "-1", "1e9", "@ByteArray(x)", "a, b")):
        path = tmp_path / f"{index}.ini"
        path.write_text(f"[General]\nzoom={value}\n")
        assert number(open_settings(path)[0], "zoom", 1.0, 0.5, 4.0) == 1.0, value


def test_window_with_damaged_settings_opens_and_says_so(qapp: QApplication, tmp_path: Path) -> None:
    lines = ("zoom=wide", "theme=3", "enter_runs=perhaps", "[window]", "geometry=flat", "state=7", "cut of")
    (tmp_path / "window.ini").write_text("[General]\n" + "\n".join(lines) + "\n")
    (tmp_path / "gateways.json").write_text("{")
    app = App(qapp, folder=tmp_path)
    try:
        messages = [banner.words for banner in app.window.findChildren(StorageBanner) if banner.words]
        assert len(messages) == 1
        assert "Some of the window's settings could not be read." in messages[0]
        assert "The list of gateways could not be read" in messages[0]
        assert app.window.pane.view.zoom == 1.0
    finally:
        app.demo.stop()
        app.window.deleteLater()
