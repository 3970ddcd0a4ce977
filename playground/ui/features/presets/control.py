"""Presets in the main window: read when they are first needed, written on another thread, used in one click."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from playground.ui.features.host import Control, Host
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.palette import Entry, Palette

if TYPE_CHECKING:
    from playground.engine.files.presets import Preset, PresetStore
    from playground.ui.features.presets.preset_bar import PresetBar
    from playground.ui.features.presets.presets_dialog import PresetsDialog

Work = Callable[[], object]


class PresetControl(Control):
    """``make_store`` gives the presets; it reads a small file."""

    def __init__(self, host: Host, bar: PresetBar, make_store: Callable[[], PresetStore]) -> None:
        super().__init__(host)
        self._make_store = make_store
        self._store: PresetStore | None = None
        self._dialog: PresetsDialog | None = None
        self._deleted: list[tuple[int, Preset]] = []
        self._writing = asyncio.Lock()
        self._bar = bar
        bar.menu.aboutToShow.connect(self._fill_menu)
        bar.chosen.connect(self.use)
        bar.save_asked.connect(self.save)
        bar.edit_asked.connect(self.look)

    @property
    def store(self) -> PresetStore:
        """The presets; what could not be read is said once."""
        if self._store is None:
            self._store = self._make_store()
            if self._store.messages:
                self._say(" ".join(self._store.messages))
        return self._store

    # Using

    def choose(self) -> None:
        """Choose a preset by typing."""
        presets = self.store.presets
        if not presets:
            self._say("There are no presets yet. Set an experiment up and save it as a preset.", "Save…", self.save)
            return
        entries = [Entry(preset.name, "", partial(self.use, preset.id)) for preset in presets]
        Palette(entries, "Use a preset", self._host.window).open_over()

    def entries(self) -> list[Entry]:
        """The presets for the command palette."""
        return [Entry(preset.name, "preset", partial(self.use, preset.id)) for preset in self.store.presets]

    def use(self, preset_id: str) -> None:
        """Set what is in a preset in the experiment looked at; one undo takes it back."""
        from playground.engine.files.presets import PresetError, apply

        preset, session, pane = self.store.get(preset_id), self._workspace.current, self._host.pane
        if preset is None:
            return
        offered = [tool.offer for tool in session.settings.tools if tool.sendable]
        done: list[bool] = []
        pane.notice.hide()
        try:
            pane.edit_by_hand(lambda: done.append(apply(session, preset)))
        except PresetError as error:
            self._say(str(error))
            return
        if [tool.offer for tool in session.settings.tools if tool.sendable] != offered:
            pane.tools_changed()
        if not any(done):
            self._say(f"All of “{preset.name}” is set already.", stays=False)
        elif pane.notice.isHidden():  # what was said about thinking is more important
            self._say(f"“{preset.name}” is set.", "Undo", pane.undo, stays=False)

    def _fill_menu(self) -> None:
        from playground.engine.files.presets import fits

        session, presets = self._workspace.current, self.store.presets
        fitting = frozenset(preset.id for preset in presets if fits(session, preset))
        self._bar.show_presets(presets, fitting)

    # Keeping

    def save(self) -> None:
        """Ask for a name, and keep what is set now."""
        from playground.engine.files.presets import from_session
        from playground.ui.features.presets.save_dialog import SavePresetDialog

        session, store = self._workspace.current, self.store

        def make(name: str, with_model: bool) -> Preset:
            return from_session(session, name, with_model=with_model)

        dialog = SavePresetDialog(make, store.named, session.settings.model, self._host.window)
        dialog.saved.connect(self._keep)
        dialog.open()
        dialog.name.setFocus()

    def _keep(self, preset: Preset) -> None:
        before = self.store.get(preset.id)
        words = f"Preset “{preset.name}” {'saved' if before is None else 'replaced'}."
        back = partial(self._put_back, before) if before is not None else None
        self._write(partial(self.store.put, preset), partial(self._kept, words, back))

    def _put_back(self, preset: Preset) -> None:
        self._write(partial(self.store.put, preset))

    def _kept(self, words: str, back: Work | None) -> None:
        if back is not None:
            self._say(words, "Undo", partial(_call, back), stays=False)
        else:
            self._say(words, stays=False)

    # Looking after them

    def look(self) -> None:
        """Open the presets to look at, rename, replace, move and delete."""
        from playground.ui.features.presets.presets_dialog import PresetsDialog

        if not self.store.presets:
            self.choose()
            return
        dialog = self._dialog = PresetsDialog(self._host.window)
        self._deleted.clear()
        dialog.applied.connect(self.use)
        dialog.renamed.connect(self._rename)
        dialog.overwritten.connect(self._overwrite)
        dialog.deleted.connect(self._delete)
        dialog.undone.connect(self._undelete)
        dialog.moved.connect(self._move)
        dialog.finished.connect(self._closed)
        dialog.show_presets(self.store.presets)
        dialog.open()

    def _closed(self) -> None:
        self._dialog = None

    def _rename(self, preset_id: str, name: str) -> None:
        preset, other = self.store.get(preset_id), self.store.named(name)
        if preset is None:
            return
        if other is not None and other.id != preset_id:
            self._show(f"There is a preset “{name}” already.")
            return
        self._write(partial(self.store.put, preset.model_copy(update={"name": name})), self._show)

    def _overwrite(self, preset_id: str) -> None:
        from playground.engine.files.presets import from_session

        before = self.store.get(preset_id)
        if before is None:
            return
        made = from_session(self._workspace.current, before.name, with_model=before.switches)
        made = made.model_copy(update={"id": preset_id, **(before.model_extra or {})})
        self._deleted.append((-1, before))
        said = partial(self._show, f"“{before.name}” holds what is set now.", undo=True)
        self._write(partial(self.store.put, made), said)

    def _delete(self, preset_id: str) -> None:
        preset = self.store.get(preset_id)
        if preset is None:
            return
        self._deleted.append((self.store.presets.index(preset), preset))
        self._write(partial(self.store.remove, preset_id), partial(self._show, f"“{preset.name}” deleted.", undo=True))

    def _undelete(self) -> None:
        if not self._deleted:
            return
        at, preset = self._deleted.pop()
        more = bool(self._deleted)

        def bring_back() -> None:
            self.store.put(preset)
            if at >= 0:
                self.store.move(preset.id, at)

        words = f"“{preset.name}” is back."
        self._write(bring_back, partial(self._show, words, undo=more, current=preset.id))

    def _move(self, preset_id: str, to: int) -> None:
        self._write(partial(self.store.move, preset_id, to), self._show)

    def _show(self, words: str = "", *, undo: bool = False, current: str = "") -> None:
        if self._dialog is not None:
            self._dialog.show_presets(self.store.presets, current)
            self._dialog.say(words, undo=undo)

    # Writing

    def _write(self, work: Work, then: Work | None = None) -> None:
        spawn(self._written(work, then), name="write presets")

    async def _written(self, work: Work, then: Work | None) -> None:
        from playground.engine.files.presets import PresetError

        try:
            async with self._writing:
                await asyncio.to_thread(work)
        except PresetError as error:
            if self._dialog is not None:
                self._show(str(error))
            else:
                self._say(str(error))
            return
        if then is not None:
            then()


def _call(work: Work) -> None:
    work()
