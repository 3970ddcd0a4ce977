"""The view of a text: exact copies, safe links, no fetched pictures."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QColor, QGuiApplication, QImage, QTextCursor, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from playground.ui.features.conversation.text_view import TextView
from tests.ui.conftest import ShowWidget


@pytest.fixture
def view(show_widget: ShowWidget) -> TextView:
    return show_widget(TextView(), 600, 400)


def select(view: TextView, start: int, end: int) -> None:
    cursor = view.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)


def copy_all(view: TextView) -> str:
    view.selectAll()
    view.copy()
    return QGuiApplication.clipboard().text()


def buttons(view: TextView) -> list[QToolButton]:
    return [button for button in view.findChildren(QToolButton) if button.isVisibleTo(view)]


# Copying


def test_copy_button_copies_the_exact_code(view: TextView, qtbot: QtBot) -> None:
    first = "def f():\n\treturn '\u200b'  \n\n\n    # " + "long " * 900
    second = "\n".join(f"line {number}" for number in range(100))
    view.append(f"words\n\n```python\n{first}\n```\nmore\n~~~\n{second}\n~~~\n")
    qtbot.waitUntil(lambda: not view.shown.is_behind)
    item, two = buttons(view)
    QTest.mouseClick(item, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == first
    QTest.mouseClick(two, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == second
    assert two.text() == "Copied"
    assert {button.accessibleName() for button in (item, two)} == {"Copy this code"}


def test_copied_selection_joins_cut_lines(view: TextView, qtbot: QtBot) -> None:
    words = "some words " * 800
    view.append(words + "\n\nend")
    qtbot.waitUntil(lambda: not view.shown.is_behind)
    assert copy_all(view) == words.rstrip() + "\nend"
    unbroken = "x" * 5_000
    view.set_text(f"```\n{unbroken}\n\tnext\n```")
    assert copy_all(view) == f"{unbroken}\n\tnext"


def test_copied_list_and_table_are_text(view: TextView) -> None:
    view.append("- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend *of* it")
    assert copy_all(view) == "• one\n• two\na\tb\n1\t2\nend of it"
    select(view, 3, 7)
    view.copy()
    assert QGuiApplication.clipboard().text() == "ne\n•"


# Selecting while it grows


# Modes


@pytest.mark.parametrize("mode", ["plain", "raw"])
@pytest.mark.parametrize("step", [3, 10_000])
def test_exact_modes_show_the_exact_text(qtbot: QtBot, mode: str, step: int) -> None:
    view = TextView(mode=mode)
    qtbot.addWidget(view)
    text = "# not a *heading*\r\n\r\n- [x](http://a.b)\n\ttab  two\n" + "word " * 500 + "\n```\n![i](file:///x)"
    for index in range(0, len(text), step):
        view.append(text[index : index + step])
    assert view.source == text
    assert copy_all(view) == text
    assert not buttons(view)


def test_selection_survives_appended_text(view: TextView) -> None:
    view.set_text("some words that stay")
    select(view, 0, 4)
    view.set_text("some words that stay and go on")
    assert view.textCursor().selectedText() == "some"
    view.set_text("other")
    assert view.toPlainText() == view.source == "other"


# Size


# Painting


# Nothing is fetched


class _Counting(BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    _Counting.asked = []
    server = HTTPServer(("127.0.0.1", 0), _Counting)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", _Counting.asked
    server.shutdown()
    thread.join()
    server.server_close()


def _red_picture(folder: Path) -> Path:
    picture = QImage(40, 40, QImage.Format.Format_RGB32)
    picture.fill(QColor("#ff0000"))
    path = folder / "red.png"
    assert picture.save(str(path))
    return path


def _reds(view: TextView) -> int:
    image = view.grab().toImage()
    return sum(
        image.pixelColor(x, y).name() == "#ff0000"
        for x in range(0, image.width(), 3)
        for y in range(0, image.height(), 3)
    )


def test_no_picture_of_markdown_is_fetched(view: TextView, tmp_path: Path, server: tuple[str, list[str]]) -> None:
    base, request = server
    path = _red_picture(tmp_path)
    view.append(
        f"![a]({base}/one.png) ![b]({path.as_uri()}) ![c]({path}) [d]({base}/two) <img src='{base}/three.png'>\n\n"
        f"<https://127.0.0.1/x>\n\n- ![e]({base}/four)\n\n| ![f]({base}/five) |\n|---|\n| x |\n"
    )
    assert _reds(view) == 0
    with urllib.request.urlopen(f"{base}/marker"):  # answered behind anything requested before
        pass
    assert request == ["/marker"]
    assert "[a]" in view.toPlainText()


def test_picture_in_the_document_is_not_loaded(view: TextView, tmp_path: Path, server: tuple[str, list[str]]) -> None:
    """The second wall: were an image ever to get into the document, Qt must not open its path by itself."""
    base, request = server
    path = _red_picture(tmp_path)
    cursor = view.textCursor()
    for name in (str(path), path.as_uri(), f"{base}/x.png"):
        cursor.insertImage(name)
    assert _reds(view) == 0
    picture = view.document().resource(QTextDocument.ResourceType.ImageResource.value, QUrl(path.as_uri()))
    assert isinstance(picture, QImage)
    assert (picture.width(), picture.pixelColor(0, 0).alpha()) == (1, 0)
    assert request == []


# Links


def test_click_on_a_link_only_asks(view: TextView, qtbot: QtBot) -> None:
    view.append("[here](https://example.com/a?b=c)")
    view.setFocus()
    for _ in range(2):
        with qtbot.waitSignal(view.link_clicked) as request:
            QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(8, 8))
        assert request.args == ["https://example.com/a?b=c"]
        assert not view.textCursor().hasSelection()
