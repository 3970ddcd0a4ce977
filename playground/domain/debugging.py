"""Rules for tool calls: policies, answer tables, and the reasons for pausing. Values only.

``decide`` returns for one call its answer, the order to ask the tool's server, or the reason why it waits for a person.
A path or a schema that may take long raises TooCostlyError.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import Annotated, Any, Final

from jsonpath import JSONPathEnvironment
from jsonpath.function_extensions import ExpressionType, FilterFunction
from pydantic import Field

from playground.domain.hidden import short_name
from playground.domain.hints import setting
from playground.domain.parts import Image, ToolCall
from playground.domain.reasons import path_reason
from playground.domain.tool_servers import ServerAnswer
from playground.domain.tools import ToolDefinition, check_call
from playground.domain.transcript import Role, Turn
from playground.domain.values import LongText, Value
from playground.jsonkit import limits
from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.patterns import PatternError, found_in
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON

STEP_LIMIT = 20
MOST_STEPS: Final = 1_000_000
_LONGEST_PATH: Final = 2_000  # characters
_MOST_VISITS: Final = 5_000  # of a path to values


class Answer(Value):
    """The answer to a tool call.

    ``delay`` is in seconds from the completion of the call. ``never``: no answer is sent. ``size`` above 0 repeats the
    text up to that many characters. ``images`` are sent if the protocol supports them in results; ``served`` is the
    original answer of the tool server, if any.
    """

    text: LongText = ""
    is_error: bool = False
    delay: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    never: bool = False
    size: int = Field(default=0, ge=0, le=64_000_000)
    images: tuple[Image, ...] = ()
    served: ServerAnswer | None = None

    @property
    def body(self) -> str:
        """The text to send."""
        if not self.size or not self.text:
            return self.text
        return (self.text * (self.size // len(self.text) + 1))[: self.size]


class ResultDraft(Value):
    """A typed result that is not sent yet. ``prepared`` is an answer chosen instead, to be sent unchanged.

    ``served`` is the answer of a tool server that the draft began with, and ``images`` its images; the text may have
    been edited since.
    """

    text: LongText = ""
    is_error: bool = False
    prepared: Answer | None = None
    images: tuple[Image, ...] = ()
    served: ServerAnswer | None = None

    @property
    def answer(self) -> Answer | None:
        """The answer to send; None if nothing was typed or chosen."""
        if self.prepared is not None:
            return self.prepared
        if not self.ready:
            return None
        return Answer(text=self.text, is_error=self.is_error, images=self.images, served=self.served)

    @property
    def ready(self) -> bool:
        """Return whether there is a result: an empty text counts only if a server sent it."""
        return bool(self.text) or self.served is not None

    def typed(self, text: str, *, is_error: bool | None = None) -> ResultDraft:
        """Return the draft with a new text and without ``prepared``; images and the server's answer stay."""
        failed = self.is_error if is_error is None else is_error
        return self.model_copy(update={"text": text, "is_error": failed, "prepared": None})


def draft_of(answer: Answer) -> ResultDraft:
    """Return a draft of an answer, to be edited before it is sent."""
    return ResultDraft(text=answer.body, is_error=answer.is_error, images=answer.images, served=answer.served)


class MatchKind(StrEnum):
    """The comparison of a row of an answer table with the arguments of a call."""

    ANY = "any"
    EQUAL = "equal"  # equal JSON values; the order of keys and the spelling of numbers do not matter
    PATH = "path"  # a JSONPath (RFC 9535) that selects something


class AnswerRow(Value):
    """One row: a pattern of arguments, and the answer. ``pattern`` is JSON text, a JSONPath, or empty."""

    match: MatchKind = MatchKind.ANY
    pattern: LongText = ""
    answer: Answer = Answer()


#: Predefined rows with a title, to test a model's reaction to a failing tool.
FAULTS: tuple[tuple[str, AnswerRow], ...] = (
    ("Empty", AnswerRow(answer=Answer())),
    ("Error text", AnswerRow(answer=Answer(text="Error: the service did not answer.", is_error=True))),
    ("Malformed JSON", AnswerRow(answer=Answer(text='{"status": "ok", "items": [1, 2,'))),
    ("1 MB", AnswerRow(answer=Answer(text="0123456789abcdef", size=1_000_000))),
    ("Slow", AnswerRow(answer=Answer(text='{"status": "ok"}', delay=10.0))),
    ("No reply (time out)", AnswerRow(answer=Answer(never=True))),
)


class Policy(StrEnum):
    """The handling of a call that no condition pauses."""

    PAUSE = "pause"
    TABLE = "table"
    FIXED = "fixed"
    SERVER = "server"  # the tool's server is asked


MOST_CALLS: Final = 1_000_000
_ALSO_PAUSE: Final = "Also ask me when"


def _asks_server(rule: ToolRule) -> bool:
    return rule.policy is Policy.SERVER


class ToolRule(Value):
    """The rule for the calls of one tool.

    ``pause_on_path`` pauses if that JSONPath selects something in the arguments (empty: off), ``pause_from`` from the
    n-th call of the tool in the conversation on (0: off). ``before`` pauses before the tool's server is asked,
    ``after`` when it has answered; both have no effect with other policies.
    """

    policy: Policy = Policy.PAUSE
    fixed: Answer = Answer()
    rows: tuple[AnswerRow, ...] = ()
    pause_on_misfit: Annotated[bool, setting("The arguments are not valid", group=_ALSO_PAUSE)] = True
    pause_on_path: Annotated[
        str,
        setting(
            "A JSONPath matches", group=_ALSO_PAUSE, editor="json_path", placeholder="never, or $[?@.city == 'Oslo']"
        ),
    ] = ""
    pause_from: Annotated[int, setting("From call number", group=_ALSO_PAUSE, zero="never", high=MOST_CALLS)] = Field(
        default=0, ge=0
    )
    before: Annotated[bool, setting("Before the server is called", group=_ALSO_PAUSE, visible_when=_asks_server)] = (
        False
    )
    after: Annotated[
        bool,
        setting("After the server answers, before the result is sent", group=_ALSO_PAUSE, visible_when=_asks_server),
    ] = False


class Debugging(Value):
    """The rules of one experiment. A run pauses after ``step_limit`` requests; 0: no limit."""

    default: ToolRule = ToolRule()
    rules: dict[str, ToolRule] = Field(default_factory=dict)
    step_limit: Annotated[
        int,
        setting(
            "Max requests per run",
            help="Requests that a run sends without a stop. 0: unlimited.",
            zero="unlimited",
            high=MOST_STEPS,
        ),
    ] = Field(default=STEP_LIMIT, ge=0)

    def rule(self, name: str) -> ToolRule:
        """Return the rule of a tool, or else the default."""
        return self.rules.get(name, self.default)

    def with_row(self, name: str, row: AnswerRow) -> Debugging:
        """Add a row at the top of a tool's table; it replaces a row for the same arguments.

        A tool without a rule gets a copy of the default. If that asks servers, the copy answers from the table instead,
        because no person has allowed calls of this particular tool.
        """
        rule = self.rule(name)
        if name not in self.rules and rule.policy is Policy.SERVER:
            rule = rule.model_copy(update={"policy": Policy.TABLE})
        same = canonical(row.pattern)
        others = tuple(old for old in rule.rows if old.match is not MatchKind.EQUAL or canonical(old.pattern) != same)
        return self.with_rule(name, rule.model_copy(update={"rows": (row, *others)}))

    def with_rule(self, name: str, rule: ToolRule | None) -> Debugging:
        """Set the rule of a tool; None restores the default."""
        others = {key: old for key, old in self.rules.items() if key != name}
        return self.model_copy(update={"rules": {**others, name: rule} if rule is not None else others})

    def with_default(self, rule: ToolRule) -> Debugging:
        """Set the default rule."""
        return self.model_copy(update={"default": rule})


class ReasonCode(StrEnum):
    """The code of a reason why a call waits for a person."""

    BREAKPOINT = "breakpoint"
    NO_ROW = "no_row"
    MISFIT = "misfit"
    PATH = "path"
    COSTLY = "costly"
    FROM_NTH = "from_nth"
    STEP = "step"
    LIMIT = "limit"
    LOOP = "loop"
    TRUNCATED = "truncated"
    HOLE = "hole"
    MALFORMED = "malformed"
    UNKNOWN_TOOL = "unknown_tool"
    STOPPED = "stopped"
    BEFORE = "before"  # before its server is asked
    AFTER = "after"  # after its server has answered
    DESTRUCTIVE = "destructive"
    CONSENT = "consent"  # the tool is not allowed to run automatically
    NO_SERVER = "no_server"  # there is no server, or it cannot be asked now
    UNANSWERED = "unanswered"  # the server did not answer


class Reason(Value):
    """The reason why a call waits; ``words`` is a sentence for people."""

    code: ReasonCode
    words: str


class CallServer(Value):
    """The order to send a call to its tool's server, in place of an answer."""


ASK: Final = CallServer()

STEPPED = Reason(code=ReasonCode.STEP, words="Single step.")
STOPPED = Reason(code=ReasonCode.STOPPED, words="Stopped; no result sent.")
TRUNCATED = Reason(
    code=ReasonCode.TRUNCATED, words="The answer broke off, so its calls are not run. Regenerate it, or delete it."
)
HOLE = Reason(
    code=ReasonCode.HOLE,
    words="Part of the answer could not be read, so no rule answers its calls. Look at them, then type a result, "
    "or regenerate the message.",
)
NO_ROW = Reason(code=ReasonCode.NO_ROW, words="There is no answer ready for this call.")
ANSWERED = Reason(code=ReasonCode.AFTER, words="The server answered. Look at it, then send it.")


def no_answer_words(calls: Sequence[ToolCall]) -> str:
    """Return why calls without a typed result cannot be answered now."""
    names = ", ".join(f"{short_name(call.name)} ({short_name(call.id)})" for call in calls[:3])
    return f"No answer is ready for {names}. Type a result, or give the tool an answer in its table."


def repeated_words(name: str, count: int) -> str:
    """Return a sentence on how often a tool was called before with the same arguments."""
    times = "once" if count == 1 else f"{count} times"
    return f"{name} was called {times} before with the same arguments."


def limit_reason(requests: int) -> Reason:
    """Return the reason for pausing after that many requests."""
    words = f"{requests} request{'s' * (requests != 1)} went out without a stop, which is the step limit."
    return Reason(code=ReasonCode.LIMIT, words=words)


def held_back(turn: Turn, call: ToolCall) -> Reason | None:
    """Return why no rule may answer a call of ``turn``, because data of it may be missing; None if a rule may.

    A person may answer it nevertheless, unless the turn broke off.
    """
    if turn.truncated:
        return TRUNCATED
    if turn.outcome is not None and turn.outcome.holes:
        return HOLE
    if problems := check_call(call, None):
        words = (
            f"The arguments of {short_name(call.name)} are malformed ({problems[0].message}), so no rule answers this "
            "call. Correct them, type a result, or regenerate the message."
        )
        return Reason(code=ReasonCode.MALFORMED, words=words)
    return None


class Reach(Value):
    """Access to a tool's server, as far as it matters for a call.

    ``refusal`` is the reason why the server cannot be asked, empty if it can. ``trusted``: its tools with a read-only
    hint may run automatically. ``own``: the tool has its own rule. ``allowed``: a person has allowed this tool to run
    automatically.
    """

    refusal: str = "Tool servers cannot be called."
    trusted: bool = False
    own: bool = False
    allowed: bool = False


UNREACHED: Final = Reach()


def decide(
    call: ToolCall,
    rule: ToolRule,
    tool: ToolDefinition | None,
    *,
    nth: int = 1,
    repeated: int = 0,
    reach: Reach = UNREACHED,
) -> Answer | CallServer | Reason:
    """Apply the rule of a call that is not held back: return its answer, ``ASK``, or the reason why it waits.

    ``tool`` is the definition in the request, None if there is none of that name; ``nth`` counts the calls of the tool
    in the conversation, this one included; ``repeated`` the earlier rounds with the same call (see ``repeats``). A loop
    pauses at its first repetition only, so that a person who continues is not asked again.
    """
    reason = _condition(call, rule, tool, nth)
    if reason is not None:
        return reason
    if rule.policy is Policy.PAUSE:
        return Reason(code=ReasonCode.BREAKPOINT, words=f"{short_name(call.name)} is set to pause.")
    if repeated == 1:
        return Reason(code=ReasonCode.LOOP, words=f"{short_name(call.name)} was called with the same arguments before.")
    if rule.policy is Policy.SERVER and rule.before and tool is not None and tool.server and not reach.refusal:
        return Reason(
            code=ReasonCode.BEFORE, words=f"{short_name(call.name)} is set to stop before its server is called."
        )
    return ready_for(call, rule, tool, reach)


def ready_for(
    call: ToolCall, rule: ToolRule, tool: ToolDefinition | None, reach: Reach
) -> Answer | CallServer | Reason:
    """Apply the policy of a rule without its conditions and breakpoints; a rule that pauses has no answer."""
    if rule.policy is not Policy.SERVER:
        return answer_for(call, rule) or NO_ROW
    return server_refusal(call, tool, reach) or _by_itself(call, tool, reach) or ASK


def server_refusal(call: ToolCall, tool: ToolDefinition | None, reach: Reach) -> Reason | None:
    """Return why the server cannot be asked for this call, even by a person; None if it can."""
    name = short_name(call.name)
    if tool is None:
        return Reason(code=ReasonCode.UNKNOWN_TOOL, words=f"{name} is not an offered tool.")
    if not tool.server:
        words = f"{name} belongs to no tool server. Type a result, or change the tool's rule."
        return Reason(code=ReasonCode.NO_SERVER, words=words)
    return Reason(code=ReasonCode.NO_SERVER, words=reach.refusal) if reach.refusal else None


def runs_alone(tool: ToolDefinition | None, reach: Reach) -> bool:
    """Return whether calls of this tool go to its server without a confirmation by a person."""
    hints = tool.hints if tool is not None else None
    if reach.allowed:
        return True
    if hints is not None and hints.destructive:
        return False
    return reach.own or (reach.trusted and hints is not None and hints.read_only is True)


def _by_itself(call: ToolCall, tool: ToolDefinition | None, reach: Reach) -> Reason | None:
    """Return why a person has to confirm this call; None if that is not needed."""
    if runs_alone(tool, reach):
        return None
    hints = tool.hints if tool is not None else None
    name = short_name(call.name)
    if hints is not None and hints.destructive:
        words = f"{name} may change or delete data, as it declares. It is called only when you confirm."
        return Reason(code=ReasonCode.DESTRUCTIVE, words=words)
    if hints is not None and hints.read_only is True:
        words = f"{name} is declared read-only, but its server does not auto-run read-only tools."
    else:
        words = f"{name} is not declared read-only. It is called when you confirm, or by a rule of its own."
    return Reason(code=ReasonCode.CONSENT, words=words)


def _condition(call: ToolCall, rule: ToolRule, tool: ToolDefinition | None, nth: int) -> Reason | None:
    if rule.pause_on_misfit:
        if tool is None and not call.free_text:  # the extra body may define custom tools
            words = f"{short_name(call.name)} is not an offered tool."
            return Reason(code=ReasonCode.UNKNOWN_TOOL, words=words)
        if problems := check_call(call, tool.parameters if tool is not None else None):
            first = problems[0]
            where = f"{first.where}: " if first.where else ""
            words = f"The arguments do not fit the schema: {where}{first.message}."
            return Reason(code=ReasonCode.MISFIT, words=words)
    if rule.pause_on_path:
        if path_problem(rule.pause_on_path):
            words = f"The condition {rule.pause_on_path} cannot be read as a JSONPath."
            return Reason(code=ReasonCode.PATH, words=words)
        if path_matches(rule.pause_on_path, call.arguments_json):
            return Reason(code=ReasonCode.PATH, words=f"The arguments match {rule.pause_on_path}.")
    if rule.pause_from and nth >= rule.pause_from:
        words = f"This is call {nth} of {short_name(call.name)}, which pauses from call {rule.pause_from} on."
        return Reason(code=ReasonCode.FROM_NTH, words=words)
    return None


def answer_for(call: ToolCall, rule: ToolRule) -> Answer | None:
    """Return the fixed answer, or that of the first matching row; None if there is none."""
    if rule.policy is Policy.FIXED:
        return rule.fixed
    if rule.policy is Policy.SERVER:
        return None
    return next((row.answer for row in rule.rows if row_matches(row, call.arguments_json)), None)


def row_matches(row: AnswerRow, arguments: str) -> bool:
    """Return whether a row matches raw arguments. A row with an invalid pattern matches none.

    Raises TooCostlyError.
    """
    if row.match is MatchKind.ANY:
        return True
    if row.match is MatchKind.PATH:
        return path_matches(row.pattern, arguments)
    return not row_problem(row) and canonical(row.pattern) == canonical(arguments)


def row_problem(row: AnswerRow) -> str:
    """Return why the pattern of a row is invalid; empty if it is valid."""
    if row.match is MatchKind.PATH:
        return path_problem(row.pattern)
    if row.match is MatchKind.EQUAL:
        try:
            parse_json(row.pattern)
        except ValueError as error:
            return f"not JSON: {error}"
    return ""


def path_problem(path: str) -> str:
    """Return why a text is not a valid JSONPath; empty if it is."""
    if len(path) > _LONGEST_PATH:
        return f"it has more than {_LONGEST_PATH:,} characters"
    try:
        _jsonpath().compile(path)
    except Exception as error:  # noqa: BLE001 - the parser raises many kinds of errors on invalid input
        return path_reason(error, path)
    return ""


def path_matches(path: str, arguments: str) -> bool:
    """Return whether a JSONPath selects something in raw arguments. False if either is invalid.

    A filter at the top, ``$[?@.city == 'Oslo']``, is also applied to the arguments themselves, not only to their
    members. Raises TooCostlyError.
    """
    if len(path) > _LONGEST_PATH:
        return False
    _weigh_path(path, arguments)
    try:
        value: JSON = parse_json(arguments) if arguments.strip() else {}
        query = _jsonpath().compile(path)
        top = path.replace(" ", "").startswith("$[?")
        return _selects(query, value) or (top and _selects(query, [value]))
    except TooCostlyError:
        raise
    except Exception:  # noqa: BLE001 - a hostile value or pattern may raise anything, and does not match
        return False


def path_values(path: str, text: str, most: int = 100) -> list[JSON]:
    """Return the first ``most`` values that a JSONPath selects in JSON text; none if either is invalid.

    Raises TooCostlyError.
    """
    if len(path) > _LONGEST_PATH:
        return []
    _weigh_path(path, text)
    try:
        return [match.value for match in islice(_jsonpath().compile(path).finditer(parse_json(text)), most)]
    except TooCostlyError:
        raise
    except Exception:  # noqa: BLE001 - see path_matches
        return []


def _selects(query: Any, value: JSON) -> bool:
    """Return whether a query has a first match; all of them may not fit into memory."""
    return next(iter(query.finditer(value)), None) is not None


def _weigh_path(path: str, arguments: str) -> None:
    """Raise TooCostlyError for a path that may visit the values many times."""
    if limits.lifted():
        return
    limits.bound_text(arguments)
    values = 1 + sum(arguments.count(mark) for mark in "[{,")  # at most
    walks, forks = (sum(path.count(mark) for mark in marks) for marks in (("..", "*", "?"), ",:"))
    if walks > 8 or forks > 20 or values**walks * 2**forks > _MOST_VISITS:
        limits.refuse("the path goes through the arguments many times")


class _PatternFunction(FilterFunction):
    """A filter function of JSONPath that matches regular expressions in linear time."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 - declared so by the base class
    return_type = ExpressionType.LOGICAL

    def __init__(self, template: str) -> None:
        self._template = template

    def __call__(self, value: object, pattern: object) -> bool:
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        try:
            return found_in(self._template.replace("…", pattern), value)
        except PatternError:
            return False


@cache
def _jsonpath() -> JSONPathEnvironment:
    """Return the environment of standard JSONPath (RFC 9535) with regular expressions in linear time."""
    environment = JSONPathEnvironment(strict=True)
    environment.function_extensions["search"] = _PatternFunction("…")
    environment.function_extensions["match"] = _PatternFunction("^(?:…)$")
    return environment


def canonical(arguments: str) -> str:
    """Return raw arguments in canonical JSON, equal for equal values; text that is not JSON is only stripped."""
    try:
        value = parse_json(arguments) if arguments.strip() else {}
        return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, separators=(", ", ": "))
    except (ValueError, RecursionError):
        return arguments.strip()


def _plain(value: JSON) -> JSON:
    """Return a value with equal numbers spelled alike: 1.0 and 1e0 become 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def signature(call: ToolCall) -> str:
    """Return the name and canonical arguments of a call."""
    return f"{call.name}({canonical(call.arguments_json)})"


def repeats(path: Sequence[Turn]) -> dict[tuple[str, str], int]:
    """Return the numbers of earlier turns with the same call, by turn id and call id, for repeated calls only.

    Turns are counted since the last user message. Equal calls within one turn are not a loop.
    """
    out: dict[tuple[str, str], int] = {}
    counts: Counter[str] = Counter()
    for turn in path:
        if turn.role is Role.USER:
            counts.clear()
        if calls := turn.calls:
            signatures = [(call.id, signature(call)) for call in calls]
            out.update({(turn.id, call_id): counts[text] for call_id, text in signatures if counts[text]})
            counts.update({text for _, text in signatures})
    return out
