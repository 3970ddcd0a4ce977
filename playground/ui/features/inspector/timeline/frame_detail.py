"""The frame that is chosen: its payload laid out, or the bytes as they came; several, or none, in words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from playground.engine.inspect.frames import FrameIndex
from playground.ui.features.inspector.excerpt import SHOWN_AT_MOST
from playground.ui.features.inspector.timeline.frame_model import ODD
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.figures import size
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.segments import Segments

RAW = 1  # the half of the switch with a frame's own bytes
HEX_ROW = 16  # bytes in a row of those that are no text
PAYLOADS = ("delta", "content_block", "error", "message", "usage")  # members in which a frame carries what is new
PAYLOAD_LINES = 4
SEARCHED = 20_000  # characters


class FrameDetail(QWidget):
    """``show_frames`` says which; ``show_words`` fills the room while none is chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frames: FrameIndex | None = None
        self._numbers: Sequence[int] = ()
        self._words = ""
        self._more = ""
        self.says = _Says()
        self.switch = Segments(("Decoded", "Raw"), "How the frame is shown")
        self.switch.chosen.connect(self._draw)
        self.odd = MarkLabel(wraps=True)
        self.odd.setProperty("kind", "flag")
        self.odd.setContentsMargins(12, 0, 12, 4)
        self.odd.set_mark(*ODD)
        self.odd.hide()
        self.text = _FrameText()
        self.text.setAccessibleName("The chosen frame")
        self.about = CodeEditor(read_only=True, json=False)
        self.about.setAccessibleName("The whole exchange in figures")
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 4, 8, 4)
        bar.setSpacing(8)
        bar.addWidget(self.says, 1)
        bar.addWidget(self.switch)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.odd)
        column.addWidget(self.about, 1)
        column.addWidget(self.text, 1)
        self.setMinimumWidth(180)

    def show_frames(self, frames: FrameIndex | None, numbers: Sequence[int]) -> None:
        """Show the first of these frames, and say how many there are."""
        self._frames, self._numbers = frames, numbers
        self._draw()

    def show_words(self, words: str) -> None:
        """What to say while no frame is chosen."""
        if words != self._words:
            self._words = words
            if not self._numbers:
                self._draw()

    def say_more(self, words: str) -> None:
        """What else is to be said about the chosen frame; empty for nothing."""
        if words != self._more:
            self._more = words
            self._head()

    def _draw(self, _index: int = 0) -> None:
        frames, numbers = self._frames, self._numbers
        self.switch.setVisible(bool(numbers))
        self.text.setVisible(bool(numbers))
        self.about.setVisible(not numbers)
        if frames is None or not numbers:
            self.says.set_text("The whole exchange" if self._words else "")
            self.odd.hide()
            bar = self.about.verticalScrollBar()
            place = bar.value()
            self.about.setPlainText(self._words)
            bar.setValue(place)
            return
        number = numbers[0]
        row = frames.row(number)
        self._head()
        notes = [note for _, note in row.deviations]
        self.odd.setText(show_hidden("\n".join(notes)))
        self.odd.setToolTip(tip("\n".join(f"{code}: {note}" for code, note in row.deviations)))
        self.odd.setVisible(bool(notes))
        self.text.setPlainText("")  # another frame begins at its beginning
        self.text.show_text(self._text_of(frames, number))
        self.text.bring_payload()

    def _head(self) -> None:
        frames, numbers = self._frames, self._numbers
        if frames is None or not numbers:
            return
        row = frames.row(numbers[0])
        more = [self._more] if self._more else []
        if len(numbers) > 1:
            self.says.set_parts(f"#{numbers[0] + 1}…{numbers[-1] + 1}", [*_several(numbers), *more])
        else:
            said = [f"#{row.number + 1} of {len(frames)}", *more]
            said += [f"{row.at:.3f} s", row.kind.value, size(row.size)]
            self.says.set_parts(f"#{row.number + 1}", said)

    def _text_of(self, frames: FrameIndex, number: int) -> str:
        if self.switch.index == RAW:
            return raw_text(frames.raw(number))
        text = frames.data(number) or "(nothing but its end)"
        if len(text) <= SHOWN_AT_MOST:
            return text
        return f"{text[:SHOWN_AT_MOST]}\n… {len(text) - SHOWN_AT_MOST:,} more characters"


def raw_text(raw: bytes) -> str:
    """Bytes as received, as text; those that are no UTF-8 in rows of hexadecimal digits."""
    part = raw[:SHOWN_AT_MOST]
    rest = f"\n… {size(len(raw) - len(part))} more" if len(part) < len(raw) else ""
    try:
        return (part.decode("utf-8") or "(no bytes)") + rest
    except UnicodeDecodeError as error:
        if rest and error.start > len(part) - 4:  # only the cut is to blame
            return part[: error.start].decode("utf-8") + rest
    rows = (part[at : at + HEX_ROW] for at in range(0, min(len(part), SHOWN_AT_MOST // 4), HEX_ROW))
    return "\n".join(f"{row.hex(' '):<{HEX_ROW * 3}} {_readable(row)}" for row in rows) + rest


def _readable(row: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in row)


def _several(numbers: Sequence[int]) -> list[str]:
    together = numbers[-1] - numbers[0] + 1 == len(numbers)
    where = f"{numbers[0] + 1} to {numbers[-1] + 1}" if together else f"{numbers[0] + 1} … {numbers[-1] + 1}"
    return [f"{len(numbers):,} frames, {where}", "shown is the first"]


class _FrameText(CodeEditor):
    """The payload of a frame. What every chunk repeats is scrolled past, if there is no room for what is new, too."""

    def __init__(self) -> None:
        super().__init__(read_only=True)

    def bring_payload(self) -> None:
        """Bring what is new into view."""
        text = self.text()[:SEARCHED]
        place = next((at for key in PAYLOADS if (at := text.find(f'"{key}": ')) >= 0), -1)
        if place < 0:
            return
        bar, block = self.verticalScrollBar(), self.document().begin()
        line = 0
        while block.isValid() and block.position() + block.length() <= place:
            self.blockBoundingRect(block)  # lays it out for the width there is now
            line += block.lineCount()
            block = block.next()
        if line + PAYLOAD_LINES > bar.pageStep():
            bar.setValue(line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.bring_payload()


class _Says(ElidedLabel):
    """Facts side by side: as many from the left as there is room for, or what is least to be said."""

    def __init__(self) -> None:
        super().__init__("What the chosen frame is", elide=Qt.TextElideMode.ElideRight)
        self._least = ""
        self._parts: list[str] = []

    def set_parts(self, least: str, parts: list[str]) -> None:
        """Say these."""
        self._least, self._parts = least, parts
        self.set_text(" · ".join(parts))

    def fitting(self) -> str:
        if self.text == " · ".join(self._parts):
            for count in range(len(self._parts), 0, -1):
                words = show_hidden(" · ".join(self._parts[:count]))
                if self.fontMetrics().horizontalAdvance(words) <= self.width():
                    return words
            return self.fontMetrics().elidedText(self._least, Qt.TextElideMode.ElideRight, self.width())
        return super().fitting()
