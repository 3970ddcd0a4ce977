"""Scenes of what is kept: the list, what a search finds, the tree, an interrupted turn, a store in trouble."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from PySide6.QtWidgets import QApplication

from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.library.store import Mode, Status
from playground.engine.library.store.opening import default_path as store_path
from playground.engine.library.store.recovery import Recovery
from playground.ui.widgets.elided_label import ElidedLabel
from tests.flows.pages.preferences import PreferencesWindow
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage

DAY = 86_400.0
EARLIER: tuple[tuple[float, str, str, str], ...] = (
    (0.00002, "Is it warmer in Lisbon or in Oslo right now?", "Lisbon, by eleven degrees.", "demo-reasoner"),
    (0.00003, "Extract the fields of this invoice as JSON", '{"number": "2026-117", "total": 84.5}', "demo-chat"),
    (1.0, "Tone of voice, three variants of a refusal", "Thank you for asking; the answer is no.", "demo-chat"),
    (
        1.01,
        "Describe this chart of river levels",
        "Snow melts late in the north, so the Glomma rises in June, while the Tagus at Lisbon rises in spring.",
        "demo-vision",
    ),
    (6.0, "Stop sequences and what they do to lists", "1. One\n2. Two", "demo-chat"),
    (
        40.0,
        "A train from Lisbon to Porto, with the last connection of the day",
        "The last one leaves at 21:39.",
        "other",
    ),
)


async def fill(stage: Stage) -> None:
    """Some experiments of the last weeks."""
    workspace, now = stage.app.workspace, time.time()
    await stage.until(lambda: workspace.store is not None and workspace.store.status.mode is Mode.READY, "the store")
    for ago, request, answer, model in reversed(EARLIER):
        session = workspace.new()
        session.experiment.created_at = now - ago * DAY
        session.change(model=model)
        session.turns.add_turn(make_turn(Role.USER, request))
        done = Outcome(ending=Ending.COMPLETE, model=model, finish_reason="stop")
        session.turns.add_turn(make_turn(Role.ASSISTANT, answer).model_copy(update={"outcome": done}))
    await workspace.flush()


@scene(sizes=BOTH)
async def experiments_by_day(stage: Stage) -> None:
    """The list: what is pinned, then days; the filter of models is in force on none."""
    await fill(stage)
    workspace = stage.app.workspace
    workspace.pin(workspace.experiments[3].id, True)
    workspace.open(workspace.experiments[0].id)


@scene(sizes=BOTH)
async def experiments_found(stage: Stage) -> None:
    """A search as it is typed: titles and turns with what was found marked, and a filter."""
    await fill(stage)
    panel = stage.window.panels.experiments
    panel.search.setText("lis")
    await stage.until(lambda: "found" in str(panel.model.data(panel.model.index(0))), "what was found")
    panel.chips.set_filters(panel.filters.__class__(protocol="chat", archived=False))
    panel.search.setFocus()


@scene(sizes=BOTH)
async def tree_map(stage: Stage) -> None:
    """The tree: alternatives, a branch with tools, a failed and an interrupted turn, the branch looked at."""
    stage.session.turns.rewrite(grove())
    stage.session.change(title="Four ways to ask for the weather")
    stage.act("view.tree")
    await stage.settle()
    page = stage.app.actions.features.tree.page
    if page is not None:
        page.view.select("a3b")


def grove() -> Transcript:
    """A tree with everything in it that has a sign of its own."""
    complete = Outcome(ending=Ending.COMPLETE, finish_reason="stop")
    failure = Failure(kind=FailureKind.HTTP, status=503, message="Overloaded")
    failed = Outcome(ending=Ending.FAILED, failure=failure)
    rows: list[Turn] = []

    def put(key: str, role: Role, text: str, after: str | None, outcome: Outcome | None = None) -> None:
        rows.append(Turn(id=key, role=role, parts=(Text(text=text),), parent=after, outcome=outcome))

    put("s", Role.SYSTEM, "You are terse.", None)
    put("u", Role.USER, "Is it warmer in Lisbon or in Oslo?", "s")
    for name, ending in (("a1", complete), ("a2", failed), ("a3", complete)):
        put(name, Role.ASSISTANT, "Lisbon, I think.", "u", ending)
    call = ToolCall(id="call_1", name="get_weather", arguments='{"city": "Lisbon"}')
    rows.append(Turn(id="c", role=Role.ASSISTANT, parts=(call,), parent="u", outcome=complete))
    result = ToolResult(call_id="call_1", text='{"temp": 21}')
    rows.append(Turn(id="t", role=Role.TOOL, parts=(result,), parent="c"))
    put("ca", Role.ASSISTANT, "It is 21 degrees in Lisbon.", "t", complete)
    index = "a1"
    for number in range(5):
        put(f"u{number}", Role.USER, f"And on day {number + 2}?", index)
        put(f"b{number}", Role.ASSISTANT, "Warmer still.", f"u{number}", complete)
        index = f"b{number}"
    put("b3x", Role.ASSISTANT, "Colder.", "u3", Outcome(ending=Ending.INTERRUPTED))
    put("a3u", Role.USER, "Why?", "a3")
    put("a3a", Role.ASSISTANT, "The Gulf Stream.", "a3u", complete)
    put("a3b", Role.ASSISTANT, "Its latitude.", "a3u", complete)
    put("a3c", Role.ASSISTANT, "The", "a3u", Outcome(ending=Ending.STOPPED))
    return Transcript({turn.id: turn for turn in rows}, "a3b")


@scene(sizes=BOTH)
async def preferences_storage(stage: Stage) -> None:
    """The preferences page of storage: backups and copies, and how long traffic is stored."""
    stage.fresh("demo-chat")
    folder = await put_backups(stage)
    await stage.ask("Name three rivers in Europe.")
    stage.act("settings.storage")
    page = PreferencesWindow(stage.person, await stage.dialog("Preferences"))
    await stage.until(lambda: page.storage_size != "", "the size of the store")
    page.get(ElidedLabel, "Stored in:").set_text("~/.local/share/gateway-playground/experiments.db")
    shutil.rmtree(folder)  # the next scene begins without a store


@scene(sizes=BOTH)
async def preferences(stage: Stage) -> None:
    """The first page of the preferences: colours, text size, the Enter key."""
    stage.act("settings.open")
    await stage.dialog("Preferences")


@scene()
async def preferences_shortcuts(stage: Stage) -> None:
    """All keyboard shortcuts, searched."""
    stage.act("help.keys")
    await stage.dialog("Preferences")


async def put_backups(stage: Stage) -> Path:
    """Put two backups beside the store; return their folder."""
    workspace = stage.app.workspace
    await stage.until(lambda: workspace.store is not None and workspace.store.status.mode is Mode.READY, "the store")
    folder = store_path().parent / "backups"
    folder.mkdir(exist_ok=True)
    for day, size in ((3, 41), (4, 43)):
        (folder / f"experiments-2026-05-0{day}-091200.db").write_bytes(bytes(size * 1024 * 1024))
    return folder


@scene(sizes=BOTH)
async def store_restored(stage: Stage) -> None:
    """The notice after a damaged store was replaced by a backup."""
    await fill(stage)
    words = Recovery("was damaged", "experiments.damaged-2026-05-04-101500.db", 1.7779e9, restored=True).words
    stage.app.actions.features.storage.banner.show_status(Status(Mode.READY, words), [("Open folder", lambda: None)])
    await stage.settle()


@scene(sizes=BOTH)
async def trash(stage: Stage) -> None:
    """Deleted experiments in the place of the list, one of them chosen."""
    await fill(stage)
    workspace = stage.app.workspace
    for entry in workspace.experiments[1:4]:
        workspace.delete(entry.id)
    stage.act("experiment.trash")
    control = stage.app.actions.features.experiments.trash
    await stage.until(lambda: control.page is not None and control.page.model.rowCount() > 3, "the trash")
    if control.page is not None:
        control.page.enter()
    stage.window.pane.notice.hide()


@scene(sizes=BOTH)
async def remove_secret(stage: Stage) -> None:
    """The question for the secret that is removed from the experiment."""
    await fill(stage)
    stage.act("experiment.remove_secret")
    await stage.until(lambda: QApplication.activeModalWidget() is not None, "the dialog")
