"""The wire protocols by name, and what they tell together: which of them a body, a tool or an address belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from playground.domain.parameters import Parameters
from playground.jsonkit.merge import at_path
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, MESSAGES, PROTOCOLS
from playground.protocols.chat.protocol import ChatProtocol
from playground.protocols.decoding import Decoder as Decoder
from playground.protocols.decoding import Traced as Traced
from playground.protocols.messages.protocol import MessagesProtocol
from playground.protocols.responses.protocol import ResponsesProtocol
from playground.protocols.wire_protocol import Protocol as Protocol

_PROTOCOLS: Final[dict[str, Protocol]] = {
    "chat": ChatProtocol(),
    "messages": MessagesProtocol(),
    "responses": ResponsesProtocol(),
}


def get_protocol(name: str) -> Protocol:
    """Return the protocol of that name. Raises ValueError for any other name."""
    if name not in _PROTOCOLS:
        raise ValueError(f"unknown protocol {name!r}; known are {', '.join(PROTOCOLS)}")
    return _PROTOCOLS[name]


def protocol_of(body: JSONObject) -> tuple[str, bool]:
    """Return the protocol most of whose marks a body has, and whether it has more of them than of any other's."""
    counts = {name: get_protocol(name).marks.count(body) for name in PROTOCOLS}
    *_, second, first = sorted(counts.values())
    return max(counts, key=counts.__getitem__), first != second


def conversation_in(body: JSONObject) -> str:
    """Return the member of a body that holds its messages or items; empty for an object without a conversation."""
    if MESSAGES in body:
        return MESSAGES
    name, is_sure = protocol_of(body)
    member = get_protocol(name).conversation[-1]
    is_list = isinstance(body.get(member), list)
    return member if is_sure and (is_list or (member in body and "model" in body)) else ""


def with_messages(items: list[JSON]) -> JSONObject:
    """Return a body of these messages or items alone."""
    bodies = ({get_protocol(name).conversation[-1]: items} for name in PROTOCOLS)
    return max(bodies, key=lambda body: max(get_protocol(name).marks.count_entries(body) for name in PROTOCOLS))


def is_item(value: JSONObject) -> bool:
    """Return whether an object is an entry of a conversation without a role, such as a call."""
    return any(
        isinstance(kind := value.get("type"), str) and kind in get_protocol(name).marks.items for name in PROTOCOLS
    )


def is_hosted(value: JSONObject) -> bool:
    """Return whether an object is an item that a gateway ran, or asks for, itself."""
    return any(get_protocol(name).is_hosted(value) for name in PROTOCOLS)


def body_of_answer(value: JSONObject) -> JSONObject | None:
    """Return the body that sends a complete answer back; None for other objects."""
    bodies = (get_protocol(name).body_of_answer(value) for name in PROTOCOLS)
    return next((body for body in bodies if body is not None), None)


def protocol_of_tool(tool: JSONObject) -> str:
    """Return the protocol in whose shape the definition of a tool is."""
    if get_protocol(DEFAULT).marks.defines(tool):
        return DEFAULT
    for name in PROTOCOLS:
        marks = get_protocol(name).marks
        if name != DEFAULT and (marks.defines(tool) or tool.get("type") == marks.tool_type):
            return name
    return DEFAULT


def runs_at_vendor(tool: JSON) -> bool:
    """Return whether a tool is one of a vendor's own, which no definition of ours describes."""
    types = [get_protocol(name).marks.tool_type for name in PROTOCOLS]
    return isinstance(tool, dict) and tool.get("type") is not None and tool["type"] not in types


def protocol_at(path: str) -> str:
    """Return the protocol whose endpoint an address ends in; empty for none."""
    return next((name for name in PROTOCOLS if path.endswith(f"/{get_protocol(name).endpoint}")), "")


def format_in(protocol: str, body: JSONObject) -> JSONObject | None:
    """Return the response format that a body asks for; None for none, or for an unknown protocol."""
    if protocol not in PROTOCOLS:
        return None
    response_format = at_path(body, get_protocol(protocol).parameters_type.places()["response_format"])
    return response_format if isinstance(response_format, dict) else None


def parameters_of(protocol: str, fields: JSONObject, by_hand: Iterable[str] = ()) -> Parameters:
    """Return the parameters of a protocol from the fields that are set, the reverse of ``Parameters.set_fields``.

    ``by_hand`` names those that a person set. A value of a wrong type is kept, to be sent and flagged. Parameters of an
    unknown protocol keep all fields. Raises ValidationError.
    """
    kind = get_protocol(protocol).parameters_type if protocol in PROTOCOLS else Parameters
    odd = {name: value for name, value in fields.items() if name in kind.model_fields and not kind.fits(name, value)}
    rest = {name: value for name, value in fields.items() if name not in odd}
    return kind.model_validate(rest).model_copy(update=odd).set_by_hand(by_hand)
