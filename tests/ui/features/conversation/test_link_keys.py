"""Links in a text by keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.features.conversation.text_view import TextView
from tests.ui.windows import show_in_front

TEXT = """See [the **first** one](https://one.example/a) and <https://two.example>.

| City | Page |
|---|---|
| Oslo | [page](https://three.example) |

```
[no link](https://code.example)
```
"""
ADDRESSES = ["https://one.example/a", "https://two.example", "https://three.example"]


class Place(QScrollArea):
    """A field, a text, a field, and less room than they need."""

    def __init__(self, text: str) -> None:
        super().__init__()
        inner = QWidget()
        column = QVBoxLayout(inner)
        self.before, self.view, self.after = QLineEdit(), TextView(), QLineEdit()
        for widget in (self.before, self.view, self.after):
            column.addWidget(widget)
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.append(text)
        self.resize(500, 200)
        self.opened: list[str] = []
        self.view.link_clicked.connect(self.opened.append)

    @property
    def address(self) -> str:
        link = self.view.links.chosen
        return link.address if link is not None else ""

    def tab(self, key: Qt.Key = Qt.Key.Key_Tab) -> None:
        focus = self.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, key)


@pytest.fixture
def place(qtbot: QtBot, request: pytest.FixtureRequest) -> Place:
    place = Place(getattr(request, "param", TEXT))
    qtbot.addWidget(place)
    show_in_front(qtbot, place)
    place.before.setFocus()
    return place


def test_tab_moves_from_link_to_link(place: Place) -> None:
    place.tab()
    assert place.view.hasFocus()
    assert place.address == ""
    for address in ADDRESSES:
        place.tab()
        assert place.view.hasFocus()
        assert place.address == address
    place.tab()
    assert place.after.hasFocus()
    assert not place.view.textCursor().hasSelection()


def test_enter_opens_only_the_selected_link(place: Place) -> None:
    place.tab()
    QTest.keyClick(place.view, Qt.Key.Key_Return)
    assert place.opened == []
    place.tab()
    QTest.keyClick(place.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert place.opened == []
    QTest.keyClick(place.view, Qt.Key.Key_Return)
    QTest.keyClick(place.view, Qt.Key.Key_Enter, Qt.KeyboardModifier.KeypadModifier)
    assert place.opened == ADDRESSES[:1] * 2
