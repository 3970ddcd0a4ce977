"""The files of the packages name everything alike: the application, its media type, its commands."""

from __future__ import annotations

import configparser
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from playground.cli import _parser
from playground.engine.files.experiment_file import SUFFIX, open_file

ROOT = Path(__file__).resolve().parents[2]
LINUX = ROOT / "packaging" / "linux"
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def text(*parts: str) -> str:
    return ROOT.joinpath("packaging", *parts).read_text(encoding="utf-8")


def test_media_type_is_the_same_everywhere() -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(LINUX / "gateway-playground.desktop", encoding="utf-8")
    media_type = entry["Desktop Entry"]["MimeType"].rstrip(";")
    kind = ElementTree.parse(LINUX / "gateway-playground.xml").getroot().find(f"{MIME}mime-type")
    assert kind is not None
    assert kind.get("type") == media_type
    globs = [glob.get("pattern") for glob in kind.findall(f"{MIME}glob")]
    assert globs == [f"*{SUFFIX}"]
    (metainfo,) = LINUX.glob("*.metainfo.xml.in")
    described = ElementTree.parse(metainfo).getroot()
    assert described.findtext("provides/mediatype") == media_type
    assert described.findtext("launchable") == "gateway-playground.desktop"
    assert metainfo.name == f"{described.findtext('id')}.metainfo.xml.in"
    assert media_type in text("playground.spec")
    assert f"*{SUFFIX}" in text("windows", "installer.nsi")


def test_desktop_entry_has_the_name_of_the_window() -> None:
    source = (ROOT / "playground" / "app.py").read_text(encoding="utf-8")
    assert 'setDesktopFileName("gateway-playground")' in source
    assert (LINUX / "gateway-playground.desktop").is_file()


def test_manual_page_has_every_command() -> None:
    page = text("linux", "playground.1.in")
    helped = _parser().format_help()
    commands = [word.replace("-", "\\-") for word in re.findall(r"^    ([\w-]+) ", helped, re.MULTILINE)]
    assert len(commands) >= 6
    for word in (*commands, "\\-\\-self\\-test", "\\-\\-window", "\\-\\-version"):
        assert word in page


def test_file_of_the_chroot_test_can_be_opened() -> None:
    experiment = open_file(LINUX / "opened.playground.json")
    assert experiment.title == "A file on a desktop"
    assert "Was this file opened?" in text("linux", "test_chroot.sh")
    assert experiment.turns[0].text == "Was this file opened?"
