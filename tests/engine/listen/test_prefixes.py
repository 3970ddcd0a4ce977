"""Requests that extend each other are linked, and a changed message is found."""

from __future__ import annotations

from typing import Any

from playground.engine.listen.prefixes import PrefixIndex
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON


def body(*texts: str, **more: Any) -> dict[str, JSON]:
    return {"model": "m", "messages": [{"role": "user", "content": text} for text in texts], **more}


def test_longer_request_extends_an_earlier_one() -> None:
    index = PrefixIndex()
    index.add(1, "s", "chat", body("a"))
    index.add(2, "s", "chat", body("title?"))

    prefix = index.add(3, "s", "chat", body("a", "b", "c"))

    assert (prefix.extends, prefix.common, prefix.broken_at, prefix.notes) == (1, 1, None, ())
    assert index.add(4, "other session", "chat", body("a", "b")).extends == 0


def test_changed_message_breaks_the_prefix() -> None:
    index = PrefixIndex()
    index.add(1, "s", "messages", body("a", "b", "c"))

    prefix = index.add(2, "s", "messages", body("a", "B", "c", "d"))

    assert (prefix.extends, prefix.common, prefix.broken_at) == (0, 1, 1)


def test_moved_cache_marker_does_not_break_the_prefix() -> None:
    index = PrefixIndex()
    marked = {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}
    plain = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    index.add(1, "s", "messages", {"messages": [marked]})

    assert index.add(2, "s", "messages", {"messages": [plain, marked]}).extends == 1


def test_deeply_nested_message_is_compared() -> None:
    index = PrefixIndex()
    nested = loads(b"[" * 880 + b'{"cache_control":1}' + b"]" * 880)
    request: dict[str, JSON] = {"messages": [{"role": "user", "content": nested}]}
    index.add(1, "s", "chat", request)

    assert index.add(2, "s", "chat", request).extends == 1


def test_changed_tools_and_system_prompt_are_noted() -> None:
    index = PrefixIndex()
    index.add(1, "s", "messages", body("a", system="One", tools=[{"name": "x"}]))

    prefix = index.add(2, "s", "messages", body("a", "b", system="Two", tools=[]))

    assert prefix.extends == 1
    assert prefix.notes == (
        "The system prompt differs from that of request 1.",
        "The tools differ from those of request 1.",
    )


def test_edited_request_is_not_compared_with_itself() -> None:
    index = PrefixIndex()
    index.add(1, "s", "chat", body("a"))

    assert index.add(1, "s", "chat", body("a")).extends == 0
