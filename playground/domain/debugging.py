"""What is to happen when a model calls a tool: rules, answer tables, and the reasons for stopping. Values only.

Nothing here waits, asks or remembers: ``decide`` says for one call whether it is answered, and with what, whether its
tool's server is to be asked, or why it waits for a person. ``jsonpath`` is imported on first use. A path or a schema
that may take long raises TooCostlyError.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from playground.domain.hidden import short_name
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

if TYPE_CHECKING:
    from jsonpath import JSONPathEnvironment

STEP_LIMIT = 20
_LONGEST_PATH: Final = 2_000  # characters
_MOST_VISITS: Final = 5_000  # of values by a path


class Answer(Value):
    """What a call is answered with.

    ``delay`` is in seconds from the moment the call was complete. With ``never`` no answer comes at all. ``size``
    above 0 repeats the text up to that many characters, so that a very long answer is short to keep. ``images`` go
    along where the protocol carries them; ``served`` is what a tool server answered, where this came of it.
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
        """The text that is sent."""
        if not self.size or not self.text:
            return self.text
        return (self.text * (self.size // len(self.text) + 1))[: self.size]


class ResultDraft(Value):
    """A result that was typed and not sent. ``prepared`` is one that was chosen instead, to go out as it is.

    ``served`` is what a tool server answered where the draft began with that, and ``images`` those that go along; the
    text may have been edited since.
    """

    text: LongText = ""
    is_error: bool = False
    prepared: Answer | None = None
    images: tuple[Image, ...] = ()
    served: ServerAnswer | None = None

    @property
    def answer(self) -> Answer | None:
        """What would be sent; None where nothing was typed or chosen."""
        if self.prepared is not None:
            return self.prepared
        if not self.ready:
            return None
        return Answer(text=self.text, is_error=self.is_error, images=self.images, served=self.served)

    @property
    def ready(self) -> bool:
        """Whether it holds a result: an empty one only where a server gave that."""
        return bool(self.text) or self.served is not None

    def typed(self, text: str, *, is_error: bool | None = None) -> ResultDraft:
        """The same with another text; where it came from stays known."""
        wrong = self.is_error if is_error is None else is_error
        return self.model_copy(update={"text": text, "is_error": wrong, "prepared": None})


def draft_of(answer: Answer) -> ResultDraft:
    """An answer as the draft of a result, to be looked at and edited before it is sent."""
    return ResultDraft(text=answer.body, is_error=answer.is_error, images=answer.images, served=answer.served)


class MatchKind(StrEnum):
    """How a row of an answer table is compared with a call's arguments."""

    ANY = "any"
    EQUAL = "equal"  # as JSON values: the order of keys and the spelling of numbers do not count
    PATH = "path"  # a JSONPath (RFC 9535) that selects something


class AnswerRow(Value):
    """One row: which arguments it is for, and the answer. ``pattern`` is JSON text, a JSONPath, or nothing."""

    match: MatchKind = MatchKind.ANY
    pattern: LongText = ""
    answer: Answer = Answer()


#: Ready rows for trying out how a model takes a tool that fails, with a name for people.
FAULTS: tuple[tuple[str, AnswerRow], ...] = (
    ("Empty", AnswerRow(answer=Answer())),
    ("Error text", AnswerRow(answer=Answer(text="Error: the service did not answer.", is_error=True))),
    ("Malformed JSON", AnswerRow(answer=Answer(text='{"status": "ok", "items": [1, 2,'))),
    ("1 MB", AnswerRow(answer=Answer(text="0123456789abcdef", size=1_000_000))),
    ("Slow", AnswerRow(answer=Answer(text='{"status": "ok"}', delay=10.0))),
    ("Never", AnswerRow(answer=Answer(never=True))),
)


class Policy(StrEnum):
    """What happens to a call that no condition stops."""

    PAUSE = "pause"
    TABLE = "table"
    FIXED = "fixed"
    SERVER = "server"  # the tool's server is asked


class ToolRule(Value):
    """What happens to the calls of one tool.

    ``pause_on_path`` stops where that JSONPath selects something in the arguments (empty: off), ``pause_from`` from
    the n-th call of the tool in the conversation on (0: off). ``before`` stops before the tool's server is asked,
    ``after`` when it has answered; both only where the server is to be asked.
    """

    policy: Policy = Policy.PAUSE
    fixed: Answer = Answer()
    rows: tuple[AnswerRow, ...] = ()
    pause_on_misfit: bool = True
    pause_on_path: str = ""
    pause_from: int = Field(default=0, ge=0)
    before: bool = False
    after: bool = False


class Debugging(Value):
    """The rules of one experiment. ``step_limit`` requests go out without a stop at most; 0: as many as it takes."""

    default: ToolRule = ToolRule()
    rules: dict[str, ToolRule] = Field(default_factory=dict)
    step_limit: int = Field(default=STEP_LIMIT, ge=0)

    def rule(self, name: str) -> ToolRule:
        """The rule for a tool: its own, else the default."""
        return self.rules.get(name, self.default)

    def with_row(self, name: str, row: AnswerRow) -> Debugging:
        """With that row before the others in the table of a tool, in the place of one for the same arguments.

        A tool that only had the default rule has one of its own then. Where that would ask its server by itself, it
        answers from its table instead: nobody said of this very tool that it may be asked.
        """
        rule = self.rule(name)
        if name not in self.rules and rule.policy is Policy.SERVER:
            rule = rule.model_copy(update={"policy": Policy.TABLE})
        same = canonical(row.pattern)
        others = tuple(
            kept for kept in rule.rows if kept.match is not MatchKind.EQUAL or canonical(kept.pattern) != same
        )
        return self.with_rule(name, rule.model_copy(update={"rows": (row, *others)}))

    def with_rule(self, name: str, rule: ToolRule | None) -> Debugging:
        """With that rule for the tool; None: the default applies to it again."""
        others = {key: kept for key, kept in self.rules.items() if key != name}
        return self.model_copy(update={"rules": {**others, name: rule} if rule is not None else others})

    def with_default(self, rule: ToolRule) -> Debugging:
        """With that rule for the tools that have none of their own."""
        return self.model_copy(update={"default": rule})


class ReasonCode(StrEnum):
    """Why a call waits for a person."""

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
    BEFORE = "before"  # its server is asked
    AFTER = "after"  # its server has answered
    DESTRUCTIVE = "destructive"
    CONSENT = "consent"  # nobody said that its server may be asked by itself
    NO_SERVER = "no_server"  # there is none, or it cannot be asked now
    UNANSWERED = "unanswered"  # its server gave no answer


class Reason(Value):
    """Why a call waits; ``words`` is a sentence for people."""

    code: ReasonCode
    words: str


class Asking(Value):
    """That a call is to be asked of its tool's server, in the place of an answer."""


ASK: Final = Asking()

STEPPED = Reason(code=ReasonCode.STEP, words="One step was asked for.")
STOPPED = Reason(code=ReasonCode.STOPPED, words="Stopped before it was answered.")
TRUNCATED = Reason(
    code=ReasonCode.TRUNCATED, words="The turn broke off, so its calls are not run. Regenerate it, or delete it."
)
HOLE = Reason(
    code=ReasonCode.HOLE,
    words="Part of the answer could not be read, so no rule answers its calls. Look at them, then type a result, "
    "or regenerate the turn.",
)
NO_ROW = Reason(code=ReasonCode.NO_ROW, words="There is no answer ready for this call.")
ANSWERED = Reason(code=ReasonCode.AFTER, words="The server answered. Look at it, then send it.")


def no_answer_words(calls: Sequence[ToolCall]) -> str:
    """Why calls that nothing was typed for cannot be answered now."""
    names = ", ".join(f"{short_name(call.name)} ({short_name(call.id)})" for call in calls[:3])
    return f"No answer is ready for {names}. Type a result, or give the tool an answer in its table."


def repeated_words(name: str, count: int) -> str:
    """That a tool was called before with the same arguments, so often."""
    times = "once" if count == 1 else f"{count} times"
    return f"{name} was called {times} before with the same arguments."


def limit_reason(requests: int) -> Reason:
    """The reason for stopping after that many requests."""
    words = f"{requests} request{'s' * (requests != 1)} went out without a stop, which is the step limit."
    return Reason(code=ReasonCode.LIMIT, words=words)


def held_back(turn: Turn, call: ToolCall) -> Reason | None:
    """Why no rule may answer a call of ``turn``, whatever it says: it is not known to be the call the model made.

    None where one may. A person may all the same, unless the turn broke off.
    """
    if turn.truncated:
        return TRUNCATED
    if turn.outcome is not None and turn.outcome.holes:
        return HOLE
    if problems := check_call(call, None):
        words = (
            f"The arguments of {short_name(call.name)} are malformed ({problems[0].message}), so no rule answers this "
            "call. Correct them, type a result, or regenerate the turn."
        )
        return Reason(code=ReasonCode.MALFORMED, words=words)
    return None


class Reach(Value):
    """What is known of a tool's server when a call is decided on.

    ``refusal`` is why it cannot be asked, empty where it can. ``trusted``: a tool of it that says it only reads may run
    by itself. ``own``: the tool has a rule of its own. ``allowed``: a person named this tool as one that may.
    """

    refusal: str = "Nothing here asks tool servers."
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
) -> Answer | Asking | Reason:
    """The answer a call gets by its rule, that its server is asked, or the reason why it waits; for calls that are not
    held back.

    ``tool`` is the definition on offer, None when there is none of that name; ``nth`` counts the calls of the tool in
    the conversation, this one included; ``repeated`` the earlier rounds with the same call (see ``repeats``). A loop
    is stopped at its first repetition only: whoever goes on then has been told.
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
            code=ReasonCode.BEFORE, words=f"{short_name(call.name)} is set to stop before its server is asked."
        )
    return ready_for(call, rule, tool, reach)


def ready_for(call: ToolCall, rule: ToolRule, tool: ToolDefinition | None, reach: Reach) -> Answer | Asking | Reason:
    """The same whatever the conditions and breakpoints of the rule say, and without one for a rule that pauses."""
    if rule.policy is not Policy.SERVER:
        return answer_for(call, rule) or NO_ROW
    return server_refusal(call, tool, reach) or _by_itself(call, tool, reach) or ASK


def server_refusal(call: ToolCall, tool: ToolDefinition | None, reach: Reach) -> Reason | None:
    """Why nobody can ask the server for this call, a person neither; None where one can."""
    name = short_name(call.name)
    if tool is None:
        return Reason(code=ReasonCode.UNKNOWN_TOOL, words=f"{name} is not among the tools on offer.")
    if not tool.server:
        words = f"{name} is of no tool server. Type a result, or give the tool another rule."
        return Reason(code=ReasonCode.NO_SERVER, words=words)
    return Reason(code=ReasonCode.NO_SERVER, words=reach.refusal) if reach.refusal else None


def runs_alone(tool: ToolDefinition | None, reach: Reach) -> bool:
    """Whether a server is asked for calls of this tool before a person says so, where it can be asked at all."""
    hints = tool.hints if tool is not None else None
    if reach.allowed:
        return True
    if hints is not None and hints.destructive:
        return False
    return reach.own or (reach.trusted and hints is not None and hints.read_only is True)


def _by_itself(call: ToolCall, tool: ToolDefinition | None, reach: Reach) -> Reason | None:
    """Why a server is not asked for this call before a person says so."""
    if runs_alone(tool, reach):
        return None
    hints = tool.hints if tool is not None else None
    name = short_name(call.name)
    if hints is not None and hints.destructive:
        words = f"{name} says of itself that it may change or delete things: it is asked only when you say so."
        return Reason(code=ReasonCode.DESTRUCTIVE, words=words)
    if hints is not None and hints.read_only is True:
        words = f"{name} says that it only reads, but its server is not set as one whose reading tools run alone."
    else:
        words = f"{name} does not say that it only reads: it is asked when you say so, or by a rule of its own."
    return Reason(code=ReasonCode.CONSENT, words=words)


def _condition(call: ToolCall, rule: ToolRule, tool: ToolDefinition | None, nth: int) -> Reason | None:
    if rule.pause_on_misfit:
        if tool is None and not call.free_text:  # custom tools may stand in the extra body
            words = f"{short_name(call.name)} is not among the tools on offer."
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
    """The fixed answer, or that of the first row that fits, whatever else the rule says; None when there is none."""
    if rule.policy is Policy.FIXED:
        return rule.fixed
    if rule.policy is Policy.SERVER:
        return None
    return next((row.answer for row in rule.rows if row_matches(row, call.arguments_json)), None)


def row_matches(row: AnswerRow, arguments: str) -> bool:
    """Whether a row is for these raw arguments. A row whose pattern cannot be read is for none.

    Raises TooCostlyError.
    """
    if row.match is MatchKind.ANY:
        return True
    if row.match is MatchKind.PATH:
        return path_matches(row.pattern, arguments)
    return not row_problem(row) and canonical(row.pattern) == canonical(arguments)


def row_problem(row: AnswerRow) -> str:
    """Why a row's pattern cannot be used; empty when it can."""
    if row.match is MatchKind.PATH:
        return path_problem(row.pattern)
    if row.match is MatchKind.EQUAL:
        try:
            parse_json(row.pattern)
        except ValueError as error:
            return f"not JSON: {error}"
    return ""


def path_problem(path: str) -> str:
    """Why a text is no JSONPath that can be used; empty when it is one."""
    if len(path) > _LONGEST_PATH:
        return f"it has more than {_LONGEST_PATH:,} characters"
    try:
        load_paths().compile(path)
    except Exception as error:  # noqa: BLE001 - the parser fails in many ways on what people type
        return path_reason(error, path)
    return ""


def path_matches(path: str, arguments: str) -> bool:
    """Whether a JSONPath selects something in these raw arguments. False when either cannot be read.

    A filter at the top, ``$[?@.city == 'Oslo']``, is asked of the arguments themselves too, not only of their members.
    Raises TooCostlyError.
    """
    if len(path) > _LONGEST_PATH:
        return False
    _weigh_path(path, arguments)
    try:
        value: JSON = parse_json(arguments) if arguments.strip() else {}
        query = load_paths().compile(path)
        top = path.replace(" ", "").startswith("$[?")
        return _selects(query, value) or (top and _selects(query, [value]))
    except TooCostlyError:
        raise
    except Exception:  # noqa: BLE001 - a hostile value or a wrong pattern can fail anywhere inside; neither matches
        return False


def path_values(path: str, text: str, most: int = 100) -> list[JSON]:
    """What a JSONPath selects in JSON text, the first ``most``; nothing when either cannot be read.

    Raises TooCostlyError.
    """
    if len(path) > _LONGEST_PATH:
        return []
    _weigh_path(path, text)
    try:
        return [match.value for match in islice(load_paths().compile(path).finditer(parse_json(text)), most)]
    except TooCostlyError:
        raise
    except Exception:  # noqa: BLE001 - as above
        return []


def _selects(query: Any, value: JSON) -> bool:
    """Whether there is a first one: a query may select more than there is memory for."""
    return next(iter(query.finditer(value)), None) is not None


def _weigh_path(path: str, arguments: str) -> None:
    """Refuse a path that may walk through a value again and again."""
    if limits.lifted():
        return
    limits.bound_text(arguments)
    values = 1 + sum(arguments.count(mark) for mark in "[{,")  # at most
    walks, forks = (sum(path.count(mark) for mark in marks) for marks in (("..", "*", "?"), ",:"))
    if walks > 8 or forks > 20 or values**walks * 2**forks > _MOST_VISITS:
        limits.refuse("the path goes through the arguments many times")


@cache
def load_paths() -> JSONPathEnvironment:
    """JSONPath as the standard has it, its patterns matched in linear time. To load it takes as long as two frames."""
    from jsonpath import JSONPathEnvironment
    from jsonpath.function_extensions import ExpressionType, FilterFunction

    class Matched(FilterFunction):
        arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 - as the library has it
        return_type = ExpressionType.LOGICAL

        def __init__(self, around: str) -> None:
            self._around = around

        def __call__(self, value: object, pattern: object) -> bool:
            try:
                both = isinstance(value, str) and isinstance(pattern, str)
                return both and found_in(self._around.replace("…", str(pattern)), str(value))
            except PatternError:
                return False

    environment = JSONPathEnvironment(strict=True)
    environment.function_extensions["search"] = Matched("…")
    environment.function_extensions["match"] = Matched("^(?:…)$")
    return environment


def canonical(arguments: str) -> str:
    """Raw arguments in the one spelling all equal ones share; what is not JSON is left as it is."""
    try:
        value = parse_json(arguments) if arguments.strip() else {}
        return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, separators=(", ", ": "))
    except (ValueError, RecursionError):
        return arguments.strip()


def _plain(value: JSON) -> JSON:
    """Numbers of equal value become one: 1.0 and 1e0 are 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def signature(call: ToolCall) -> str:
    """Name and arguments: the same for calls that ask the same."""
    return f"{call.name}({canonical(call.arguments_json)})"


def repeats(path: Sequence[Turn]) -> dict[tuple[str, str], int]:
    """How often a call was made before with the same arguments, by turn id and call id; only those that were.

    Turns are counted since the last word of a user. Equal calls beside one another in one turn are no loop.
    """
    out: dict[tuple[str, str], int] = {}
    seen: Counter[str] = Counter()
    first: Sequence[ToolCall] = ()  # the first calls since then: nothing is compared before there are others
    user = Role.USER  # looked up once, of ten thousand turns
    for turn in path:
        if turn.role is user:
            seen.clear()
            first = ()
        calls = [part for part in turn.parts if type(part) is ToolCall]
        if calls and not first:
            first = calls
        elif calls:
            if not seen:
                seen.update({signature(call) for call in first})
            found = [(call, signature(call)) for call in calls]
            out.update({(turn.id, call.id): seen[what] for call, what in found if seen[what]})
            seen.update({what for _, what in found})
    return out
