"""What the JavaScript snippets have in common: secrets from the environment, and what its numbers can hold."""

from __future__ import annotations

from math import copysign

from playground.engine.requests.snippets.literals import JAVASCRIPT, comment
from playground.engine.requests.snippets.sent import Header, Sent
from playground.jsonkit.values import JSON


def environment(header: Header) -> str:
    """An expression for a header's value."""
    if not header.variable:
        return JAVASCRIPT.string(header.text)
    if header.text:
        return f"`{header.text}${{process.env.{header.variable}}}`"
    return f"process.env.{header.variable}"


def about(sent: Sent) -> str:
    """What has to be known about certificates, as a comment: Node reads them from its environment only."""
    if not sent.ca_file:
        return ""
    return comment("//", f"Run with NODE_EXTRA_CA_CERTS={sent.ca_file} (the gateway's own authority).") + "\n"


def inexact(value: JSON) -> str:
    """The first number that JavaScript would change, as JSON spells it; empty when there is none."""
    if isinstance(value, dict):
        return next((found for item in value.values() if (found := inexact(item))), "")
    if isinstance(value, list):
        return next((found for item in value if (found := inexact(item))), "")
    if isinstance(value, float):
        return "-0.0" if value == 0 and copysign(1, value) < 0 else ""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return str(value) if len(str(abs(value))) < 60 else f"{str(value)[:40]}…"
    return ""


def reorders(value: JSON) -> bool:
    """Whether an object has names like "10", which JavaScript puts in front of all others, in ascending order."""
    if isinstance(value, dict):
        names = list(value)
        numbers = [name for name in names if name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")]
        if numbers and names[: len(numbers)] != sorted(numbers, key=int):
            return True
        return any(map(reorders, value.values()))
    return isinstance(value, list) and any(map(reorders, value))
