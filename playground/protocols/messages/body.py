"""A body of POST /messages as a request: the reverse of the encoder (public protocol; specification, section 4.2)."""

from __future__ import annotations

from playground.domain.request import Request
from playground.jsonkit.values import JSONObject
from playground.protocols.messages.encode import read_tool, write_tool
from playground.protocols.messages.history import read_conversation
from playground.protocols.messages.parameters import MessagesParameters
from playground.protocols.reading import read_tools, split_parameters


def read_body(body: JSONObject) -> tuple[Request, tuple[str, ...]]:
    """The request, and sentences on what could not be kept. Raises ValueError naming what is wrong with a message.

    What has no field of its own goes into ``extra_body``.
    """
    rest = {name: value for name, value in body.items() if name not in ("model", "system", "messages", "tools")}
    turns, notes = read_conversation(body.get("system"), body.get("messages"))
    # The encoder spells a plain text of these two in another way, so as fields they would not come back as they are.
    plain = {name: rest.pop(name) for name in ("tool_choice", "stop_sequences") if isinstance(rest.get(name), str)}
    parameters, extra = split_parameters(MessagesParameters, rest)
    extra |= plain
    model = body.get("model", "")
    if not isinstance(model, str):
        model, extra["model"] = "", model
    tools, reason = read_tools(body["tools"], read_tool, write_tool) if "tools" in body else ((), "")
    if reason or (not tools and "tools" in body):
        extra["tools"] = body["tools"]
        notes += [f"The tools are kept in the extra body: {reason}."] if reason else []
    request = Request(
        protocol="messages", model=model, turns=tuple(turns), parameters=parameters, tools=tools, extra_body=extra
    )
    return request, tuple(notes)
