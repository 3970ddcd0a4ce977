"""The request with OpenAI's JavaScript library, for chat completions. It sends what it is given, known or not."""

from __future__ import annotations

from playground.engine.requests.snippets.javascript_text import about, environment, inexact
from playground.engine.requests.snippets.literals import JAVASCRIPT, written
from playground.engine.requests.snippets.sent import NotPossibleError, Sent
from playground.gateway.connection import Timeouts


def write(sent: Sent) -> str:
    """A module that prints the answer's text."""
    if number := inexact(sent.body):
        raise NotPossibleError(
            f"The request holds the number {number}, which JavaScript cannot hold exactly. "
            "Use JavaScript · fetch, curl or Python."
        )
    spelling, texts = JAVASCRIPT.for_body(sent.body)
    lead = f"const {'stream' if sent.streams else 'completion'} = await client.chat.completions.create("
    return (
        about(sent)
        + 'import OpenAI from "openai";\n\n'
        + texts
        + _client(sent)
        + f"\n{lead}{written(sent.body, spelling, 0, len(lead) + 2)});\n"
        + (_stream(sent) if sent.streams else _whole(sent))
    )


def _client(sent: Sent) -> str:
    bearer = sent.header("authorization")
    has_key = bearer is not None and bearer.variable and bearer.text == "Bearer "
    headers = [(header.name, environment(header)) for header in sent.headers_but(*["authorization"] * bool(has_key))]
    if bearer is None:
        headers.append(("Authorization", "null"))  # the gateway is called without one
    key = f"process.env.{bearer.variable}" if bearer is not None and has_key else '"none"'
    lines = [f"baseURL: {JAVASCRIPT.string(sent.base)}", f"apiKey: {key}"]
    if headers:
        lines.append(f"defaultHeaders: {JAVASCRIPT.mapping(headers, 1)}")
    if sent.silence is not None and sent.silence != Timeouts().first:
        lines.append(f"timeout: {round(sent.silence * 1000)}")
    return "const client = new OpenAI({\n" + "".join(f"  {line},\n" for line in lines) + "});\n"


def _stream(sent: Sent) -> str:
    lines = ["for await (const chunk of stream) {", "  for (const choice of chunk.choices) {"]
    if sent.choices > 1:
        lines.append("    if (choice.index > 0) continue; // the other answers come in between")
    lines.append('    process.stdout.write(choice.delta.content ?? "");')
    if sent.offers_tools:
        lines += [
            "    for (const { function: f } of choice.delta.tool_calls ?? []) {",
            '      process.stdout.write((f.name ?? "") + (f.arguments ?? ""));',
            "    }",
        ]
    return "\n".join([*lines, "  }", "}", "console.log();", ""])


def _whole(sent: Sent) -> str:
    shown = "choice.message.content" + (" ?? choice.message.tool_calls" if sent.offers_tools else "")
    return f"for (const choice of completion.choices) {{\n  console.log({shown});\n}}\n"
