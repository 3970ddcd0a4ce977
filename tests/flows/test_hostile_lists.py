"""Lists of any length and names of any size, in the real window: what is listed is bounded, and nothing holds it up.

``tests/hostile/shapes.py`` has the answers that are streamed; here is what comes and is kept in other ways.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from functools import partial

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QInputDialog, QLineEdit, QListView, QToolButton

from playground.domain.parts import Text, ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.compare.lanes import Lanes
from playground.engine.gateways.profiles import Profile
from playground.engine.session.variants import MOST_LANES
from tests.flows.conftest import Person, Stage
from tests.flows.pages.compare import ComparePage
from tests.flows.pages.gateways import GatewayBar
from tests.flows.pages.page import get_by_object_name
from tests.flows.pages.tools import ToolsPage
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


def _type(picker: QComboBox, text: str) -> None:
    field = picker.lineEdit()
    assert field is not None
    field.selectAll()
    QTest.keyClicks(field, text)


async def open_palette(person: Person, *texts: str) -> None:
    """Open the command palette, type each of these texts, and close it."""
    await person.trigger("view.palette")
    palette = get_by_object_name(person, "palette")
    (field,) = palette.findChildren(QLineEdit)
    for text in texts:
        await person.do(partial(field.setText, text))
        await asyncio.sleep(0.02)
    await person.do(palette.close)


def listing(ids: list[str]) -> bytes:
    """The answer to a request for models."""
    return whole(200, "application/json", json.dumps({"data": [{"id": one} for one in ids]}).encode())


MODELS = {
    "very many": [f"vendor-{number % 37}/model-{number}-instruct" for number in range(100_000)],
    "of a megabyte": ["m" * 1_000_000, "x" * 1_000_000 + "y", "two\nlines", "a\u200bb\u202e"],
    "long and many": ["z" * 10_000 + str(number) for number in range(3_000)],
}


@pytest.mark.parametrize("models", slow_except(["of a megabyte"], MODELS))
def test_window_responds_to_any_list_of_models(stage: Stage, models: str) -> None:
    ids = MODELS[models]

    async def list_them(person: Person, url: str) -> None:
        app = person.app
        profile = app.gateways.store.add_profile(Profile(name="Many models", base_url=url, retries=0))
        await GatewayBar(person).choose_gateway(profile.name)
        await person.until(lambda: len(app.gateways.offering(profile.id).models) == len(ids), "the models")
        person.session.change(model=ids[0])
        await asyncio.sleep(0.3)  # the next request is shown with it

    async def look_through_them(person: Person) -> None:
        picker = GatewayBar(person).model
        await person.do(picker.showPopup)
        models = await person.seen(QListView, "Models")
        await person.until(lambda: models.model().rowCount(), "the first of them")
        await person.do(lambda: models.setCurrentIndex(models.model().index(8, 0)))
        order = person.one(QToolButton, "Order of the models:")
        await person.do(order.menu().aboutToShow.emit)
        for entry in (0, 1, 0):
            await person.do(order.menu().actions()[entry].trigger)
            await person.do(partial(_type, picker, "m"))
            await asyncio.sleep(0.05)
        await person.do(partial(_type, picker, "no such model"))
        await person.until(lambda: not models.model().rowCount(), "no model")
        await person.do(picker.hidePopup)
        await open_palette(person, "model", "no such model")
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
def test_window_responds_with_thousands_of_tools(stage: Stage) -> None:
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
        tools = await ToolsPage.open(person)
        await tools.select(len(tools.rows) - 1)
        await asyncio.sleep(0.5)

    async def scene(person: Person) -> None:
        await warm_up(person.app)
        await answers(person, offer)
        rows = (await ToolsPage.open(person)).rows
        assert len([row for row in rows if not row.startswith("group ")]) == 2_000

    stage.play(scene)


def of_alternatives(count: int, text: str) -> tuple[Transcript, list[str]]:
    """A question with so many answers, and their ids."""
    outcome = Outcome(ending=Ending.COMPLETE, finish_reason="stop")
    parts = (Text(text=text),)
    answers = [Turn(id=new_id(), role=Role.ASSISTANT, parts=parts, outcome=outcome) for _ in range(count)]
    asked = Transcript().append(make_turn(Role.USER, "Go on."))
    return asked.append_alternatives(answers), [turn.id for turn in answers]


async def open_alternatives(person: Person, turn_id: str, count: int) -> Lanes:
    """Open a turn and its alternatives as so many lanes."""
    await person.do(lambda: person.pane.open_in_compare(turn_id))
    return await ComparePage(person).wait_for_lanes(count)


@pytest.mark.slow
def test_nearest_of_thousands_of_alternatives_are_lanes_and_the_rest_is_counted(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await warm_up(person.app)
        transcript, ids = of_alternatives(3_000, "Some words of an answer.\n\n" * 200)

        async def look(person: Person) -> None:
            person.session.turns.rewrite(transcript)
            await asyncio.sleep(0.3)
            person.session.turns.select_alternative(ids[1_000])
            await asyncio.sleep(0.2)
            await open_alternatives(person, ids[1_000], MOST_LANES)
            await ComparePage(person).close()
            person.app.workspace.new()
            await asyncio.sleep(0.2)

        await answers(person, look)
        person.session.turns.rewrite(transcript.select(ids[2_001]))
        lanes = await open_alternatives(person, ids[2_001], MOST_LANES)
        heads = [ids.index(lane.transcript.head or "") for lane in lanes.all]
        assert heads[0] == 2_001
        assert set(heads) <= set(range(1_998, 2_004))
        assert len(set(heads)) == MOST_LANES
        assert "6 of the 3,000 alternatives are lanes" in person.conversation.notice.text

    stage.play(scene)


def test_alternative_is_selected_by_its_number(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        transcript, ids = of_alternatives(3_000, "Some words.")
        person.session.turns.rewrite(transcript)
        await person.until(lambda: person.path[-1].id == ids[0], "the first")
        message = await person.conversation.wait_for_message(-1)
        await message.choose("Go to an alternative…")
        dialog = await person.seen(QInputDialog)
        await person.do(lambda: dialog.setIntValue(2_001))
        await person.press("Go", dialog)
        await person.until(lambda: person.path[-1].id == ids[2_000], "the one of that number")

    stage.play(scene)


def test_two_alternatives_stay_two_lanes_when_reopened(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        transcript, ids = of_alternatives(2, "An answer.\n\n" * 2_000)
        person.session.turns.rewrite(transcript)
        lanes = await open_alternatives(person, ids[0], 2)
        assert [lane.transcript.head for lane in lanes.all] == ids
        assert not person.conversation.notice.text
        await open_alternatives(person, ids[1], 2)
        await ComparePage(person).close()
        await open_alternatives(person, ids[0], 2)

    stage.play(scene)


NAMES = {"one word": "n" * 1_000_000, "many words": "part " * 200_000}


@pytest.mark.parametrize("name", slow_except(["one word"], NAMES))
def test_window_responds_to_names_of_a_megabyte(stage: Stage, name: str) -> None:
    """Of a gateway and of a tool: in the bars, the lists, the diagrams and the dialogs."""

    async def look(person: Person) -> None:
        app = person.app
        session = app.workspace.new()
        whole_name = NAMES[name]
        profile = app.gateways.store.add_profile(Profile(name=whole_name, base_url="http://127.0.0.1:9/v1", retries=0))
        session.change(profile_id=profile.id)
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
        await open_palette(person)
        session.change(profile_id="demo")
        app.gateways.store.remove(profile.id)
        await asyncio.sleep(0.05)

    async def scene(person: Person) -> None:
        await warm_up(person.app)
        await answers(person, look)

    stage.play(scene)
