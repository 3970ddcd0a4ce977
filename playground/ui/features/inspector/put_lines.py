"""Another text for an editor by replacing only the lines that differ: quick however long it is, and it stays put."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor

from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.json_highlight import LONGEST_LINE


def put_lines(editor: CodeEditor, text: str) -> None:
    """Show ``text``. What was there before cannot be brought back by undoing."""
    shown = editor.text()
    if text == shown:
        return
    old, new = shown.split("\n"), text.split("\n")
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    tail = next((n for n in range(least - head) if old[-n - 1] != new[-n - 1]), least - head)
    if head + tail == least:  # nothing but whole lines came or went: take one that stays along
        head, tail = (head - 1, tail) if head else (head, tail - 1)
    changed = new[head : len(new) - tail]
    put = "\n".join(changed)
    if head + tail <= 0 or any(len(line) > LONGEST_LINE for line in changed):
        editor.setPlainText(text)
        return
    editor.clear_marks()
    document = editor.document()
    cursor = QTextCursor(document.findBlockByNumber(head))
    last = document.findBlockByNumber(len(old) - tail - 1)
    cursor.setPosition(last.position() + last.length() - 1, QTextCursor.MoveMode.KeepAnchor)
    editor.find_fonts(put)
    cursor.insertText(put)
    document.clearUndoRedoStacks()
