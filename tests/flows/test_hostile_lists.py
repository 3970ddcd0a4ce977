"""Lists of any length in the real window: what is listed is bounded, and nothing holds the window up.

``tests/hostile/shapes.py`` has the answers that are streamed; here is what comes and is kept in other ways.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from functools import partial

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QInputDialog,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
)

from playground.domain.transcript import Role, Transcript, make_turn
from playground.engine.gateways.profiles import Profile
from tests.flows.conftest import Person, flow
from tests.flows.pages.gateways import GatewayBar
from tests.flows.pages.page import get_by_object_name
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
    return whole(200, "application/json", json.dumps({"data": [{"id": item} for item in ids]}).encode())


MODELS = {
    "very many": [f"vendor-{number % 37}/model-{number}-instruct" for number in range(100_000)],
    "of a megabyte": ["m" * 1_000_000, "x" * 1_000_000 + "y", "two\nlines", "a\u200bb\u202e"],
}


@pytest.mark.parametrize("models", slow_except(["of a megabyte"], MODELS))
@flow()
async def test_window_responds_to_any_list_of_models(person: Person, models: str) -> None:
    ids = MODELS[models]

    async def list_them(person: Person, url: str) -> None:
        app = person.app
        profile = app.gateways.store.add_profile(Profile(name="Many models", base_url=url, retries=0))
        await GatewayBar(person).choose_gateway(profile.name)
        await person.until(lambda: len(app.gateways.catalog(profile.id).models) == len(ids), "the models")
        person.session.change(model=ids[0])
        await asyncio.sleep(0.3)  # the next request is shown with it

    async def look_through_them(person: Person) -> None:
        picker = GatewayBar(person).model
        await person.do(picker.showPopup)
        models = await person.seen(QListView, "Models")
        await person.until(lambda: models.model().rowCount(), "the first of them")
        await person.do(lambda: models.setCurrentIndex(models.model().index(8, 0)))
        order = await person.seen(QToolButton, "Order of the models:")
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

    await warm_up(person.app)
    with FaultServer() as server:
        server.play(send(listing(ids)))
        await answers(person, partial(list_them, url=server.url))
        await answers(person, look_through_them)


@flow()
async def test_alternative_is_selected_by_its_number(person: Person) -> None:
    answers = [make_turn(Role.ASSISTANT, "Some words.") for _ in range(3_000)]
    question = Transcript().append(make_turn(Role.USER, "Go on."))
    person.session.turns.rewrite(question.append_alternatives(answers))
    await person.until(lambda: person.path[-1].id == answers[0].id, "the first")
    message = await person.conversation.wait_for_message(-1)
    await message.choose("Go to alternative…")
    dialog = await person.seen(QInputDialog)
    await person.do(lambda: dialog.setIntValue(2_001))
    await person.press("Go", dialog)
    await person.until(lambda: person.path[-1].id == answers[2_000].id, "the one of that number")


def long_json(count: int) -> str:
    """A JSON object on one line, 57 characters for each of so many items."""
    return json.dumps({"a": [{"name": f"n{n:06}", "value": n, "text": "some words"} for n in range(count)]})


def copied_text(editor: QPlainTextEdit) -> str:
    """All of the text, as it is copied: ``toPlainText`` has the breaks that split long lines."""
    editor.selectAll()
    editor.copy()
    return QGuiApplication.clipboard().text()


@flow()
async def test_text_typed_while_json_is_formatted_stays(person: Person) -> None:
    await person.trigger("view.raw")
    editor = await person.seen(QPlainTextEdit, "Extra body fields")
    field = editor.parentWidget()
    assert field is not None
    button, text = await person.seen(QPushButton, "Format", field), long_json(20_000)
    await person.do(lambda: editor.setPlainText(text))
    await person.until(button.isEnabled, "an enabled button")

    def format_and_type() -> None:
        button.click()
        QTest.keyClicks(editor, " ")

    await person.do(format_and_type)
    await person.until(lambda: not person.find(QLabel, inside=editor), "the end of formatting")
    assert copied_text(editor) == f" {text}"
    await person.click(button)
    await person.until(lambda: editor.document().blockCount() > 1, "the formatted text")
    assert json.loads(copied_text(editor)) == json.loads(text)
    assert not person.find(QLabel, inside=editor)
