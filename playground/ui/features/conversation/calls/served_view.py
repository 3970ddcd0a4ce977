"""A tool server's answer to a call: its source, structured content, images, files and links, and what is not sent.

Nothing is fetched or opened automatically.
"""

from __future__ import annotations

import asyncio
import base64
import mimetypes
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from playground.domain.durations import duration_words
from playground.domain.parts import Image
from playground.domain.served import MOST_BLOCKS, bytes_in, is_picture, picture_line, unsaid, weight
from playground.domain.sizes import size_words
from playground.domain.tool_servers import DataBlock, LinkBlock, ServerAnswer
from playground.engine.files.images import facts, is_address
from playground.jsonkit.foreign import write
from playground.jsonkit.problems import unchecked
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.conversation.calls.call_text import argument_lines, is_laid_out, json_lines
from playground.ui.features.conversation.caps import LINES
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.fold import Fold
from playground.ui.features.conversation.image_view import Thumb, figures, title
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.dialogs import ask_where, file_name
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.mark_label import Chip
from playground.ui.widgets.plain_text import few_lines_of, show_hidden, shown_name, tip

CAPTION: Final = "Structured content"
FITS, MISFITS, UNKNOWN = "Valid", "Does not match its schema", "No schema"
NOT_CHECKED: Final = "Not checked"
COSTLY: Final = unchecked("").message
MAX_SERIALISED: Final = 200_000  # characters of JSON that are serialised before the user opens or copies it


class StructuredFold(Fold):
    """Structured content in one line that opens to its JSON; `use` makes its text the result."""

    def __init__(self, use: Callable[[str], None]) -> None:
        self._use = use
        self._value: JSON = None
        self._text: str | None = None  # None if the content is too large to be serialised here
        self.verdict = Chip()
        self.take = styled(QPushButton("Use as result"), "quiet")
        self.take.setToolTip("Replace the text by this JSON; nothing is sent")
        self.take.clicked.connect(self._use_as_result)
        self.copy = IconButton("copy", "Copy the structured content", size=14)
        self.copy.clicked.connect(self._copy)
        head, row = styled(QPushButton(CAPTION), "heading"), QWidget()
        flow = FlowLayout(row)
        for widget in (head, self.verdict, self.take, self.copy):
            flow.addWidget(widget)
        super().__init__(muted=False, head=head, head_row=row)
        self.problems = text_label("", "flag-error", wrap=True)
        self._column.insertWidget(1, self.problems)
        self.text_view.setAccessibleName(CAPTION)
        self.hide()

    def show_content(self, served: ServerAnswer, schema: JSONObject | None, *, takes: bool) -> None:
        """Show the structured content of an answer; ``takes`` offers to use it as the result."""
        has_content = served.structured is not None
        if self._value is not served.structured:
            self._value = served.structured
            is_small = weight(served.structured, MAX_SERIALISED) <= MAX_SERIALISED
            self._text = write(served.structured) if is_small else None
            first = (line for _, line in islice(json_lines(self._value), LINES))
            self.set_source("\n".join([*first, "… Copy has all of it."]) if self._text is None else self._text)
        self.take.setVisible(takes and has_content and self._text is not None)
        self.copy.setVisible(has_content)
        self.head.setEnabled(has_content)
        words = "\n".join(served.problems)
        costly = words.startswith(COSTLY)
        if words:
            self.verdict.say(NOT_CHECKED if costly else MISFITS, "chip" if costly else "chip-error")
        elif schema is None:
            self.verdict.say(UNKNOWN)
        else:
            self.verdict.say(FITS, "chip-ok")
        self.verdict.setToolTip(tip(words))
        self.problems.setText(few_lines_of(words))
        self.problems.setVisible(bool(words))
        self.setVisible(has_content or bool(words))
        self.set_words(CAPTION, f"{CAPTION}, {self.verdict.text()}")
        self.set_open(self.is_open and has_content)

    def draw_text(self) -> None:
        super().draw_text()
        if self._text is not None and is_laid_out(self._text):
            self.text_view.set_lines(self._text, argument_lines(self._text, []))

    def _use_as_result(self) -> None:
        if self._text is not None:
            self._use(self._text)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text if self._text is not None else write(self._value))


THUMB: Final = QSize(160, 110)
MOST: Final = 10  # files and links that are listed, and pictures that are drawn
ONLY: Final = "Only text is sent. Omitted:"
LONGEST: Final = 160  # characters of an address or a name


class ServedView(QWidget):
    """The answer of a tool server to the call that `key` gives as (turn id, call id). Hidden without an answer."""

    height_changed = Signal()

    def __init__(self, commands: TurnCommands, key: Callable[[], tuple[str, str]]) -> None:
        super().__init__()
        self._commands = commands
        self._key = key
        self._shown: tuple[object, ...] = ()
        self.source = text_label("", "small", wrap=True)
        self.restore = styled(QPushButton("Restore"), "quiet")
        self.restore.setToolTip("Replace the edited text by the server's answer")
        self.restore.setAccessibleName("Restore the server's answer")
        self.restore.clicked.connect(lambda: commands.calls.restore_server_answer(*key()))
        self.structured = StructuredFold(lambda text: commands.calls.set_draft(*key(), text))
        self.structured.height_changed.connect(self.height_changed)
        self.text: TextView | None = None  # view of a text that is too long for a field
        self.pictures = _Pictures(commands.open_image, lambda index: commands.calls.remove_image(*key(), index))
        self._rest = QWidget()
        self._rows = in_column(parent=self._rest, margins=0, spacing=2)
        self.fate = text_label("", "small", wrap=True)
        head = in_row((self.source, 1), self.restore, margins=0, spacing=6)
        self._column = in_column(
            head, self.structured, self.pictures, self._rest, self.fate, parent=self, margins=(0, 4, 0, 0), spacing=4
        )
        self.hide()

    def show_answer(
        self,
        served: ServerAnswer | None,
        images: tuple[Image, ...],
        schema: JSONObject | None,
        *,
        carries_images: bool,
        waiting: bool,
        edited: bool,
        long_text: str = "",
    ) -> None:
        """Show a server's answer and the images that go along.

        `schema` is the tool's schema of structured content, `carries_images` says whether the request has the images,
        `waiting` that it is not sent yet, `edited` that the text was edited. `long_text` is too long for the field.
        """
        state = served, images, schema, carries_images, waiting, edited, long_text
        if state == self._shown:
            return
        self._shown = state
        self.setVisible(served is not None or bool(images))
        if served is None and not images:
            self.height_changed.emit()
            return
        free = waiting and not self._commands.read_only
        self.source.setText(source_words(served, waiting=waiting, edited=edited) if served is not None else "")
        self.source.setVisible(served is not None)
        self.restore.setVisible(free and edited and served is not None)
        if served is not None:
            self.structured.show_content(served, schema, takes=free)
        self._show_long(long_text)
        self.pictures.show_pictures(images, drops=free)
        self._list_rest(served)
        omitted = fate_words(served, images, carries_images=carries_images)
        self.fate.setText(few_lines_of(omitted))
        self.fate.setVisible(bool(omitted))
        self.fate.setToolTip(tip(omitted))
        self.height_changed.emit()

    def _show_long(self, text: str) -> None:
        if text and self.text is None:
            self.text = TextView(mode="raw")
            self.text.setAccessibleName("Answer of the server")
            self.text.height_changed.connect(self.height_changed)
            self._column.insertWidget(1, self.text)
        if self.text is not None:
            self.text.setVisible(bool(text))
            self.text.set_text(text)

    def _list_rest(self, served: ServerAnswer | None) -> None:
        """List the first files and links of an answer."""
        items = [self._rows.itemAt(n) for n in range(self._rows.count())]
        discard(self._rows, *(row for item in items if item is not None and (row := item.widget()) is not None))
        blocks = served.blocks[:MOST_BLOCKS] if served is not None else ()
        files = [block for block in blocks if isinstance(block, DataBlock) and block.data]
        links = [block for block in blocks if isinstance(block, LinkBlock)]
        others = [file for file in files if not is_picture(file)]
        for file in others[:MOST]:
            self._rows.addWidget(FileRow(file))
        for link in links[:MOST]:
            self._rows.addWidget(LinkRow(link, self._commands.link_asked.emit))
        unlisted = max(len(others) - MOST, 0) + max(len(links) - MOST, 0)
        if unlisted:
            self._rows.addWidget(text_label(f"and {unlisted:,} more", "small"))
        self._rest.setVisible(self._rows.count() > 0)


def source_words(served: ServerAnswer, *, waiting: bool, edited: bool) -> str:
    """Say which server answered, how long it took, whether it reports an error, and that the text was edited."""
    words = f"Answer from {shown_name(served.server)} in {duration_words(served.seconds)}"
    if served.is_error:
        words += ", an error that is sent as one" if waiting else ", an error"
    return f"{words}. Text edited." if edited else f"{words}."


def fate_words(served: ServerAnswer | None, images: Sequence[Image], *, carries_images: bool) -> str:
    """Name the omitted content of an answer and its replacement; empty if everything is sent."""
    lines = list(unsaid(served)) if served is not None else []
    if images and not carries_images:
        lines += [f"An image; {picture_line(image)} is sent instead" for image in images[:MOST]]
    return "\n".join([ONLY, *(f"• {line}" for line in lines)]) if lines else ""


class _Pictures(QWidget):
    """Thumbnails in a row; a click shows one large."""

    def __init__(self, open_image: Callable[[Image], None], remove: Callable[[int], None]) -> None:
        super().__init__()
        self._open_image = open_image
        self._remove = remove
        self._flow = FlowLayout(self, gap=8, top=True)
        self.boxes: list[QWidget] = []
        self._shown: tuple[tuple[Image, ...], bool] = ((), False)

    def show_pictures(self, images: tuple[Image, ...], *, drops: bool) -> None:
        """Show the first of these images; with ``drops``, each has a button that removes it."""
        self.setVisible(bool(images))
        if (images, drops) == self._shown:
            return
        self._shown = images, drops
        discard(self._flow, *self.boxes)
        self.boxes = [self._box(index, image, drops=drops) for index, image in enumerate(images[:MOST])]
        for box in self.boxes:
            self._flow.addWidget(box)
            box.show()

    def _box(self, index: int, image: Image, *, drops: bool) -> QWidget:
        image_facts, box = facts(image), QWidget()
        thumb = Thumb(THUMB)
        thumb.show_image(image)
        thumb.setToolTip(tip(thumb.problem or f"{title(image)}: show larger"))
        thumb.setAccessibleName(f"{title(image)}: show larger")
        thumb.clicked.connect(lambda: self._open_image(image))
        remove = IconButton("close", "Leave this image out of the result", size=14)
        remove.clicked.connect(lambda: self._remove(index))
        if not drops:
            remove.hide()
        line = in_row(text_label(figures(image_facts), "small"), remove, 1, margins=0, spacing=4)
        in_column(thumb, line, parent=box, margins=0, spacing=2)
        return box


class FileRow(QWidget):
    """A file in a server's answer that can be saved."""

    def __init__(self, block: DataBlock) -> None:
        super().__init__()
        self._block = block
        kind = {"image": "Image", "audio": "Audio"}.get(block.kind, "File")
        about = (kind, show_hidden(cut(block.mime, LONGEST)), size_words(bytes_in(block.data)))
        self.words = text_label(" · ".join(filter(None, about)), "small-text", wrap=True)
        self.words.setToolTip(tip(cut(block.uri, 2_000)))
        self.save = styled(QPushButton("Save…"), "quiet")
        self.save.setToolTip("Save it to a file; nothing is opened")
        self.save.setAccessibleName(f"Save the {kind.lower()}")
        self.save.clicked.connect(lambda: spawn(self._save(), name="save a server's file"))
        in_row((self.words, 1), self.save, parent=self, margins=0, spacing=6)

    async def _save(self) -> None:
        block = self._block
        ending = (mimetypes.guess_extension(block.mime.partition(";")[0].strip().lower()) or ".bin").removeprefix(".")
        name = file_name(block.uri.rsplit("/", 1)[-1].removesuffix(f".{ending}"), otherwise=block.kind)
        path = await ask_where(self.window(), "Save file", f"{name}.{ending}", "All files (*)", ending)
        if path is None:
            return

        def write() -> None:
            from playground.engine.io.files import write_whole

            write_whole(path, base64.b64decode(block.data, validate=False))

        try:
            await asyncio.to_thread(write)
        except (OSError, ValueError) as error:  # binascii.Error is one, and so is what is no ASCII
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.words.setText(show_hidden(f"{path.name} could not be saved: {why}. Choose another place."))
        else:
            self.words.setText(show_hidden(f"Saved as {path.name}"))


class LinkRow(QWidget):
    """A link in a server's answer, with its address and description."""

    def __init__(self, block: LinkBlock, open_link: Callable[[str], None]) -> None:
        super().__init__()
        self._uri = block.uri
        name = " ".join((block.title or block.name).split())
        size = size_words(block.size) if block.size is not None else ""
        about = [f"Link: {name}" if name else "Link", block.uri, block.mime, size]
        label = " · ".join(show_hidden(cut(text, LONGEST)) for text in about if text)
        self.words = text_label(label, "small-text", wrap=True)
        self.words.setToolTip(tip(f"{block.uri}\n{block.description}".strip()))
        copy = IconButton("copy", "Copy the address", size=14)
        copy.clicked.connect(self._copy)
        self.open = styled(QPushButton("Open…"), "quiet")
        self.open.setToolTip("Show the whole address, then open it in the browser")
        if not is_address(block.uri):
            self.open.hide()
        self.open.clicked.connect(lambda: open_link(block.uri))
        in_row((self.words, 1), copy, self.open, parent=self, margins=0, spacing=6)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._uri)
