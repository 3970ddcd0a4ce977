"""The help window: contents, search, marks."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from playground.ui.features.help.help_window import HelpWindow
from playground.ui.features.help.pages import Page


@pytest.fixture
def window(qtbot: QtBot) -> HelpWindow:
    pages = (
        Page("first", "First steps", "# First steps\n\nWrite a *message* and run it.\n"),
        Page("second", "Keys", "# Keys\n\nA key is kept in the keyring. A message holds none.\n"),
    )
    window = HelpWindow(pages, None)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    return window


def list_pages(window: HelpWindow) -> list[str]:
    return [window.contents.item(row).text() for row in range(window.contents.count())]


def test_help_opens_on_its_first_page(window: HelpWindow) -> None:
    assert list_pages(window) == ["First steps", "Keys"]
    assert window.text.source.startswith("# First steps")
    window.contents.setCurrentRow(1)
    assert window.page.name == "second"
    assert window.text.source.startswith("# Keys")
    window.show_page("first")
    assert window.text.source.startswith("# First steps")
