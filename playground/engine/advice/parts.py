"""What advice is made of: a headline, a remedy, and the actions that carry it out. Values only, no knowledge."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from playground.domain.adaptations import Adaptation, AdaptationKind, written_value
from playground.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True)
class Offer:
    """Rules that would have the request to ``model`` taken. ``narrow`` says that they are best kept for it alone."""

    rules: tuple[Adaptation, ...]
    model: str = ""
    narrow: bool = False

    @property
    def kept_for(self) -> str:
        """The model that they are best kept for; empty for all of the gateway."""
        return self.model if self.narrow else ""

    @property
    def once(self) -> str:
        """On the button that tries it."""
        return f"{self.deed} and retry"

    def always(self, *, of_model: bool) -> str:
        """On the button that keeps it, for one model or the gateway; the one that tries it says what."""
        deed = "leave it out" if self.rules[0].kind is AdaptationKind.OMIT else "do so"
        return f"Always {deed} {'for this model' if of_model else 'here'}"

    @property
    def deed(self) -> str:
        """What is done, as a button says it."""
        rule = self.rules[0]
        names = " and ".join(f"“{one.field}”" for one in self.rules)
        match rule.kind:
            case AdaptationKind.OMIT:
                return f"Leave out {names}"
            case AdaptationKind.REPLACE:
                return f"Send “{rule.field}” as {written_value(rule.to)}"
            case AdaptationKind.RENAME:
                return f"Send “{rule.field}” as “{rule.to}”"
            case AdaptationKind.ROLE:
                return f"Send {rule.field} messages as “{rule.to}”"

    @property
    def command(self) -> str:
        """The options of the command line that do it."""
        return " ".join(map(option_of, self.rules))

    def kept(self, model: str, why: str, learnt: str) -> Offer:
        """With the rules as a gateway keeps them, for one model or, where that is empty, all."""
        update = {"model": model, "why": why, "learnt": learnt}
        return replace(self, rules=tuple(one.model_copy(update=update) for one in self.rules))


def option_of(rule: Adaptation) -> str:
    """One rule as an option of the command line."""
    match rule.kind:
        case AdaptationKind.OMIT:
            return f"--without {rule.field}"
        case AdaptationKind.RENAME:
            return f"--rename {rule.field}={rule.to}"
        case AdaptationKind.ROLE:
            return f"--role {rule.field}={rule.to}"
        case AdaptationKind.REPLACE:
            return f"--replace {shlex.quote(f'{rule.field}={json.dumps(rule.to)}')}"


class Action(NamedTuple):
    """Something that helps: a stable name, the words on its button, and what it is about where that varies.

    ``offer`` are the rules that a button tries or keeps.
    """

    name: str
    label: str
    value: str = ""
    offer: Offer | None = None


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

#: What can be done for an answer whose deltas each repeat the text before them.
READ_CUMULATIVE: Final = Action("read_cumulative", "Read as cumulative text")

#: What can be done while the next try is waited for.
RETRY_NOW: Final = Action("retry_now", "Retry now")
GIVE_UP: Final = Action("give_up", "Give up")


#: What can be done with an offer: send it so this time, or keep it with the gateway and send it so.
TRY_OFFER: Final = "try offer"
KEEP_OFFER: Final = "keep offer"


def of_offer(offer: Offer) -> tuple[Action, ...]:
    """The actions of an offer: try it, and keep it where it fits best and in the other way.

    The value of those that keep it is the model it is kept for, empty for all.
    """
    keeping = [
        Action(KEEP_OFFER, offer.always(of_model=bool(model)), model, offer)
        for model in dict.fromkeys((offer.kept_for, "" if offer.kept_for else offer.model))
    ]
    return Action(TRY_OFFER, offer.once, offer=offer), *keeping


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
