"""Scenes of what is kept: the list, what a search finds, the tree, an interrupted turn, a store in trouble."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path

from PySide6.QtWidgets import QApplication

from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn
from playground.engine.gateways.secrets import Secret
from playground.engine.library.store import Mode, Status
from playground.engine.library.store.unread import tally
from playground.engine.session.changes import PathChanged
from playground.ui.shell.features import EXPERIMENTS, EXPERIMENTS_PANEL, STORAGE, TREE
from playground.ui.widgets import dialogs, loop
from tests.scenes.registry import BOTH, WIDE, scene
from tests.scenes.stage import Stage

DAY = 86_400.0
EARLIER: tuple[tuple[float, str, str, str], ...] = (
    (0.02, "Is it warmer in Lisbon or in Oslo right now?", "Lisbon, by eleven degrees.", "demo-reasoner"),
    (0.03, "Extract the fields of this invoice as JSON", '{"number": "2026-117", "total": 84.5}', "demo-chat"),
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
    for ago, asked, answer, model in reversed(EARLIER):
        session = workspace.new()
        session.created_at = now - ago * DAY
        session.change(model=model)
        session.turns.add_turn(make_turn(Role.USER, asked))
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
    panel = stage.window.panels.of(EXPERIMENTS_PANEL)
    panel.search.setText("lis")
    await stage.until(lambda: "found" in str(panel.model.data(panel.model.index(0))), "what was found")
    panel.chips.set_filters(panel.filters.__class__(protocol="chat", archived=False))
    panel.search.setFocus()


@scene(sizes=WIDE)
async def experiment_renamed(stage: Stage) -> None:
    """A title being edited in its place."""
    await fill(stage)
    await stage.settle()
    stage.act("experiment.rename")


@scene(sizes=BOTH)
async def tree_map(stage: Stage) -> None:
    """The tree: alternatives, a branch with tools, a failed and an interrupted turn, the branch looked at."""
    stage.session.turns.rewrite(grove())
    stage.session.change(title="Four ways to ask for the weather")
    stage.act("view.tree")
    await stage.settle()
    page = stage.app.actions.of(TREE).page
    if page is not None:
        page.view.look_at("a3b")


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
    at = "a1"
    for number in range(5):
        put(f"u{number}", Role.USER, f"And on day {number + 2}?", at)
        put(f"b{number}", Role.ASSISTANT, "Warmer still.", f"u{number}", complete)
        at = f"b{number}"
    put("b3x", Role.ASSISTANT, "Colder.", "u3", Outcome(ending=Ending.INTERRUPTED))
    put("a3u", Role.USER, "Why?", "a3")
    put("a3a", Role.ASSISTANT, "The Gulf Stream.", "a3u", complete)
    put("a3b", Role.ASSISTANT, "Its latitude.", "a3u", complete)
    put("a3c", Role.ASSISTANT, "The", "a3u", Outcome(ending=Ending.STOPPED))
    return Transcript({turn.id: turn for turn in rows}, "a3b")


@scene(sizes=BOTH, tokens_per_second=300)
async def turn_recovered(stage: Stage) -> None:
    """A turn that was being received when the application ended."""
    stage.fresh("demo-chat")
    await stage.ask("Tell me about bridges. !long=400", wait=False)
    await stage.until(lambda: len(stage.growing("text")) > 300, "some text")
    ids = tuple(stage.session.growing)
    stage.session.stop()
    await stage.idle()
    stage.session.turns.mark_interrupted(ids)


@scene(sizes=BOTH)
async def storage_full(stage: Stage) -> None:
    """The disk is full while an experiment is worked on."""
    stage.fresh("demo-chat")
    await stage.ask("Name three rivers in Europe.")
    status = Status(Mode.READY, trouble="The disk is full.")
    stage.app.actions.of(STORAGE).banner.show_status(status, [("Open folder", _nothing)])


@scene(sizes=BOTH)
async def storage_recovered(stage: Stage) -> None:
    """A damaged file was set aside, and what could be read of it was taken over."""
    await fill(stage)
    words = (
        "The file is damaged. What could be read of it was taken over: 6 experiments with 12 turns. "
        "It is kept as experiments.damaged-2026-11-21-161502.db."
    )
    banner = stage.app.actions.of(STORAGE).banner
    banner.show_status(Status(Mode.READY, words), [("Open folder", _nothing)])


@scene(sizes=BOTH)
async def storage_opening(stage: Stage) -> None:
    """A slow disk: what there is is not known yet, and nothing is said of it; a run begins as soon as it is."""
    await stage.until(lambda: not stage.app.workspace.opening, "the store")
    for place in (stage.window.pane.welcome_page, stage.window.panels.of(EXPERIMENTS_PANEL)):
        place.set_opening(True)
        await stage.until(lambda place=place: place.opening.text() != "", "the word")  # type: ignore[misc]
    stage.window.composer.set_text("Name three rivers in Europe.")
    stage.window.composer.set_starting(True)


@scene(sizes=WIDE)
async def storage_quit_unsaved(stage: Stage) -> None:
    """Quitting with work that is kept nowhere asks, and names it."""
    await fill(stage)
    store = stage.app.workspace.store
    if store is not None:
        words = "Experiments can be read, but changes are not saved. They are open in another window."
        store._set_status(Status(Mode.READ_ONLY, words))
    stage.act("window.quit")
    await stage.until(lambda: QApplication.activeModalWidget() is not None, "the question")


@scene(sizes=BOTH)
async def storage_dialog(stage: Stage) -> None:
    """Where experiments are kept, copies, and how much of what went over the wire stays."""
    stage.fresh("demo-chat")
    await stage.ask("Name three rivers in Europe.")
    stage.act("settings.storage")
    await stage.until(lambda: QApplication.activeModalWidget() is not None, "the dialog")
    dialog = stage.app.actions.of(STORAGE)._dialog
    if dialog is not None:
        dialog.path.set_text("~/.local/share/gateway-playground/experiments.db")


async def _damage(stage: Stage) -> None:
    """Make one turn, and a part of the settings, of an experiment unreadable, and look at it."""
    stage.fresh("demo-chat")
    await stage.ask("Name three rivers in Europe.")
    await stage.ask("And which of them is the longest?")
    session, store = stage.session, stage.app.workspace.store
    await stage.app.workspace.flush()
    assert store is not None
    with contextlib.closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute("UPDATE turns SET json = '{' WHERE id = ?", (session.transcript.path[2].id,))
    found, lost = await store.load(session.id), await store.unread(session.id)
    session.history.transcript = found.transcript
    session.unread = tally(lost)
    session.observers.tell(PathChanged())


@scene(sizes=BOTH)
async def turn_unread(stage: Stage) -> None:
    """A turn whose row is damaged: it is set aside, and that is told."""
    await _damage(stage)
    stage.app.actions.of(STORAGE).unread.show_session()


@scene(sizes=BOTH)
async def storage_unread(stage: Stage) -> None:
    """The dialog with what could not be read."""
    await _damage(stage)
    stage.act("settings.storage")
    await stage.until(lambda: QApplication.activeModalWidget() is not None, "the dialog")


@scene(sizes=WIDE)
async def restore_question(stage: Stage) -> None:
    """Before a copy takes the place of all experiments."""
    loop.spawn(stage.app.actions.of(STORAGE)._agreed(Path("/data/somebody/gateway-playground.db")), name="ask")
    await stage.until(lambda: QApplication.activeModalWidget() is not None, "the question")


@scene(sizes=WIDE)
async def rename_experiment(stage: Stage) -> None:
    """The question for a title, where the list of experiments is closed."""
    loop.spawn(dialogs.rename(stage.window, stage.session), name="rename")
    await stage.until(lambda: QApplication.activeModalWidget() is not None, "the question")


@scene(sizes=WIDE)
async def undone_setting(stage: Stage) -> None:
    """A parameter went back, and a notice says so."""
    stage.fresh("demo-chat")
    await stage.ask("Name three rivers in Europe.")
    stage.session.set_parameters(stage.session.settings.current.with_value("temperature", 1.4))
    stage.act("edit.undo")


def _nothing() -> None:
    return


@scene(sizes=BOTH)
async def trash(stage: Stage) -> None:
    """Deleted experiments in the place of the list, one of them chosen."""
    await fill(stage)
    workspace = stage.app.workspace
    for entry in workspace.experiments[1:4]:
        workspace.delete(entry.id)
    stage.act("experiment.trash")
    control = stage.app.actions.of(EXPERIMENTS).trash
    await stage.until(lambda: control.page is not None and control.page.model.rowCount() > 3, "the trash")
    if control.page is not None:
        control.page.enter()
    stage.window.pane.notice.hide()


@scene(sizes=WIDE)
async def trash_question(stage: Stage) -> None:
    """Before deleted experiments go for good."""
    await fill(stage)
    workspace = stage.app.workspace
    for entry in workspace.experiments[1:4]:
        workspace.delete(entry.id)
    stage.app.actions.of(EXPERIMENTS).trash.empty()
    await stage.until(lambda: QApplication.activeModalWidget() is not None, "the question")


@scene(sizes=("1024x700",))
async def key_taken_out(stage: Stage) -> None:
    """A key is entered that stood in what was kept before; that is said."""
    workspace = stage.app.workspace
    stage.fresh("demo-chat")
    await stage.ask("Why is sk-demo-Zq7KwVb9JtLm4aP0 refused?")
    await stage.idle()
    await workspace.flush()
    await workspace.gateways.keys.set("another", "https://gateway.example:443", Secret("sk-demo-Zq7KwVb9JtLm4aP0"))
    await stage.until(lambda: "was taken out of" in stage.app.window.pane.notice.words, "a word on it")
