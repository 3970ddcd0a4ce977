"""Tools that the gateway runs itself: what an answer does with them, as items and events of the Responses protocol.

Nothing is searched, run or drawn: the results are made up, and they say so. Only that protocol has hosted tools.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from playground.demo import toolcalls
from playground.demo.dice import Dice
from playground.demo.generation import GenerationRequest, HostedTool
from playground.demo.tool_media import bar_chart

JsonObject = Mapping[str, object]
_TITLE: Final = "A page made up by the demo gateway"
_FILE: Final = "demo-notes.md"
_MCP_TOOL: Final[JsonObject] = {
    "name": "lookup",
    "description": "Look up a word in the demo's dictionary.",
    "input_schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    "annotations": {"read_only": True},
}
WEB_SEARCHES: Final = ("web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11")


@dataclass(frozen=True)
class HostedCall:
    """The use of a hosted tool.

    ``item`` is the finished output item, ``begun`` the one that announces it, ``progress`` the events in between: type
    and further members. ``sentence`` tells the result in the answer; ``citation`` is the annotation of ``cited``, a
    part of it. A call that ``leads`` comes before the reasoning; the answer ends with a call that ``ends`` it.
    """

    item: JsonObject
    begun: JsonObject
    progress: tuple[tuple[str, JsonObject], ...] = ()
    sentence: str = ""
    citation: JsonObject = field(default_factory=dict)
    cited: str = ""
    leads: bool = False
    ends: bool = False


def plan_hosted(request: GenerationRequest, dice: Dice) -> tuple[HostedCall, ...]:
    """Return the hosted tools that are used for the answer to ``request``, in order."""
    lists = [_mcp_list(tool, dice) for tool in request.hosted if tool.kind == "mcp" and not tool.listed]
    used = [tool for tool in request.hosted if _is_used(request, tool)]
    calls = [_MAKERS[tool.kind](request, tool, dice) for tool in used][: request.most_hosted]
    return (*lists, *calls)


def _is_used(request: GenerationRequest, tool: HostedTool) -> bool:
    choice = request.choice
    if tool.kind not in _MAKERS or choice.mode in ("none", "named"):
        return False
    if tool.approval is not None:
        return tool.approval.approved
    if choice.mode == "hosted":
        return tool.kind == choice.name
    if request.results():
        return False
    by_itself = (request.model.calls_tools or choice.mode == "required") and not request.tools
    name = "web_search" if tool.kind in WEB_SEARCHES else tool.label or tool.kind
    return by_itself or toolcalls.is_spoken_of(name, request.prompt)


def _query(request: GenerationRequest) -> str:
    return " ".join(request.prompt.split())[:200] or "anything"


def _progress(kind: str, *states: str) -> tuple[tuple[str, JsonObject], ...]:
    return tuple((f"response.{kind}.{state}", {}) for state in states)


def _web_search(request: GenerationRequest, tool: HostedTool, dice: Dice) -> HostedCall:
    url = "https://example.org/demo"
    action: dict[str, object] = {"type": "search", "query": _query(request), "queries": [_query(request)]}
    if "web_search_call.action.sources" in request.include:
        action["sources"] = [{"type": "url", "url": url}]
    item: dict[str, object] = {
        "id": f"ws_{dice.hex(24)}",
        "type": "web_search_call",
        "status": "completed",
        "action": action,
    }
    if "web_search_call.results" in request.include:
        item["results"] = [{"type": "text_result", "url": url, "title": _TITLE, "snippet": "Nothing was searched."}]
    cited = f"([example.org]({url}))"
    return HostedCall(
        item,
        {**item, "status": "in_progress", "action": {"type": "search", "query": ""}},
        _progress("web_search_call", "in_progress", "searching", "completed"),
        f"A web search would have found this page. {cited}",
        {"type": "url_citation", "url": url, "title": _TITLE},
        cited,
    )


def _file_search(request: GenerationRequest, tool: HostedTool, dice: Dice) -> HostedCall:
    file_id = f"file-{dice.hex(24)}"
    result = {"file_id": file_id, "filename": _FILE, "score": 0.87, "attributes": {}, "text": "Nothing was searched."}
    wants_results = "file_search_call.results" in request.include
    item: dict[str, object] = {
        "id": f"fs_{dice.hex(24)}",
        "type": "file_search_call",
        "status": "completed",
        "queries": [_query(request)],
        "results": [result] if wants_results else None,
    }
    sentence = f"The notes in {_FILE} would say more."
    return HostedCall(
        item,
        {**item, "status": "in_progress", "queries": [], "results": None},
        _progress("file_search_call", "in_progress", "searching", "completed"),
        sentence,
        {"type": "file_citation", "file_id": file_id, "filename": _FILE},
        sentence,
    )


def _code_interpreter(request: GenerationRequest, tool: HostedTool, dice: Dice) -> HostedCall:
    code = f"text = {_query(request)!r}\nprint(len(text.split()))\n"
    identity = {"id": f"ci_{dice.hex(24)}", "type": "code_interpreter_call"}
    container = f"cntr_{dice.hex(24)}"
    wants_outputs = "code_interpreter_call.outputs" in request.include
    words = str(len(_query(request).split()))
    item: dict[str, object] = {
        **identity,
        "status": "completed",
        "code": code,
        "container_id": container,
        "outputs": [{"type": "logs", "logs": f"{words}\n"}] if wants_outputs else None,
    }
    pieces = [code[i : i + 12] for i in range(0, len(code), 12)]
    deltas = tuple(("response.code_interpreter_call_code.delta", {"delta": piece}) for piece in pieces)
    progress = (
        *_progress("code_interpreter_call", "in_progress"),
        *deltas,
        ("response.code_interpreter_call_code.done", {"code": code}),
        *_progress("code_interpreter_call", "interpreting", "completed"),
    )
    begun = {**item, "status": "in_progress", "code": "", "outputs": None}
    return HostedCall(item, begun, progress, f"The code counts {words} words.")


def _image_generation(request: GenerationRequest, tool: HostedTool, dice: Dice) -> HostedCall:
    values = [1 + len(word) for word in _query(request).split()[:8]]
    encoded = base64.b64encode(bar_chart(values, 120, 80)).decode("ascii")
    item: dict[str, object] = {
        "id": f"ig_{dice.hex(24)}",
        "type": "image_generation_call",
        "status": "completed",
        "background": "opaque",
        "output_format": "png",
        "quality": "low",
        "size": "120x80",
        "revised_prompt": _query(request),
        "result": encoded,
    }
    partial = {"partial_image_index": 0, "partial_image_b64": encoded, "output_format": "png", "size": "120x80"}
    progress = (
        *_progress("image_generation_call", "in_progress", "generating"),
        ("response.image_generation_call.partial_image", partial),
        *_progress("image_generation_call", "completed"),
    )
    begun = {"id": item["id"], "type": item["type"], "status": "in_progress", "result": None}
    return HostedCall(item, begun, progress, "The image shows the lengths of your words.")


def _mcp_list(tool: HostedTool, dice: Dice) -> HostedCall:
    item = {
        "id": f"mcpl_{dice.hex(24)}",
        "type": "mcp_list_tools",
        "server_label": tool.label,
        "tools": [_MCP_TOOL],
        "error": None,
    }
    return HostedCall(item, {**item, "tools": []}, _progress("mcp_list_tools", "in_progress", "completed"), leads=True)


def _mcp(request: GenerationRequest, tool: HostedTool, dice: Dice) -> HostedCall:
    """Return the call of the server's tool, or the request to approve it."""
    approval = tool.approval
    arguments = approval.arguments if approval else json.dumps({"word": (_query(request).split() or ["word"])[0]})
    name = approval.name if approval else str(_MCP_TOOL["name"])
    call = {"server_label": tool.label, "name": name, "arguments": arguments}
    if tool.needs_approval and approval is None:
        question = {"id": f"mcpr_{dice.hex(24)}", "type": "mcp_approval_request", **call}
        return HostedCall(question, question, ends=True)
    output = "The demo's dictionary has only this sentence."
    item: dict[str, object] = {
        "id": f"mcp_{dice.hex(24)}",
        "type": "mcp_call",
        "status": "completed",
        **call,
        "approval_request_id": approval.request_id if approval else None,
        "output": output,
        "error": None,
    }
    progress = (
        *_progress("mcp_call", "in_progress"),
        ("response.mcp_call_arguments.delta", {"delta": arguments}),
        ("response.mcp_call_arguments.done", {"arguments": arguments}),
        *_progress("mcp_call", "completed"),
    )
    begun = {**item, "status": "in_progress", "arguments": "", "output": None}
    return HostedCall(item, begun, progress, f"The server {tool.label} answered: {output}")


_MAKERS: Final[Mapping[str, Callable[[GenerationRequest, HostedTool, Dice], HostedCall]]] = {
    **dict.fromkeys(WEB_SEARCHES, _web_search),
    "file_search": _file_search,
    "code_interpreter": _code_interpreter,
    "image_generation": _image_generation,
    "mcp": _mcp,
}
