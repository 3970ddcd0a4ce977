"""The view of code: highlighting, hidden characters and limits."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextBlock

from playground.ui.features.code.get_code_window import CodeView
from tests.ui.conftest import ShowWidget


@pytest.fixture
def view(show_widget: ShowWidget) -> CodeView:
    return show_widget(CodeView(), 600, 200)


def coloured_pieces(block: QTextBlock) -> list[str]:
    """The pieces of a line that have a colour of their own, as Qt counts them."""
    units = block.text().encode("utf-16-le")
    formats = [form for form in block.layout().formats() if form.length]
    return [units[2 * form.start : 2 * (form.start + form.length)].decode("utf-16-le") for form in formats]


def test_highlighting_is_placed_behind_emoji(view: CodeView) -> None:
    view.show_code('greeting = "😀😀 hello"  # said\nimport os\n', "python")
    first = view.document().begin()
    assert coloured_pieces(first) == ['"😀😀 hello"', "# said"]
    assert coloured_pieces(first.next()) == ["import"]
    assert view.text() == 'greeting = "😀😀 hello"  # said\nimport os\n'


def test_hidden_characters_are_marks(view: CodeView) -> None:
    view.show_code("# a\u202eb", "python")
    assert view.text() == "# a‹U+202E›b"
