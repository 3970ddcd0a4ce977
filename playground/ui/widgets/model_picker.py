"""The field for the model: it takes any text and opens a panel of models. Escape restores the model in use.

The panel is a child of the field's window, so that the field keeps the keyboard during a search. Tab moves into the
panel, and Escape returns to the field.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QComboBox, QSizePolicy, QToolButton, QWidget
from shiboken6 import isValid

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.kept_line import KeptLine
from playground.ui.widgets.models.listing import Listing
from playground.ui.widgets.plain_text import one_line_of, tip

if TYPE_CHECKING:
    from playground.engine.gateways.model_catalog import ModelCatalog
    from playground.ui.widgets.models.panel import ModelPanel

AROUND_TEXT: Final = 46  # pixels: padding and arrow
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ModelPicker(QComboBox):
    """A combo box for a model. ``chosen`` carries the model; ``refresh_asked`` reports that an empty list was opened.

    ``unlisted`` is a warning button for the caller's layout, visible while the model is not in the list.
    """

    chosen = Signal(str)
    refresh_asked = Signal()

    def __init__(self, least: int = 190) -> None:
        super().__init__()
        line = KeptLine()
        self._line = line
        self._listing = Listing()
        self._model = ""
        self.panel: ModelPanel | None = None  # created when it is first opened
        self.setEditable(True)
        self.setLineEdit(line)
        self.setCompleter(None)  # type: ignore[arg-type]  # None removes Qt's own
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setAccessibleName("Model")
        line.installEventFilter(self)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(least)
        self.setMaximumWidth(320)
        line.setPlaceholderText("Model id")
        line.editingFinished.connect(self._accept_text)
        line.textEdited.connect(self._filter_models)
        line.textChanged.connect(self.updateGeometry)
        line.given_up.connect(self._restore_model)
        self.unlisted = styled(QToolButton(), "flag")
        self.unlisted.setObjectName("unlistedModel")
        self.unlisted.setIcon(icon("warning", "tool"))
        self.unlisted.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.unlisted.clicked.connect(self.open)
        self.unlisted.hide()

    def setAccessibleName(self, name: str) -> None:
        """Name the box and its field, which has the focus."""
        super().setAccessibleName(name)
        self._line.setAccessibleName(name)

    def sizeHint(self) -> QSize:
        """Return a width that fits the whole text."""
        text = one_line_of(self._line.text() or self._line.placeholderText())
        width = self._line.fontMetrics().horizontalAdvance(text)
        return QSize(width + AROUND_TEXT, super().sizeHint().height())

    # ---- models

    def show_catalog(self, catalog: ModelCatalog) -> None:
        """Show the models of a catalog; typed text and its selection stay."""
        if catalog.is_same(self._listing.catalog):
            return
        line, unchanged = self._line, catalog.models is self._listing.models
        if unchanged:
            self._listing.catalog = catalog
        else:
            self._listing = Listing(catalog)
            before, line.saved = line.saved, self._listing.spelled(self._model)
            if self.currentText() == before != line.saved:
                self._set_field_text(line.saved)
        if self.panel is not None and self.open_now:
            self.panel.browser.show_listing(self._listing)

    @property
    def listed(self) -> Listing:
        """The offered models, for a search."""
        return self._listing

    @property
    def ids(self) -> list[str]:
        """The ids of the offered models."""
        return list(self._listing.all)

    @property
    def shown(self) -> str:
        """The model in use."""
        return self._model

    def show_model(self, model: str, missing_at: str = "") -> None:
        """Show the model in use. ``missing_at`` is the gateway whose list lacks it; requests still use the model.

        Text that a person is typing stays.
        """
        line = self._line
        self.unlisted.setVisible(bool(missing_at))
        words = f"“{model}” is not in the list of {missing_at}."
        self.unlisted.setToolTip(tip(f"{words} Requests still use it. Click for the list."))
        self.unlisted.setAccessibleName(f"{words} Show the list")
        self._model, line.saved = model, self._listing.spelled(model)
        if line.saved != self.currentText() and not (line.hasFocus() and line.isModified()):
            selected = line.hasSelectedText()
            self._set_field_text(line.saved)
            if selected:
                line.selectAll()

    def _set_field_text(self, text: str) -> None:
        self.setEditText(text)
        self._line.setCursorPosition(0)  # show the beginning of a long name

    # ---- the panel

    @property
    def open_now(self) -> bool:
        """True while the panel is visible."""
        return self.panel is not None and isValid(self.panel) and self.panel.isVisible()

    def open(self) -> None:
        """Focus the field and open the panel."""
        self._line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not self._line.isModified():
            self._line.selectAll()
        if not self.open_now:
            self.showPopup()

    def showPopup(self) -> None:
        """Open the panel with the model in use marked, or close it if it is open."""
        if self.open_now:
            self.hidePopup()
            return
        if not self.isVisible():  # another page's bar is shown in its place
            return
        if not self._listing.models:
            self.refresh_asked.emit()
        if not self._line.hasFocus():
            self._line.setFocus(Qt.FocusReason.PopupFocusReason)
        self._open_panel("" if self._line.text() == self._line.saved else self._line.text())

    def _open_panel(self, text: str) -> None:
        window = self.window()
        if self.panel is None or not isValid(self.panel):
            from playground.ui.widgets.models.panel import ModelPanel

            self.panel = ModelPanel(window)
            self.panel.browser.chosen.connect(self._choose)
            self.destroyed.connect(self.panel.deleteLater)
            for part in self.panel.browser.list, self.panel.browser.order:
                part.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click keeps the focus in the field
        elif self.panel.parentWidget() is not window:
            self.panel.setParent(window)
        panel = self.panel
        panel.stand_at(self)
        panel.browser.show_listing(self._listing, text, model_id="" if text else self._model)
        panel.show()
        panel.raise_()
        QWidget.setTabOrder(self._line, panel.browser.list)
        if (app := QApplication.instance()) is not None:
            app.installEventFilter(self)

    def hidePopup(self) -> None:
        """Close the panel and move its focus to the field."""
        super().hidePopup()
        if self.panel is None or not self.open_now:
            return
        if (app := QApplication.instance()) is not None:
            app.removeEventFilter(self)
        inside = self._is_in_panel(QApplication.focusWidget())
        self.panel.hide()
        if inside:
            self._line.setFocus(Qt.FocusReason.PopupFocusReason)

    def _is_in_panel(self, widget: QObject | None) -> bool:
        """Return whether ``widget`` is the panel or a part of it."""
        panel = self.panel
        return isinstance(widget, QWidget) and panel is not None and (widget is panel or panel.isAncestorOf(widget))

    # ---- choosing

    def _filter_models(self, text: str) -> None:
        if self.panel is not None and self.open_now:
            self.panel.browser.look_for(text)
        elif self._listing.models and text.strip():
            self._open_panel(text)

    def _choose(self, model: str) -> None:
        """Choose a model of the list."""
        self.hidePopup()
        self._set_field_text(self._listing.spelled(model))
        self._line.setModified(False)
        self._line.selectAll()
        if model != self._model and self._listing.catalog.note_use is not None:
            from playground.ui.widgets.loop import spawn

            spawn(self._note_use(self._listing, model), name="note a model")
        self.chosen.emit(model)

    @staticmethod
    async def _note_use(listing: Listing, model: str) -> None:
        """Add a model to the recent ones; ignore that the list cannot be saved."""
        import asyncio

        from playground.engine.gateways.model_catalog import add_recent
        from playground.engine.gateways.profiles import ProfileError

        catalog = listing.catalog
        if catalog.note_use is not None:
            with suppress(ProfileError):
                await asyncio.to_thread(catalog.note_use, model)
                listing.catalog = replace(listing.catalog, recent=add_recent(listing.catalog.recent, model))

    def _accept_text(self) -> None:
        """Choose the typed model after Enter or the loss of focus, unless the focus moved into the panel."""
        if not (self.open_now and self._is_in_panel(QApplication.focusWidget())):
            self.hidePopup()
            self._line.setCursorPosition(0)
            self.chosen.emit(self._listing.meant(self.currentText()))

    def _restore_model(self) -> None:
        self.hidePopup()
        self._set_field_text(self._line.saved)
        self._line.setModified(False)
        self._line.selectAll()

    # ---- keys and the mouse

    def _is_panel_key(self, event: QKeyEvent) -> bool:
        """Return whether a key controls the open panel, or opens it."""
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if self.panel is None or not self.open_now:
            return key in (Qt.Key.Key_Down, Qt.Key.Key_Up) and modifiers == Qt.KeyboardModifier.NoModifier
        done = key == Qt.Key.Key_Escape or (key in _ENTER and modifiers == Qt.KeyboardModifier.NoModifier)
        return done or self.panel.browser.knows_key(event)

    def event(self, event: QEvent) -> bool:
        """Take the panel's keys before shortcuts of the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_panel_key(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the panel's keys; the box is the focus proxy of its line and gets all keys first."""
        if not self._is_panel_key(event):
            super().keyPressEvent(event)
            return
        panel = self.panel
        if panel is None or not self.open_now:
            self.showPopup()
        elif event.key() == Qt.Key.Key_Escape:
            self._restore_model()
        elif event.key() in _ENTER:
            if panel.browser.current:
                self._choose(panel.browser.current)
            else:
                self._accept_text()
        else:
            panel.browser.take_key(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open the panel after a click on the field; close it after events elsewhere in the window."""
        kind = event.type()
        if watched is self._line and kind == QEvent.Type.MouseButtonRelease and not self.open_now:
            QTimer.singleShot(0, self, self.open)
        if kind in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride) and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape and self._is_in_panel(watched):
                event.accept()
                if kind == QEvent.Type.KeyPress:
                    self._restore_model()
                return True
        elif kind == QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent) and self.open_now:
            if isinstance(watched, QWidget) and watched.window() is self.window() and not self._is_own_part(watched):
                self.hidePopup()
        elif kind == QEvent.Type.FocusOut and self.open_now and (watched is self or self._is_in_panel(watched)):
            QTimer.singleShot(0, self, self._close_unless_focused)
        elif kind == QEvent.Type.Resize and self.open_now and watched is self.window() and self.panel is not None:
            self.panel.stand_at(self)
        return super().eventFilter(watched, event)

    def _is_own_part(self, widget: QWidget) -> bool:
        return self._is_in_panel(widget) or widget is self or self.isAncestorOf(widget) or widget is self.unlisted

    def _close_unless_focused(self) -> None:
        """Close the panel if the focus is elsewhere in the window."""
        focus = QApplication.focusWidget()
        if self.open_now and focus is not None and not self._is_own_part(focus) and focus.window() is self.window():
            self.hidePopup()

    def hideEvent(self, event: QHideEvent) -> None:
        self.hidePopup()
        super().hideEvent(event)
