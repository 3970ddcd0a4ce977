"""Requests as JavaScript code: with the fetch of Node, and with OpenAI's library."""

from __future__ import annotations

from math import copysign
from typing import Final

from playground.engine.requests.snippets.literals import JAVASCRIPT, JSON_TEXT, comment, written
from playground.engine.requests.snippets.snippet_request import (
    Header,
    NotPossibleError,
    SnippetRequest,
    openai_resource,
)
from playground.gateway.connection import Timeouts
from playground.jsonkit.values import JSON
from playground.protocols.protocol import get_protocol

_READ_EVENTS: Final = """
let rest = "";
for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const data = line.startsWith("data:") ? line.slice(5).trim() : "[DONE]";
    if (data === "[DONE]") continue;
    const event = JSON.parse(data);
"""


def write_fetch(request: SnippetRequest) -> str:
    """Return a module that prints the text of the answer."""
    headers = [("Content-Type", '"application/json"')] if request.header("content-type") else []
    headers += [(header.name, _value(header)) for header in request.headers_but()]
    if _inexact_number(request.body) or _is_reordered(request.body):
        text = written(request.body, JSON_TEXT).replace("`", "\\u0060").replace("${", "\\u0024{")
        texts, body = "", f"String.raw`{text}`"
    else:
        spelling, texts = JAVASCRIPT.for_body(request.body)
        body = f"JSON.stringify({written(request.body, spelling, 1, 2 + len('body: JSON.stringify('))})"
    options = ['method: "POST"', f"headers: {JAVASCRIPT.mapping(headers, 1)}", f"body: {body}"]
    if request.timeouts.total is not None:
        options.append(f"signal: AbortSignal.timeout({round(request.timeouts.total * 1000)})")
    inner = "".join(f"  {option},\n" for option in options)
    protocol = get_protocol(request.protocol)
    if request.streams:
        show = protocol.javascript_stream(request.choices, tools=request.offers_tools)
        read = _READ_EVENTS + "".join(f"    {line}\n" for line in show) + "  }\n}\nconsole.log();\n"
    else:
        read = "".join(f"\n{line}" for line in protocol.javascript_whole(tools=request.offers_tools)) + "\n"
    return (
        _certificates(request)
        + texts
        + f"const response = await fetch({JAVASCRIPT.string(request.url)}, {{\n{inner}}});\n"
        + "if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);\n"
        + read
    )


def write_openai(request: SnippetRequest) -> str:
    """Return a module that prints the text of the answer. The library sends unknown members, too."""
    if number := _inexact_number(request.body):
        raise NotPossibleError(
            f"The request holds the number {number}, which JavaScript cannot hold exactly. "
            "Use JavaScript · fetch, curl or Python."
        )
    spelling, texts = JAVASCRIPT.for_body(request.body)
    resource = openai_resource(request)
    lead = f"const {'stream' if request.streams else 'answer'} = await client.{resource.name}.create("
    if request.streams:
        show = resource.javascript_stream(request.choices, tools=request.offers_tools)
        lines = ["for await (const event of stream) {", *(f"  {line}" for line in show), "}", "console.log();"]
    else:
        lines = resource.javascript_whole(request.choices, tools=request.offers_tools)
    return (
        _certificates(request)
        + 'import OpenAI from "openai";\n\n'
        + texts
        + _openai_client(request)
        + f"\n{lead}{written(request.body, spelling, 0, len(lead) + 2)});\n"
        + "".join(f"{line}\n" for line in lines)
    )


def _openai_client(request: SnippetRequest) -> str:
    bearer = request.header("authorization")
    variable = bearer.variable if bearer is not None and bearer.text == "Bearer " else ""
    headers = [(header.name, _value(header)) for header in request.headers_but(*["authorization"] * bool(variable))]
    if bearer is None:
        headers.append(("Authorization", "null"))  # the gateway is called without one
    key = f"process.env.{variable}" if variable else '"none"'
    lines = [f"baseURL: {JAVASCRIPT.string(request.base)}", f"apiKey: {key}"]
    if headers:
        lines.append(f"defaultHeaders: {JAVASCRIPT.mapping(headers, 1)}")
    if request.silence is not None and request.silence != Timeouts().first:
        lines.append(f"timeout: {round(request.silence * 1000)}")
    return "const client = new OpenAI({\n" + "".join(f"  {line},\n" for line in lines) + "});\n"


# ---- shared ----------------------------------------------------------------------------------------------------------


def _certificates(request: SnippetRequest) -> str:
    """Return a comment on the certificates, which Node reads from its environment only."""
    if not request.ca_file:
        return ""
    return comment("//", f"Run with NODE_EXTRA_CA_CERTS={request.ca_file} (the gateway's own authority).") + "\n"


def _value(header: Header) -> str:
    """Return an expression for the value of a header."""
    if not header.variable:
        return JAVASCRIPT.string(header.text)
    if header.text:
        return f"`{header.text}${{process.env.{header.variable}}}`"
    return f"process.env.{header.variable}"


def _inexact_number(value: JSON) -> str:
    """Return the first number that JavaScript would change, in JSON; empty if there is none."""
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return next((number for item in items if (number := _inexact_number(item))), "")
    if isinstance(value, float):
        return "-0.0" if value == 0 and copysign(1, value) < 0 else ""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return str(value) if len(str(abs(value))) < 60 else f"{str(value)[:40]}…"
    return ""


def _is_reordered(value: JSON) -> bool:
    """Return whether an object has names like "10", which JavaScript moves to the front in ascending order."""
    if isinstance(value, dict):
        names = list(value)
        numbers = [name for name in names if name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")]
        if numbers and names[: len(numbers)] != sorted(numbers, key=int):
            return True
        return any(map(_is_reordered, value.values()))
    return isinstance(value, list) and any(map(_is_reordered, value))
