"""The composer: the field in which the next message is written, and its buttons.

Enter makes a new line and Ctrl+Enter runs; a setting swaps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QDragEnterEvent,
    QDragMoveEvent,
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QWidget

from playground.domain.parts import Image
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition
from playground.engine.session.changes import RunState
from playground.engine.session.drafts import Draft
from playground.jsonkit.texts import quantity
from playground.ui.features.conversation.answers_row import Calls
from playground.ui.features.conversation.calls.call_bar import PendingCalls
from playground.ui.features.conversation.composer_calls import ComposerCalls
from playground.ui.features.conversation.documents import documents
from playground.ui.features.conversation.image_view import ImageStrip
from playground.ui.features.conversation.images import offers_images, sources_of
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import look, paragraph, say, styled, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.scroll_page import FittingArea
from playground.ui.widgets.theme import tokens

WRITABLE = (Role.USER, Role.SYSTEM, Role.DEVELOPER, Role.ASSISTANT, Role.TOOL)
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
ESTIMATE = "Estimated size of the next request"
SPACING = 8
WIDTH_FOR_KEYS = 480  # pixels from which on the main button names its keys
MOST_CHIPS, LEAST_CHIPS = 190, 62  # pixels of the attached images; more of them scroll
MOST_LINES = 12


class MessageField(GrowingField):
    """The text field. Enter that ends an input-method composition never runs; pasted images are passed on."""

    run_pressed = Signal()
    images_pasted = Signal(object)
    focus_changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__(most=MOST_LINES, compact=True)
        self.enter_runs = False
        self.elsewhere = self._take_images
        self._composing = False
        self._composed = QTimer(self)  # runs from the end of a composition to the next turn of the event loop
        self._composed.setSingleShot(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("kind", "message")
        self.setAccessibleName("Message")

    @property
    def run_keys(self) -> str:
        """The run keys in words, for the text of a button."""
        return "Enter" if self.enter_runs else "Ctrl+Enter"

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        composing = bool(event.preeditString())
        if self._composing and not composing:
            # Some systems deliver the Enter that ends a composition right after the composed text.
            self._composed.start()
        self._composing = composing
        super().inputMethodEvent(event)

    def event(self, event: QEvent) -> bool:
        """Take Enter although the window has a shortcut on it; leave Escape to the window."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            if event.key() in ENTER:
                event.accept()
                return True
            return False
        return super().event(event)

    def _runs(self, event: QKeyEvent) -> bool:
        if self.enter_runs:
            return not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in ENTER
        if enter and self._composed.isActive():
            return
        if enter and not self._composing and self._runs(event):
            self.run_pressed.emit()
        elif enter and not self._composing and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.insertPlainText("\n")
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _take_images(self, source: QMimeData, now: bool) -> bool:
        if not now:
            return offers_images(source)
        images = sources_of(source)
        if images:
            self.images_pasted.emit(images)
        return bool(images)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Leave images to the pane and other files to the window."""
        if offers_images(event.mimeData()) or documents(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if offers_images(event.mimeData()) or documents(event.mimeData()):
            event.ignore()
        else:
            super().dragMoveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)


class Composer(QFrame):
    """Text, images, role and calls of the next message; buttons to add it, and to add it and run.

    Features add what else can be put into a message to ``insert_menu``.
    """

    run_asked = Signal()
    stop_asked = Signal()
    add_asked = Signal()
    edited = Signal()
    images_pasted = Signal(object)  # a list of playground.ui.features.conversation.images.Source

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setProperty("kind", "composer")
        self._role = Role.USER
        self._state = RunState.IDLE
        self._starting = False
        self._lanes: Sequence[str] | None = None
        self._all_lanes = True
        self._pending: PendingCalls | None = None
        self._dropping = False
        self._field = MessageField()
        self._field.run_pressed.connect(self.run_asked)
        self._field.textChanged.connect(self.edited)
        self._field.images_pasted.connect(self.images_pasted)
        self._field.focus_changed.connect(self._show_frame)
        self.images = ImageStrip(large=False)
        self.images.detail_chosen.connect(self._set_detail)
        self.images.removed.connect(self._remove_image)
        self._chips = FittingArea(most=MOST_CHIPS, least=LEAST_CHIPS, by_width=True)
        self._chips.hold(self.images)
        self._chips.setAccessibleName("Attached images")
        self._chips.hide()
        self._reading = text_label("", "small")
        self._reading.hide()
        self._calls = ComposerCalls()
        self._calls.edited.connect(self.edited)
        self._calls.submitted.connect(self.run_asked)
        self._warning = paragraph("", "flag")
        self._warning.hide()
        self._tokens = TokenEstimate()
        self._add = QPushButton("Add")
        self._add.setToolTip("Add the message without running")
        self._add.clicked.connect(self.add_asked)
        self._run = styled(QPushButton(), "primary")
        self._run.clicked.connect(self._press_main_button)
        self._role_button = self._make_role_button()
        row = in_row(
            self._make_insert_button(),
            self._role_button,
            1,
            self._tokens,
            self._add,
            self._run,
            spacing=SPACING,
        )
        rows = (self._reading, self._chips, self._field, self._calls, self._warning, row)
        in_column(*rows, parent=self, margins=(10, 8, 10, 8), spacing=6)
        self.setFocusProxy(self._field)
        self.set_role(Role.USER)
        self._show_main_button()

    def _make_role_button(self) -> QPushButton:
        button = QPushButton()
        button.setAccessibleName("Role of the message")
        menu = QMenu(button)
        for role in WRITABLE:
            menu.addAction(ROLE_WORDS[role]).triggered.connect(partial(self.set_role, role))
        button.setMenu(menu)
        return button

    def _make_insert_button(self) -> QPushButton:
        button = styled(QPushButton(), "bare-menu")
        button.setIcon(icon("plus"))
        button.setAccessibleName("Insert")
        button.setToolTip("Put images, text files or variables into the message. Paste and drop work, too.")
        self.insert_menu = QMenu(button)
        self.image_action = self.insert_menu.addAction("Image…")
        self.file_action = self.insert_menu.addAction("File…")
        self.variable_action = self.insert_menu.addAction("Variable")
        self._further = self.insert_menu.addSeparator()
        self.image_menu = self.insert_menu.addMenu("More for images")
        button.setMenu(self.insert_menu)
        return button

    def add_insert_action(self, text: str) -> QAction:
        """Add what another feature can put into the message to the menu of the + button."""
        action = QAction(text, self.insert_menu)
        self.insert_menu.insertAction(self._further, action)
        return action

    # The message

    @property
    def draft(self) -> Draft:
        """The message as written."""
        return Draft(
            text=self.text,
            role=self._role,
            images=self.attached,
            answers=self._calls.answered_id,
            calls=self._calls.calls,
        )

    def set_draft(self, draft: Draft) -> None:
        """Show a message without reporting a change."""
        self.blockSignals(True)
        self.set_text(draft.text)
        self.set_role(draft.role)
        self.set_images(draft.images)
        self._calls.set_value(draft.answers, draft.calls)
        self.blockSignals(False)

    @property
    def text(self) -> str:
        """The text."""
        return self._field.text()

    def set_text(self, text: str) -> None:
        """Replace the text."""
        if text != self.text:
            self._field.set_text(text)
            self._field.moveCursor(self._field.textCursor().MoveOperation.End)

    def append_text(self, text: str) -> None:
        """Add a paragraph to the text."""
        self.set_text("\n\n".join(part for part in (self.text.rstrip(), text) if part))

    @property
    def role(self) -> Role:
        """The role that the message will have."""
        return self._role

    def set_role(self, role: Role) -> None:
        """Choose the role."""
        changed = role is not self._role
        self._role = role
        self._role_button.setText(f"{ROLE_WORDS[role]}   ")
        self._calls.show_role(role)
        if changed:
            self.edited.emit()

    @property
    def attached(self) -> tuple[Image, ...]:
        """The images of the message."""
        return self.images.images

    def set_images(self, images: tuple[Image, ...]) -> None:
        """Replace the images of the message."""
        if images != self.attached:
            self.images.show_images(images)
            self._chips.setVisible(bool(images))
            self._chips.updateGeometry()
            self.edited.emit()

    def replace_image(self, old: Image, new: Image) -> None:
        """Put ``new`` in the place of ``old`` if that is still attached."""
        self.set_images(tuple(new if image is old else image for image in self.attached))

    def _set_detail(self, index: int, detail: str | None) -> None:
        images = list(self.attached)
        images[index] = images[index].model_copy(update={"detail": detail})
        self.set_images(tuple(images))

    def _remove_image(self, index: int) -> None:
        self.set_images((*self.attached[:index], *self.attached[index + 1 :]))
        self._field.setFocus()

    def set_calls(self, above: Calls, tools: tuple[ToolDefinition, ...]) -> None:
        """Set where calls come from: ``above`` returns the calls to answer, ``tools`` are the experiment's."""
        self._calls.set_context(above, tools)

    def choose_call(self) -> None:
        """Let the person choose the call that the result answers."""
        self._calls.answers.choose()

    # What goes on around it

    def set_state(self, state: RunState) -> None:
        """Offer Run while nothing runs, else Stop."""
        self._state = state
        self._show_main_button()

    def set_pending_calls(self, pending: PendingCalls | None) -> None:
        """Let the main button continue past these calls; None: it runs."""
        self._pending = pending
        self._show_main_button()

    def set_starting(self, starting: bool) -> None:
        """Show that a run starts as soon as loading is done."""
        self._starting = starting
        self._show_main_button()

    def set_enter_runs(self, enter_runs: bool) -> None:
        """Let Enter run and Ctrl+Enter make a new line, or the reverse."""
        self._field.enter_runs = enter_runs
        self._show_main_button()

    def set_lanes(self, letters: Sequence[str] | None, *, all_of_them: bool = True) -> None:
        """Name the lanes that get the message; None for the conversation."""
        self._lanes, self._all_lanes = letters, all_of_them
        self._show_placeholder()
        self._show_main_button()

    @property
    def busy(self) -> bool:
        """True while a run is active or about to start."""
        return self._starting or self._state is not RunState.IDLE

    def _show_main_button(self) -> None:
        """Let the main button run, continue or stop; it names its keys if there is room for them."""
        button, pending, lanes = self._run, self._pending, self._lanes
        running = self._state is not RunState.IDLE
        name = "Stop" if running else "Continue" if pending is not None else "Run"
        word, keys = name, "Esc" if running else self._field.run_keys
        if self._starting and not running:
            word, keys = "Starting…", ""
        elif lanes is not None and name == "Run":
            word = f"Run {quantity(len(lanes), 'lane')}"
        look(button, "danger" if running else "primary")
        button.setIcon(icon("stop", tokens().error) if running else icon("run", tokens().on_accent))
        button.setAccessibleName(name)
        button.setEnabled(running or pending is None or pending.ready)
        button.setText(f"{word}  {keys}" if keys and self.width() >= WIDTH_FOR_KEYS else word)
        reason = pending.reason if pending is not None and not button.isEnabled() else ""
        button.setToolTip(reason or (f"{word} ({keys})" if keys else "Starts when loading is done"))
        button.setAccessibleDescription(reason)
        self._add.setEnabled(not running)

    def _press_main_button(self) -> None:
        """Run or stop. The run key never stops: pressed twice, it would stop at once."""
        if self._state is RunState.IDLE:
            self.run_asked.emit()
        else:
            self.stop_asked.emit()

    def _show_placeholder(self) -> None:
        lanes, words = self._lanes, "Message…"
        if self._dropping:
            words = "Drop the images to attach them"
        elif lanes is not None and not lanes:
            words = "Select at least one lane for the message"
        elif lanes is not None and self._all_lanes and len(lanes) > 1:
            words = "Message to all lanes…"
        elif lanes is not None:
            names = f"{', '.join(lanes[:-1])} and {lanes[-1]}" if len(lanes) > 1 else lanes[0]
            words = f"Message to lane{'s' * (len(lanes) > 1)} {names}…"
        self._field.setPlaceholderText(words)

    def set_tokens(
        self, estimates: Sequence[int], images: int = 0, context: int | None = None, about: str = "", *, tight: bool
    ) -> None:
        """Show the estimated size of the next requests; images are counted, not estimated.

        ``context`` is the model's limit in tokens if it is known; ``about`` is a remark on it, and ``tight`` is set if
        the estimate exceeds it.
        """
        count, first = len(estimates), estimates[0] if estimates else 0
        same = len(set(estimates)) <= 1
        total = first if same else sum(estimates)
        each = "" if count <= 1 else f" × {count}" if same else f" in {count} lanes"
        words = [f"≈ {quantity(total, 'token')}{each}"] if sum(estimates) else []
        words += [quantity(images, "image")] if images else []
        limit = f"The model takes {context:,} tokens." if context is not None else ""
        self._tokens.show_estimate(" + ".join(words), "\n".join(filter(None, (limit, about))), tight=tight)

    def show_warning(self, words: str) -> None:
        """Show what the model does not support of the message, by the gateway's list; empty for nothing."""
        say(self._warning, words)

    def show_reading(self, words: str) -> None:
        """Show that images are being read; empty hides it."""
        say(self._reading, words)

    def set_dropping(self, dropping: bool) -> None:
        """Show that images dropped now would be attached."""
        self._dropping = dropping
        self._show_placeholder()
        self._show_frame()

    def _show_frame(self) -> None:
        look(self, "drop" if self._dropping else "focus" if self._field.hasFocus() else "", "state")

    def minimumSizeHint(self) -> QSize:
        """Return the size without the keys on the main button, which are hidden in a narrow window."""
        least, (word, _, keys) = super().minimumSizeHint(), self._run.text().partition("  ")
        width = self._run.fontMetrics().horizontalAdvance(f"  {keys}") if word and keys else 0
        return QSize(least.width() - width, least.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_main_button()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_role_button"):
            self._show_main_button()


class TokenEstimate(ElidedLabel):
    """A label of the estimate, hidden if it does not fit, since a cut number would be wrong."""

    def __init__(self) -> None:
        super().__init__(ESTIMATE, align=Qt.AlignmentFlag.AlignRight)

    def show_estimate(self, words: str, about: str, *, tight: bool) -> None:
        """Show an estimate; ``about`` explains it in the tooltip."""
        self.set_text(words)
        self.setToolTip(tip("\n".join(filter(None, (words, about)))))
        self.setAccessibleName(f"{ESTIMATE}: {words}. {about}" if about else f"{ESTIMATE}: {words}")
        self.set_colour("tool" if tight else "muted")

    def fitting(self) -> str:
        return self.text if self.fontMetrics().horizontalAdvance(self.text) <= self.width() else ""

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())
