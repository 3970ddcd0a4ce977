"""Presets in the window: read on first use, written in a thread, used with one click."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from playground.engine.files.presets import Preset, PresetError, PresetStore, apply, fits, from_session
from playground.ui.features.host import Control, Host
from playground.ui.features.presets.bar import PresetBar
from playground.ui.features.presets.dialogs import PresetsDialog, SavePresetDialog
from playground.ui.widgets.list_detail import remember_size
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.palette import Entry, Palette

Work = Callable[[], object]


class PresetControl(Control):
    """``make_store`` returns the presets; it reads a small file."""

    def __init__(self, host: Host, bar: PresetBar, make_store: Callable[[], PresetStore]) -> None:
        super().__init__(host)
        self._make_store = make_store
        self._store: PresetStore | None = None
        self._dialog: PresetsDialog | None = None
        self._undo: list[tuple[int, Preset]] = []  # deleted presets with their rows, replaced ones with -1
        self._writing = asyncio.Lock()
        self._bar = bar
        bar.menu.aboutToShow.connect(self._fill_menu)
        bar.chosen.connect(self.use)
        bar.save_asked.connect(self.save)
        bar.edit_asked.connect(self.look)

    @property
    def store(self) -> PresetStore:
        """The presets; what could not be read is reported once."""
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
            self._say("No presets yet. Save the settings of an experiment as one.", "Save…", self.save)
            return
        entries = [Entry(preset.name, "", partial(self.use, preset.id)) for preset in presets]
        Palette(entries, "Use a preset", self._host.window).open_over()

    def entries(self) -> list[Entry]:
        """The presets for the command palette."""
        return [Entry(preset.name, "preset", partial(self.use, preset.id)) for preset in self.store.presets]

    def use(self, preset_id: str) -> None:
        """Use the settings of a preset in the current experiment; one undo restores the old ones."""
        preset, session, pane = self.store.get(preset_id), self._session, self._host.pane
        if preset is None:
            return
        offered = [tool.offer for tool in session.settings.tools if tool.sendable]
        changed: list[bool] = []
        pane.notice.hide()
        try:
            pane.edit_by_hand(lambda: changed.append(apply(session, preset)))
        except PresetError as error:
            self._say(str(error))
            return
        if [tool.offer for tool in session.settings.tools if tool.sendable] != offered:
            pane.tools_changed()
        if not any(changed):
            self._say(f"The settings of “{preset.name}” are in use already.", stays=False)
        elif pane.notice.isHidden():  # a warning about thinking is more important
            self._say(f"“{preset.name}” is in use.", "Undo", pane.undo, stays=False)

    def _fill_menu(self) -> None:
        presets = self.store.presets
        self._bar.show_presets(presets, frozenset(preset.id for preset in presets if fits(self._session, preset)))

    # Saving

    def save(self) -> None:
        """Ask for a name and save the current settings."""
        session, store = self._session, self.store

        def make(name: str, with_model: bool) -> Preset:
            return from_session(session, name, with_model=with_model)

        dialog = SavePresetDialog(make, store.named, session.settings.model, self._host.window)
        dialog.saved.connect(self._save)
        dialog.open()
        dialog.form.focus()

    def _save(self, preset: Preset) -> None:
        before = self.store.get(preset.id)
        words = f"Preset “{preset.name}” {'saved' if before is None else 'replaced'}."
        if before is None:
            report = partial(self._say, words, stays=False)
        else:
            restore = partial(self._write, partial(self.store.put, before))
            report = partial(self._say, words, "Undo", restore, stays=False)
        self._write(partial(self.store.put, preset), report)

    # Managing

    def look(self) -> None:
        """Open the dialog in which presets are renamed, replaced, moved and deleted."""
        if not self.store.presets:
            self.choose()
            return
        dialog = self._dialog = PresetsDialog(self._host.window)
        self._undo.clear()
        dialog.applied.connect(self.use)
        dialog.renamed.connect(self._rename)
        dialog.overwritten.connect(self._overwrite)
        dialog.deleted.connect(self._delete)
        dialog.undone.connect(self._undo_last)
        dialog.moved.connect(self._move)
        dialog.finished.connect(self._dialog_closed)
        dialog.show_presets(self.store.presets)
        remember_size(dialog, self._settings)
        dialog.open()

    def _dialog_closed(self) -> None:
        self._dialog = None

    def _rename(self, preset_id: str, name: str) -> None:
        preset, existing = self.store.get(preset_id), self.store.named(name)
        if preset is None:
            return
        if existing is not None and existing.id != preset_id:
            self._show(f"A preset “{name}” exists already.")
            return
        self._write(partial(self.store.put, preset.model_copy(update={"name": name})), self._show)

    def _overwrite(self, preset_id: str) -> None:
        before = self.store.get(preset_id)
        if before is None:
            return
        preset = from_session(self._session, before.name, with_model=before.switches)
        preset = preset.model_copy(update={"id": preset_id, **(before.model_extra or {})})
        self._undo.append((-1, before))
        report = partial(self._show, f"“{before.name}” has the current settings.", undo=True)
        self._write(partial(self.store.put, preset), report)

    def _delete(self, preset_id: str) -> None:
        preset = self.store.get(preset_id)
        if preset is None:
            return
        self._undo.append((self.store.presets.index(preset), preset))
        self._write(partial(self.store.remove, preset_id), partial(self._show, f"“{preset.name}” deleted.", undo=True))

    def _undo_last(self) -> None:
        if not self._undo:
            return
        row, preset = self._undo.pop()

        def restore() -> None:
            self.store.put(preset)
            if row >= 0:
                self.store.move(preset.id, row)

        report = partial(self._show, f"“{preset.name}” restored.", undo=bool(self._undo), current=preset.id)
        self._write(restore, report)

    def _move(self, preset_id: str, row: int) -> None:
        self._write(partial(self.store.move, preset_id, row), self._show)

    def _show(self, words: str = "", *, undo: bool = False, current: str = "") -> None:
        if self._dialog is not None:
            self._dialog.show_presets(self.store.presets, current)
            self._dialog.show_message(words, undo=undo)

    # Writing

    def _write(self, work: Work, then: Work | None = None) -> None:
        spawn(self._write_in_thread(work, then), name="write presets")

    async def _write_in_thread(self, work: Work, then: Work | None) -> None:
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
