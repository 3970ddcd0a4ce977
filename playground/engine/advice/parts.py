"""The values that advice consists of: title, remedy, actions, and offers of adapted requests."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from playground.domain.adaptations import Adaptation, AdaptationKind, written_value
from playground.protocols import API_NAMES, PROTOCOLS


@dataclass(frozen=True, slots=True)
class Offer:
    """Rules with which the gateway would accept the request to ``model``; ``narrow`` ones fit that model alone."""

    rules: tuple[Adaptation, ...]
    model: str = ""
    narrow: bool = False

    @property
    def kept_for(self) -> str:
        """The model that the rules are best saved for; empty for the whole gateway."""
        return self.model if self.narrow else ""

    @property
    def once(self) -> str:
        """The label of the button that tries the rules once."""
        return f"{self.deed} and retry"

    def always(self, *, of_model: bool) -> str:
        """Return the label of the button that saves the rules, for one model or the gateway."""
        deed = "leave it out" if self.rules[0].kind is AdaptationKind.OMIT else "do so"
        return f"Always {deed} {'for this model' if of_model else 'here'}"

    @property
    def deed(self) -> str:
        """The adaptation as a label."""
        rule = self.rules[0]
        names = " and ".join(f"“{rule.field}”" for rule in self.rules)
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
        """The equivalent options of the command line."""
        return " ".join(map(option_of, self.rules))

    def with_saved_rules(self, model: str, why: str, learnt: str) -> Offer:
        """Return the offer with rules to save, for one model, or for all if ``model`` is empty."""
        update = {"model": model, "why": why, "learnt": learnt}
        return replace(self, rules=tuple(rule.model_copy(update=update) for rule in self.rules))


def option_of(rule: Adaptation) -> str:
    """Return a rule as an option of the command line."""
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
    """A remedy with a button: a stable name, its label, and its object where that varies.

    ``offer`` holds the rules that the button tries or saves.
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
RAW: Final = Action("raw", "Open extra fields")
TURNS: Final = Action("turns", "Go to the earliest message")

#: The action for a conversation that the gateway should have kept.
SEND_ALL: Final = Action("send_all", "Send whole conversation")

#: The action for encrypted reasoning that the gateway cannot read.
DROP_REASONING: Final = Action("drop_reasoning", "Remove earlier reasoning")

#: The action for an answer that only lacks its end.
ASK_AGAIN: Final = Action("retry", "Ask again")

#: The action for an answer whose deltas each repeat the text before them.
READ_CUMULATIVE: Final = Action("read_cumulative", "Read as cumulative text")

#: The actions while a retry is due.
RETRY_NOW: Final = Action("retry_now", "Retry now")
GIVE_UP: Final = Action("give_up", "Give up")


#: The actions of an offer: send the adapted request once, or save the rules with the gateway first.
TRY_OFFER: Final = "try offer"
KEEP_OFFER: Final = "keep offer"


def of_offer(offer: Offer) -> tuple[Action, ...]:
    """Return the actions of an offer: try the rules, and save them, in the scope that fits best first.

    The value of a saving action is the model that the rules are saved for, empty for all.
    """
    keeping = [
        Action(KEEP_OFFER, offer.always(of_model=bool(model)), model, offer)
        for model in dict.fromkeys((offer.kept_for, "" if offer.kept_for else offer.model))
    ]
    return Action(TRY_OFFER, offer.once, offer=offer), *keeping


def add_header(name: str) -> Action:
    """Return the action that adds a header to the gateway's settings."""
    return Action("header", f"Add the header {name}", name)


def switch_to(protocol: str) -> Action:
    """Return the action that switches to a protocol."""
    return Action("protocol", f"Switch to {API_NAMES[protocol]}", protocol)


#: The action that switches to the protocol that a refusal names, and asks again.
ASK_OVER: Final = "ask over"


def ask_over(protocol: str) -> Action:
    """Return the action that asks again over a protocol."""
    return Action(ASK_OVER, f"Ask over {PROTOCOLS[protocol]}", protocol)


def other_protocols(endpoint: str) -> tuple[Action, ...]:
    """Return the actions that switch to another protocol than the endpoint's; none for other endpoints."""
    return tuple(switch_to(name) for name in PROTOCOLS if name != endpoint) if endpoint in PROTOCOLS else ()


#: Words for the window, and their replacements for the command line.
_COMMAND_WORDS: Final = (
    ("Retry to send it again", "Run it again"),
    ("Retry", "Run it again"),
    ("retry", "run it again"),
    ("the base URL", "--base-url"),
)


@dataclass(frozen=True, slots=True)
class Advice:
    """A title, the remedy, and the actions that carry it out, the best first.

    ``meaning`` is a stable name of the failure. ``command`` is the remedy for the command line if it differs from the
    window's. ``streaming`` is added to the remedy, with an action, if streaming was off.
    """

    meaning: str
    title: str
    remedy: str
    actions: tuple[Action, ...] = (RETRY,)
    command: str = ""
    streaming: str = ""


def at_a_prompt(advice: Advice) -> str:
    """Return the remedy in words for the command line."""
    words = advice.command or advice.remedy
    for window, prompt in _COMMAND_WORDS:
        words = words.replace(window, prompt)
    return words
