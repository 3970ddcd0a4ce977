"""Page objects of the conversation: its messages, tool calls, the composer and the bars above it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QTextEdit,
    QToolButton,
    QWidget,
)

from playground.domain.transcript import Role, Turn
from tests.flows.pages.page import Page, find_by_object_name, read_label

if TYPE_CHECKING:
    from tests.flows.conftest import Person

CONTROL = Qt.KeyboardModifier.ControlModifier


def find_by_position(person: Person, object_name: str, inside: QWidget) -> list[QWidget]:
    """The visible widgets with this object name, from top to bottom."""
    widgets = find_by_object_name(person, object_name, inside)
    return sorted(widgets, key=lambda widget: widget.mapTo(inside, QPoint(0, 0)).y())


def menu_entries(button: QPushButton | QToolButton) -> list[str]:
    """The entries of a button's menu as they are when it opens, without opening it."""
    menu = button.menu()
    menu.aboutToShow.emit()
    return [action.text().replace("&&", "&") for action in menu.actions() if not action.isSeparator()]


class Bar(Page):
    """A line of text with buttons: a notice, or the bar of waiting tool calls."""

    def __init__(self, person: Person, place: QWidget, object_name: str) -> None:
        widget = place.findChild(QWidget, object_name)
        assert isinstance(widget, QWidget), f"no {object_name}"
        super().__init__(person, widget)

    @property
    def text(self) -> str:
        """The text shown; empty while the bar is hidden."""
        return self.widget.accessibleName() if self.visible else ""

    async def wait_for_text(self, text: str) -> None:
        """Wait until the bar shows ``text``."""
        await self.wait_until(lambda: text in self.text, f"{text!r} in the bar")

    async def wait_until_hidden(self) -> None:
        """Wait until the bar is hidden."""
        await self.wait_until(lambda: not self.visible, "the bar to be hidden")


class CallBar(Bar):
    """The bar above the composer while tool calls need results or requests are sent automatically."""

    def __init__(self, person: Person, place: QWidget) -> None:
        super().__init__(person, place, "callBar")

    async def choose(self, command: str) -> None:
        """Choose a command of the bar's menu."""
        await self.person.choose(await self.wait_for(QPushButton, "More commands"), command)


class CallCard(Page):
    """A tool call in a message: its arguments, its result or the field to type one, and the state of its server."""

    @classmethod
    def find_all(cls, person: Person) -> list[CallCard]:
        """All tool calls in view."""
        return [cls(person, card) for card in find_by_position(person, "callCard", person.conversation.widget)]

    @classmethod
    async def wait(cls, person: Person) -> CallCard:
        """Wait until there is exactly one tool call in view."""
        await person.until(lambda: len(cls.find_all(person)) == 1 and person.conversation.is_drawn, "a tool call")
        return cls.find_all(person)[0]

    @property
    def call_id(self) -> str:
        """The id that the model gave to the call."""
        return str(self.widget.property("callId"))

    @property
    def waiting(self) -> bool:
        """True while a result can be sent."""
        return self.has_button("Send result")

    @property
    def result_field(self) -> QPlainTextEdit:
        """The field in which a result is typed."""
        return self.get(QPlainTextEdit, "Result of the call")

    @property
    def result_text(self) -> str:
        """The text in the result field; empty without one."""
        return "".join(field.toPlainText() for field in self.find(QPlainTextEdit, "Result of the call"))

    @property
    def arguments_check(self) -> str:
        """The verdict on the arguments: "Valid", or what is wrong."""
        return read_label(self.person, "argumentsCheck", self.widget)

    @property
    def prepared_result(self) -> str:
        """The description of a prepared result; empty without one."""
        return read_label(self.person, "preparedResult", self.widget)

    @property
    def argument_tree(self) -> str:
        """The rows of the tree of arguments; empty without a tree."""
        return "\n".join(tree.toPlainText() for tree in self.find(QTextEdit, "Arguments as a tree"))

    @property
    def result_choices(self) -> list[str]:
        """The prepared results to choose from."""
        return menu_entries(self.get(QToolButton, "Insert a result"))

    async def wait_for_result_field(self) -> QPlainTextEdit:
        """Wait until a result can be typed."""
        return await self.wait_for(QPlainTextEdit, "Result of the call")

    async def type_result(self, text: str) -> None:
        """Replace the text of the result field."""
        await self.fill("Result of the call", text)

    async def send_result(self, text: str | None = None) -> None:
        """Type a result, if one is given, and send it."""
        if text is not None:
            await self.type_result(text)
        await self.press("Send result")

    async def choose_result(self, beginning: str) -> None:
        """Choose the prepared result whose entry begins like this."""
        button = await self.wait_for(QToolButton, "Insert a result")
        entry = next(entry for entry in menu_entries(button) if entry.startswith(beginning))
        await self.person.choose(button, entry)

    async def choose(self, entry: str) -> None:
        """Choose an entry of the call's menu."""
        await self.person.choose(await self.wait_for(QToolButton, "More for this call"), entry)

    async def edit_arguments(self) -> QPlainTextEdit:
        """Open the editor of the arguments."""
        await self.press("Edit the arguments")
        return await self.wait_for(QPlainTextEdit, "Arguments of the call")

    # The tool server

    @property
    def call_server_button(self) -> QAbstractButton:
        """The button that calls the server."""
        return self.get(QAbstractButton, "Call server")

    @property
    def server_is_called(self) -> bool:
        """True while the server is called."""
        return self.has_button("Cancel the server call")

    @property
    def progress(self) -> QProgressBar:
        """The progress that the server reports."""
        return self.get(QProgressBar, "Progress of the server")

    def says(self, text: str) -> bool:
        """True if a label of the card contains this text."""
        return any(text in words for words in self.texts)

    async def call_server(self) -> None:
        """Call the server with the button, and wait for its answer."""
        await self.press("Call server")
        await self.wait_until(lambda: self.says("Answer from") and not self.server_is_called, "the server's answer")


class CallForm(Page):
    """The fields in which a whole tool call is written: its tool, id and arguments."""

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.get(QComboBox, "Tool of").currentText()

    @property
    def id(self) -> QLineEdit:
        """The field of the id."""
        return self.get(QLineEdit, "Id of")

    @property
    def arguments(self) -> QPlainTextEdit:
        """The field of the arguments."""
        return self.get(QPlainTextEdit, "Arguments of")

    @property
    def matches_schema(self) -> bool:
        """True if the arguments fit the tool."""
        return "Valid" in self.texts


class ImageBox(Page):
    """An image in a message or beside the composer."""

    @property
    def name(self) -> str:
        """The name and the size of the image, as a screen reader says them."""
        return self.widget.accessibleName().removeprefix("Image ")


class ErrorCard(Page):
    """An error in a message, or a part of the answer that could not be read."""

    @property
    def text(self) -> str:
        """All of its labels, and the error body if it is unfolded."""
        return "\n".join([*self.texts, *(view.toPlainText() for view in self.find(QTextEdit))])

    @property
    def buttons(self) -> list[str]:
        """The labels of the buttons that help, in their order."""
        labels = [button.text() for button in self.find(QPushButton)]
        return [label for label in labels if "error body" not in label]


class PartsPage(Page):
    """A place with the parts of one message."""

    @property
    def call_forms(self) -> list[CallForm]:
        """The tool calls that are being written, top to bottom."""
        return [CallForm(self.person, form) for form in find_by_position(self.person, "callForm", self.widget)]

    @property
    def images(self) -> list[ImageBox]:
        """The images of the message."""
        return [ImageBox(self.person, box) for box in find_by_object_name(self.person, "imageBox", self.widget)]


class MessageCard(PartsPage):
    """A message of the conversation."""

    @property
    def calls(self) -> list[CallCard]:
        """The tool calls in the message, top to bottom."""
        return [CallCard(self.person, card) for card in find_by_position(self.person, "callCard", self.widget)]

    @property
    def errors(self) -> list[ErrorCard]:
        """The errors in the message."""
        return [ErrorCard(self.person, card) for card in find_by_position(self.person, "errorCard", self.widget)]

    @property
    def unread_parts(self) -> list[ErrorCard]:
        """The notices of parts that could not be read."""
        return [ErrorCard(self.person, card) for card in find_by_position(self.person, "unreadPartCard", self.widget)]

    @property
    def text(self) -> str:
        """All text that is drawn in the message."""
        return "\n".join([*self.texts, *(view.toPlainText() for view in self.find(QTextEdit))])

    async def wait_for_call_form(self) -> CallForm:
        """Wait until one tool call is being written."""
        await self.wait_until(lambda: len(self.call_forms) == 1, "a call to write")
        return self.call_forms[0]

    async def wait_for_answered_call(self) -> QComboBox:
        """Wait for the field that says which call the result answers."""
        return await self.wait_for(QComboBox, "Call that the result answers")

    async def choose(self, entry: str) -> None:
        """Choose an entry of the message's menu."""
        await self.person.choose(await self.wait_for(QToolButton, "More for this message"), entry)

    async def choose_role(self, role: str, new_role: str) -> None:
        """Choose another role for the message."""
        await self.person.choose(await self.wait_for(QPushButton, role), new_role)

    async def edit(self) -> QPlainTextEdit:
        """Open the message's editor, and wait until the cursor is in it."""
        await self.press("Edit this message")
        return await self.wait_for_editor()

    async def wait_for_editor(self, name: str = "Edit the") -> QPlainTextEdit:
        """Wait until an editor of this name is open and has the cursor."""
        editor = await self.wait_for(QPlainTextEdit, name)
        await self.wait_until(editor.hasFocus, "the cursor in the editor")
        return editor

    async def wait_for_error(self) -> ErrorCard:
        """Wait until the message shows one error."""
        await self.wait_until(lambda: len(self.errors) == 1, "an error in the message")
        return self.errors[0]

    async def save_edit(self, text: str) -> None:
        """Replace the whole message by typing, and save it."""
        await self.edit()
        await self.person.key(Qt.Key.Key_A, CONTROL)
        await self.person.keys(text)
        await self.press("Save")


class Composer(PartsPage):
    """The field in which a message is written, with the buttons around it."""

    @property
    def text(self) -> str:
        """The text in the message field."""
        return self.person.message.toPlainText()

    async def add_call(self) -> CallForm:
        """Begin another tool call, and wait until the cursor is in it."""
        count = len(self.call_forms)
        await self.press("Add a tool call")
        await self.wait_until(lambda: len(self.call_forms) > count, "the new call")
        form = self.call_forms[-1]
        window = self.widget.window()  # may not be active while a list of names closes
        await self.wait_until(lambda: form.widget.isAncestorOf(window.focusWidget()), "the cursor in the new call")
        return form

    async def press_add(self) -> None:
        """Add the message without a run."""
        (button,) = [button for button in self.find(QPushButton) if button.text() == "Add"]
        await self.person.click(button)

    @property
    def main_button(self) -> QPushButton:
        """The button that runs, continues or stops."""
        (button,) = [
            button for button in self.find(QPushButton) if button.accessibleName() in ("Run", "Continue", "Stop")
        ]
        return button

    @property
    def insertable(self) -> list[str]:
        """The entries of the menu behind the + button."""
        menu = self.get(QPushButton, "Insert").menu()
        menu.aboutToShow.emit()
        return [action.text() for action in menu.actions() if action.isVisible() and not action.isSeparator()]

    async def insert(self, entry: str) -> None:
        """Choose an entry of the menu behind the + button."""
        await self.person.choose(self.get(QPushButton, "Insert"), entry)

    @property
    def image_menu(self) -> QMenu:
        """The menu with further ways to attach images and with their sizes."""
        (menu,) = self.get(QPushButton, "Insert").menu().findChildren(QMenu)
        return menu

    @property
    def role(self) -> str:
        """The role of the message."""
        return self.get(QPushButton, "Role of the message").text().strip()

    async def choose_role(self, role: str) -> None:
        """Choose the role of the message."""
        await self.person.choose(self.get(QPushButton, "Role of the message"), role)

    async def add(self, text: str) -> None:
        """Write a message and add it without a run."""
        await self.person.type_into(self.person.message, text)
        await self.press_add()
        await self.wait_until(lambda: self.person.path and self.person.path[-1].text == text, f"the message {text!r}")


class MessageList(Page):
    """The messages of one conversation or of one lane."""

    def find_message(self, turn: Turn) -> MessageCard | None:
        """The card of a turn, if it is in view."""
        cards = find_by_object_name(self.person, "messageCard", self.widget)
        card = next((card for card in cards if card.property("messageId") == turn.id), None)
        return MessageCard(self.person, card) if card is not None else None

    @property
    def messages(self) -> list[MessageCard]:
        """The cards in view, top to bottom."""
        return [MessageCard(self.person, card) for card in find_by_position(self.person, "messageCard", self.widget)]

    async def wait_for_message(self, turn: Turn) -> MessageCard:
        """Wait until the card of a turn is in view, scrolling to it from the end if necessary."""
        assert isinstance(self.widget, QAbstractScrollArea)
        bar = self.widget.verticalScrollBar()
        await self.wait_until(lambda: self.person.conversation.is_drawn, "the messages in view")
        if self.find_message(turn) is None:
            await self.person.do(lambda: bar.setValue(bar.maximum()))
        for _ in range(200):
            if (card := self.find_message(turn)) is not None:
                return card
            await self.person.do(lambda: bar.setValue(bar.value() - bar.pageStep() // 2))
            if bar.value() == bar.minimum():
                break
        await self.wait_until(lambda: self.find_message(turn) is not None, "the message")
        card = self.find_message(turn)
        assert card is not None
        return card


class ConversationPage(Page):
    """The conversation in the main window."""

    def __init__(self, person: Person) -> None:
        widget = person.app.window.findChild(QWidget, "conversation")
        assert isinstance(widget, QWidget)
        super().__init__(person, widget)

    @property
    def messages(self) -> MessageList:
        """The list of messages; while lanes are compared, that of the first lane."""
        return MessageList(self.person, self.get(QAbstractScrollArea, "Conversation"))

    @property
    def is_drawn(self) -> bool:
        """True once the last message is drawn, unless it is scrolled away.

        A loaded machine draws messages some time after they exist.
        """
        view = self.person.pane.view
        if not view.isVisible():
            return True
        messages = [turn.id for turn in self.person.session.main.transcript.path if turn.role is not Role.TOOL]
        return view.complete and (not view.at_bottom or not messages or messages[-1] in view.cards)

    def message(self, index: int) -> MessageCard:
        """The card of a turn on the path, which is in view. Raises AssertionError if it is not."""
        card = self.messages.find_message(self.person.path[index])
        assert card is not None, f"message {index} is not in view"
        return card

    async def wait_for_message(self, index: int) -> MessageCard:
        """Wait until there is a turn at this place of the path, and return its card."""
        await self.wait_until(lambda: len(self.person.path) > max(index, -index - 1), f"message {index}")
        return await self.messages.wait_for_message(self.person.path[index])

    async def wait_for_calls(self, index: int = -1) -> list[CallCard]:
        """Wait until no run is active and a message shows all of its tool calls."""

        def ready() -> bool:
            if self.person.session.active_run is not None or len(self.person.path) <= 1:
                return False
            turn = self.person.path[index]
            card = self.messages.find_message(turn)
            complete = card is not None and bool(turn.calls) and len(card.calls) == len(turn.calls)
            return complete and self.is_drawn

        await self.wait_until(ready, "the cards of the tool calls")
        return self.message(index).calls

    @property
    def composer(self) -> Composer:
        """The composer below the messages."""
        composer = self.widget.findChild(QWidget, "composer")
        assert isinstance(composer, QWidget)
        return Composer(self.person, composer)

    @property
    def notice(self) -> Bar:
        """The notice above the composer."""
        return Bar(self.person, self.widget, "conversationNotice")

    @property
    def call_bar(self) -> CallBar:
        """The bar above the composer while tool calls need results or requests are sent automatically."""
        return CallBar(self.person, self.widget)

    @property
    def errors(self) -> list[ErrorCard]:
        """All errors in view."""
        return [ErrorCard(self.person, card) for card in find_by_position(self.person, "errorCard", self.widget)]

    async def wait_for_error(self) -> ErrorCard:
        """Wait until one error is in view."""
        await self.wait_until(lambda: len(self.errors) == 1, "an error")
        return self.errors[0]


async def wait_for_dialog(person: Person, title: str) -> Page:
    """Wait until a dialog with this title is open."""

    def find() -> list[QWidget]:
        return [window for window in person.windows if window.windowTitle().startswith(title)]

    await person.until(lambda: len(find()) == 1, f"the dialog {title!r}")
    return Page(person, find()[0])


def focus_in(widget: QWidget) -> Callable[[], bool]:
    """A condition that holds while a widget or one inside it has the focus."""

    def holds() -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and (focus is widget or widget.isAncestorOf(focus))

    return holds
