"""The request with the fetch that Node has built in, for any protocol."""

from __future__ import annotations

from playground.engine.requests.snippets.javascript_text import about, environment, inexact, reorders
from playground.engine.requests.snippets.literals import JAVASCRIPT, JSON_TEXT, written
from playground.engine.requests.snippets.sent import Sent
from playground.protocols.protocol import get_protocol


def write(sent: Sent) -> str:
    """A module that prints the answer's text."""
    headers = [("Content-Type", '"application/json"')] if sent.header("content-type") else []
    headers += [(header.name, environment(header)) for header in sent.headers_but()]
    if inexact(sent.body) or reorders(sent.body):
        texts, body = "", _raw(sent)
    else:
        spelling, texts = JAVASCRIPT.for_body(sent.body)
        body = f"JSON.stringify({written(sent.body, spelling, 1, 2 + len('body: JSON.stringify('))})"
    options = ['method: "POST"', f"headers: {JAVASCRIPT.mapping(headers, 1)}", f"body: {body}"]
    if sent.timeouts.total is not None:
        options.append(f"signal: AbortSignal.timeout({round(sent.timeouts.total * 1000)})")
    inner = "".join(f"  {option},\n" for option in options)
    return (
        about(sent)
        + texts
        + f"const response = await fetch({JAVASCRIPT.string(sent.url)}, {{\n{inner}}});\n"
        + "if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);\n"
        + (_stream(sent) if sent.streams else _whole(sent))
    )


def _raw(sent: Sent) -> str:
    """The body as JSON text, where JavaScript's own numbers and objects would change it."""
    text = written(sent.body, JSON_TEXT).replace("`", "\\u0060").replace("${", "\\u0024{")
    return f"String.raw`{text}`"


_READ = """
let rest = "";
for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const data = line.startsWith("data:") ? line.slice(5).trim() : "[DONE]";
    if (data === "[DONE]") continue;
    const event = JSON.parse(data);
"""


def _stream(sent: Sent) -> str:
    show = get_protocol(sent.protocol).javascript_stream(sent.choices, tools=sent.offers_tools)
    return _READ + "".join(f"    {line}\n" for line in show) + "  }\n}\nconsole.log();\n"


def _whole(sent: Sent) -> str:
    show = get_protocol(sent.protocol).javascript_whole(tools=sent.offers_tools)
    return "".join(f"\n{line}" for line in show) + "\n"
