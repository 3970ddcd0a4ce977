"""The request with Anthropic's Python library, for the native messages protocol.

The library appends ``/v1/messages`` to its base URL, so that must stand without the version segment.
"""

from __future__ import annotations

from typing import Final

from playground.engine.requests.snippets.literals import PYTHON
from playground.engine.requests.snippets.python_openai import parted, timeout
from playground.engine.requests.snippets.python_text import argument, environment, refuse_halves, top
from playground.engine.requests.snippets.sent import NotPossibleError, Sent
from playground.jsonkit.values import JSON
from playground.protocols import MESSAGES

#: The body's fields that ``messages.create`` and ``messages.stream`` have as arguments in all recent releases;
#: temperature, top_p and top_k have gone from the newest.
ARGUMENTS: Final = frozenset(
    """
    max_tokens messages model metadata output_config service_tier stop_sequences stream system thinking
    tool_choice tools
    """.split()  # noqa: SIM905 - a list of forty strings reads worse
)
DEMANDED: Final[dict[str, tuple[type, JSON]]] = {
    "model": (str, ""),
    "max_tokens": (int, 1),
    MESSAGES: (list, []),
    "thinking": (dict, None),
}
_PATH: Final = "/v1/messages"
#: Above this many tokens the library refuses some answers that are not streamed, unless a time-out is given.
_LONG_ANSWER: Final = 8192


def write(sent: Sent) -> str:
    """A script that prints the answer's text."""
    if not sent.url.endswith(_PATH):
        raise NotPossibleError(
            f"The library always adds {_PATH} to its base URL, and this gateway's address is {sent.url}. "
            "Use curl, Python · httpx or JavaScript · fetch."
        )
    refuse_halves(sent, "the library")
    spelling, texts = PYTHON.for_body(sent.body)
    demanded = {name: kind for name, kind in DEMANDED.items() if name != "thinking" or name in sent.body}
    given, extra = parted(sent.body, ARGUMENTS, demanded)
    if given.get("thinking", {}) is None:
        del given["thinking"]
    if sent.streams:
        del given["stream"]
    call = "".join(argument(name, value, spelling, 1) for name, value in given.items())
    if extra:
        call += argument("extra_body", extra, spelling)
    imports, client = _client(sent)
    if sent.streams:
        ask = f"\nwith client.messages.stream(\n{call}) as stream:\n{_stream(sent)}"
    else:
        ask = f"\nmessage = client.messages.create(\n{call})\n{_whole(sent)}"
    return top(sent, "import os" if sent.variables else "", f"from anthropic import {imports}") + texts + client + ask


def _client(sent: Sent) -> tuple[str, str]:
    """The names needed from the library, and the client: ``auth_token`` is sent as Bearer, by every release."""
    bearer, own = sent.header("authorization"), sent.header("x-api-key")
    has_key = bearer is not None and bearer.variable == sent.key
    headers = [(header.name, environment(header)) for header in sent.headers_but(*["authorization"] * has_key)]
    imports = "Anthropic"
    if bearer is None:
        headers.append(("Authorization", "Omit()"))  # the key, if any, goes under another name
        imports = "Anthropic, Omit"
    variable = bearer.variable if bearer is not None and has_key else own.variable if own is not None else ""
    token = f'os.environ["{variable}"]' if variable else '"none"'
    lines = f"    base_url={PYTHON.string(sent.url.removesuffix(_PATH))},\n    auth_token={token},\n"
    if headers:
        lines += f"    default_headers={PYTHON.mapping(headers, 1)},\n"
    clock = timeout(sent)
    most = sent.body.get("max_tokens")
    if not clock and not sent.streams and not (isinstance(most, int) and most <= _LONG_ANSWER):
        clock = "    timeout=600,\n"
    return imports, f"client = Anthropic(\n{lines}{clock})\n"


def _stream(sent: Sent) -> str:
    lines = ["    for text in stream.text_stream:", '        print(text, end="", flush=True)', "    print()"]
    if sent.offers_tools:
        lines += [
            "    for block in stream.get_final_message().content:",
            '        if block.type == "tool_use":',
            "            print(block.name, block.input)",
        ]
    return "\n".join([*lines, ""])


def _whole(sent: Sent) -> str:
    lines = ["for block in message.content:", '    if block.type == "text":', "        print(block.text)"]
    if sent.offers_tools:
        lines += ['    elif block.type == "tool_use":', "        print(block.name, block.input)"]
    return "\n".join([*lines, ""])
