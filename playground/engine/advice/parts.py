"""What advice is made of: a headline, a remedy, and the actions that carry it out. Values only, no knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from playground.protocols import PROTOCOLS


class Action(NamedTuple):
    """Something that helps: a stable name, the words on its button, and what it is about where that varies."""

    name: str
    label: str
    value: str = ""


RETRY: Final = Action("retry", "Retry")
KEY: Final = Action("key", "Enter the key")
GATEWAY: Final = Action("gateway", "Open gateway settings")
MODEL: Final = Action("model", "Choose a model")
STREAM_ON: Final = Action("stream_on", "Turn streaming on and retry")
TIMEOUT: Final = Action("timeout", "Raise the time-out")
PARAMETERS: Final = Action("parameters", "Show parameters")
TOOLS: Final = Action("tools", "Show tools")
OUTPUT: Final = Action("output", "Show the output format")
RAW: Final = Action("raw", "Open Raw")
TURNS: Final = Action("turns", "Go to the earliest turn")

#: What can be done for an answer that nothing is wrong with but its end.
ASK_AGAIN: Final = Action("retry", "Ask again")

#: What can be done while the next try is waited for.
RETRY_NOW: Final = Action("retry_now", "Retry now")
GIVE_UP: Final = Action("give_up", "Give up")


def add_header(name: str) -> Action:
    """Give the gateway a header that it asks for."""
    return Action("header", f"Add the header {name}", name)


def switch_to(protocol: str) -> Action:
    """Speak that protocol instead."""
    return Action("protocol", f"Switch to {PROTOCOLS[protocol]}", protocol)


def other_protocols(endpoint: str) -> tuple[Action, ...]:
    """Speak another one than that endpoint's; nothing where it is none of a protocol's."""
    return tuple(switch_to(name) for name in PROTOCOLS if name != endpoint) if endpoint in PROTOCOLS else ()


#: What the window calls so, and what a command line has instead.
_AT_A_PROMPT: Final = (
    ("Retry to ask again", "Run it again"),
    ("Retry", "Run it again"),
    ("retry", "run it again"),
    ("the base URL", "--base-url"),
)


@dataclass(frozen=True, slots=True)
class Advice:
    """A headline, the remedy, and the actions that carry it out, the best first.

    ``meaning`` is a stable word for what happened. ``command`` is the remedy for the command line, where it is another
    one than in the window. ``streaming`` is added to the remedy, with an action, where streaming was off.
    """

    meaning: str
    title: str
    remedy: str
    actions: tuple[Action, ...] = (RETRY,)
    command: str = ""
    streaming: str = ""


def at_a_prompt(advice: Advice) -> str:
    """The remedy in the words of the command line."""
    words = advice.command or advice.remedy
    for window, prompt in _AT_A_PROMPT:
        words = words.replace(window, prompt)
    return words
