"""The trash in the window: its count at the foot of the list, its page, its questions."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from playground.engine.library.store import StoreError
from playground.ui.features.experiments.panel import ExperimentsPanel
from playground.ui.features.host import Control, Host
from playground.ui.widgets.dialogs import agreed
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import short_title

if TYPE_CHECKING:
    from playground.ui.features.experiments.trash_page import TrashPage

REFRESH_MS = 100


class TrashControl(Control):
    """``show`` opens an experiment."""

    def __init__(self, host: Host, panel: ExperimentsPanel, show: Callable[[str], None]) -> None:
        super().__init__(host)
        self._show = show
        self._panel = panel
        self.page: TrashPage | None = None
        self._soon = Throttle(self.refresh, self, interval=REFRESH_MS)
        self._panel.trash_asked.connect(self.open)
        host.workspace.subscribe(self._soon.poke)
        self.refresh()

    def refresh(self) -> None:
        """Show what is in the trash now."""
        deleted = self._workspace.trash
        self._panel.set_trash(len(deleted))
        if self.page is not None:
            self.page.show_deleted(deleted, self._workspace.days_deleted)
            if self.page.words and self.page.isVisible():
                self._search()

    def open(self) -> None:
        """Show the trash in the place of the list."""
        if self.page is None:
            from playground.ui.features.experiments.trash_page import TrashPage

            self.page = TrashPage()
            self.page.left.connect(self._leave)
            self.page.restored.connect(self.restore)
            self.page.erased.connect(self.erase)
            self.page.emptied.connect(self.empty)
            self.page.searched.connect(self._search)
        self._host.show_list()
        self._panel.show_page(self.page)
        self.page.list.setFocus()
        self.refresh()
        spawn(self._look(), name="look through the trash")

    async def _look(self) -> None:
        try:
            await self._workspace.look_through_trash()
        except StoreError as error:
            self._host.notice.say(str(error))

    def _leave(self) -> None:
        self._panel.show_page(None)
        self._panel.list.setFocus()

    def _search(self) -> None:
        if self.page is not None and self.page.words:
            spawn(self._find(self.page, self.page.words), name="search the trash")

    async def _find(self, page: TrashPage, words: str) -> None:
        try:
            found = await self._workspace.find_deleted(words)
        except StoreError as error:
            self._host.notice.say(str(error))
            return
        if page.words == words:  # else somebody has typed on meanwhile
            page.show_found(found)

    # What a person does

    def restore(self, ids: Collection[str]) -> None:
        """Bring experiments back; a single one is shown."""
        what = self._named(ids)
        self._workspace.put_back(ids)
        if len(ids) == 1:
            self._show(next(iter(ids)))
        self._host.notice.say(f"{what} {'is' if len(ids) == 1 else 'are'} back in the list.", stays=False)

    def erase(self, ids: Collection[str]) -> None:
        """Let experiments go for good, after a question."""
        spawn(self._erase(ids, f"Delete {self._named(ids)} for good?", "Delete for good"), name="delete for good")

    def empty(self) -> None:
        """Let all of them go for good, after a question."""
        ids = [one.experiment.id for one in self._workspace.trash]
        if ids:
            spawn(self._erase(ids, f"Delete {self._named(ids)} for good?", "Empty trash"), name="empty the trash")

    async def _erase(self, ids: Collection[str], question: str, does: str) -> None:
        more = "Nothing brings this back: conversations, settings and bodies are gone."
        if await agreed(self._host.window, f"{does}?", question, more, does):
            self._workspace.erase(ids)

    def _named(self, ids: Collection[str]) -> str:
        """The title of one, or how many there are."""
        if len(ids) != 1:
            return f"{len(ids)} experiments"
        titles = {one.experiment.id: one.experiment.title for one in self._workspace.trash}
        return f"“{short_title(titles.get(next(iter(ids)), ''))}”"
