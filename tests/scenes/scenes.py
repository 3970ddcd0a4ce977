"""The scenes. One async function each; its name is the scene's, its docstring says what to look at.

To add one, write it under ``@scene``: nothing else knows the list.
"""

from __future__ import annotations

import json
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.jsonkit.values import JSON
from tests.scenes.registry import scene
from tests.scenes.stage import Stage
from tests.support.editors import edit_text

INVOICE: JSON = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
                "required": ["name", "price"],
                "additionalProperties": False,
            },
        },
        "total": {"type": "number"},
    },
    "required": ["vendor", "items", "total"],
    "additionalProperties": False,
}


@scene()
async def welcome(stage: Stage) -> None:
    """The first start: nothing asked yet."""


@scene()
async def finished(stage: Stage) -> None:
    """A finished answer: headings, list, quotation, table, code."""
    stage.fresh("demo-chat", temperature=0.7, max_completion_tokens=2048)
    await stage.ask("Tell me what arrived: turns, parameters and the last turn.")


@scene()
async def tool_calls(stage: Stage) -> None:
    """Two calls wait for a result; the Tools page lists what is offered."""
    await stage.sample()
    stage.window.side.show_page("Tools")
    await stage.scroll_to_turn(-1)


@scene()
async def gateways(stage: Stage) -> None:
    """The dialog: an example filled in, its address with the endpoint path and a doubled version in it."""
    store = stage.app.gateways.store
    store.add_profile(Profile(name="Staging", base_url="http://10.0.0.12:8080/v1"))
    created = store.add_profile(
        Profile(
            name="Team gateway",
            base_url="https://gateway.example/v1",
            default_model="large-chat-2",
            headers={"X-Team": "research"},
        )
    )
    stage.act("gateway.settings")
    dialog = await stage.dialog("Gateways")
    stage.select("Gateways", created.name, dialog)
    stage.find(QLineEdit, "Base URL", dialog).setText("https://gateway.example/v1/v1/chat/completions")


@scene()
async def gateway_form_end(stage: Stage) -> None:
    """The end of a gateway's form: a proxy that cannot be used, numbers out of range, long values."""
    created = stage.app.gateways.store.add_profile(
        Profile(name="Team", base_url="https://gateway.example/v1", ca_file="/etc/" + "folder/" * 30)
    )
    stage.act("gateway.settings")
    dialog = await stage.dialog("Gateways")
    stage.select("Gateways", created.name, dialog)
    for name, text in (("Tries after a failure", "99"), ("Proxy", "ftp://proxy.example")):
        field = stage.find(QLineEdit, name, dialog)
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, text)
    await stage.settle()


@scene()
async def error_mid_stream(stage: Stage) -> None:
    """The text that came before the error stays."""
    stage.fresh("demo-chat")
    await stage.ask("Tell me a little !long=120 !error")


@scene()
async def wide_answer(stage: Stage) -> None:
    """An answer with a very long word, a code line and a table wider than the column."""
    stage.fresh("demo-chat")
    columns = [f"Column {n}" for n in range(1, 13)]
    table = "\n".join(
        ("| " + " | ".join(row) + " |")
        for row in (columns, ["---"] * 12, *([f"value {n} of row {r}" for n in range(1, 13)] for r in range(1, 4)))
    )
    answer = (
        f"One word, **{'unbreakable' * 20}**, and `{'inline_code_' * 14}`.\n\n```json\n"
        + json.dumps({f"key_{n}": n for n in range(30)})
        + f"\n```\n\n{table}\n\n> A quotation after it.\n\n1. one\n2. two\n    - inner\n"
    )
    stage.session.turns.add_turn(make_turn(Role.USER, "Answer with everything wide that you know."))
    stage.session.turns.add_turn(make_turn(Role.ASSISTANT, answer))
    await stage.scroll_to_turn(-1)


@scene()
async def palette(stage: Stage) -> None:
    """Every action, model and gateway by name."""
    stage.act("view.palette")


@scene()
async def palette_synonyms(stage: Stage) -> None:
    """Commands found by a word that is in none of their names."""
    stage.act("view.palette")
    field = stage.find(QLineEdit, inside=QApplication.activePopupWidget())
    await stage.person.do(partial(QTest.keyClicks, field, "theme"))


@scene()
async def output_errors(stage: Stage) -> None:
    """An answer under a schema with four errors, one of them chosen; the schema in the Output tab."""
    await _under_schema(stage)
    bad = {"vendor": "Acme", "items": [{"name": "Nut", "price": "12"}, {"name": "Gear"}], "total": "much", "note": 1}
    turn = stage.session.transcript.path[-1]
    edit_text(stage.session, turn.id, json.dumps(bad))
    await stage.settle()
    card = stage.person.conversation.message(-1)
    await stage.until(lambda: len(card.find(QFrame, "error:")) == 4, "four errors")
    await stage.person.do(partial(QTest.keyClick, card.find(QFrame, "error:")[0], Qt.Key.Key_Return))


@scene()
async def raw(stage: Stage) -> None:
    """Extra body and headers: the gateway's greyed, the experiment's own below, two headers refused."""
    team = Profile(
        name="Team gateway",
        base_url="http://127.0.0.1:9/v1",
        headers={"X-Team": "research"},
        extra_body={"top_k": 40, "provider": {"order": ["near", "far"]}},
    )
    stage.session.change(profile_id=stage.app.gateways.store.add_profile(team).id)
    stage.session.change(extra_body={"top_k": 20, "min_p": 0.1})
    stage.window.action("view.raw").trigger()
    headers = stage.window.panels.extra_fields.headers
    for name, value in (("X-Trace", "on"), ("X-Api-Key", "a-key"), ("X Bad", "1")):
        row = headers.add_row()
        row.name.setText(name)
        row.value.setText(value)


async def _under_schema(stage: Stage) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "invoice", "schema": INVOICE, "strict": True}}
    stage.fresh("demo-chat", response_format=schema)
    stage.window.side.show_page("Output")
    await stage.ask("Extract the invoice: Acme, a nut and a gear.")
