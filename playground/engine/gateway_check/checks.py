"""The table of checks, with the request, the judge and the prerequisites of each, and estimates of their costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.prices import Price, cost_of, money
from playground.domain.request import Request
from playground.domain.tokens import estimate_tokens
from playground.domain.transcript import Role, make_turn
from playground.domain.usage import Usage
from playground.engine.gateway_check import judges
from playground.engine.gateway_check.judges import Assessment, CheckAnswer, Judge
from playground.engine.gateway_check.report import Report
from playground.engine.gateway_check.requests import (
    LIMIT,
    NO_MODEL,
    SCHEMA,
    SHORT,
    STOP,
    TOOL,
    CheckContext,
    picture,
    turns_with_result,
)
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS

RequestMaker: TypeAlias = Callable[[CheckContext], Request | None]
SeriesJudge: TypeAlias = Callable[[Sequence[CheckAnswer]], Assessment]
#: A check and the protocol that it is made over, empty if it is made once for all.
Key: TypeAlias = tuple[str, str]

_HELLO: Final = "Say hello in one word."
_WEATHER: Final = "What is the weather in Oslo? Use the tool."
_CITY: Final = "Name the capital of Norway and how many people live there, as JSON with city and population."
_THINKING: Final = 1024  # tokens of reasoning, the smallest budget that can be requested
_IMAGE_TOKENS: Final = 300  # of a small picture; gateways count very differently
_NOT_CHARGED: Final = frozenset({"unknown_model", "wrong_key"})  # refused requests cost nothing


class Method(StrEnum):
    """The source of the answer that a check judges."""

    REQUEST = "request"  # its own request
    LIST = "list"  # the model list
    KEY = "key"  # its own request with a made-up key
    ALL = "all"  # the answers of all other checks


@dataclass(frozen=True)
class Check:
    """One row of the table. ``about`` describes the request for people.

    ``request`` makes the request; None if the protocol has none. ``fallback`` is sent if that is refused, ``rule`` is
    tried if it is ignored. ``source`` is the check whose answer is judged by a check without a request. ``needs`` are
    checks of which one has to work, over the same protocol. ``essential`` checks decide whether the gateway supports
    the protocol. ``judge_all`` judges the answers of all checks.
    """

    id: str
    title: str
    about: str
    request: RequestMaker | None = None
    judge: Judge = judges.accepted
    method: Method = Method.REQUEST
    fallback: RequestMaker | None = None
    rule: Callable[[CheckContext], Adaptation | None] | None = None
    source: str = ""
    needs: tuple[str, ...] = ("whole", "stream")
    essential: bool = False
    judge_all: SeriesJudge | None = None

    def is_available(self, context: CheckContext) -> bool:
        """Return whether the check is possible over the protocol of ``context``."""
        if self.source or self.method is Method.KEY:
            return True
        return self.request is not None and self.request(context) is not None

    @property
    def is_made_once(self) -> bool:
        """Return whether the check is made once, and not over each protocol."""
        return self.method in (Method.LIST, Method.ALL)


def _short_answer(context: CheckContext) -> Request:
    return context.request(_HELLO, stream=False)


def _stream(context: CheckContext) -> Request:
    return context.request(_HELLO, stream=True)


def _counts_in_stream(context: CheckContext) -> Request | None:
    asks = [name for name, hint in context.fields.hints() if hint.needs == "stream"]
    return context.request(_HELLO, stream=True, own=dict.fromkeys(asks, True)) if asks else None


def _role(role: Role) -> RequestMaker:
    def make(context: CheckContext) -> Request | None:
        turns = (make_turn(role, "Answer in one word."), make_turn(Role.USER, _HELLO))
        request = context.request(turns)
        if role is Role.SYSTEM:
            return request
        plain = context.request((make_turn(Role.SYSTEM, "Answer in one word."), turns[1]))
        encode = context.protocol.encode
        return request if encode(request) != encode(plain) else None  # the protocol has no such role

    return make


def _temperature(context: CheckContext) -> Request:
    return context.request(_HELLO, temperature=0.5)


def _limit(context: CheckContext) -> Request:
    return context.request("Write a long story about the sea.", limit=SHORT)


def _older_limit(context: CheckContext) -> Adaptation | None:
    """Return the rule that sends the limit under its other name, for gateways that ignore the first."""
    names = [name for name, _ in context.protocol.expected.limits]
    if len(names) < 2:
        return None
    return Adaptation(kind=AdaptationKind.RENAME, field=names[0], to=names[1], protocol=context.protocol.name)


def _stop(context: CheckContext) -> Request | None:
    if not context.has("stop"):
        return None
    return context.request("Write the numbers from one to ten as words.", stop=[STOP])


def _several(context: CheckContext) -> Request | None:
    return context.request(_HELLO, own={"n": 2}) if "n" in context.fields.model_fields else None


def _call(choice: str | JSONObject | None = None, *, stream: bool | None = None) -> RequestMaker:
    def make(context: CheckContext) -> Request:
        return context.request(_WEATHER, tools=(TOOL,), tool_choice=choice, stream=stream)

    return make


def _result(context: CheckContext) -> Request:
    return context.request(turns_with_result(context.called), tools=(TOOL,))


def _json_mode(context: CheckContext) -> Request | None:
    if "response_format" not in context.fields.model_fields:
        return None
    if "json_object" not in dict(context.fields.hints())["response_format"].suggestions:
        return None
    return context.request(_CITY, own={"response_format": {"type": "json_object"}})


def _schema(context: CheckContext) -> Request | None:
    return context.request(_CITY, schema=SCHEMA) if context.has("schema") else None


def _image(context: CheckContext) -> Request:
    return context.request((make_turn(Role.USER, "What colour is this square? Answer in one word.", picture()),))


def _effort(context: CheckContext) -> Request | None:
    """Return the request in the form for newer models."""
    own = {name: hint.start for name, hint in context.fields.hints() if hint.editor == "thinking"}
    return context.request("What is 17 * 23?", limit=LIMIT + _THINKING, effort="low", own=own)


def _budget(context: CheckContext) -> Request | None:
    """Return the request in the form for older models, if the protocol has both."""
    own = {
        name: {"type": "enabled", "budget_tokens": _THINKING}
        for name, hint in context.fields.hints()
        if hint.editor == "thinking"
    }
    return context.request("What is 17 * 23?", limit=LIMIT + _THINKING, own=own) if own else None


def _no_model(context: CheckContext) -> Request:
    return context.request(_HELLO, model=NO_MODEL)


CHECKS: Final[tuple[Check, ...]] = (
    Check("models", "Model list", "Asks for the list of models.", method=Method.LIST, needs=()),
    Check(
        "whole",
        "Short answer",
        "Asks for one word, not streamed.",
        _short_answer,
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
    Check("usage", "Token counts", "Looks for token counts in the short answer.", judge=judges.counted, source="whole"),
    Check(
        "stream_usage",
        "Token counts in the stream",
        "Asks for token counts at the end of a stream.",
        _counts_in_stream,
        judges.counted,
        source="stream",
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
    Check("tool", "Tool call", "Offers a tool and requires its use.", _call(), judges.called),
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
        "Sends the result of a tool call and expects an answer.",
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
        fallback=_budget,
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
        _short_answer,
        judges.wrong_key,
        method=Method.KEY,
    ),
    Check(
        "limits",
        "Headers on limits",
        "Looks for rate-limit headers in all answers.",
        method=Method.ALL,
        needs=(),
        judge_all=judges.rate_limit_headers,
    ),
    Check(
        "request_id",
        "Header with a request id",
        "Looks for the id of the request in the headers of all answers.",
        method=Method.ALL,
        needs=(),
        judge_all=judges.request_id_headers,
    ),
)

BY_ID: Final = {check.id: check for check in CHECKS}


def keys(contexts: Sequence[CheckContext]) -> Iterator[Key]:
    """Yield the checks that are possible over the protocols of ``contexts``, in their order."""
    for check in CHECKS:
        if check.method is Method.LIST:
            yield check.id, ""
    for context in contexts:
        for check in CHECKS:
            if not check.is_made_once and check.is_available(context):
                yield check.id, context.protocol.name
    for check in CHECKS:
        if check.method is Method.ALL:
            yield check.id, ""


def check_title(key: Key) -> str:
    """Return the title of a check with its protocol."""
    check, protocol = key
    return f"{BY_ID[check].title} ({PROTOCOLS[protocol]})" if protocol else BY_ID[check].title


def supported_protocols(report: Report) -> dict[str, bool]:
    """Return for each checked protocol whether all essential checks work over it."""
    result: dict[str, bool] = {}
    for line in report.lines:
        check = BY_ID.get(line.check)
        if check is not None and check.essential:
            result[line.protocol] = result.get(line.protocol, True) and line.verdict.fine
    return result


# ---- costs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CheckCost:
    """The maximum cost of checks: rough tokens of the prompts, most tokens of the answers, and money.

    ``amount`` is None without a known price.
    """

    requests: int = 0
    prompt: int = 0
    output: int = 0
    amount: float | None = 0.0
    currency: str = ""

    @property
    def words(self) -> str:
        """The cost for people, without the number of requests."""
        if not self.prompt:
            return "free"
        tokens = f"about {self.prompt} in, at most {self.output} out"
        return tokens if self.amount is None else f"{self.price_words} ({tokens})"

    @property
    def price_words(self) -> str:
        """The price in a few words."""
        if self.amount is None:
            return "price not known"
        return f"at most {money(self.amount, self.currency)}" if self.prompt and self.amount else "free"


def check_cost(key: Key, context: CheckContext | None, price: Price | None) -> CheckCost:
    """Return the maximum cost of one check; ``context`` is None for a check that is about no protocol."""
    check = BY_ID[key[0]]
    request = check.request(context) if check.request is not None and context is not None else None
    if check.method is Method.LIST:
        return CheckCost(requests=1)
    if request is None or context is None:
        return CheckCost()
    if check.id in _NOT_CHARGED:
        return CheckCost(requests=1)
    body = context.protocol.encode(request)
    prompt = estimate_tokens(json.dumps(_without_pictures(body), ensure_ascii=False))
    prompt += _IMAGE_TOKENS * sum(len(turn.images) for turn in request.turns)
    limits = [body.get(name) for name, _ in context.protocol.expected.limits]
    output = next((limit for limit in limits if type(limit) is int), 0) * context.protocol.choices(body)
    amount = cost_of(Usage(prompt=prompt, completion=output), price)
    return CheckCost(1, prompt, output, amount, price.currency if price is not None else "")


def total_cost(costs: Iterable[CheckCost]) -> CheckCost:
    """Return the sum of costs; its amount is known if all amounts are."""
    costs = tuple(costs)
    amounts = [cost.amount for cost in costs if cost.amount is not None]
    return CheckCost(
        requests=sum(cost.requests for cost in costs),
        prompt=sum(cost.prompt for cost in costs),
        output=sum(cost.output for cost in costs),
        amount=sum(amounts) if len(amounts) == len(costs) else None,
        currency=next((cost.currency for cost in costs if cost.currency), ""),
    )


def _without_pictures(value: JSON) -> JSON:
    """Return the body without encoded pictures, whose tokens are not those of their text."""
    if isinstance(value, dict):
        return {name: _without_pictures(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_pictures(inner) for inner in value]
    return "" if isinstance(value, str) and len(value) > 100 and " " not in value else value
