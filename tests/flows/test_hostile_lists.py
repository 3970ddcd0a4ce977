"""Lists of any length and names of any size, in the real window: what is listed is bounded, and nothing holds it up.

``tests/hostile/shapes.py`` has the answers that are streamed; here is what comes and is kept in other ways.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from functools import partial

import pytest
from PySide6.QtWidgets import QApplication, QInputDialog, QToolButton

from playground.domain.parts import Text, ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.compare.lanes import Lanes
from playground.engine.gateways.profiles import Profile
from playground.engine.session.variants import MOST_LANES
from playground.ui.features.compare.lane import LaneColumn
from playground.ui.shell.features import GATEWAYS, TOOLS_PANEL
from playground.ui.widgets.models.listing import SORTING, Order
from playground.ui.widgets.palette import Palette
from tests.flows.conftest import Person, Stage
from tests.flows.test_compare import columns, page
from tests.hostile.gaps import LAID_OUT, LIMIT, MARGIN, PASSES, Gaps
from tests.hostile.in_window import warm_up
from tests.support.fault_server import FaultServer, send, whole
from tests.support.slow import slow_except

Look = Callable[[Person], Coroutine[None, None, None]]
WIDE = 2 * MARGIN  # what is looked at here took seconds


async def answers(person: Person, look: Look) -> None:
    """Do something until the window answered all the while, a few times at most."""
    gaps: list[float] = []
    while len(gaps) < PASSES:
        async with Gaps(LAID_OUT) as passed:
            await look(person)
        gaps.append(passed.seconds)
        if passed.seconds <= LIMIT * WIDE:
            return
    raise AssertionError(", ".join(f"{gap * 1000:.0f} ms" for gap in gaps))


def listing(ids: list[str]) -> bytes:
    """The answer to a request for models."""
    return whole(200, "application/json", json.dumps({"data": [{"id": one} for one in ids]}).encode())


MODELS = {
    "very many": [f"vendor-{number % 37}/model-{number}-instruct" for number in range(100_000)],
    "of a megabyte": ["m" * 1_000_000, "x" * 1_000_000 + "y", "two\nlines", "a\u200bb\u202e"],
    "long and many": ["z" * 10_000 + str(number) for number in range(3_000)],
}


@pytest.mark.parametrize("models", slow_except(["of a megabyte"], MODELS))
def test_whatever_models_a_gateway_lists_the_window_answers(stage: Stage, models: str) -> None:
    ids = MODELS[models]

    async def list_them(person: Person, url: str) -> None:
        app = person.app
        profile = app.gateways.store.add_profile(Profile(name="Many models", base_url=url, retries=0))
        app.actions.of(GATEWAYS).choose(profile.id)
        await person.until(lambda: len(app.window.bar.model.ids) == len(ids), "the models")
        person.session.change(model=ids[0])
        await asyncio.sleep(0.3)  # the next request is shown with it

    async def look_through_them(person: Person) -> None:
        app, picker = person.app, person.app.window.bar.model
        picker.open()
        await asyncio.sleep(0.1)
        panel = picker.panel
        assert panel is not None
        await person.until(lambda: panel.browser.rows.rowCount(), "the first of them")
        panel.browser.step(8)
        await asyncio.sleep(0.05)
        for order in (Order.NAME, Order.LISTED):
            SORTING.choose(order)
            panel.browser.look_for("m")
            await asyncio.sleep(0.05)
        panel.browser.look_for("no such model")
        await person.until(lambda: not panel.browser.rows.rowCount(), "none")
        picker.hidePopup()
        app.actions.open_palette()
        (palette,) = [one for one in QApplication.topLevelWidgets() if isinstance(one, Palette) and one.isVisible()]
        for words in ("model", "no such model"):
            palette.field.setText(words)
            await asyncio.sleep(0.02)
        palette.close()
        person.session.change(model=ids[-1])
        await asyncio.sleep(0.3)

    async def scene(person: Person) -> None:
        await warm_up(person.app)
        with FaultServer() as server:
            server.play(send(listing(ids)))
            await answers(person, partial(list_them, url=server.url))
            await answers(person, look_through_them)

    stage.play(scene)


@pytest.mark.slow
def test_thousands_of_tools_are_on_offer_and_the_window_answers(stage: Stage) -> None:
    names = [f"p{number}" for number in range(100)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "description": "What it is"} for name in names},
        "required": names,
    }

    async def offer(person: Person) -> None:
        person.app.workspace.new()
        await asyncio.sleep(0.2)
        person.app.window.side.show_page("Tools")
        made: list[ToolDefinition] = []
        while len(made) < 2_000:  # others in each pass: what was checked is not checked again
            made.append(ToolDefinition(name=f"tool_{len(made)}", description="A tool.", parameters=schema))
            await asyncio.sleep(0)
        person.session.change(tools=tuple(made))
        await asyncio.sleep(1.0)
        person.app.window.panels.of(TOOLS_PANEL).select(1_999)
        await asyncio.sleep(0.5)

    async def scene(person: Person) -> None:
        await warm_up(person.app)
        await answers(person, offer)
        assert len(person.app.window.panels.of(TOOLS_PANEL).model.rows) == 2_000

    stage.play(scene)


def of_alternatives(count: int, text: str) -> tuple[Transcript, list[str]]:
    """A question with so many answers, and their ids."""
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="stop")
    parts = (Text(text=text),)
    answers = [Turn(id=new_id(), role=Role.ASSISTANT, parts=parts, outcome=outcome) for _ in range(count)]
    asked = Transcript().append(make_turn(Role.USER, "Go on."))
    return asked.append_alternatives(answers), [turn.id for turn in answers]


async def compared(person: Person, turn_id: str, count: int) -> Lanes:
    """What stands beside a turn, opened from its menu as so many lanes with that of the turn."""
    await person.do(lambda: person.pane.open_in_compare(turn_id))
    await person.until(lambda: person.pane.columns is not None, "the lanes")
    await person.until(lambda: len(columns(person)) == count and all(map(LaneColumn.isVisible, columns(person))))
    return page(person).lanes


@pytest.mark.slow
def test_of_thousands_of_alternatives_those_beside_it_are_lanes_and_how_many_are_not_is_said(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await warm_up(person.app)
        transcript, ids = of_alternatives(3_000, "Some words of an answer.\n\n" * 200)

        async def look(person: Person) -> None:
            person.session.turns.rewrite(transcript)
            await asyncio.sleep(0.3)
            person.session.turns.select_alternative(ids[1_000])
            await asyncio.sleep(0.2)
            await compared(person, ids[1_000], MOST_LANES)
            await person.press("Conversation", person.app.window.bar)
            await person.until(lambda: person.pane.columns is None, "the conversation alone")
            person.app.workspace.new()
            await asyncio.sleep(0.2)

        await answers(person, look)
        person.session.turns.rewrite(transcript.select(ids[2_001]))
        lanes = await compared(person, ids[2_001], MOST_LANES)
        heads = [ids.index(lane.transcript.head or "") for lane in lanes.all]
        assert heads[0] == 2_001
        assert set(heads) <= set(range(1_998, 2_004))
        assert len(set(heads)) == MOST_LANES
        assert "6 of the 3,000 alternatives are lanes" in person.pane.notice.words

    stage.play(scene)


def test_one_of_thousands_of_alternatives_is_gone_to_by_its_number(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        transcript, ids = of_alternatives(3_000, "Some words.")
        person.session.turns.rewrite(transcript)
        await person.until(lambda: person.path[-1].id == ids[0], "the first")
        more = await person.seen(QToolButton, "More for this turn", person.card(-1))
        await person.choose(more, "Go to an alternative…")
        dialog = await person.seen(QInputDialog)
        await person.do(lambda: dialog.setIntValue(2_001))
        await person.press("Go", dialog)
        await person.until(lambda: person.path[-1].id == ids[2_000], "the one of that number")

    stage.play(scene)


def test_two_alternatives_are_two_lanes_and_stay_two(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        transcript, ids = of_alternatives(2, "An answer.\n\n" * 2_000)
        person.session.turns.rewrite(transcript)
        lanes = await compared(person, ids[0], 2)
        assert [lane.transcript.head for lane in lanes.all] == ids
        assert not person.pane.notice.isVisible()
        await compared(person, ids[1], 2)
        await person.press("Conversation", person.app.window.bar)
        await person.until(lambda: person.pane.columns is None, "the conversation alone")
        await compared(person, ids[0], 2)

    stage.play(scene)


NAMES = {"one word": "n" * 1_000_000, "many words": "part " * 200_000}


@pytest.mark.parametrize("name", slow_except(["one word"], NAMES))
def test_a_name_of_a_megabyte_is_drawn_by_its_beginning_wherever_it_stands(stage: Stage, name: str) -> None:
    """Of a gateway and of a tool: in the bars, the lists, the diagrams and the dialogs."""

    async def look(person: Person) -> None:
        app = person.app
        session = app.workspace.new()
        whole_name = NAMES[name]
        profile = app.gateways.store.add_profile(Profile(name=whole_name, base_url="http://127.0.0.1:9/v1", retries=0))
        app.actions.of(GATEWAYS).choose(profile.id)
        session.change(model="m")
        session.change(tools=(ToolDefinition(name=whole_name, parameters={"type": "object"}),))
        outcome = Outcome(ending=Ending.COMPLETE, finish_reason="tool_calls")
        calls = [ToolCall(id=f"c{number}", name=whole_name, arguments="{}") for number in range(3)]
        asked = Turn(id=new_id(), role=Role.ASSISTANT, parts=tuple(calls), outcome=outcome)
        session.turns.rewrite(Transcript().append(make_turn(Role.USER, "Go on."), asked))
        tabs = app.window.inspector.tabs
        for number in (*range(tabs.count()), 0):
            tabs.setCurrentIndex(number)
            await asyncio.sleep(0.1)
        for title in ("Tools", "Raw", "Parameters"):
            app.window.side.show_page(title)
            await asyncio.sleep(0.1)
        app.actions.open_palette()
        (palette,) = [one for one in QApplication.topLevelWidgets() if isinstance(one, Palette) and one.isVisible()]
        await asyncio.sleep(0.05)
        palette.close()
        app.actions.of(GATEWAYS).choose("demo")
        app.gateways.store.remove(profile.id)
        await asyncio.sleep(0.05)

    async def scene(person: Person) -> None:
        await warm_up(person.app)
        await answers(person, look)

    stage.play(scene)
