"""Compare in the window: the page of lanes in the centre, and what its columns and actions ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QInputDialog

from playground.domain.errors import RunRefusedError
from playground.engine.compare.export import columns_of
from playground.engine.compare.lanes import Lanes, LanesError
from playground.engine.files.export.lanes import Column, lanes_markdown, lanes_page, lanes_table
from playground.engine.io.whole_file import write_whole
from playground.engine.session.branching import system_text
from playground.engine.session.session import Session
from playground.ui.features.compare.page import LanesPage
from playground.ui.features.host import Host
from playground.ui.widgets.dialogs import ask_where, file_name, line_dialog
from playground.ui.widgets.loop import ask, spawn


class CompareControl(QObject):
    """``told`` is called with whether lanes are shown; ``settings`` brings forward the panel in which they are set."""

    def __init__(self, host: Host, told: Callable[[bool], None], settings: Callable[[], None]) -> None:
        super().__init__(host.window)
        self._host = host
        self._told = told
        self._settings = settings
        self.page: LanesPage | None = None
        host.pane.compare_asked.connect(self.add_alternatives)

    @property
    def on(self) -> bool:
        """Whether lanes are shown."""
        return self.page is not None

    @property
    def lanes(self) -> Lanes:
        """Those of the experiment looked at."""
        return self.page.lanes if self.page is not None else Lanes(self._host.session)

    def show(self, on: bool) -> None:
        """Show the lanes in place of the conversation alone, or that again; there are two at least."""
        if on == self.on:
            self._told(on)
            return
        if not on:
            self._leave()
            self._host.workspace.look_in(self._host.session.main)
        else:
            if len(self.lanes.all) == 1:
                self.lanes.add()
            self._open()
        self._told(on)
        self._host.pane.composer.setFocus()

    def show_session(self) -> None:
        """The experiment looked at is another one, or another lane of it."""
        page, session = self.page, self._host.session
        if page is None:
            return
        if page.lanes.all[0] is not session.main:
            self._leave()
            self._open()
        elif session in page.lanes.all:
            page.choose(session)

    def _open(self) -> None:
        host, gateways = self._host, self._host.workspace.gateways
        page = LanesPage(Lanes(host.session), host.pane, gateways.price, lambda key: gateways.get(key).name)
        self.page = page
        page.chosen.connect(host.workspace.look_in)
        page.made.connect(self._connect)
        page.arrange()
        host.pane.seat(page, page)

    def _leave(self) -> None:
        page, self.page = self.page, None
        if page is not None:
            page.leave()
            self._host.pane.seat(None)
            page.deleteLater()

    def _connect(self, lane: Session) -> None:
        """Let a column do what it is asked, and its pane pass on what the conversation's passes on."""
        if self.page is None:
            return
        column, main = self.page.column(lane), self._host.pane
        column.settings_asked.connect(partial(self._set, lane))
        column.copy_asked.connect(partial(self.add, lane))
        column.name_asked.connect(partial(self._ask_name, lane))
        column.system_asked.connect(partial(self._ask_system, lane))
        column.moved.connect(partial(self._move, lane))
        column.continue_asked.connect(partial(self._continue, lane))
        column.close_asked.connect(partial(self._close, lane))
        column.stop_asked.connect(lane.stop)
        pane = column.pane
        if pane is main:
            return
        for name in ("advice_asked", "compare_asked", "exchange_asked", "link_asked", "refused"):
            getattr(pane, name).connect(getattr(main, name))
        for name in ("frames_asked", "compare_asked", "lint_asked", "hole_asked"):
            getattr(pane.wire, name).connect(getattr(main.wire, name))
        for name in ("answers_asked", "rules_asked"):
            getattr(pane.calls, name).connect(getattr(main.calls, name))

    # Doing

    def _try(self, work: Callable[[], object]) -> bool:
        try:
            work()
        except (LanesError, RunRefusedError) as error:
            self._host.notice.say(str(error), stays=False)
            return False
        return True

    def add(self, like: Session | None = None) -> None:
        """One more lane: a copy of the one that has the focus."""
        if self._try(partial(self.lanes.add, like or self._host.session)):
            self.show(True)

    def add_models(self) -> None:
        """A lane for each of some models, asked for in one go."""
        spawn(self._ask_models(), name="add lanes")

    async def _ask_models(self) -> None:
        listed = self._host.workspace.gateways.listed(self._host.session.settings.profile_id)
        here = self._host.session.settings.model
        others = [model for model in (listed.ids if listed is not None else ()) if model != here]
        text = await self._ask_text("Add lanes", "One model a line", "\n".join(others[: self.lanes.free]), "Add")
        models = [line.strip() for line in text.splitlines() if line.strip()] if text is not None else []
        if models and self._try(partial(self.lanes.add_models, models, self._host.session)):
            self.show(True)

    def add_alternatives(self, turn_id: str = "") -> None:
        """What stands beside a turn as lanes; by default beside the one that has the focus, or the last."""
        pane, lanes = self._host.pane.front, self.lanes
        path = pane.session.transcript.path
        turn_id = turn_id or pane.view.focused_turn() or (path[-1].id if path else "")
        if not turn_id:
            return
        beside, others = len(pane.session.transcript.siblings(turn_id)), len(lanes.alternatives(turn_id))
        if beside > 1 and not others:  # all of them are lanes
            self.show(True)
        elif self._try(partial(lanes.add_alternatives, turn_id)):
            self.show(True)
            if left := len(lanes.alternatives(turn_id)):
                self._host.notice.say(
                    f"{beside - left:,} of the {beside:,} alternatives are lanes, those next to it. "
                    "‹ and › in a turn lead to the others."
                )

    def regenerate(self) -> None:
        """Ask again for the last answer in every ticked lane."""
        spawn(self._regenerate(self.lanes), name="regenerate lanes")

    async def _regenerate(self, lanes: Lanes) -> None:
        try:
            await lanes.regenerate()
        except RunRefusedError as error:
            self._host.notice.say(str(error))

    def scroll_together(self) -> None:
        """Have all lanes scroll with the one in front, turn by turn, or no longer."""
        if self.page is not None:
            self.page.together = not self.page.together
            words = "Lanes scroll together, turn by turn." if self.page.together else "Each lane scrolls by itself."
            self._host.notice.say(words, stays=False)

    def mark_differences(self) -> None:
        """Mark the words that lane A's answers do not have, or no longer."""
        if self.page is not None:
            self.page.mark_differences(not self.page.marking)
            on = "Words that lane A's answers do not have are marked."
            self._host.notice.say(on if self.page.marking else "No differences are marked any more.", stays=False)

    def stop_all(self) -> None:
        """End what is under way in every lane."""
        self.lanes.stop()

    # Taking away

    def _columns(self) -> list[Column]:
        gateways = self._host.workspace.gateways
        return columns_of(self.lanes, gateways.price, lambda key: gateways.get(key).name)

    def export(self) -> None:
        """Write the lanes as columns of a web page, or as Markdown."""
        spawn(self._export(), name="export lanes")

    async def _export(self) -> None:
        host, kinds = self._host, "Web page (*.html);;Markdown (*.md)"
        name = f"{file_name(host.session.title)}.html"
        path = await ask_where(host.window, "Export the lanes", name, kinds, "html")
        if path is None:
            return
        render = lanes_markdown if path.suffix.lower() == ".md" else lanes_page
        columns, known = self._columns(), host.workspace.gateways.keys.known()

        def save() -> None:
            write_whole(path, render(columns, known).encode("utf-8", "replace"))

        try:
            await asyncio.to_thread(save)
        except OSError as error:
            host.notice.say(f"{path} cannot be written: {error.strerror or error}.")
        else:
            host.notice.say(f"Exported to {path}. Keys are not in it.", stays=False)

    def copy_table(self) -> None:
        """Put what was asked and answered onto the clipboard, a lane a column."""
        text, html = lanes_table(self._columns(), self._host.workspace.gateways.keys.known())
        data = QMimeData()
        data.setText(text)
        data.setHtml(html)
        QGuiApplication.clipboard().setMimeData(data)
        self._host.notice.say("The lanes are copied as a table. Keys are not in it.", stays=False)

    def _set(self, lane: Session) -> None:
        if self.page is not None:
            self.page.choose(lane)
        self._settings()

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
        spawn(self._name(lane), name="name a lane")

    async def _name(self, lane: Session) -> None:
        variant = self.lanes.variant(lane)
        dialog = line_dialog(self._host.window, "Name the lane", "Name", variant.name if variant else "", "Name")
        if await ask(dialog):
            self._try(partial(self.lanes.rename, lane, dialog.textValue()))
        dialog.deleteLater()

    def _ask_system(self, lane: Session) -> None:
        spawn(self._system(lane), name="system turn of a lane")

    async def _system(self, lane: Session) -> None:
        before = system_text(lane.transcript)
        text = await self._ask_text(
            "System turn of the lane", "It begins a branch of its own, up to the first answer", before, "Use"
        )
        if text is not None and text != before:
            there = system_text(lane.main.transcript)
            self._try(partial(self.lanes.set_system, lane, text if text != there else None))

    async def _ask_text(self, title: str, label: str, text: str, does: str) -> str | None:
        dialog = line_dialog(self._host.window, title, label, "", does)
        dialog.setOption(QInputDialog.InputDialogOption.UsePlainTextEditForTextInput)
        dialog.setTextValue(text)
        found = dialog.textValue() if await ask(dialog) else None
        dialog.deleteLater()
        return found
