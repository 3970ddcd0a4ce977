"""Controller of Compare: shows the page of lanes in the centre and runs the actions of its columns and menus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget

from playground.domain.errors import RunRefusedError
from playground.engine.compare.differences import last_request
from playground.engine.gateways.redaction import write_output
from playground.engine.session.branching import system_text
from playground.engine.session.session import Session
from playground.engine.session.variants import MOST_LANES
from playground.ui.features.compare.bar import LanesBar
from playground.ui.features.host import Host
from playground.ui.features.inspector.inspector import Place
from playground.ui.widgets.dialogs import MARGINS, ask_where, file_name, line_dialog
from playground.ui.widgets.form_parts import push_button, text_label
from playground.ui.widgets.growing_field import GrowingField
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import ask, spawn
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.engine.compare.lanes import Lanes
    from playground.engine.files.export.markdown import Column
    from playground.engine.files.presets import Preset
    from playground.ui.features.compare.page import LanesPage

SYSTEM_LINES, SYSTEM_WIDTH = 16, 480  # lines and pixels of the field for a system message


@dataclass(frozen=True, slots=True)
class Around:
    """Callbacks and menus of the window for the focused lane. ``menus`` choose its gateway and its protocol."""

    show: Callable[[QWidget | None], None]  # shows a widget in the tool bar while lanes are shown; None hides it
    name_lane: Callable[[str], None]  # names the lane that panels and the inspector show; "" outside Compare
    pick_with: Callable[[ModelPicker | None], None]  # sets the picker of its model; None for the one in the tool bar
    load_models: Callable[[], None]
    menus: Sequence[QMenu]
    presets: Callable[[], Sequence[Preset]]
    save_preset: Callable[[], None]
    show_settings: Callable[[], None]


class CompareControl(QObject):
    """Switches between lanes and the single conversation, and runs actions on one lane or on all lanes."""

    def __init__(self, host: Host, around: Around) -> None:
        super().__init__(host.window)
        self._host = host
        self._around = around
        self._bar = LanesBar()
        self._bar.setParent(host.window)
        self._bar.hide()
        self._bar.list_asked.connect(host.show_list)
        self._bar.together_set.connect(self._set_together)
        self._bar.marking_set.connect(self._set_marking)
        self._bar.menu.aboutToShow.connect(self._fill_menu)
        self.page: LanesPage | None = None
        host.pane.compare_asked.connect(self.add_alternatives)

    @property
    def on(self) -> bool:
        """True while lanes are shown."""
        return self.page is not None

    @property
    def lanes(self) -> Lanes:
        """Lanes of the current experiment."""
        from playground.engine.compare.lanes import Lanes

        return self.page.lanes if self.page is not None else Lanes(self._host.session)

    def show(self, on: bool) -> None:
        """Show lanes, adding a second one if needed, or show the single conversation again."""
        if on != self.on:
            if not on:
                self.leave()
            else:
                if len(self.lanes.all) == 1:
                    self.lanes.add()
                self._open()
        self._around.show(self._bar if on else None)
        self._host.pane.composer.setFocus()

    def show_session(self) -> None:
        """Follow a change of the current experiment or of its current lane."""
        page, session = self.page, self._host.session
        if page is None:
            return
        if page.lanes.all[0] is not session.main:
            self._end(page)
            self._open()
        elif session in page.lanes.all:
            page.choose(session)
            self._name_lane()
            self._around.pick_with(page.column(session).model)

    def _open(self) -> None:
        from playground.engine.compare.lanes import Lanes
        from playground.ui.features.compare.page import LanesPage

        host, gateways = self._host, self._host.workspace.gateways
        lanes = Lanes(host.session)
        page = LanesPage(lanes, host.pane, gateways.price, lambda key: gateways.get(key).name, self._around.menus)
        self.page = page
        page.chosen.connect(host.workspace.look_in)
        page.column_added.connect(self._connect)
        page.lanes_changed.connect(self._show_bar)
        page.answers_completed.connect(self._refresh_exchange)
        page.arrange()
        host.pane.set_central(page, page)
        self._around.pick_with(page.column(page.front_lane).model)

    def leave(self) -> None:
        """Close the page of lanes before another page takes its place."""
        if (page := self.page) is not None:
            self._end(page)
            self._host.pane.set_central(None)
            self._host.workspace.look_in(self._host.session.main)

    def _end(self, page: LanesPage) -> None:
        focus = QApplication.focusWidget()
        if focus is not None and page.isAncestorOf(focus):
            focus.clearFocus()  # Otherwise Qt moves the focus through widgets that are being deleted.
        self.page = None
        self._around.name_lane("")
        self._around.pick_with(None)
        page.leave()
        page.hide()
        page.deleteLater()

    def _show_bar(self) -> None:
        page, lanes = self.page, self.lanes
        if page is not None:
            full = "" if lanes.free else f"There can be {MOST_LANES} lanes at most. Close one first."
            title = self._host.session.main.title
            self._bar.show_lanes(title, len(lanes.all), together=page.together, marking=page.marking, full=full)
            self._name_lane()

    def _name_lane(self) -> None:
        page, lanes = self.page, self.lanes
        if page is not None and page.front_lane in lanes.all:
            self._around.name_lane(lanes.title(page.front_lane))

    def _connect(self, lane: Session) -> None:
        """Connect the actions of a column, and forward the signals of its pane to the main pane."""
        if self.page is None:
            return
        column, main = self.page.column(lane), self._host.pane
        handlers: dict[str, Callable[[], object]] = {
            "settings": self._around.show_settings,
            "preset": self._around.save_preset,
            "copy": partial(self.add, lane),
            "name": partial(self._ask_name, lane),
            "system": partial(self._ask_system, lane),
            "left": partial(self._move, lane, -1),
            "right": partial(self._move, lane, 1),
            "again": column.pane.retry_last,
            "all_again": self.regenerate,
            "timeline": partial(self._host.show_page, Place.TIMELINE),
            "go_on": partial(self._continue, lane),
            "close": partial(self._close, lane),
            "stop": lane.stop,
            "request": partial(self._show_request, lane),
        }
        column.action_requested.connect(partial(self._run_action, lane, handlers))
        column.model.chosen.connect(partial(self._set_model, lane))
        column.model.refresh_asked.connect(self._around.load_models)
        pane = column.pane
        if pane is main:
            return
        for name in ("advice_asked", "case_asked", "compare_asked", "exchange_asked", "link_asked", "refused"):
            getattr(pane, name).connect(getattr(main, name))
        for name in ("frames_asked", "messages_asked", "compare_asked", "lint_asked", "hole_asked"):
            getattr(pane.commands, name).connect(getattr(main.commands, name))
        for name in ("answers_asked", "rules_asked"):
            getattr(pane.calls, name).connect(getattr(main.calls, name))

    def _run_action(self, lane: Session, handlers: Mapping[str, Callable[[], object]], name: str) -> None:
        if self.page is not None:
            self.page.choose(lane)
            handlers[name]()

    def _set_model(self, lane: Session, model: str) -> None:
        self._host.workspace.keep_current()
        lane.change(model=model)

    # Actions

    def _try(self, work: Callable[[], object]) -> bool:
        from playground.engine.compare.lanes import LanesError
        from playground.engine.files.presets import PresetError

        try:
            work()
        except (LanesError, PresetError, RunRefusedError) as error:
            self._host.notice.say(str(error), stays=False)
            return False
        return True

    def add(self, like: Session | None = None, _checked: bool = False) -> None:
        """Add a copy of a lane, by default of the focused one."""
        if self._try(partial(self.lanes.add, like or self._host.session)):
            self.show(True)

    def _fill_menu(self) -> None:
        menu = self._bar.menu
        menu.clear()
        menu.addAction("Copy of this lane").triggered.connect(partial(self.add, None))
        presets = menu.addMenu("From a preset")
        for preset in self._around.presets():
            action = presets.addAction(show_hidden(preset.name).replace("&", "&&"))
            action.triggered.connect(partial(self._add_preset, preset))
        presets.setEnabled(not presets.isEmpty())
        menu.addAction("Other models…").triggered.connect(self.add_models)
        menu.addAction("This message's alternatives").triggered.connect(partial(self.add_alternatives, ""))

    def _add_preset(self, preset: Preset, _checked: bool = False) -> None:
        if self._try(partial(self.lanes.add_preset, preset, self._host.session)):
            self.show(True)

    def add_models(self) -> None:
        """Let the user choose several models and add a lane for each."""
        spawn(self._ask_models(), name="add lanes")

    async def _ask_models(self) -> None:
        from playground.ui.widgets.models_dialog import ModelsDialog

        host, gateways, settings = self._host, self._host.workspace.gateways, self._host.session.settings
        with suppress(RunRefusedError, OSError):  # Models can still be typed.
            await gateways.models(settings.profile_id, settings.protocol)
        dialog = ModelsDialog(gateways.catalog(settings.profile_id), self.lanes.free, host.window)
        dialog.picked.connect(self._add_models)
        dialog.open()

    def _add_models(self, models: list[str]) -> None:
        if self._try(partial(self.lanes.add_models, models, self._host.session)):
            self.show(True)

    def add_alternatives(self, turn_id: str = "", _checked: bool = False) -> None:
        """Add the alternatives of a turn as lanes; by default of the focused turn, or of the last one."""
        pane, lanes = self._host.pane.front, self.lanes
        path = pane.session.transcript.path
        turn_id = turn_id or pane.view.focused_turn() or (path[-1].id if path else "")
        if not turn_id:
            return
        alternatives, missing = len(pane.session.transcript.siblings(turn_id)), len(lanes.alternatives(turn_id))
        if alternatives > 1 and not missing:  # All alternatives are lanes already.
            self.show(True)
        elif self._try(partial(lanes.add_alternatives, turn_id)):
            self.show(True)
            if remaining := len(lanes.alternatives(turn_id)):
                self._host.notice.say(
                    f"{alternatives - remaining:,} of the {alternatives:,} alternatives are lanes, those next to it. "
                    "‹ and › in a message, and its menu, lead to the others."
                )

    def regenerate(self) -> None:
        """Regenerate the last answer of every ticked lane."""
        spawn(self._regenerate(self.lanes), name="regenerate lanes")

    async def _regenerate(self, lanes: Lanes) -> None:
        try:
            await lanes.regenerate()
        except RunRefusedError as error:
            self._host.notice.say(str(error))

    def scroll_together(self) -> None:
        """Toggle whether all lanes scroll with the focused one, turn by turn."""
        self._bar.together.toggle()

    def _set_together(self, on: bool) -> None:
        if self.page is not None:
            self.page.together = on

    def _refresh_exchange(self) -> None:
        """Show the exchange again: the inspector then pairs it with the new exchanges of the other lanes."""
        if self._host.exchange():
            self._host.show_exchange(self._host.exchange())

    def _show_request(self, lane: Session) -> None:
        """Show how a lane's last request differs from lane A's."""
        if self.page is not None:
            self.page.choose(lane)
            self._host.show_exchange(last_request(lane))
            self._host.show_page(Place.COMPARE)
            self._host.inspector.request.compare.choose_lane_a()

    def mark_differences(self) -> None:
        """Toggle the highlighting of differences from lane A."""
        self._bar.mark.toggle()

    def _set_marking(self, on: bool) -> None:
        if self.page is not None:
            self.page.mark_differences(on)

    def go(self, by: int) -> None:
        """Move the focus ``by`` lanes to the right; negative values move it to the left."""
        if self.page is not None:
            self.page.step(by)

    def move(self, by: int) -> None:
        """Move the focused lane ``by`` places to the right; negative values move it to the left."""
        if self.page is not None:
            self._move(self.page.front_lane, by)

    def stop_all(self) -> None:
        """Stop the runs of all lanes."""
        self.lanes.stop()

    # Export

    def _columns(self) -> list[Column]:
        from playground.engine.compare.words import columns_of

        gateways = self._host.workspace.gateways
        return columns_of(self.lanes, gateways.price, lambda key: gateways.get(key).name)

    def export(self) -> None:
        """Export the lanes as columns of a web page, or as Markdown."""
        spawn(self._export(), name="export lanes")

    async def _export(self) -> None:
        from playground.engine.files.export.markdown import lanes_markdown, lanes_page

        host, kinds = self._host, "Web page (*.html);;Markdown (*.md)"
        name = f"{file_name(host.session.title)}.html"
        path = await ask_where(host.window, "Export the lanes", name, kinds, "html")
        if path is None:
            return
        render = lanes_markdown if path.suffix.lower() == ".md" else lanes_page
        columns, secrets = self._columns(), host.workspace.gateways.keys.known_secrets()

        def save() -> None:
            write_output(path, render(columns, secrets), secrets)

        try:
            await asyncio.to_thread(save)
        except OSError as error:
            host.notice.say(f"{path} cannot be written: {error.strerror or error}.")
        else:
            host.notice.say(f"Exported to {path}. Keys are not in it.", stays=False)

    def copy_table(self) -> None:
        """Copy the messages of all lanes to the clipboard as a table with one column per lane."""
        from playground.engine.files.export.markdown import lanes_table

        text, html = lanes_table(self._columns(), self._host.workspace.gateways.keys.known_secrets())
        data = QMimeData()
        data.setText(text)
        data.setHtml(html)
        QGuiApplication.clipboard().setMimeData(data)
        self._host.notice.say("The lanes are copied as a table. Keys are not in it.", stays=False)

    def _move(self, lane: Session, step: int) -> None:
        place = self.lanes.all.index(lane)
        self._try(partial(self.lanes.move, lane, place + step))

    def _continue(self, lane: Session) -> None:
        if self._try(partial(self.lanes.continue_with, lane)):
            self._host.notice.say("This lane is the conversation now.", "Undo", self._host.pane.undo, stays=False)

    def _close(self, lane: Session) -> None:
        title = self.lanes.title(lane)
        if self._try(partial(self.lanes.close, lane)):
            self._host.notice.say(f"Lane {title} closed.", "Undo", self._host.pane.undo, stays=False)

    def _ask_name(self, lane: Session) -> None:
        spawn(self._run_name_dialog(lane), name="name a lane")

    async def _run_name_dialog(self, lane: Session) -> None:
        variant = self.lanes.variant(lane)
        dialog = line_dialog(self._host.window, "Name the lane", "Name", variant.name if variant else "", "Name")
        if await ask(dialog):
            self._try(partial(self.lanes.rename, lane, dialog.textValue()))
        dialog.deleteLater()

    def _ask_system(self, lane: Session) -> None:
        spawn(self._run_system_dialog(lane), name="system turn of a lane")

    async def _run_system_dialog(self, lane: Session) -> None:
        before = system_text(lane.transcript)
        dialog, field = QDialog(self._host.window), GrowingField(most=SYSTEM_LINES)
        dialog.setWindowTitle("System message of the lane")
        field.setAccessibleName("System message")
        field.setMinimumWidth(SYSTEM_WIDTH)
        field.set_text(before)
        use, cancel = push_button("Use", "primary"), push_button("Cancel")
        use.setDefault(True)
        use.clicked.connect(dialog.accept)
        cancel.clicked.connect(dialog.reject)
        note = text_label("Starts a branch of its own, up to the first answer.", "small")
        in_column(field, note, in_row(1, cancel, use, spacing=8), parent=dialog, margins=MARGINS, spacing=10)
        if await ask(dialog) and (text := field.text()) != before:
            main_text = system_text(lane.main.transcript)
            self._try(partial(self.lanes.set_system, lane, text if text != main_text else None))
        dialog.deleteLater()
