"""Colours, type and the style sheet: tokens in, palette and style out.

Widgets ask ``tokens()`` when they paint and redraw on ``QEvent.Type.PaletteChange``; nothing else here is state.
"""

from __future__ import annotations

from string import Template
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

from playground.engine.io.files import resource_root

BODY_PX = 13
SMALL_PX = 12
STYLE = "Fusion"


class Tokens(NamedTuple):
    """The named colours of one scheme, as ``#rrggbb``."""

    window: str
    surface: str
    raised: str
    line: str
    chip: str
    code: str
    text: str
    muted: str
    accent: str
    accent_background: str
    on_accent: str
    marked: str
    system: str
    user: str
    assistant: str
    tool: str
    reasoning: str
    reasoning_background: str
    search_match: str
    search_match_current: str
    on_search_match_current: str
    error: str
    error_background: str
    ok: str

    def role(self, role: str) -> str:
        """Return the colour of a role; the developer has that of the system."""
        return {"developer": self.system, "system": self.system, "user": self.user, "tool": self.tool}.get(
            role, self.assistant
        )


LIGHT = Tokens(
    window="#F4F5F8",
    surface="#FFFFFF",
    raised="#FFFFFF",
    line="#E2E5EB",
    chip="#EEF0F4",
    code="#F6F7F9",
    text="#1A1E24",
    muted="#5C6675",
    accent="#2F5BEA",
    accent_background="#E9EEFF",
    on_accent="#FFFFFF",
    marked="#CBD8FD",
    system="#7A4FE0",
    user="#0B7285",
    assistant="#2F5BEA",
    tool="#A85500",
    reasoning="#7A4FE0",
    reasoning_background="#F6F3FE",
    search_match="#FFE9A3",
    search_match_current="#F5A623",
    on_search_match_current="#1A1E24",
    error="#C5282B",
    error_background="#FDF1F1",
    ok="#157A45",
)
DARK = Tokens(
    window="#13161B",
    surface="#1A1E25",
    raised="#20252E",
    line="#2E3541",
    chip="#2A303B",
    code="#171B21",
    text="#E7EAF0",
    muted="#9AA5B4",
    accent="#7E9DFF",
    accent_background="#23304F",
    on_accent="#10131A",
    marked="#344A86",
    system="#B9A4FF",
    user="#5CC9DA",
    assistant="#8FAEFF",
    tool="#F2B460",
    reasoning="#B9A4FF",
    reasoning_background="#221F30",
    search_match="#574812",
    search_match_current="#F2B460",
    on_search_match_current="#10131A",
    error="#FF8A84",
    error_background="#2B1E22",
    ok="#6DD49C",
)

_current = LIGHT


def tokens() -> Tokens:
    """Return the colours of the current scheme."""
    return _current


def body_font(pixels: int = BODY_PX) -> QFont:
    """Return the system's font at body size, or at ``pixels``."""
    font = QFont(QApplication.font())
    font.setPixelSize(pixels)
    return font


def code_font(pixels: int = SMALL_PX) -> QFont:
    """Return the system's fixed-width font."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(pixels)
    return font


class Theme(QObject):
    """Applies a colour scheme to the application: a fixed one, or the system's with its changes."""

    changed = Signal()

    def __init__(self, app: QApplication, choice: str = "system") -> None:
        super().__init__(app)
        self._app = app
        self._choice = ""
        if app.property("style") != STYLE:  # otherwise set before the application was created
            app.setStyle(STYLE)
        app.setFont(body_font())
        app.styleHints().colorSchemeChanged.connect(self._system_changed)
        self.choose(choice)

    @property
    def choice(self) -> str:
        """ "system", "light" or "dark"."""
        return self._choice

    def choose(self, choice: str) -> None:
        """Fix a scheme, or follow the system again; anything unknown counts as "system"."""
        self._choice = choice if choice in ("light", "dark") else "system"
        self._apply()

    def _system_changed(self, _scheme: Qt.ColorScheme) -> None:
        if self._choice == "system":
            self._apply()

    def _apply(self) -> None:
        global _current
        system_dark = self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        dark = self._choice == "dark" or (self._choice == "system" and system_dark)
        _current = DARK if dark else LIGHT
        self._app.setPalette(_palette(_current))
        self._app.setStyleSheet(style_sheet(_current))
        self.changed.emit()


def style_sheet(colours: Tokens) -> str:
    """Return the style sheet: the template with the colours filled in."""
    template = (resource_root() / "style.qss").read_text(encoding="utf-8")
    icons = (resource_root() / "icons").as_posix()
    scheme = "dark" if colours is DARK else "light"
    on_accent = "light" if colours is DARK else "dark"
    return Template(template).substitute(colours._asdict(), icons=icons, scheme=scheme, other=on_accent)


def _palette(t: Tokens) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for colour_role, colour in (
        (role.Window, t.window),
        (role.WindowText, t.text),
        (role.Base, t.raised),
        (role.AlternateBase, t.code),
        (role.Text, t.text),
        (role.PlaceholderText, t.muted),
        (role.Button, t.raised),
        (role.ButtonText, t.text),
        (role.BrightText, t.error),
        (role.Highlight, t.accent),
        (role.HighlightedText, t.on_accent),
        (role.ToolTipBase, t.raised),
        (role.ToolTipText, t.text),
        (role.Link, t.accent),
        (role.LinkVisited, t.accent),
        (role.Light, t.raised),
        (role.Midlight, t.line),
        (role.Mid, t.line),
        (role.Dark, t.muted),
        (role.Shadow, t.line),
        (role.Accent, t.accent),
    ):
        palette.setColor(colour_role, QColor(colour))
    for colour_role in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, colour_role, QColor(t.muted))
    return palette
