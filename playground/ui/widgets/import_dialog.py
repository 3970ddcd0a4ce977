"""The import dialog: paste, drop a file or choose one; see what was understood; add it.

The text is parsed and never executed. Secrets in it are masked as soon as they are recognised. A long text or a file
is read in a thread; of a long text the beginning is shown, and all of it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, Generic, TypeVar

from PySide6.QtCore import QMimeData, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QDialog, QSizePolicy, QWidget

from playground.domain.sizes import size_words
from playground.engine.gateways.secrets import Secret
from playground.engine.io.files import decode_text
from playground.system.named_file import read_named
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.dialogs import ask_which, fit_to_window
from playground.ui.widgets.form_parts import look, push_button, say, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.outline_tree import Item, OutlineTree
from playground.ui.widgets.pasted_secrets import PastedSecrets
from playground.ui.widgets.plain_text import show_hidden

READ_AFTER_MS: Final = 200
AT_ONCE: Final = 20_000  # characters; a longer text is read in a thread
SHOWN: Final = 50_000  # characters of a text that are shown
LARGEST: Final = 32 * 1024 * 1024  # bytes of a file that is read as a text
MOST_NOTES: Final = 200
EMPTY: Final = "Nothing to read yet."
T = TypeVar("T")


class NotImportableError(ValueError):
    """Nothing can be imported; the text gives the reason and the remedy, and shows no secret."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of an import: a pasted text, or a file."""

    text: str = field(default="", repr=False)
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Preview(Generic[T]):
    """The result of reading a source: its ``content``, in words and as items to check.

    ``notes`` are sentences on guesses, on members left out and on lines that cannot be read. ``secrets`` are masked in
    the pasted text.
    """

    content: T
    summary: str
    items: Sequence[Item] = ()
    notes: Sequence[str] = ()
    secrets: Sequence[Secret] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ImportKind:
    """The description of an import.

    ``placeholder`` says what may be pasted, ``files`` is the filter of the file dialog, ``noun`` names an item on the
    ``button``, and ``is_json`` tells that a pasted text is mostly JSON. With ``reads_files`` the reader takes the path
    of a file, not its text. Texts of at most ``at_once`` characters are read without a thread. ``refused`` are errors
    of the reader whose text gives the reason. ``size`` is that of the dialog in pixels.
    """

    title: str
    placeholder: str
    files: str = ""
    button: str = "Import"
    noun: str = ""
    is_json: bool = False
    reads_files: bool = False
    at_once: int = AT_ONCE
    refused: tuple[type[Exception], ...] = ()
    size: tuple[int, int] = (780, 700)


class ImportDialog(QDialog, Generic[T]):
    """Base of the import dialogs. A subclass declares its ``kind`` and implements ``reader`` and ``add_content``.

    ``imported`` carries what ``add_content`` gives, ``file_chosen`` the path of a file that the user chose.
    """

    imported = Signal(object)
    file_chosen = Signal(object)

    kind: ClassVar[ImportKind]

    def __init__(
        self,
        parent: QWidget,
        *,
        sources: Sequence[QWidget] = (),
        options: Sequence[QWidget] = (),
        choices: Sequence[QWidget] = (),
    ) -> None:
        """Create the dialog with widgets below the text, above the preview, and beside the buttons."""
        super().__init__(parent)
        self.setWindowTitle(self.kind.title)
        self.setAcceptDrops(True)
        self.folder = ""  # where the file dialog begins
        self.content: T | None = None
        self._held: Source | None = None  # a file, or a text that is too long for the editor
        self._adds_when_read = False
        self._names: list[str] = []  # of the items, whose check marks stay while they are the same
        self._secrets = PastedSecrets()
        self._reading = Aside(self)
        self._loading = Aside(self)
        self.text = _SourceEditor(json=self.kind.is_json)
        self.text.setAccessibleName("Text to import from")
        self.text.setPlaceholderText(self.kind.placeholder)
        self.paste_button = push_button("Paste")
        self.paste_button.setAccessibleName("Paste from the clipboard")
        self.file_button = push_button("Open file…")
        self.source_line = text_label("", "small", wrap=True)
        self.clear_button = push_button("Clear", "quiet")
        self.verdict = text_label(EMPTY, "heading", wrap=True)
        self.verdict.setObjectName("importSummary")
        self.all_button = push_button("Select none", "quiet")
        self.notes = GrowingField(most=5, compact=True)
        self.notes.setReadOnly(True)
        self.notes.setProperty("kind", "inherited")
        self.notes.setAccessibleName("Problems and notes")
        self.preview = OutlineTree("What was understood")
        self._area = self.preview_area()
        self._options = (*options,)
        self._filler = QWidget()  # while neither text nor preview is shown
        self._filler.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.message = text_label("", "error", wrap=True)
        self.add_button = push_button(self.kind.button, "primary")
        self.add_button.setDefault(True)
        self.cancel_button = push_button("Cancel")
        self._timer = QTimer(self, singleShot=True, interval=READ_AFTER_MS)
        self._timer.timeout.connect(self.read_now)
        caption = text_label("From", "group")
        caption.setBuddy(self.text)
        in_column(
            in_row(caption, 1, self.paste_button, self.file_button, spacing=6),
            (self.text, 2),
            in_row((self.source_line, 1), self.clear_button),
            *sources,
            in_row((self.verdict, 1), self.all_button),
            self.notes,
            *options,
            (self._area, 3),
            (self._filler, 1),
            self.message,
            in_row(*choices, 1, self.cancel_button, self.add_button, spacing=8),
            parent=self,
            margins=(14, 12, 14, 12),
            spacing=8,
        )
        fit_to_window(self, *self.kind.size)
        self._show_source("")
        self._show(None, EMPTY)
        say(self.message, "")
        self.text.setFocus()
        self.text.textChanged.connect(self.read_soon)
        self.text.taken.connect(self.take)
        self.paste_button.clicked.connect(self.paste)
        self.file_button.clicked.connect(lambda: spawn(self._choose_file(), name="choose a file to import"))
        self.clear_button.clicked.connect(self.clear)
        self.preview.checks_changed.connect(self.update_button)
        self.all_button.clicked.connect(self._toggle_all)
        self.add_button.clicked.connect(self.add)
        self.cancel_button.clicked.connect(self.reject)

    # ---- what a use implements

    def reader(self) -> Callable[[Source], Preview[T]]:
        """Return the function that reads a source, with the current options. It runs in a thread, without widgets."""
        raise NotImplementedError

    def add_content(self, content: T, checked: tuple[int, ...]) -> None:
        """Import the content with the ``checked`` items, and close the dialog."""
        raise NotImplementedError

    def preview_area(self) -> QWidget:
        """Return the widget that shows what was read: the tree of items."""
        return self.preview

    def show_content(self, content: T | None) -> None:
        """Update the widgets of the use for what was read; None for nothing."""

    def count(self) -> int:
        """Return the number of things that the button imports."""
        return len(self.preview.checked) if self.preview.checkable else int(self.content is not None)

    # ---- sources

    @property
    def source(self) -> Source:
        """The file or the text to import, with its secrets."""
        return self._held or Source(self._secrets.reveal(self.text.text()))

    def paste(self) -> None:
        """Read the text, or the file, of the clipboard."""
        self.take(QGuiApplication.clipboard().mimeData())

    def take(self, data: QMimeData) -> None:
        """Read the first file, or the text, of pasted or dropped data."""
        files = _files(data)
        if files:
            self.open_file(files[0])
        elif data.hasText():
            self.set_text(data.text())

    def set_text(self, text: str) -> None:
        """Replace the text and read it."""
        self.content = None
        if len(text) > SHOWN:
            self._held = Source(text)
            self._show_source(f"The first {SHOWN:,} of {len(text):,} characters are shown; all of them are read.")
        else:
            self._held = None
            self._show_source("")
            self.text.setPlainText(text)
        say(self.message, "")
        self.read_now()

    def open_file(self, path: Path) -> None:
        """Read a file, or show why it cannot be read."""
        say(self.message, "")
        if self.kind.reads_files:
            self.content = None
            self._held = Source(path=path)
            self._show_source(str(path))
            self.read_now()
        else:
            self._loading.do(partial(_read_file, path), self._loaded, large=True)

    def clear(self) -> None:
        """Go back to an empty text."""
        self.set_text("")
        self.text.setFocus()

    def _loaded(self, result: str | NotImportableError) -> None:
        if isinstance(result, NotImportableError):
            say(self.message, str(result))
        else:
            self.set_text(result)

    async def _choose_file(self) -> None:
        files = f"{self.kind.files};;All files (*)" if self.kind.files else ""
        path = await ask_which(self, self.kind.title, self.folder, files)
        if path is not None:
            self.file_chosen.emit(path)
            self.open_file(path)

    def _show_source(self, words: str) -> None:
        """Show the name of a file instead of the editor, or that the editor has a part of the text."""
        say(self.source_line, words)
        self.clear_button.setVisible(bool(words))
        self.text.setVisible(self._held is None or self._held.path is None)
        self.text.setReadOnly(self._held is not None)
        if self._held is not None:
            self._set_shown("")

    def _set_shown(self, text: str) -> None:
        self.text.blockSignals(True)
        self.text.setPlainText(text)
        self.text.blockSignals(False)

    # ---- reading

    def read_now(self) -> None:
        """Read the source, mask its secrets, and show what was understood."""
        self._timer.stop()
        source = self.source
        if source.path is None and not source.text.strip():
            self._reading.call_off()
            self._show(None, EMPTY)
            return
        large = source.path is not None or len(source.text) > self.kind.at_once
        self._reading.do(partial(_read, self.reader(), source, self.kind.refused), self._show_result, large=large)
        if self._reading.busy and self.content is None:
            self._show(None, "Reading…", "muted")
        self.update_button()

    def read_soon(self) -> None:
        """Read the source again after the last of several edits."""
        self._timer.start()

    def _show_result(self, result: Preview[T] | NotImportableError) -> None:
        if isinstance(result, NotImportableError):
            self._show(None, str(result), "error")
        else:
            self._mask(result.secrets)
            self._show(result, result.summary)
        if self._held is not None and self._held.path is None and not self.text.text():
            self._set_shown(self._held.text[:SHOWN])
        if self._adds_when_read:
            self._adds_when_read = False
            self.add()

    def _mask(self, secrets: Sequence[Secret]) -> None:
        if self._held is None:
            self._secrets.take_off(self.text, secrets)
        elif self._held.path is None:
            self._set_shown(self._secrets.conceal(self._held.text, secrets)[:SHOWN])

    def _show(self, preview: Preview[T] | None, words: str, kind: str = "heading") -> None:
        self.content = preview.content if preview is not None else None
        self._say(words, kind)
        notes = preview.notes if preview is not None else ()
        lines = [show_hidden(note) for note in notes[:MOST_NOTES]]
        lines += [f"and {len(notes) - MOST_NOTES:,} more"] if len(notes) > MOST_NOTES else []
        self.notes.set_text("\n".join(lines))
        self.notes.setVisible(bool(lines))
        self.preview.show_items(self._with_checks(preview.items if preview is not None else ()))
        for widget in (self._area, *self._options):
            widget.setVisible(preview is not None)
        self._filler.setVisible(preview is None and self.text.isHidden())
        self.show_content(self.content)
        self.update_button()

    def _with_checks(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return items with the check marks that the same items had before: an option was changed."""
        names, before = [item.name for item in items], self._names
        self._names = names
        if names != before:
            return items
        lines, checked = self.preview.lines, self.preview.checked
        return [
            item if item.checked is None or line not in self.preview.checkable else replace(item, checked=n in checked)
            for n, (item, line) in enumerate(zip(items, lines, strict=True))
        ]

    def _say(self, words: str, kind: str) -> None:
        self.verdict.setText(show_hidden(words))
        look(self.verdict, kind)

    # ---- adding

    def add(self) -> None:
        """Import what is checked; an edit of a moment ago is read before."""
        if self._timer.isActive():
            self.read_now()
            self._adds_when_read = self._reading.busy
        if self.content is not None and self.add_button.isEnabled():
            self.add_content(self.content, self.preview.checked)

    def update_button(self) -> None:
        """Update the buttons after a change of the check marks or options."""
        count = self.count()
        button, noun = self.kind.button, self.kind.noun
        self.add_button.setText(f"{button} {count:,} {noun}s" if noun and count > 1 else button)
        self.add_button.setEnabled(count > 0 and self.content is not None and not self._reading.busy)
        self.all_button.setVisible(len(self.preview.checkable) > 1)
        self.all_button.setText("Select none" if self.preview.checked else "Select all")

    def _toggle_all(self) -> None:
        checked = not self.preview.checked
        self.preview.check(lambda _: checked)

    # ---- events

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasText() or event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.take(event.mimeData())
        event.acceptProposedAction()


class _SourceEditor(CodeEditor):
    """An editor that hands files and long texts to the dialog instead of inserting them."""

    taken = Signal(object)

    def __init__(self, *, json: bool) -> None:
        super().__init__(json=json)
        self.setTabChangesFocus(True)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if _files(source) or len(source.text()) > SHOWN:
            self.taken.emit(source)
        else:
            super().insertFromMimeData(source)


def _files(data: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def _read_file(path: Path) -> str | NotImportableError:
    try:
        text = decode_text(read_named(path, LARGEST))
    except OSError as error:
        return NotImportableError(f"{path.name} cannot be read: {error.strerror or error}.")
    except ValueError as error:
        return NotImportableError(f"{path.name} cannot be read. {error}")
    return NotImportableError(f"{path.name} is not a text file: it has NUL bytes.") if "\0" in text else text


def _read(
    read: Callable[[Source], Preview[T]], source: Source, refused: tuple[type[Exception], ...]
) -> Preview[T] | NotImportableError:
    if "\0" in source.text:
        size = size_words(len(source.text))
        return NotImportableError(f"This is not text: it has NUL characters ({size}). Copy it from a text editor.")
    reasons: tuple[type[Exception], ...] = (NotImportableError, *refused)
    try:
        return read(source)
    except RecursionError:
        return NotImportableError("This is nested too deeply to be read.")
    except reasons as error:
        return NotImportableError(str(error))
