"""Controllers of the list of experiments: the list follows the workspace, and its actions change the workspace."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from playground.engine.library.experiment_summary import ExperimentSummary
from playground.engine.library.store import Filters, SearchResult, StoreError
from playground.engine.session.changes import Change, TitleChanged
from playground.engine.session.drafts import TITLE, OpenEdit
from playground.ui.features.experiments.panel import ARCHIVE, DELETE, DUPLICATE, PIN, RENAME, ExperimentsPanel
from playground.ui.features.host import Control, Host
from playground.ui.widgets import dialogs
from playground.ui.widgets.dialogs import agreed
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.plain_text import short_title

if TYPE_CHECKING:
    from playground.ui.features.experiments.trash_page import TrashPage

REFRESH_MS = 100


class TrashControl(Control):
    """Controller of the trash. ``show`` opens an experiment by its id."""

    def __init__(self, host: Host, panel: ExperimentsPanel, show: Callable[[str], None]) -> None:
        super().__init__(host)
        self._show = show
        self._panel = panel
        self.page: TrashPage | None = None
        self._refresh_soon = Throttle(self.refresh, self, interval=REFRESH_MS)
        self._panel.trash_asked.connect(self.open)
        host.workspace.subscribe(self._refresh_soon.poke)
        self.refresh()

    def refresh(self) -> None:
        """Update the page and the button from the trash of the workspace."""
        deleted = self._workspace.trash
        self._panel.set_trash(len(deleted))
        if self.page is not None:
            self.page.show_deleted(deleted, self._workspace.days_deleted)
            if self.page.words and self.page.isVisible():
                self._search()

    def open(self) -> None:
        """Show the trash instead of the list."""
        if self.page is None:
            from playground.ui.features.experiments.trash_page import TrashPage

            self.page = TrashPage()
            self.page.back_requested.connect(self._leave)
            self.page.restored.connect(self.restore)
            self.page.erased.connect(self.erase)
            self.page.emptied.connect(self.empty)
            self.page.searched.connect(self._search)
        self._host.show_list()
        self._panel.show_page(self.page)
        self.page.list.setFocus()
        self.refresh()
        spawn(self._scan_trash(), name="look through the trash")

    async def _scan_trash(self) -> None:
        try:
            await self._workspace.look_through_trash()
        except StoreError as error:
            self._say(str(error))

    def _leave(self) -> None:
        self._panel.show_page(None)
        self._panel.list.setFocus()

    def _search(self) -> None:
        if self.page is not None and self.page.words:
            spawn(self._find(self.page, self.page.words), name="search the trash")

    async def _find(self, page: TrashPage, words: str) -> None:
        try:
            results = await self._workspace.find_deleted(words)
        except StoreError as error:
            self._say(str(error))
            return
        if page.words == words:  # The search text may have changed meanwhile.
            page.show_results(results)

    # Actions

    def restore(self, ids: Collection[str]) -> None:
        """Restore experiments; if there is only one, show it."""
        subject = self._describe(ids)
        self._workspace.put_back(ids)
        if len(ids) == 1:
            self._show(next(iter(ids)))
        self._say(f"{subject} {'is' if len(ids) == 1 else 'are'} back in the list.", stays=False)

    def erase(self, ids: Collection[str]) -> None:
        """Delete experiments for good after a confirmation."""
        spawn(self._erase(ids, f"Delete {self._describe(ids)} for good?", "Delete for good"), name="delete for good")

    def empty(self) -> None:
        """Delete all experiments in the trash for good after a confirmation."""
        ids = [deleted.experiment.id for deleted in self._workspace.trash]
        if ids:
            spawn(self._erase(ids, f"Delete {self._describe(ids)} for good?", "Empty trash"), name="empty the trash")

    async def _erase(self, ids: Collection[str], question: str, button: str) -> None:
        details = "Nothing brings this back: conversations, settings and bodies are gone."
        if await agreed(self._host.window, f"{button}?", question, details, button):
            self._workspace.erase(ids)

    def _describe(self, ids: Collection[str]) -> str:
        """Return the title of a single experiment, or the number of several."""
        if len(ids) != 1:
            return f"{len(ids)} experiments"
        titles = {deleted.experiment.id: deleted.experiment.title for deleted in self._workspace.trash}
        return f"“{short_title(titles.get(next(iter(ids)), ''))}”"


class ExperimentsControl(Control):
    """Controller of the list of experiments of a window, with that of the trash as ``trash``."""

    def __init__(self, host: Host, panel: ExperimentsPanel) -> None:
        super().__init__(host)
        self._panel = panel
        self._subscriptions: dict[str, Callable[[], None]] = {}
        self._refresh_soon = Throttle(self.refresh, self, interval=REFRESH_MS)
        self._search_again = Throttle(self._search, self, interval=1000)
        panel.new_asked.connect(self.new)
        panel.opened.connect(self.open)
        panel.action_requested.connect(self._run_action)
        panel.renamed.connect(self._renamed)
        panel.typing.connect(self._typing)
        panel.typed.connect(self._typed)
        panel.became_visible.connect(self._refresh_soon.poke)  # resumes an unfinished edit of a title
        panel.searched.connect(self._search)
        panel.leave_requested.connect(host.pane.composer.setFocus)
        self._handlers: dict[str, Callable[[str], None]] = {
            RENAME: self.rename,
            DELETE: self.delete,
            DUPLICATE: self.duplicate,
            PIN: self.pin,
            ARCHIVE: self.archive,
        }
        host.workspace.subscribe(self._changed)
        self._changed()
        self.trash = TrashControl(host, panel, self.open)

    # Following the workspace

    def _changed(self) -> None:
        sessions = {session.id: session for session in self._workspace.sessions}
        for closed_id in self._subscriptions.keys() - sessions.keys():
            self._subscriptions.pop(closed_id)()
        for new_id in sessions.keys() - self._subscriptions.keys():
            self._subscriptions[new_id] = sessions[new_id].subscribe(self._session_changed, TitleChanged)
        self._refresh_soon.poke()

    def _session_changed(self, _change: Change) -> None:
        self._refresh_soon.poke()

    def refresh(self) -> None:
        """Update the list from the workspace."""
        self._panel.set_opening(not self._workspace.listed)
        placeholder_id = self._workspace.stand_in
        experiments = [experiment for experiment in self._workspace.experiments if experiment.id != placeholder_id]
        self._panel.show_experiments(experiments, self._workspace.current.id)
        if self._panel.words:
            self._search_again.poke()
        edit = self._workspace.current.editors.open.get(TITLE)
        if edit is not None and self._panel.isVisible() and not self._panel.list.editing:
            self._panel.begin_rename(self._workspace.current.id, edit.text)

    def _search(self) -> None:
        words = self._panel.words
        if words:
            spawn(self._find(words, self._panel.filters), name="search")

    async def _find(self, words: str, filters: Filters) -> None:
        results: list[SearchResult]
        try:
            results = await self._workspace.find(words, filters)
        except StoreError as error:
            self._say(str(error))
            return
        if (self._panel.words, self._panel.filters) == (words, filters):  # They may have changed meanwhile.
            self._panel.show_results(results)

    # Actions

    def look_for(self) -> None:
        """Go to the search field of the list."""
        self._host.show_list()
        self._panel.look_for()

    def new(self) -> None:
        """Create an empty experiment and focus its composer."""
        self._workspace.new()
        self._host.pane.composer.setFocus()

    def open(self, experiment_id: str, turn_id: str = "") -> None:
        """Show an experiment, and scroll to a turn if an id is passed."""
        spawn(self._open(experiment_id, turn_id), name="open experiment")

    async def _open(self, experiment_id: str, turn_id: str) -> None:
        try:
            session = await self._workspace.show(experiment_id)
        except KeyError:
            return  # It was deleted meanwhile.
        except StoreError as error:
            self._say(str(error))
            self._panel.refresh()
            return
        if turn_id and self._workspace.current is session:
            self._host.pane.show_turn(turn_id)

    def _run_action(self, action: str, experiment_id: str) -> None:
        self._handlers[action](experiment_id)

    @property
    def current(self) -> str:
        """The id of the current experiment."""
        return self._workspace.current.id

    def rename(self, experiment_id: str) -> None:
        """Edit a title in the list if the list shows it, otherwise in a dialog."""
        self.refresh()
        if self._panel.isVisible() and self._panel.begin_rename(experiment_id):
            return
        session = next((candidate for candidate in self._workspace.sessions if candidate.id == experiment_id), None)
        if session is not None:
            spawn(dialogs.rename(self._host.window, session), name="rename")

    def _typing(self, experiment_id: str, title: str) -> None:
        """Store the unfinished title with its experiment until the edit is saved or cancelled."""
        for session in self._workspace.sessions:
            if session.id == experiment_id:
                session.editors.set_editing(OpenEdit(turn=TITLE.turn, what=TITLE.what, text=title))

    def _typed(self) -> None:
        for session in self._workspace.sessions:
            session.editors.end_editing(TITLE)

    def _renamed(self, experiment_id: str, title: str) -> None:
        spawn(self._rename(experiment_id, title), name="rename")

    async def _rename(self, experiment_id: str, title: str) -> None:
        try:
            await self._workspace.rename(experiment_id, title)
        except KeyError:
            return
        except StoreError as error:
            self._say(str(error))
        self._refresh_soon.poke()

    def delete(self, experiment_id: str) -> None:
        """Move an experiment to the trash, with a notice that offers to undo it."""
        title = self._title(experiment_id)
        self._workspace.delete(experiment_id)
        in_trash = any(deleted.experiment.id == experiment_id for deleted in self._workspace.trash)
        words = f"“{title}” is in the trash." if in_trash else f"“{title}” deleted."
        self._say(words, "Undo", self.undelete, stays=False)

    def undelete(self) -> None:
        """Restore the experiment that was deleted last, and show it."""
        experiment = self._workspace.undelete()
        if experiment is not None:
            self.open(experiment.id)
            self._say(f"“{short_title(experiment.title)}” is back.", stays=False)

    def duplicate(self, experiment_id: str) -> None:
        """Duplicate an experiment and show the copy."""
        spawn(self._duplicate(experiment_id), name="duplicate")

    async def _duplicate(self, experiment_id: str) -> None:
        try:
            copy = await self._workspace.duplicate(experiment_id)
        except KeyError:
            return
        except StoreError as error:
            self._say(str(error))
            return
        self._say(f"This is the copy, “{short_title(copy.title)}”.", stays=False)

    def pin(self, experiment_id: str) -> None:
        """Pin an experiment to the top of the list, or unpin it."""
        experiment = self._summary_of(experiment_id)
        if experiment is not None:
            self._workspace.pin(experiment_id, not experiment.pinned)

    def archive(self, experiment_id: str) -> None:
        """Archive or unarchive an experiment, with a notice that offers to undo it."""
        experiment = self._summary_of(experiment_id)
        if experiment is None:
            return
        self._workspace.archive(experiment_id, not experiment.archived)
        title = self._title(experiment_id)
        done = "is back in the list." if experiment.archived else "archived. The filter shows it."
        undo = partial(self._workspace.archive, experiment_id, experiment.archived)
        self._say(f"“{title}” {done}", "Undo", undo, stays=False)

    def _summary_of(self, experiment_id: str) -> ExperimentSummary | None:
        return next((experiment for experiment in self._workspace.experiments if experiment.id == experiment_id), None)

    def _title(self, experiment_id: str) -> str:
        experiment = self._summary_of(experiment_id)
        return short_title(experiment.title) if experiment is not None else ""
