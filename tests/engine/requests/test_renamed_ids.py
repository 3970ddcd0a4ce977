"""The Request page says which ids of calls are sent in another spelling."""

from __future__ import annotations

import pytest

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.request import Request
from playground.domain.transcript import Role, Turn, make_turn
from playground.engine.requests.view import request_view
from playground.engine.session.session import Session
from playground.protocols.protocol import get_protocol
from tests.support.editors import no_gateway


@pytest.mark.parametrize(
    ("protocol", "note"),
    [
        ("chat", ""),
        (
            "messages",
            "call ids that the Messages protocol does not take are sent in another spelling: “f:0” as “f_0”",
        ),
    ],
)
def test_the_messages_have_a_note_on_replaced_ids(protocol: str, note: str) -> None:
    session = Session(no_gateway, model="m")
    turns = (
        make_turn(Role.USER, "?"),
        Turn(id="a", role=Role.ASSISTANT, parts=(ToolCall(id="f:0", name="f", arguments="{}"),)),
        Turn(id="b", role=Role.TOOL, parts=(ToolResult(call_id="f:0", text="1"),)),
    )
    parameters = get_protocol(protocol).parameters_type()
    session.load(Request(protocol=protocol, model="m", turns=turns, parameters=parameters))
    view = request_view(session)
    assert [row.note for row in view.fields if row.name == "messages"] == [note]
    assert ("f_0" in view.text) is (protocol == "messages")
