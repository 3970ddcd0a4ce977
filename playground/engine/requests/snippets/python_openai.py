"""The request with OpenAI's Python library, for chat completions."""

from __future__ import annotations

from typing import Final

from playground.engine.requests.snippets.literals import PYTHON
from playground.engine.requests.snippets.python_text import argument, environment, refuse_halves, top
from playground.engine.requests.snippets.sent import Sent
from playground.gateway.connection import Timeouts
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import MESSAGES

#: The body's fields that ``chat.completions.create`` has as arguments; all others go through ``extra_body``.
ARGUMENTS: Final = frozenset(
    """
    messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens metadata modalities n parallel_tool_calls prediction presence_penalty reasoning_effort
    response_format seed service_tier stop store stream stream_options temperature tool_choice tools
    top_logprobs top_p user
    """.split()  # noqa: SIM905 - a list of forty strings reads worse
)
#: What the library demands, the type it must have, and what stands in for it where the request has something else.
DEMANDED: Final[dict[str, tuple[type, JSON]]] = {"model": (str, ""), MESSAGES: (list, [])}


def write(sent: Sent) -> str:
    """A script that prints the answer's text."""
    refuse_halves(sent, "the library")
    spelling, texts = PYTHON.for_body(sent.body)
    given, extra = parted(sent.body, ARGUMENTS, DEMANDED)
    call = "".join(argument(name, value, spelling) for name, value in given.items())
    if extra:
        call += argument("extra_body", extra, spelling)
    imports = "OpenAI"
    if sent.header("authorization") is None:  # the library sends one unless it is told at the call not to
        call += f"{PYTHON.indent}extra_headers={PYTHON.mapping([('Authorization', 'Omit()')], 1)},\n"
        imports = "Omit, OpenAI"
    name = "stream" if sent.streams else "completion"
    return (
        top(sent, "import os" if sent.variables else "", f"from openai import {imports}")
        + texts
        + _client(sent)
        + f"\n{name} = client.chat.completions.create(\n{call})\n"
        + (_stream(sent) if sent.streams else _whole(sent))
    )


def parted(
    body: JSONObject, arguments: frozenset[str], demanded: dict[str, tuple[type, JSON]]
) -> tuple[JSONObject, JSONObject]:
    """Keyword arguments, and what goes through ``extra_body``, which the library merges last and unseen."""
    given: JSONObject = {}
    extra: JSONObject = {}
    for name, value in body.items():
        kind, stand_in = demanded.get(name, (object, None))
        fits = isinstance(value, kind) and (name != "stream" or isinstance(value, bool))
        if name in arguments and fits:
            given[name] = value
            continue
        extra[name] = value
        if name in demanded:
            given[name] = stand_in
    for name, (_, stand_in) in demanded.items():
        given.setdefault(name, stand_in)
    return given, extra


def _client(sent: Sent) -> str:
    bearer = sent.header("authorization")
    has_key = bearer is not None and bearer.variable and bearer.text == "Bearer "
    headers = [(header.name, environment(header)) for header in sent.headers_but(*["authorization"] * bool(has_key))]
    key = f'os.environ["{bearer.variable}"]' if bearer is not None and has_key else '"none"'
    lines = f"    base_url={PYTHON.string(sent.base)},\n    api_key={key},\n"
    if headers:
        lines += f"    default_headers={PYTHON.mapping(headers, 1)},\n"
    return f"client = OpenAI(\n{lines}{timeout(sent)})\n"


def timeout(sent: Sent) -> str:
    """The argument for the longest silence, in seconds, where it was set to other than the application's own."""
    if sent.silence == Timeouts().first:
        return ""
    return f"    timeout={'None' if sent.silence is None else f'{sent.silence:g}'},\n"


def _stream(sent: Sent) -> str:
    lines = ["for chunk in stream:", "    for choice in chunk.choices:"]
    if sent.choices > 1:
        lines.append("        if choice.index > 0:")
        lines.append("            continue  # the other answers come in between")
    lines.append('        print(choice.delta.content or "", end="", flush=True)')
    if sent.offers_tools:
        lines += [
            "        for call in choice.delta.tool_calls or []:",
            '            print(call.function.name or "", call.function.arguments or "", sep="", end="", flush=True)',
        ]
    return "\n".join([*lines, "print()", ""])


def _whole(sent: Sent) -> str:
    shown = "choice.message.content or choice.message.tool_calls" if sent.offers_tools else "choice.message.content"
    return f"for choice in completion.choices:\n    print({shown})\n"
