"""The checks: one declared table. What each asks, who judges the answer, and what has to work before it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.request import Request
from playground.domain.transcript import Role, make_turn
from playground.engine.gateway_check import judges
from playground.engine.gateway_check.judges import Came, Found, Judge
from playground.engine.gateway_check.report import Report
from playground.engine.gateway_check.setting import (
    LIMIT,
    NO_MODEL,
    SCHEMA,
    SHORT,
    STOP,
    TOOL,
    Setting,
    after_a_call,
    picture,
)
from playground.jsonkit.values import JSONObject
from playground.protocols import PROTOCOLS

Ask: TypeAlias = Callable[[Setting], Request | None]
Look: TypeAlias = Callable[[Sequence[Came]], Found]

_HELLO: Final = "Say hello in one word."
_WEATHER: Final = "What is the weather in Oslo? Use the tool."
_CITY: Final = "Name the capital of Norway and how many people live there, as JSON with city and population."
_THINKING: Final = 1024  # tokens that reasoning may take: no less can be asked for


class How(StrEnum):
    """How a check comes by what it judges."""

    ASK = "ask"  # a request of its own
    LIST = "list"  # the model list
    KEY = "key"  # a request of its own, with a key that nobody has
    NOTED = "noted"  # what all the others brought


@dataclass(frozen=True)
class Check:
    """One row. ``about`` says what is asked, for people.

    ``ask`` makes the request; None, or no ``ask``, where the protocol has no such thing. ``instead`` is asked where
    that is refused. ``of`` is the check whose answer is judged where this one asks nothing of its own. ``needs`` are
    checks of which one has to work, over the same protocol. ``essential`` ones have to work for the gateway to be said
    to speak the protocol.
    """

    id: str
    title: str
    about: str
    ask: Ask | None = None
    judge: Judge = judges.accepted
    how: How = How.ASK
    instead: Ask | None = None
    rule: Callable[[Setting], Adaptation | None] | None = None
    of: str = ""
    needs: tuple[str, ...] = ("whole", "stream")
    essential: bool = False
    look: Look | None = None

    def over(self, setting: Setting) -> bool:
        """Whether there is such a thing over the protocol of ``setting``."""
        return bool(self.of) or self.how is How.KEY or (self.ask is not None and self.ask(setting) is not None)

    @property
    def one_for_all(self) -> bool:
        """Whether it is made once, and not over each protocol."""
        return self.how in (How.LIST, How.NOTED)


def _whole(setting: Setting) -> Request:
    return setting.ask(_HELLO, stream=False)


def _stream(setting: Setting) -> Request:
    return setting.ask(_HELLO, stream=True)


def _counts_in_stream(setting: Setting) -> Request | None:
    asks = [name for name, hint in setting.fields.hints() if hint.needs == "stream"]
    return setting.ask(_HELLO, stream=True, own=dict.fromkeys(asks, True)) if asks else None


def _role(role: Role) -> Ask:
    def ask(setting: Setting) -> Request | None:
        turns = (make_turn(role, "Answer in one word."), make_turn(Role.USER, _HELLO))
        request = setting.ask(turns)
        if role is Role.SYSTEM:
            return request
        plain = setting.ask((make_turn(Role.SYSTEM, "Answer in one word."), turns[1]))
        encode = setting.protocol.encode
        return request if encode(request) != encode(plain) else None  # the protocol has no such role

    return ask


def _temperature(setting: Setting) -> Request:
    return setting.ask(_HELLO, temperature=0.5)


def _limit(setting: Setting) -> Request:
    return setting.ask("Write a long story about the sea.", limit=SHORT)


def _older_limit(setting: Setting) -> Adaptation | None:
    """The limit under its other name, for gateways that pass over the one that is sent."""
    first, *others = [name for name, _ in setting.protocol.expected.limits]
    if not others:
        return None
    return Adaptation(kind=AdaptationKind.RENAME, field=first, to=others[0], protocol=setting.protocol.name)


def _stop(setting: Setting) -> Request:
    return setting.ask("Write the numbers from one to ten as words.", stop=[STOP])


def _several(setting: Setting) -> Request | None:
    return setting.ask(_HELLO, own={"n": 2}) if "n" in setting.fields.model_fields else None


def _call(choice: str | JSONObject | None = None, *, stream: bool | None = None) -> Ask:
    def ask(setting: Setting) -> Request:
        return setting.ask(_WEATHER, tools=(TOOL,), tool_choice=choice, stream=stream)

    return ask


def _result(setting: Setting) -> Request:
    return setting.ask(after_a_call(setting.called), tools=(TOOL,))


def _json_mode(setting: Setting) -> Request | None:
    found = setting.fields.model_fields
    offers = dict(setting.fields.hints())["response_format"].suggestions if "response_format" in found else ()
    if "json_object" not in offers:
        return None
    return setting.ask(_CITY, own={"response_format": {"type": "json_object"}})


def _schema(setting: Setting) -> Request | None:
    return setting.ask(_CITY, schema=SCHEMA) if setting.has("schema") else None


def _image(setting: Setting) -> Request:
    return setting.ask((make_turn(Role.USER, "What colour is this square? Answer in one word.", picture()),))


def _effort(setting: Setting) -> Request | None:
    """As newer models take it."""
    own = {name: hint.start for name, hint in setting.fields.hints() if hint.editor == "thinking"}
    return setting.ask("What is 17 * 23?", limit=LIMIT + _THINKING, effort="low", own=own)


def _budget(setting: Setting) -> Request | None:
    """As older models take it, where the protocol knows both."""
    own = {
        name: {"type": "enabled", "budget_tokens": _THINKING}
        for name, hint in setting.fields.hints()
        if hint.editor == "thinking"
    }
    return setting.ask("What is 17 * 23?", limit=LIMIT + _THINKING, own=own) if own else None


def _no_model(setting: Setting) -> Request:
    return setting.ask(_HELLO, model=NO_MODEL)


CHECKS: Final[tuple[Check, ...]] = (
    Check("models", "Model list", "Asks for the list of models.", how=How.LIST, needs=()),
    Check(
        "whole",
        "Short answer",
        "Asks for one word, not streamed.",
        _whole,
        judges.short_answer,
        needs=(),
        essential=True,
    ),
    Check(
        "stream",
        "Stream",
        "Asks for one word, streamed to its end.",
        _stream,
        judges.streamed,
        needs=(),
        essential=True,
    ),
    Check("usage", "Token counts", "Looks for token counts in the short answer.", judge=judges.counted, of="whole"),
    Check(
        "stream_usage",
        "Token counts in the stream",
        "Asks for token counts at the end of a stream.",
        _counts_in_stream,
        judges.counted,
        of="stream",
        needs=("stream",),
    ),
    Check("system", "System message", "Sends a system message.", _role(Role.SYSTEM)),
    Check("developer", "Developer message", "Sends a message of the role developer.", _role(Role.DEVELOPER)),
    Check("temperature", "Temperature", "Sets the temperature to 0.5.", _temperature),
    Check(
        "limit",
        "Most tokens",
        f"Asks for a long story in {SHORT} tokens at most.",
        _limit,
        judges.limited,
        rule=_older_limit,
    ),
    Check("stop", "Stop sequence", f"Has the answer stop before “{STOP}”.", _stop, judges.stopped),
    Check("n", "Two answers at once", "Asks for two answers to one request.", _several, judges.several),
    Check("tool", "Tool call", "Offers a tool and asks to use it.", _call(), judges.called),
    Check(
        "tool_stream",
        "Tool call in a stream",
        "The same, streamed.",
        _call(stream=True),
        judges.called,
        needs=("stream",),
    ),
    Check(
        "tool_required", "Tool call demanded", "Demands a call of any tool.", _call("required"), judges.called_by_force
    ),
    Check(
        "tool_named",
        "Named tool demanded",
        "Demands a call of one tool by its name.",
        _call({"name": TOOL.name}),
        judges.called_by_force,
    ),
    Check(
        "tool_result",
        "Tool result",
        "Sends the result of a tool call back and asks for the answer.",
        _result,
        judges.answered_from_result,
    ),
    Check("json", "JSON mode", "Asks for a JSON object.", _json_mode, judges.in_form),
    Check("schema", "JSON schema", "Asks for JSON that fits a schema.", _schema, judges.in_form),
    Check("image", "Image", "Sends a small red square and asks for its colour.", _image, judges.saw),
    Check(
        "reasoning",
        "Reasoning",
        "Asks to think with low effort before the answer.",
        _effort,
        judges.thought,
        instead=_budget,
    ),
    Check(
        "unknown_model",
        "Error for an unknown model",
        "Asks a model that does not exist, for an error that says so.",
        _no_model,
        judges.unknown_model,
        needs=(),
    ),
    Check(
        "wrong_key",
        "Error for a wrong key",
        "Asks with a made-up key, for an error that says so. Yours is not sent.",
        _whole,
        judges.wrong_key,
        how=How.KEY,
    ),
    Check(
        "limits",
        "Headers on limits",
        "Looks for rate-limit headers in all answers.",
        how=How.NOTED,
        needs=(),
        look=judges.limits_told,
    ),
    Check(
        "request_id",
        "Header with a request id",
        "Looks for the id of the request in the headers of all answers.",
        how=How.NOTED,
        needs=(),
        look=judges.ids_told,
    ),
)

BY_ID: Final = {check.id: check for check in CHECKS}

#: A check and the protocol that it is made over, empty where it is made once for all.
Key: TypeAlias = tuple[str, str]


def keys(settings: Iterable[Setting]) -> Iterator[Key]:
    """All that can be checked over the protocols of ``settings``, in the order in which it is asked."""
    over = tuple(settings)
    for check in CHECKS:
        if check.how is How.LIST:
            yield check.id, ""
    for setting in over:
        for check in CHECKS:
            if not check.one_for_all and check.over(setting):
                yield check.id, setting.protocol.name
    for check in CHECKS:
        if check.how is How.NOTED:
            yield check.id, ""


def title(key: Key) -> str:
    """What a line is called where lines of several protocols stand together."""
    check, protocol = key
    return f"{BY_ID[check].title} ({PROTOCOLS[protocol]})" if protocol else BY_ID[check].title


def spoken(report: Report) -> dict[str, bool]:
    """The protocols that were looked at, and whether all that is essential works over each."""
    found: dict[str, bool] = {}
    for line in report.lines:
        check = BY_ID.get(line.check)
        if check is not None and check.essential:
            found[line.protocol] = found.get(line.protocol, True) and line.verdict.fine
    return found
