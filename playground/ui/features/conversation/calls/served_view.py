"""What a tool server answered to a call, beside the text that is sent of it: where that came from, structured content,
pictures, sound and files to be saved, links, and what of all that does not go into the request.

Nothing is fetched and nothing is opened by itself: a link is shown, and leads somewhere when a person says so.
"""

from __future__ import annotations

import asyncio
import base64
import mimetypes
from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from playground.domain.durations import duration_words
from playground.domain.parts import Image
from playground.domain.served import MOST_BLOCKS, bytes_in, is_picture, picture_line, unsaid
from playground.domain.sizes import size_words
from playground.domain.tool_servers import DataBlock, LinkBlock, ServerAnswer
from playground.engine.files.images import facts, is_address
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSONObject
from playground.ui.features.conversation.calls.structured_fold import StructuredFold
from playground.ui.features.conversation.image_view import Thumb, figures, title
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.dialogs import ask_where, file_name
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import few_lines_of, show_hidden, shown_name, tip

THUMB: Final = QSize(160, 110)
MOST: Final = 10  # files and links that are listed, and pictures that are drawn
ONLY: Final = "What goes into the request is the text. Not in it:"
LONGEST: Final = 160  # characters of an address or a name


class ServedView(QWidget):
    """Hidden while nothing came of a server. ``fixed``: it is only to be read.

    ``taken`` is text to be sent in the place of what stands in the field; ``dropped`` the place of a picture that is
    not to go along; ``opened`` one to be seen large; ``link_asked`` an address that a person wants to be opened.
    """

    taken = Signal(str)
    restored = Signal()
    dropped = Signal(int)
    opened = Signal(object)
    link_asked = Signal(str)
    height_changed = Signal()

    def __init__(self, parent: QWidget | None = None, *, fixed: bool = False) -> None:
        super().__init__(parent)
        self._fixed = fixed
        self._shown: tuple[object, ...] = ()
        self.source = text_label("", "small", wrap=True)
        self.restore = styled(QPushButton("As it came"), "quiet")
        self.restore.setToolTip("Put back what the server answered in the place of what was changed")
        self.restore.clicked.connect(self.restored)
        self.structured = StructuredFold()
        self.structured.taken.connect(self.taken)
        self.structured.height_changed.connect(self.height_changed)
        self.text: TextView | None = None  # of what is too long for a field
        self.pictures = _Pictures()
        self.pictures.dropped.connect(self.dropped)
        self.pictures.opened.connect(self.opened)
        self._rest = QWidget()
        self._rows = in_column(of=self._rest, margins=0, spacing=2)
        self.fate = text_label("", "small", wrap=True)
        head = in_row((self.source, 1), self.restore, margins=0, spacing=6)
        self._column = in_column(
            head, self.structured, self.pictures, self._rest, self.fate, of=self, margins=(0, 4, 0, 0), spacing=4
        )
        self.hide()

    def show_answer(
        self,
        served: ServerAnswer | None,
        images: tuple[Image, ...],
        schema: JSONObject | None,
        *,
        pictures: bool,
        waiting: bool,
        edited: bool,
        long: str = "",
    ) -> None:
        """Show what a server answered, and the pictures that go along.

        ``schema`` is what its tool says of structured content. ``pictures``: the request carries them. ``waiting``: it
        is not sent yet. ``edited``: the text is another than what came. ``long``: it stands in no field.
        """
        shown = served, images, schema, pictures, waiting, edited, long
        if shown == self._shown:
            return
        self._shown = shown
        self.setVisible(served is not None or bool(images))
        if served is None and not images:
            self.height_changed.emit()
            return
        free = waiting and not self._fixed
        self.source.setText(source_words(served, waiting=waiting, edited=edited) if served is not None else "")
        self.source.setVisible(served is not None)
        self.restore.setVisible(free and edited and served is not None)
        if served is not None:
            self.structured.show_content(served, schema, takes=free)
        self._show_long(long)
        self.pictures.show_pictures(images, drops=free)
        self._list_rest(served)
        said = fate_words(served, images, pictures=pictures)
        self.fate.setText(few_lines_of(said))
        self.fate.setVisible(bool(said))
        self.fate.setToolTip(tip(said))
        self.height_changed.emit()

    def _show_long(self, text: str) -> None:
        if text and self.text is None:
            self.text = TextView(mode="raw")
            self.text.setAccessibleName("What the server answered")
            self.text.height_changed.connect(self.height_changed)
            self._column.insertWidget(1, self.text)
        if self.text is not None:
            self.text.setVisible(bool(text))
            self.text.set_text(text)

    def _list_rest(self, served: ServerAnswer | None) -> None:
        """Files that can be saved and links; the first ones of very many."""
        found = [self._rows.itemAt(at) for at in range(self._rows.count())]
        discard(self._rows, *(row for item in found if item is not None and (row := item.widget()) is not None))
        blocks = served.blocks[:MOST_BLOCKS] if served is not None else ()
        files = [block for block in blocks if isinstance(block, DataBlock) and block.data]
        links = [block for block in blocks if isinstance(block, LinkBlock)]
        others = [one for one in files if not is_picture(one)]
        for file in others[:MOST]:
            self._rows.addWidget(FileRow(file))
        for link in links[:MOST]:
            row = LinkRow(link)
            row.asked.connect(self.link_asked)
            self._rows.addWidget(row)
        left = max(len(others) - MOST, 0) + max(len(links) - MOST, 0)
        if left:
            self._rows.addWidget(text_label(f"and {left:,} more", "small"))
        self._rest.setVisible(self._rows.count() > 0)


def source_words(served: ServerAnswer, *, waiting: bool, edited: bool) -> str:
    """Whose answer it is, how long that took, whether the server calls it an error, and that it was changed."""
    verb = "Came from" if waiting else "Answered by"
    words = f"{verb} the server {shown_name(served.server)} in {duration_words(served.seconds)}"
    if served.is_error:
        words += ", as an error, and is sent as one" if waiting else ", as an error"
    return f"{words}. The text was changed since." if edited else f"{words}."


def fate_words(served: ServerAnswer | None, images: Sequence[Image], *, pictures: bool) -> str:
    """What of it does not go into the request, and what is sent instead; empty where all of it does."""
    lines = list(unsaid(served)) if served is not None else []
    if images and not pictures:
        lines += [f"A picture: {picture_line(image)} is sent in its place" for image in images[:MOST]]
    return "\n".join([ONLY, *(f"• {line}" for line in lines)]) if lines else ""


class _Pictures(QWidget):
    """Small pictures side by side; a click shows one large."""

    dropped = Signal(int)
    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._flow = FlowLayout(self, gap=8, top=True)
        self.boxes: list[QWidget] = []
        self._shown: tuple[tuple[Image, ...], bool] = ((), False)

    def show_pictures(self, images: tuple[Image, ...], *, drops: bool) -> None:
        """Show the first of these; with ``drops`` each can be taken out."""
        self.setVisible(bool(images))
        if (images, drops) == self._shown:
            return
        self._shown = images, drops
        discard(self._flow, *self.boxes)
        self.boxes = [self._box(at, image, drops=drops) for at, image in enumerate(images[:MOST])]
        for box in self.boxes:
            self._flow.addWidget(box)
            box.show()

    def _box(self, at: int, image: Image, *, drops: bool) -> QWidget:
        known, box = facts(image), QWidget()
        thumb = Thumb(THUMB)
        thumb.show_image(image)
        thumb.setToolTip(tip(thumb.problem or f"{title(image)}: show larger"))
        thumb.setAccessibleName(f"{title(image)}: show larger")
        thumb.clicked.connect(partial(self._open, image))
        remove = IconButton("close", "Leave this picture out of the result", size=14)
        remove.clicked.connect(partial(self._drop, at))
        if not drops:
            remove.hide()
        line = in_row(text_label(figures(known), "small"), remove, 1, margins=0, spacing=4)
        in_column(thumb, line, of=box, margins=0, spacing=2)
        return box

    def _open(self, image: Image, _checked: bool = False) -> None:
        self.opened.emit(image)

    def _drop(self, at: int, _checked: bool = False) -> None:
        self.dropped.emit(at)


class FileRow(QWidget):
    """Sound, or bytes of another kind: what they are, and the way to a file."""

    def __init__(self, block: DataBlock) -> None:
        super().__init__()
        self._block = block
        kind = {"image": "Picture", "audio": "Sound"}.get(block.kind, "Bytes")
        about = (kind, show_hidden(cut(block.mime, LONGEST)), size_words(bytes_in(block.data)))
        self.words = text_label(" · ".join(filter(None, about)), "small-text", wrap=True)
        self.words.setToolTip(tip(cut(block.uri, 2_000)))
        self.save = styled(QPushButton("Save…"), "quiet")
        self.save.setToolTip("Write it to a file; nothing is opened")
        self.save.setAccessibleName(f"Save the {kind.lower()}")
        self.save.clicked.connect(lambda: spawn(self._save(), name="save what a server sent"))
        in_row((self.words, 1), self.save, of=self, margins=0, spacing=6)

    async def _save(self) -> None:
        block = self._block
        ending = (mimetypes.guess_extension(block.mime.partition(";")[0].strip().lower()) or ".bin").removeprefix(".")
        name = file_name(block.uri.rsplit("/", 1)[-1].removesuffix(f".{ending}"), otherwise=block.kind)
        path = await ask_where(self.window(), "Save what the server sent", f"{name}.{ending}", "All files (*)", ending)
        if path is None:
            return

        def write() -> None:
            from playground.engine.io.whole_file import write_whole

            write_whole(path, base64.b64decode(block.data, validate=False))

        try:
            await asyncio.to_thread(write)
        except (OSError, ValueError) as error:  # binascii.Error is one, and so is what is no ASCII
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.words.setText(show_hidden(f"{path.name} could not be written: {why}. Choose another place."))
        else:
            self.words.setText(show_hidden(f"Saved as {path.name}"))


class LinkRow(QWidget):
    """A link: where it leads, and what the server says of it."""

    asked = Signal(str)

    def __init__(self, block: LinkBlock) -> None:
        super().__init__()
        self._uri = block.uri
        name = " ".join((block.title or block.name).split())
        size = size_words(block.size) if block.size is not None else ""
        about = [f"Link: {name}" if name else "Link", block.uri, block.mime, size]
        said = " · ".join(show_hidden(cut(one, LONGEST)) for one in about if one)
        self.words = text_label(said, "small-text", wrap=True)
        self.words.setToolTip(tip(f"{block.uri}\n{block.description}".strip()))
        copy = IconButton("copy", "Copy the address", size=14)
        copy.clicked.connect(self._copy)
        self.open = styled(QPushButton("Open…"), "quiet")
        self.open.setToolTip("Open it in the browser, once you have seen where it leads")
        if not is_address(block.uri):
            self.open.hide()
        self.open.clicked.connect(self._open)
        in_row((self.words, 1), copy, self.open, of=self, margins=0, spacing=6)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._uri)

    def _open(self) -> None:
        self.asked.emit(self._uri)
