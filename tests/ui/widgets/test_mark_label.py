"""Icons before words: seen, beside the first line, and in nobody's way."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from playground.ui.widgets.mark_label import GAP, SIDE, Chip, MarkLabel
from playground.ui.widgets.theme import LIGHT, Theme, style_sheet, tokens


def drawn(label: QWidget, left: int, right: int, colour: str) -> list[int]:
    """The rows in which a colour is seen between two columns."""
    image, wanted = label.grab().toImage(), QColor(colour)

    def near(x: int, y: int) -> bool:
        seen = image.pixelColor(x, y)
        return (
            abs(seen.red() - wanted.red()) < 40
            and abs(seen.green() - wanted.green()) < 40
            and abs(seen.blue() - wanted.blue()) < 40
        )

    return [y for y in range(image.height()) if any(near(x, y) for x in range(left, right))]


def test_chip_has_the_icon_of_its_kind(qtbot: QtBot, qapp: QApplication) -> None:
    theme = Theme(qapp, "light")
    chip = Chip()
    qtbot.addWidget(chip)
    chip.say("plain")
    chip.adjustSize()
    plain = chip.sizeHint().width()
    chip.say("plain", "chip-ok")
    assert chip.mark == "check"
    assert chip.sizeHint().width() == plain + SIDE + GAP, "room for the icon, and the words as before"
    chip.adjustSize()
    assert drawn(chip, 6, 6 + SIDE, tokens().ok)
    chip.say("wrong", "chip-error")
    assert chip.mark == "error"
    chip.say("plain")
    assert (chip.mark, chip.sizeHint().width()) == ("", plain)
    theme.deleteLater()


def test_icon_is_beside_the_first_line(qtbot: QtBot) -> None:
    label = MarkLabel("one two three four five six seven eight nine ten eleven twelve", wraps=True)
    qtbot.addWidget(label)
    label.setContentsMargins(5, 0, 0, 0)
    label.set_mark("pause", "#ff0000")
    label.resize(120, 300)
    height = label.heightForWidth(120)
    assert height > 2 * label.fontMetrics().lineSpacing()
    rows = drawn(label, 5, 5 + SIDE, "#ff0000")
    first_line = (300 - height) // 2
    assert first_line - 2 <= rows[0]
    assert rows[-1] <= first_line + label.fontMetrics().lineSpacing() + 2


def test_chip_without_room_ends_in_an_ellipsis(qtbot: QtBot, qapp: QApplication) -> None:
    theme = Theme(qapp, "light")
    chip, short = Chip(), Chip()
    for each in (chip, short):
        qtbot.addWidget(each)
    chip.say("matches the schema", "chip-ok")
    chip.grab()  # given its look, and with that its padding
    chip.resize(chip.sizeHint())
    assert not chip.cut
    chip.resize(chip.width() - 30, chip.height())
    words = chip.fontMetrics().elidedText(chip.text(), Qt.TextElideMode.ElideRight, chip._line().width())
    assert words.endswith("…")
    short.say(words, "chip-ok")
    short.grab()
    short.resize(chip.size())
    assert [chip.cut, short.cut] == [True, False]
    assert chip.grab().toImage() == short.grab().toImage()
    theme.deleteLater()


def test_mark_keeps_its_room_when_its_colour_changes(qapp: QApplication, qtbot: QtBot) -> None:
    qapp.setStyleSheet(style_sheet(LIGHT))
    parent = QWidget()
    qtbot.addWidget(parent)
    column = QVBoxLayout(parent)
    parent.show()
    label = MarkLabel()
    column.addWidget(label)
    label.show()
    QApplication.processEvents()
    label.setStyleSheet("color: red;")
    label.set_mark("pause", "tool")
    label.setStyleSheet("color: blue;")
    QApplication.processEvents()
    assert label.contentsMargins().left() == SIDE + GAP
    label.set_mark("")
    assert label.contentsMargins().left() == 0
