"""The Servers page: messages, selection and filters."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.domain.tool_servers import Frame, ticket_id
from playground.engine.tool_servers import tape as module
from playground.engine.tool_servers.tape import ServerTape
from playground.gateway.redact import Redactor
from playground.ui.features.server_tape.page import NO_MATCH, Filter, TapePage

CANARY = "canary-Zq7-secret-91x"
TICKET = ticket_id("turn", "call_1")


def message(
    seconds: float, sent: bool, value: object, *, method: str = "", id: str = "", server: str = "files", call: str = ""
) -> Frame:
    text = value if isinstance(value, str) else json.dumps(value)
    error = isinstance(value, dict) and "error" in value
    size = len(text.encode())
    return Frame(
        server=server, time=seconds, sent=sent, text=text, size=size, method=method, id=id, call=call, error=error
    )


def make_frames() -> list[Frame]:
    """A call that was answered, one that failed on another server, and a connection that ended."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "key": CANARY}}
    return [
        message(100.0, True, request, method="tools/call", id="1", call=TICKET),
        message(100.25, False, {"id": 1, "result": {"content": []}}, method="tools/call", id="1", call=TICKET),
        message(101.0, True, {"id": 1, "method": "ping"}, method="ping", id="1", server="time"),
        message(101.5, False, {"id": 1, "error": {"message": "a\u202eb"}}, id="1", server="time"),
        Frame(server="time", time=102.0, sent=False, text="", size=0, notice="It ended with code 3."),
    ]


@pytest.fixture
def tape() -> ServerTape:
    return ServerTape(lambda: Redactor([CANARY]))


@pytest.fixture
def page(qtbot: QtBot, tape: ServerTape) -> Iterator[TapePage]:
    page = TapePage(tape)
    qtbot.addWidget(page)
    page.resize(1000, 320)
    page.show()
    qtbot.waitExposed(page)
    yield page
    page.hide()


def rows(page: TapePage) -> list[list[str]]:
    model = page.model
    return [
        [str(model.data(model.index(row, column))) for column in range(1, model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_selected_message_leads_to_its_answer_and_call(page: TapePage, tape: ServerTape) -> None:
    tape.add(make_frames())
    page.finish()
    page.table.selectRow(0)
    assert '"name": "echo"' in page.detail.text.text()
    assert CANARY not in page.detail.text.text()
    assert "to files" in page.facts.text
    assert page.partner.text() == "Its answer"
    page.partner.click()
    assert page.table.currentIndex().row() == 1
    assert "after 250 ms" in page.facts.text
    requests: list[tuple[str, str]] = []
    page.call_asked.connect(lambda turn_id, call_id: requests.append((turn_id, call_id)))
    page.to_call.click()
    assert requests == [("turn", "call_1")]
    page.table.selectRow(4)
    assert page.detail.text.text() == "It ended with code 3."
    assert page.partner.isHidden()
    assert page.to_call.isHidden()


def test_filters_reduce_the_rows(page: TapePage, tape: ServerTape) -> None:
    tape.add(make_frames())
    page.show_only(Filter(server="time"))
    page.finish()
    assert len(rows(page)) == 3
    assert page.count.text == "3 of 5 messages"
    page.show_only(Filter(errors=True))
    page.finish()
    assert [row[1] for row in rows(page)] == ["← error · ping"]
    page.show_only(Filter(method="tools/call"))
    page.finish()
    assert len(rows(page)) == 2
    page.show_only(Filter())
    QTest.keyClicks(page.finder, "ENDED with")
    page.finish()
    assert [row[3] for row in rows(page)] == ["It ended with code 3."]
    page.finder.setText("no such words")
    page.finish()
    assert page.empty.text() == NO_MATCH
    assert page.show_call("turn", "call_1")
    page.finish()
    assert len(rows(page)) == 2
    assert page.table.currentIndex().row() == 0
    assert page.one_call.isVisible()
    page.one_call.click()
    page.finish()
    assert len(rows(page)) == 5
    assert not page.show_call("turn", "call_2")


def test_dropped_messages_lose_their_rows(page: TapePage, tape: ServerTape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FRAMES", 400)
    tape.add(make_frames())
    page.finish()
    page.table.selectRow(3)
    for batch in range(20):
        tape.add(message(batch, False, {"n": n}, method="n", server="loud") for n in range(50))
        page.finish()
        assert [entry.number for entry in page.model.rows] == [entry.number for entry in tape.entries]
    assert page.table.currentIndex().row() == 3
