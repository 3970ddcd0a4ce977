"""Run starts of the application one after the other in this process, each with a person who acts early.

Each line of standard input describes a start: ``early`` (what the person does as soon as the window is built),
``expected`` (an expression that becomes true), ``environment`` and ``errors`` (the file for standard error). A line of
standard output per start holds the value of ``expected`` and the exit code.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import sys
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QPushButton, QWidget

import playground.app as app_module
from playground.app import App
from playground.demo.server import DemoConfig

CONTROL = Qt.KeyboardModifier.ControlModifier
NAMES = {"QApplication": QApplication, "QDialog": QDialog, "QFileDialog": QFileDialog, "CONTROL": CONTROL}
NAMES |= {"QInputMethodEvent": QInputMethodEvent}


class Person:
    """The person at a window: the functions that ``early`` and ``expected`` call, by their names."""

    def __init__(self, app: App) -> None:
        self.app = app

    def focus(self) -> QWidget:
        """Return the widget that takes the keys."""
        top = QApplication.activePopupWidget() or QApplication.activeModalWidget() or self.app.window
        inner: QWidget | None = top.focusWidget()
        return inner or self.app.window.focusWidget()

    def key(self, name: str, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.focus(), getattr(Qt.Key, f"Key_{name}"), modifier)

    def write(self, text: str) -> None:
        for letter in text:
            QTest.keyClicks(self.focus(), letter)

    def click(self, name: str) -> None:
        buttons = self.app.window.findChildren(QPushButton)
        (button,) = [button for button in buttons if name in (button.text().strip(), button.accessibleName())]
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def drop(self, path: str) -> None:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(path)])
        how = Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(QPoint(300, 300), *how)
        QApplication.sendEvent(self.app.window, enter)
        assert enter.isAccepted()
        QApplication.sendEvent(self.app.window, QDropEvent(QPointF(300, 300), *how))

    def session(self) -> Any:
        return self.app.workspace.current

    def turns(self) -> list[str]:
        return [turn.text for turn in self.session().transcript.path]

    def idle(self) -> bool:
        workspace = self.app.workspace
        store = workspace.store
        return (
            store is not None
            and store.status.mode.value == "ready"
            and not workspace.opening
            and self.session().state == "idle"
        )

    def drafts(self) -> list[str]:
        return sorted(session.draft.text for session in self.app.workspace.sessions if session.draft.text)

    def requests(self) -> list[Any]:
        demo = self.app.demo
        assert demo is not None
        return [json.loads(request.body)["messages"] for request in demo.server.requests if request.method == "POST"]


def early_app(early: str, expected: str, notices: list[Any]) -> type[App]:
    """Return the application with a person who acts as soon as the window is built and looks for ``expected``."""

    class EarlyApp(App):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            person = Person(self)
            functions = {name: getattr(person, name) for name in vars(Person) if not name.startswith("_")}
            self.names = {**NAMES, **functions, "app": self, "window": self.window}
            self.timer = QTimer(interval=5)
            self.timer.timeout.connect(self.look)

        def act(self) -> None:
            exec(early, self.names)

        def build(self, demo: DemoConfig | None = None) -> None:
            super().build(DemoConfig(tokens_per_second=0, time_to_first_token=0))

        def show(self) -> None:
            QTimer.singleShot(0, self.act)
            super().show()
            self.timer.start()

        def look(self) -> None:
            value = eval(expected, self.names)
            if value:
                self.timer.stop()
                notices.append(value)
                self.quit(ask=False)

    return EarlyApp


def start(order: dict[str, Any]) -> dict[str, Any]:
    """Run one start to its end."""
    os.environ.update(order["environment"])
    errors = os.open(order["errors"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(errors, 2)
    os.close(errors)
    messages: list[Any] = []
    app_module.App = early_app(order["early"], order["expected"], messages)  # type: ignore[misc]
    code = app_module.run()
    app_module.App = App  # type: ignore[misc]
    sys.stderr.flush()
    return {"value": messages[0] if messages else None, "code": code}


def reset(qt: QApplication) -> None:
    """Delete what the last start left: its windows would be styled together with those of the next."""
    for widget in QApplication.topLevelWidgets():
        widget.hide()
        widget.deleteLater()
    qt.setStyleSheet("")
    logger = logging.getLogger("playground")
    for handler in tuple(logger.handlers):  # the log of the next start is in its own folder
        logger.removeHandler(handler)
        handler.close()
    gc.unfreeze()
    gc.collect()
    qt.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    remaining = [type(widget).__name__ for widget in QApplication.topLevelWidgets()]
    assert not remaining, remaining


def main() -> None:
    """Run the starts that standard input describes."""
    qt = app_module.make_application()
    app_module.make_application = lambda: qt
    for line in sys.stdin:
        print(json.dumps(start(json.loads(line))), flush=True)
        reset(qt)


if __name__ == "__main__":
    main()
