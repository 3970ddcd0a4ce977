"""The window stays responsive while large content is shown; the benchmark ``hostile`` has the limit of 50 ms."""

from __future__ import annotations

import json

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton

from tests.flows.conftest import Person, flow
from tests.flows.pages.steps import open_tab
from tests.hostile.gaps import LIMIT, MARGIN, PASSES
from tests.hostile.in_window import warm_up
from tests.hostile.looks import LOOKS, Look, listed, looked_at
from tests.support.slow import slow_except

SMOKE = ("a list of deviations becomes longer",)


@pytest.mark.parametrize(
    "look", slow_except([look for look in LOOKS if look.name in SMOKE], LOOKS), ids=lambda look: look.name
)
@flow()
async def test_window_responds_while_large_content_is_shown(person: Person, look: Look) -> None:
    await warm_up(person.app)
    gap = await looked_at(person.app, look, LIMIT * MARGIN, PASSES)
    assert gap <= LIMIT * MARGIN, f"{gap * 1000:.0f} ms"


def copied_text(editor: QPlainTextEdit) -> str:
    """All of the text, as it is copied: ``toPlainText`` has the breaks that split long lines."""
    editor.selectAll()
    editor.copy()
    return QGuiApplication.clipboard().text()


@flow()
async def test_text_typed_while_json_is_formatted_stays(person: Person) -> None:
    await open_tab(person, "Raw")
    editor = await person.seen(QPlainTextEdit, "This experiment")
    field = editor.parentWidget()
    assert field is not None
    button, text = await person.seen(QPushButton, "Format", field), listed(20_000)
    await person.do(lambda: editor.setPlainText(text))
    await person.until(button.isEnabled, "an enabled button")

    def format_and_type() -> None:
        button.click()
        QTest.keyClicks(editor, " ")

    await person.do(format_and_type)
    await person.until(lambda: not person.find(QLabel, inside=editor), "the end of formatting")
    assert copied_text(editor) == f" {text}"
    await person.click(button)
    await person.until(lambda: editor.document().blockCount() > 1, "the formatted text")
    assert json.loads(copied_text(editor)) == json.loads(text)
    assert not person.find(QLabel, inside=editor)
