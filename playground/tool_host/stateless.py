"""The newest form of the protocol, which shakes no hands: each request says who asks, and an answer may be a question.

It is spoken with servers that refuse to be greeted. What the library keeps to itself of it is said here once more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import mcp_types as types
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from playground.jsonkit.values import JSON, JSONObject

ROUNDS: Final = 10  # times that one call may ask back
_PAUSE: Final = 0.25  # seconds before one that asks for nothing is asked again

Send = Callable[[JSONObject], Awaitable[JSONObject]]


def spoken(version: str) -> bool:
    """Whether that version of the protocol is of this form."""
    return version in MODERN_PROTOCOL_VERSIONS


def meta(version: str, client: types.Implementation, level: str) -> JSONObject:
    """What each request says of who asks."""
    able = types.ClientCapabilities(
        sampling=types.SamplingCapability(tools=types.SamplingToolsCapability()),
        elicitation=types.ElicitationCapability(
            form=types.FormElicitationCapability(), url=types.UrlElicitationCapability()
        ),
        roots=types.RootsCapability(),
    )
    said: JSONObject = {
        types.PROTOCOL_VERSION_META_KEY: version,
        types.CLIENT_INFO_META_KEY: _plain(client),
        types.CLIENT_CAPABILITIES_META_KEY: _plain(able),
    }
    return said | ({types.LOG_LEVEL_META_KEY: level} if level else {})


def headers(version: str, method: str, params: JSONObject, schema: JSON) -> dict[str, str]:
    """What goes into the head of a request, where there is one; ``schema`` is that of a tool's arguments."""
    found = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
    named = params.get(NAME_BEARING_METHODS.get(method, ""))
    if isinstance(named, str):
        found[MCP_NAME_HEADER] = encode_header_value(named)
    if method == "tools/call" and isinstance(schema, dict):
        found |= mcp_param_headers(x_mcp_header_map(schema), params.get("arguments") or {})
    return found


async def completed(raw: JSONObject, params: JSONObject, session: ClientSession, send: Send) -> JSONObject:
    """The answer itself, once all is answered that the server asks before. Raises MCPError."""
    for _ in range(ROUNDS):
        if raw.get("resultType") != "input_required":
            return raw
        try:
            wanted = types.InputRequiredResult.model_validate(raw, by_name=False)
        except ValidationError:
            raise MCPError(
                code=types.INVALID_REQUEST, message="What it asks before it answers is not readable"
            ) from None
        again = dict(params)
        if wanted.input_requests:
            again["inputResponses"] = {
                key: await _answered(request, session) for key, request in wanted.input_requests.items()
            }
        else:
            await asyncio.sleep(_PAUSE)
        if wanted.request_state is not None:
            again["requestState"] = wanted.request_state
        raw = await send(again)
    raise MCPError(code=types.INVALID_REQUEST, message=f"It asked back more than {ROUNDS} times")


async def _answered(request: Any, session: ClientSession) -> JSONObject:
    context = ClientRequestContext(session=session, request_id=0)
    found = await session.dispatch_input_request(context, request)
    if isinstance(found, types.ErrorData):
        raise MCPError.from_error_data(found)
    return _plain(found)


def _plain(value: BaseModel) -> JSONObject:
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)
