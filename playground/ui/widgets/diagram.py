"""Drawings on a graphics scene: items with tooltips, hovering, keyboard selection, and clicks."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsItem,
    QGraphicsPathItem,
    QGraphicsScene,
    QGraphicsSceneHoverEvent,
    QGraphicsSimpleTextItem,
    QGraphicsView,
    QStyleOptionGraphicsItem,
    QWidget,
)

from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.theme import body_font, tokens

TEXT_PX = 11
LEAST_HIT = 6.0  # pixels of a narrow item that react to the pointer


def round_step(least: float) -> float:
    """Return the least number of at least `least` that is 1, 2 or 5 times a power of ten."""
    power = 1e-6
    while power * 10 <= least:
        power *= 10
    return next((power * factor for factor in (1, 2, 5, 10) if power * factor >= least), least)


def text_item(text: str, colour: str, parent: QGraphicsItem | None = None, pixels: int = TEXT_PX) -> QGraphicsItem:
    """Create a line of plain text."""
    item = QGraphicsSimpleTextItem(text, parent)
    item.setFont(body_font(pixels))
    item.setBrush(QColor(colour))
    item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
    return item


class DiagramItem(QGraphicsPathItem):
    """An outline named `key`. `describe` returns its tooltip and is called when the pointer is above it.

    Its pen is `strong` while it is selected or hovered.
    """

    def __init__(self, key: str, outline: QPainterPath, describe: Callable[[], str]) -> None:
        super().__init__(outline)
        self.key = key
        self.hovered = False
        self.strong = QPen(QColor(tokens().text), 2)
        self._describe = describe
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setAcceptHoverEvents(True)
        rect = outline.boundingRect()
        more = max(LEAST_HIT - rect.width(), 4.0) / 2
        self._hit = QPainterPath()
        self._hit.addRect(rect.adjusted(-more, -2, more, 2))
        self.bounds = rect.adjusted(-more - 2, -4, more + 2, 4)

    def words(self) -> str:
        """Describe the item."""
        return self._describe()

    def shape(self) -> QPainterPath:
        """Return the outline with a margin, so that narrow items can be hit."""
        return self._hit

    def boundingRect(self) -> QRectF:
        return self.bounds

    def hoverEnterEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        self._set_hovered(True)
        super().hoverEnterEvent(event)

    def hoverLeaveEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        self._set_hovered(False)
        super().hoverLeaveEvent(event)

    def _set_hovered(self, hovered: bool) -> None:
        self.hovered = hovered
        self.update()
        for view in self.scene().views():
            if isinstance(view, Diagram):
                view.set_pointed(self.key if hovered else "")

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        painter.setPen(self.strong if self.hovered or self.isSelected() else self.pen())
        painter.setBrush(self.brush())
        painter.drawPath(self.path())


class Diagram(QGraphicsView):
    """A view of ordered `DiagramItem`s. `chosen` carries the key of an item that was clicked or opened with Enter.

    A subclass adds items in `draw`, which is called for new content, for another size and for another colour scheme.
    """

    chosen = Signal(str)
    selection_changed = Signal()
    pointed_changed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.items_by_key: dict[str, DiagramItem] = {}
        self.pointed = ""
        self._selected = ""
        self._drawing = False
        self._drawn_size = QSize()
        scene = QGraphicsScene(self)
        scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.BspTreeIndex)
        scene.selectionChanged.connect(self._select_clicked)
        self.setScene(scene)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)

    # Content

    def draw(self) -> None:
        """Add the items to the empty scene."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return the whole diagram in words, for a screen reader."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draw everything again. The selected key stays selected."""
        self._drawing = True
        self.items_by_key.clear()
        self.pointed = ""
        self.scene().clear()
        self.scene().setBackgroundBrush(QColor(tokens().surface))
        self.draw()
        self._selected = self._selected if self._selected in self.items_by_key else ""
        if self._selected:
            self.items_by_key[self._selected].setSelected(True)
        self._drawing = False
        self._update_description()

    def add(self, item: DiagramItem) -> DiagramItem:
        """Add an item at the end of the keyboard order."""
        self.items_by_key[item.key] = item
        self.scene().addItem(item)
        return item

    def add_text(self, text: str, colour: str, place: QPointF, pixels: int = TEXT_PX) -> QGraphicsItem:
        """Add a line of plain text at its top left."""
        item = text_item(text, colour, pixels=pixels)
        item.setPos(place)
        self.scene().addItem(item)
        return item

    @property
    def room(self) -> int:
        """The width in pixels without a vertical scroll bar, whether it is shown or not."""
        return self.maximumViewportSize().width() - self.verticalScrollBar().sizeHint().width()

    def rect_of(self, key: str) -> QRectF:
        """Return where an item is in the viewport. Raises KeyError."""
        item = self.items_by_key[key]
        return QRectF(self.mapFromScene(item.mapToScene(item.path().boundingRect())).boundingRect())

    # Selection

    @property
    def selected(self) -> str:
        """The key of the selected item; empty for none."""
        return self._selected

    def set_pointed(self, key: str) -> None:
        """Note which item is under the pointer; empty for none."""
        self.pointed = key
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if key else Qt.CursorShape.ArrowCursor)
        self.pointed_changed.emit()

    def item_at(self, point: QPoint) -> DiagramItem | None:
        """Return the item at a point of the viewport."""
        return next((item for item in self.items(point) if isinstance(item, DiagramItem)), None)

    def select(self, key: str) -> None:
        """Select an item and scroll it into view; an unknown key selects nothing."""
        if (item := self.items_by_key.get(key)) is not None:
            self._set_selected(item)
            self.reveal(item)

    def reveal(self, item: DiagramItem) -> None:
        """Scroll until an item is in view."""
        self.ensureVisible(item, 40, 12)

    def _set_selected(self, item: DiagramItem) -> None:
        self._drawing = True
        self.scene().clearSelection()
        item.setSelected(True)
        self._drawing = False
        self._selected = item.key
        self._update_description()
        self.selection_changed.emit()

    def _select_clicked(self) -> None:
        """Select a clicked item; keep the selection after a click on the background."""
        if self._drawing:
            return
        clicked = [item for item in self.scene().selectedItems() if isinstance(item, DiagramItem)]
        item = clicked[0] if clicked else self.items_by_key.get(self._selected)
        if item is not None:
            self._set_selected(item)

    def _update_description(self) -> None:
        item = self.items_by_key.get(self._selected)
        self.setAccessibleDescription(f"{item.words()}\n{self.describe()}" if item is not None else self.describe())

    # Events

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        item = self.item_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and item is not None and item.isSelected():
            self.chosen.emit(item.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = list(self.items_by_key)
        place = keys.index(self._selected) if self._selected else -1
        match event.key():
            case Qt.Key.Key_Right | Qt.Key.Key_Down:
                place = min(place + 1, len(keys) - 1)
            case Qt.Key.Key_Left | Qt.Key.Key_Up:
                place = max(place - 1, 0)
            case Qt.Key.Key_Home:
                place = 0
            case Qt.Key.Key_End:
                place = len(keys) - 1
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Space:
                if self._selected:
                    self.chosen.emit(self._selected)
                return
            case _:
                event.ignore()
                return
        if keys:
            self.select(keys[place])

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll horizontally with the mouse wheel if the view cannot scroll vertically."""
        delta = event.angleDelta()
        if self.verticalScrollBar().maximum() or not delta.y() or delta.x():
            super().wheelEvent(event)
            return
        scroll_bar = self.horizontalScrollBar()
        scroll_bar.setValue(scroll_bar.value() - delta.y())
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        """Set the tooltip of the item under the pointer before it is shown."""
        if isinstance(event, QHelpEvent) and (item := self.item_at(event.pos())) is not None:
            item.setToolTip(tip(item.words()))
        return super().viewportEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.redraw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw for another size; ignore a change by a scroll bar alone, since redrawing could toggle it."""
        super().resizeEvent(event)
        if self.maximumViewportSize() != self._drawn_size:
            self._drawn_size = self.maximumViewportSize()
            self.redraw()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Draw the fixed content and the focus ring above the scrolled items."""
        painter.save()
        painter.resetTransform()
        self.draw_fixed(painter)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens().accent), 1))
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))
        painter.restore()

    def draw_fixed(self, painter: QPainter) -> None:
        """Draw content that does not scroll, in pixels of the viewport."""
