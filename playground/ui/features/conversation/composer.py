"""Where the next turn is written. Enter makes a new line, Ctrl+Enter runs; a setting swaps them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragMoveEvent,
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from playground.domain.roles import Role
from playground.engine.session.changes import RunState
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.exact_field import ExactField
from playground.ui.widgets.form_parts import look, paragraph, say, styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.scroll_page import FittingArea
from playground.ui.widgets.theme import body_font, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playground.domain.parts import Image
    from playground.domain.tools import ToolDefinition
    from playground.engine.session.drafts import Draft
    from playground.ui.features.conversation.answers_row import Calls
    from playground.ui.features.conversation.composer_beside import ComposerBeside
    from playground.ui.features.conversation.image_view import ImageStrip
    from playground.ui.features.conversation.pending_calls import PendingCalls

WRITABLE = (Role.USER, Role.SYSTEM, Role.DEVELOPER, Role.ASSISTANT, Role.TOOL)
SPACING = 8
ESTIMATE = "Estimated size of the next request"
ROOMY = 640  # pixels of width from which on there is a button for variables
ROOMIER = 720  # the same, for one button more
WORDY = 480  # pixels of width from which on the button says its keys
MOST_CHIPS, LEAST_CHIPS = 190, 62  # pixels; more attached images scroll
IMAGE_WAYS = (
    ("file", "From files…"),
    ("clipboard", "From the clipboard"),
    ("address", "By address…"),
)

MOST_LINES = 12


class MessageField(ExactField):
    """The text. Enter that ends an input-method composition never runs. Images are passed on, not taken as text."""

    run_pressed = Signal()
    images_pasted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.enter_runs = False
        self._composing = False
        self._composed = QTimer(self)  # runs from the end of a composition to the next turn of the event loop
        self._composed.setSingleShot(True)
        self.setFont(body_font())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QPlainTextEdit { background: transparent; border: none; padding: 0; }")
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.textChanged.connect(self._fit)
        self._fit()

    @property
    def run_keys(self) -> str:
        """The keys that run, for a button's text."""
        return "Enter" if self.enter_runs else "Ctrl+Enter"

    def _fit(self) -> None:
        lines, block = 0, self.document().firstBlock()
        while block.isValid() and lines < MOST_LINES:
            lines += max(block.lineCount(), 1)
            block = block.next()
        self.setFixedHeight(min(max(lines, 1), MOST_LINES) * self.fontMetrics().lineSpacing() + 12)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        composing = bool(event.preeditString())
        if self._composing and not composing:
            # Some systems deliver the Enter that ends a composition right behind what it composed.
            self._composed.start()
        self._composing = composing
        super().inputMethodEvent(event)

    def event(self, event: QEvent) -> bool:
        """Enter comes here, although the window has a shortcut on it."""
        overrides = event.type() == QEvent.Type.ShortcutOverride
        if overrides and isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            return True
        return super().event(event)

    def runs(self, event: QKeyEvent) -> bool:
        """Whether it is the key that runs."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        if self.enter_runs:
            return not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and self._composed.isActive():
            return
        if enter and not self._composing:
            if self.runs(event):
                self.run_pressed.emit()
                return
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.insertPlainText("\n")
                return
        super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return _offers_images(source) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        from playground.ui.features.conversation.images import sources_of

        images = sources_of(source)
        if images:
            self.images_pasted.emit(images)
        else:
            super().insertFromMimeData(source)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Images dragged over the text are the whole pane's business, other files the window's."""
        if _offers_files(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if _offers_files(event.mimeData()):
            event.ignore()
        else:
            super().dragMoveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._frame_changed()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._frame_changed()

    def _frame_changed(self) -> None:
        frame = self.parentWidget()
        if frame is not None:
            frame.update()


def _offers_images(data: QMimeData) -> bool:
    from playground.ui.features.conversation.images import offers_images

    return offers_images(data)


def _offers_files(data: QMimeData) -> bool:
    from playground.ui.features.conversation.documents import documents

    return _offers_images(data) or bool(documents(data))


class Composer(QFrame):
    """Text, role and the two things to do with them: add as a turn, or add and run."""

    run_asked = Signal()
    stop_asked = Signal()
    add_asked = Signal()
    edited = Signal()
    images_pasted = Signal(object)  # what was pasted: a list of playground.ui.features.conversation.images.Source
    image_wanted = Signal(str)  # a way of IMAGE_WAYS
    variables_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._role = Role.USER
        self._state = RunState.IDLE
        self._starting = False
        self._lanes: Sequence[str] | None = None
        self._pending: PendingCalls | None = None
        self._all_lanes = True
        self._dropping = False
        self._beside: ComposerBeside | None = None
        self._above: Calls = list
        self._tools: tuple[ToolDefinition, ...] = ()
        self._build_images()
        self._field = MessageField()
        self._field.setAccessibleName("Message")
        self._field.setPlaceholderText("Message")
        self._field.run_pressed.connect(self.run_asked)
        self._field.textChanged.connect(self.edited)
        self._field.images_pasted.connect(self.images_pasted)
        self._note = paragraph("", "warning")
        self._note.hide()
        self.told = paragraph("", "flag")
        self.told.hide()
        self._role_button = QPushButton()
        self._role_button.setAccessibleName("Role of the message")
        menu = QMenu(self._role_button)
        for role in WRITABLE:
            menu.addAction(ROLE_WORDS[role]).triggered.connect(partial(self.set_role, role))
        self._role_button.setMenu(menu)
        self._variables_button = QPushButton("{ } Variables")
        self._variables_button.setAccessibleName("Variables")
        self._variables_button.setToolTip("Values for {{name}} in turns and in the message (Ctrl+Shift+V)")
        self._variables_button.clicked.connect(self.variables_asked)
        self._variables_button.hide()
        self._tokens = _Estimate(ESTIMATE, align=Qt.AlignmentFlag.AlignRight)
        self._add = QPushButton("Add")
        self._add.setToolTip("Add as a turn without running")
        self._add.clicked.connect(self.add_asked)
        self._run = styled(QPushButton(), "primary")
        self._run.clicked.connect(self._button_pressed)
        self._more_ways: list[QPushButton] = []
        self._ways = in_row(self._role_button, self._image_button, self._variables_button, 1, spacing=SPACING)
        self._ends = in_row(self._tokens, self._add, self._run, spacing=SPACING)
        self._ends.insertStretch(0, 1)
        row = self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(SPACING)
        row.addLayout(self._ways, 1)
        row.addLayout(self._ends)
        layout = self._rows = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 8)
        layout.setSpacing(6)
        layout.addWidget(self._note)
        layout.addWidget(self._reading)
        layout.addWidget(self._field)
        layout.addWidget(self.told)
        layout.addLayout(row)
        self.setFocusProxy(self._field)
        self.set_role(Role.USER)
        self.set_state(RunState.IDLE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._variables_button.setVisible(self.width() >= ROOMY)  # the menu has it, too
        for button in self._more_ways:
            button.setVisible(self.width() >= ROOMIER)
        self._word_run()
        self._arrange()

    def _arrange(self) -> None:
        """The buttons in one line, or in two where one is too narrow for them; before that the estimate gives way."""
        margins = self._rows.contentsMargins()
        ways = (self._role_button, self._image_button, *self._more_ways, self._variables_button)
        buttons = (*ways, self._add, self._run)
        fits = _width_of(*buttons) + margins.left() + margins.right() <= self.width()
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom)

    def minimumSizeHint(self) -> QSize:
        """As narrow as in two lines, without what gives way."""
        margins = self._rows.contentsMargins()
        keys = self._run.fontMetrics().horizontalAdvance(self._keys) if self._keys in self._run.text() else 0
        widest = max(_width_of(self._role_button, self._image_button), _width_of(self._add, self._run) - keys)
        return QSize(widest + margins.left() + margins.right(), super().minimumSizeHint().height())

    def add_way(self, button: QPushButton) -> None:
        """One more button beside that for images, where there is room for it; the menu has what it does, too."""
        self._ways.insertWidget(2 + len(self._more_ways), button)
        self._more_ways.append(button)
        button.setVisible(self.width() >= ROOMIER)
        self._arrange()

    @property
    def _keys(self) -> str:
        if self._state is not RunState.IDLE:
            return "  Esc"
        return f"  {self._field.run_keys}" if not self._starting else ""

    def _word_run(self) -> None:
        """The word on the button, with its keys where there is room for them."""
        count = len(self._lanes) if self._lanes is not None else 0
        run = "Run" if self._lanes is None else f"Run {count} lane{'s' * (count != 1)}"
        run = "Continue" if self._pending is not None else run
        word = "Stop" if self._state is not RunState.IDLE else "Starting…" if self._starting else run
        self._run.setText(f"{word}{self._keys}" if self.width() >= WORDY else word)
        keys = self._keys.strip()
        reason = self._pending.reason if self._pending is not None else ""
        self._run.setToolTip(reason or (f"{word} ({keys})" if keys else "Starts when loading is done"))
        self._run.setAccessibleDescription(reason)

    def _build_images(self) -> None:
        self._strip: ImageStrip | None = None
        self._chips: FittingArea | None = None
        self._reading = text_label("", "small")
        self._reading.hide()
        self._image_button = styled(QPushButton("Image"), "bare-menu")
        self._image_button.setIcon(icon("plus"))
        self._image_button.setAccessibleName("Attach an image")
        self._image_button.setToolTip("Attach images: files, the clipboard, an address. Paste and drop work too.")
        menu = QMenu(self._image_button)
        for way, words in IMAGE_WAYS:
            menu.addAction(words).triggered.connect(partial(self.image_wanted.emit, way))
        self._image_button.setMenu(menu)

    @property
    def images(self) -> ImageStrip:
        """The attached images as they are shown; made when first asked for, after the window's first paint."""
        if self._strip is None:
            from playground.ui.features.conversation.image_view import ImageStrip

            self._strip = ImageStrip(large=False)
            self._strip.detail_chosen.connect(self._set_detail)
            self._strip.removed.connect(self._remove_image)
            chips = FittingArea(most=MOST_CHIPS, least=LEAST_CHIPS, by_width=True)
            chips.hold(self._strip)
            chips.setAccessibleName("Attached images")
            chips.hide()
            self._chips = chips
            self._rows.insertWidget(self._rows.indexOf(self._reading), chips)
        return self._strip

    @property
    def image_menu(self) -> QMenu:
        """What is offered on images: ways to attach them, and what others add below."""
        return self._image_button.menu()

    @property
    def attached(self) -> tuple[Image, ...]:
        """The images that go with the text."""
        return self._strip.images if self._strip is not None else ()

    def set_images(self, images: tuple[Image, ...]) -> None:
        """Replace the images that go with the text."""
        if images != self.attached:
            self.images.show_images(images)
            if self._chips is not None:
                self._chips.setVisible(bool(images))
                self._chips.updateGeometry()
            self.edited.emit()

    def replace_image(self, old: Image, new: Image) -> None:
        """Put ``new`` where ``old`` stands, if it still does."""
        self.set_images(tuple(new if image is old else image for image in self.attached))

    def say_reading(self, words: str) -> None:
        """Say that images are on their way; empty takes it away."""
        self._reading.setText(words)
        self._reading.setVisible(bool(words))

    def set_dropping(self, dropping: bool) -> None:
        """Show that images let go now would be attached."""
        self._dropping = dropping
        self._say_what()
        self.update()

    def _set_detail(self, at: int, detail: str | None) -> None:
        images = list(self.attached)
        images[at] = images[at].model_copy(update={"detail": detail})
        self.set_images(tuple(images))

    def _remove_image(self, at: int) -> None:
        self.set_images((*self.attached[:at], *self.attached[at + 1 :]))
        self._field.setFocus()

    # What is written, all of it

    @property
    def draft(self) -> Draft:
        """What stands here."""
        from playground.engine.session.drafts import Draft

        beside = self._beside
        answers, calls = (beside.answers, beside.calls) if beside is not None else ("", ())
        return Draft(text=self.text, role=self._role, images=self.attached, answers=answers, calls=calls)

    def set_draft(self, draft: Draft) -> None:
        """Show that, without telling."""
        self.blockSignals(True)
        self.set_text(draft.text)
        self.set_role(draft.role)
        self.set_images(draft.images)
        if self._beside is not None or draft.answers or draft.calls:
            self._need_beside().put(draft.answers, draft.calls)
        self.blockSignals(False)

    def _need_beside(self) -> ComposerBeside:
        if self._beside is None:
            from playground.ui.features.conversation.composer_beside import ComposerBeside

            self._beside = ComposerBeside(self._above, self._tools)
            self._beside.edited.connect(self.edited)
            self._beside.submitted.connect(self.run_asked)
            self._rows.insertWidget(self._rows.indexOf(self._field) + 1, self._beside)
            self._beside.show_role(self._role)
        return self._beside

    def set_calls(self, above: Calls, tools: tuple[ToolDefinition, ...]) -> None:
        """``above`` gives the calls that a result may answer; ``tools`` are those on offer."""
        self._above, self._tools = above, tools
        if self._beside is not None:
            self._beside.set_tools(tools)
            self._beside.follow()

    def choose_call(self) -> None:
        """Have the call chosen that the result answers."""
        self._need_beside().row.choose()

    @property
    def text(self) -> str:
        """The text."""
        return self._field.text()

    def set_text(self, text: str) -> None:
        """Replace what is written."""
        if text != self.text:
            self._field.set_text(text)
            self._field.moveCursor(self._field.textCursor().MoveOperation.End)

    @property
    def role(self) -> Role:
        """The role the text will have."""
        return self._role

    def set_role(self, role: Role) -> None:
        """Choose the role."""
        changed = role is not self._role
        self._role = role
        self._role_button.setText(f"{ROLE_WORDS[role]}   ")
        self._arrange()
        if self._beside is not None or role in (Role.TOOL, Role.ASSISTANT):
            self._need_beside().show_role(role)
        if changed:
            self.edited.emit()

    def set_state(self, state: RunState) -> None:
        """Offer Run when nothing runs, Stop when something does."""
        self._state = state
        running = state is not RunState.IDLE
        look(self._run, "danger" if running else "primary")  # before its size is asked for, which dresses it
        self._word_run()
        self._run.setIcon(icon("stop", tokens().error) if running else icon("run", tokens().on_accent))
        continues = self._pending is not None
        self._run.setAccessibleName("Stop" if running else "Continue" if continues else "Run")
        self._run.setEnabled(running or self._pending is None or self._pending.ready)
        self._arrange()
        self._add.setEnabled(not running)

    def set_pending_calls(self, pending: PendingCalls | None) -> None:
        """Let the main button continue past these calls; None: it runs."""
        if pending != self._pending:
            self._pending = pending
            self.set_state(self._state)

    def set_lanes(self, letters: Sequence[str] | None, *, all_of_them: bool = True) -> None:
        """What is written goes to these lanes; None: to the conversation."""
        self._lanes, self._all_lanes = letters, all_of_them
        self._say_what()
        self.set_state(self._state)

    def _say_what(self) -> None:
        lanes, words = self._lanes, "Message"
        if lanes is not None and not lanes:
            words = "No lane is ticked: tick those that the message is to go to"
        elif lanes is not None and self._all_lanes and len(lanes) > 1:
            words = "Message to all lanes…"
        elif lanes is not None:
            listed = f"{', '.join(lanes[:-1])} and {lanes[-1]}" if len(lanes) > 1 else lanes[0]
            words = f"Message to lane{'s' * (len(lanes) > 1)} {listed}…"
        self._field.setPlaceholderText("Drop the images to attach them" if self._dropping else words)

    def set_starting(self, starting: bool) -> None:
        """Say that a run was asked for and begins as soon as it can."""
        self._starting = starting
        self.set_state(self._state)

    @property
    def busy(self) -> bool:
        """Whether a run is under way, or about to be."""
        return self._starting or self._state is not RunState.IDLE

    def set_enter_runs(self, enter_runs: bool) -> None:
        """Whether Enter runs and Ctrl+Enter makes a new line, or the reverse."""
        self._field.enter_runs = enter_runs
        self.set_state(self._state)

    def set_tokens(
        self,
        estimates: Sequence[int],
        images: int = 0,
        context: int | None = None,
        about: str = "",
        *,
        tight: bool = False,
    ) -> None:
        """Show the estimated size of the next requests; images are not estimated, only counted.

        ``context`` is how many tokens the model takes, None where that is not told or several go out; ``about`` is
        what is to be said of that, ``tight`` that it is not enough.
        """
        total, count = sum(estimates), len(estimates)
        each = f" × {count}" if len(set(estimates)) == 1 else f" in {count} lanes"
        estimate = estimates[0] if len(set(estimates)) == 1 else total
        of = f" of {context:,}" if context is not None else ""
        brief = ""
        if context is not None:
            from playground.ui.widgets.models.fact_words import rounded  # not needed before anything is written

            brief = f"/{rounded(context)}"
        words = [f"≈ {estimate:,}{of} tok{each if count > 1 else ''}"] if total else []
        words += [f"{images} image{'s' * (images > 1)}"] if images else []
        self._tokens.show_estimate(" + ".join(words), of, brief, about)
        self._tokens.set_colour("tool" if tight else "muted")
        self._arrange()

    def show_told(self, words: str) -> None:
        """What the gateway's list says of the model that does not go with what would be sent; empty for nothing."""
        say(self.told, words)

    def say(self, words: str) -> None:
        """Show why something was not done; empty takes it away."""
        self._note.setText(words)
        self._note.setVisible(bool(words))

    def _button_pressed(self) -> None:
        """The button stops what is under way; the key that runs never does: pressed twice, it would stop at once."""
        if self._state is RunState.IDLE:
            self.run_asked.emit()
        else:
            self.stop_asked.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(t.accent if self._dropping or self._field.hasFocus() else t.line))
        painter.setBrush(QColor(t.accent_background if self._dropping else t.raised))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_run"):
            self.set_state(self._state)


def _width_of(*buttons: QPushButton) -> int:
    """Side by side, with a gap to what stands there. Asked of them: a layout knows only later what was hidden."""
    shown = [button.sizeHint().width() + SPACING for button in buttons if not button.isHidden()]
    return sum(shown)


class _Estimate(ElidedLabel):
    """The estimate whole, without its unit, with the limit rounded or without it, or not at all: half a number would
    be a wrong one.
    """

    _of = _brief = ""

    def show_estimate(self, words: str, of: str, brief: str, about: str) -> None:
        """Show an estimate; ``of`` is the part of it that is the limit, ``brief`` the same where there is little room,
        ``about`` what is to be said of that.
        """
        self._of, self._brief = of, brief
        self.set_text(words)
        if about and words:
            self.setToolTip(tip(f"{words}\n{about}"))
            self.setAccessibleName(f"{ESTIMATE}: {words}. {about}")
        else:
            self.setToolTip(tip(words))
            self.setAccessibleName(f"{ESTIMATE}: {words}")

    def fitting(self) -> str:
        wide = self.fontMetrics().horizontalAdvance
        bare = self.text.replace(self._of, "", 1) if self._of else self.text
        brief = self.text.replace(self._of, self._brief, 1) if self._of else self.text
        ways = (
            self.text,
            *(words.removesuffix(" tok") for words in (self.text, brief)),
            bare,
            bare.removesuffix(" tok"),
        )
        return next((words for words in ways if wide(words) <= self.width()), "")

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())
