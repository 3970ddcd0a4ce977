"""What a person asks of the window before anybody is there to do it: kept, and done in order as soon as somebody is.

Text typed into the message field needs nobody and is seen at once. What cannot happen yet waits, and from then on so do
the keys behind it: they are meant for what the first of them leads to. Nothing heavy is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, SignalInstance
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QWindow
from PySide6.QtWidgets import QApplication, QWidget

if TYPE_CHECKING:
    from playground.ui.features.conversation.composer import Composer

Act = Callable[[], None]


class EarlyActs(QObject):
    """Listens to ``keep`` and ``keep_run`` until ``end``; ``catch_up`` then does what came."""

    def __init__(self, window: QWidget, composer: Composer) -> None:
        super().__init__(window)
        self._window = window
        self._composer = composer
        self._kept: list[tuple[SignalInstance, Callable[..., None]]] = []
        self._acts: list[Act] = []
        self._sending = False

    def keep(self, signal: SignalInstance) -> None:
        """Emit ``signal`` once more, as it was emitted, when somebody listens."""

        def kept(*arguments: object) -> None:
            self._add(lambda: signal.emit(*arguments))

        self._listen(signal, kept)

    def keep_run(self, signal: SignalInstance) -> None:
        """The same for a signal that asks for a run; asked for once more before it has begun, it is one run."""

        def kept(*arguments: object) -> None:
            self._composer.set_starting(True)
            self._add(lambda: self._run(lambda: signal.emit(*arguments)))

        self._listen(signal, kept)

    def _listen(self, signal: SignalInstance, kept: Callable[..., None]) -> None:
        signal.connect(kept)
        self._kept.append((signal, kept))

    def _run(self, act: Act) -> None:
        """Where a run is under way already, it is this one: nobody could see it begin, so nobody asks to stop it."""
        if not self._composer.busy:
            act()

    def end(self) -> None:
        """Somebody listens to all of it from now on."""
        for signal, kept in self._kept:
            signal.disconnect(kept)
        self._kept.clear()

    async def catch_up(self) -> None:
        """Do what was kept. Each act has its effect before the next one: a dialog is open before keys go to it."""
        import asyncio

        self._composer.set_starting(False)
        while self._acts:
            self._acts.pop(0)()
            await asyncio.sleep(0)
        qt = QApplication.instance()
        if qt is not None:
            qt.removeEventFilter(self)

    def _add(self, act: Act) -> None:
        qt = QApplication.instance()
        if not self._acts and qt is not None:
            qt.installEventFilter(self)
        self._acts.append(act)

    def _send(self, event: QEvent) -> None:
        """To where the focus is by now."""
        before: QWidget | None = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        focus: QWidget | None = before.focusWidget() if before is not None else QApplication.focusWidget()
        inner: QWidget | None = self._window.focusWidget()
        self._sending = True
        try:
            QApplication.sendEvent(focus or before or inner or self._window, event)
        finally:
            self._sending = False

    # Keys behind something that waits

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Shortcuts are not seen here: their actions are kept like everything else."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self._is_ours(watched):
            press = partial(self._send, _copied(event))
            self._add(partial(self._run, press) if self._composer.is_run_key(event) else press)
            return True
        if isinstance(event, QInputMethodEvent) and self._is_ours(watched):
            self._add(partial(self._send, _composed(event)))
            return True
        return False

    def _is_ours(self, watched: QObject) -> bool:
        """Whether an event is on its way to the window, and not to a menu or a dialog before it."""
        before = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if self._sending or before is not None:
            return False
        if isinstance(watched, QWindow):
            return watched == self._window.windowHandle()
        return isinstance(watched, QWidget) and watched.window() is self._window


def _copied(event: QKeyEvent) -> QKeyEvent:
    """The one that Qt gave lives no longer than its delivery."""
    keys = event.key(), event.modifiers(), event.text()
    return QKeyEvent(event.type(), *keys, event.isAutoRepeat(), event.count())


def _composed(event: QInputMethodEvent) -> QInputMethodEvent:
    made = QInputMethodEvent(event.preeditString(), [])
    made.setCommitString(event.commitString(), event.replacementStart(), event.replacementLength())
    return made
