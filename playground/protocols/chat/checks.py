"""Checks for contradictions in a body of POST /chat/completions (specification, section 4.1, and real gateways)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playground.jsonkit.merge import at_path
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.oddities import Check, Oddity, tool_choice

WORDS: Final = ("auto", "none", "required")


def choice_of_tool(body: JSONObject) -> Iterator[Oddity]:
    """Check that ``tool_choice`` has tools and is one of them or a documented word."""
    choice = body.get("tool_choice")
    named = at_path(choice, ("function", "name")) if isinstance(choice, dict) else None
    yield from tool_choice(choice, named, body.get("tools"), _name_of)
    if isinstance(choice, str) and choice not in WORDS and body.get("tools"):
        yield Oddity(("tool_choice",), f"“{choice}” is neither {listed(WORDS, 'or')} nor a tool sent")


def two_limits(body: JSONObject) -> Iterator[Oddity]:
    """Check that only one of ``max_tokens``, the deprecated name, and ``max_completion_tokens`` is set."""
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        yield Oddity(("max_completion_tokens",), "max_tokens is sent as well: many gateways refuse both at once")
        yield Oddity(("max_tokens",), "max_completion_tokens is sent as well: many gateways refuse both at once")


def options_without_stream(body: JSONObject) -> Iterator[Oddity]:
    """Check that ``stream_options`` is set for a stream only."""
    if body.get("stream_options") is not None and body.get("stream") in (None, False):
        yield Oddity(("stream_options",), "sent without “stream”: many gateways refuse that")


CHECKS: Final[tuple[Check, ...]] = (choice_of_tool, two_limits, options_without_stream)


def _name_of(tool: JSON) -> JSON:
    return at_path(tool, ("function", "name"))
