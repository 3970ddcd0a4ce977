"""The windows for requests as code: the code of a request, and the import of one."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QComboBox, QPlainTextEdit

from tests.flows.pages.dialogs import Window


class CodeWindow(Window):
    """The code of the next request, or of one that was sent."""

    title = "Get code"

    @property
    def text(self) -> str:
        """The code."""
        return "".join(view.toPlainText() for view in self.find(QPlainTextEdit, "Code"))

    @property
    def request_count(self) -> int:
        """How many requests there are to choose from."""
        return self.get(QComboBox, "Request").count()

    @property
    def request(self) -> int:
        """The number of the request shown: 0 is the next one, 1 the one that was sent last."""
        return self.get(QComboBox, "Request").currentIndex()

    async def choose_request(self, number: int) -> None:
        """Show the code of another request."""
        await self.select("Request", number)


class ImportRequestWindow(Window):
    """Makes an experiment of a command, an archive or a body."""

    title = "Import request"
    load = "Load as a new experiment"
    gateway = "Gateway for the imported request"

    async def paste(self, text: str) -> None:
        """Paste ``text`` and wait until it is understood."""
        QGuiApplication.clipboard().setText(text)
        await self.press("Paste")
        await self.wait_until(lambda: self.get(QAbstractButton, self.load).isEnabled(), "something understood")

    @property
    def text(self) -> str:
        """The text to import from, as it is shown."""
        return self.get(QPlainTextEdit, "Text to import from").toPlainText()
