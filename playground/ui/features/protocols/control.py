"""Switch the API of an experiment, after a question if something cannot be carried over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from playground.engine.requests.protocol_conversion import CHANGED, DOUBTFUL, LOST, Loss, losses
from playground.engine.requests.protocol_info import TITLES
from playground.engine.session.changes import Change, PathChanged, SettingsChanged, TurnChanged
from playground.engine.session.session import Session
from playground.ui.features.host import Host
from playground.ui.widgets.form_parts import paragraph, styled
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.palette import Entry
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.scroll_page import FittingArea

HEADINGS = {
    LOST: "Not sent",
    CHANGED: "Sent in another form",
    DOUBTFUL: "Sent as it is, and may be refused",
}
TALLEST, LEAST = 190, 120  # pixels of the list; more scrolls
MOST_PLACES = 6


class ProtocolSwitch(QFrame):
    """The question before a switch; hidden until there is one. ``switched`` is emitted after a switch."""

    switched = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "banner")
        self._session: Session | None = None
        self._to = ""
        self._then: Callable[[], None] = lambda: None
        self._cancel: Callable[[], None] | None = None
        self._title = paragraph("", "heading")
        self._list = _Losses()
        note = paragraph("Nothing is deleted: switching back sends all of it again.", "small")
        self.switch = styled(QPushButton(), "primary")
        self.switch.clicked.connect(self._switch)
        self.stay = QPushButton()
        self.stay.clicked.connect(self.dismiss)
        row = in_row(1, self.stay, self.switch, spacing=8)
        in_column(self._title, note, self._list, row, parent=self, margins=(12, 9, 10, 9), spacing=5)
        self.hide()

    @property
    def lines(self) -> list[str]:
        """The listed losses, a line each."""
        return self._list.lines

    def choose(self, session: Session, to: str, then: Callable[[], None] = lambda: None) -> None:
        """Switch at once if nothing is lost, else ask; call ``then`` after a switch.

        Choosing the current protocol dismisses a question.
        """
        self.dismiss()
        if to == session.settings.protocol:
            return
        self._session, self._to, self._then = session, to, then
        lost = losses(session.next_request.build(), to)
        if not lost:
            self._switch()
            return
        current, target = TITLES[session.settings.protocol], TITLES[to]
        self._title.setText(f"The {target} does not support everything in this request")
        self.switch.setText(f"Switch to {target}")
        self.stay.setText(f"Stay with {current}")
        self._list.show_losses(lost)
        self.setAccessibleName(f"Switch to {target}?")
        self.setAccessibleDescription("\n".join(self._list.lines))
        self._cancel = session.subscribe(self._changed, PathChanged, TurnChanged, SettingsChanged)
        self.show()
        self.switch.setFocus()

    def dismiss(self) -> None:
        """Keep the current protocol."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None
        self._session = None
        self.hide()

    def follow(self, session: Session) -> None:
        """Dismiss a question about another experiment than ``session``."""
        if self._session is not None and self._session is not session:
            self.dismiss()

    def _switch(self) -> None:
        session, to = self._session, self._to
        self.dismiss()
        if session is not None:
            session.switch_protocol(to)
            self.switched.emit()
            self._then()

    def _changed(self, _change: Change) -> None:
        session = self._session
        if session is None:
            return
        if session.settings.protocol == self._to:
            self.dismiss()
        else:
            self._list.show_losses(losses(session.next_request.build(), self._to))


class _Losses(FittingArea):
    """The list of losses by kind; a loss in several turns is one line."""

    def __init__(self) -> None:
        super().__init__(most=TALLEST, least=LEAST, wide=200, by_width=True)
        self.lines: list[str] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # nothing in it takes the focus to scroll it by keyboard
        self.setAccessibleName("Not carried over")

    def show_losses(self, losses: Sequence[Loss]) -> None:
        """Replace the list."""
        page = QWidget()
        column = in_column(parent=page, margins=0, spacing=2)
        self.lines = []
        for kind, heading in HEADINGS.items():
            grouped = _grouped(loss for loss in losses if loss.kind == kind)
            if grouped:
                column.addWidget(_label(heading, "group"))
            for what, places in grouped.items():
                self.lines.append(f"{_places(places)}: {what}")
                column.addWidget(_label(f"•  {self.lines[-1]}", ""))
        if not losses:
            column.addWidget(_label("Everything can be carried over now.", ""))
        column.addStretch(1)
        self.hold(page)


def _label(words: str, kind: str) -> QLabel:
    label = QLabel(
        show_hidden(words),
        textFormat=Qt.TextFormat.PlainText,
        wordWrap=True,
        textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse,
    )
    label.setProperty("kind", kind or "small-text")
    return label


def _grouped(losses: Iterable[Loss]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for loss in losses:
        out.setdefault(loss.what, []).append(loss.where)
    return out


def _places(places: list[str]) -> str:
    """Return the distinct places, for example ``Message 2 (user), Message 4 (user)``."""
    distinct = list(dict.fromkeys(places))
    more = len(distinct) - MOST_PLACES
    return ", ".join(distinct[:MOST_PLACES]) + (f" and {more} more" if more > 0 else "")


class ProtocolControl:
    """``show`` shows the protocol in use; ``switched`` is called after a switch."""

    def __init__(self, host: Host, show: Callable[[str], None], switched: Callable[[], None]) -> None:
        self._host = host
        self._show = show
        self.switch = ProtocolSwitch()
        self.switch.switched.connect(switched)
        host.pane.add_bar(self.switch)

    def entries(self) -> list[Entry]:
        """Return an entry for each API that is not in use, for the palette."""
        in_use = self._host.session.settings.protocol
        return [
            Entry(f"Switch to {title}", "API", partial(self.choose, name), synonyms="protocol")
            for name, title in TITLES.items()
            if name != in_use
        ]

    def follow_session(self) -> None:
        """Follow the current experiment."""
        self.switch.follow(self._host.session)

    def show_session(self) -> None:
        """Show the protocol of the current experiment."""
        self._show(self._host.session.settings.protocol)

    def choose(self, name: str, then: Callable[[], None] = lambda: None) -> None:
        """Switch to a protocol, after a question if something is lost, and call ``then``."""
        self._host.workspace.keep_current()
        self.switch.choose(self._host.session, name, then)
        self.show_session()

    def speak_next(self) -> None:
        """Switch to the next protocol."""
        names = list(TITLES)
        self.choose(names[(names.index(self._host.session.settings.protocol) + 1) % len(names)])
