"""Rules that an answer of an evaluation passes or fails: one class is one check, its fields are its form.

Values only: ``verdict`` says of one answer whether it passes, with a score from 0 to 1 and a reason that states what is
so. Nothing here waits or asks; what a model or a person has to judge says so (``Judge``, ``You``). A pattern, a path, a
schema or texts that may take long raise TooCostlyError; ``engine.questions`` has a process do it that can be ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self, TypeAlias, Union

from pydantic import Discriminator, Field, Tag
from pydantic.json_schema import SkipJsonSchema

from playground.domain.debugging import canonical, path_matches, path_problem, path_values
from playground.domain.hidden import short_name
from playground.domain.parameters import Hint
from playground.domain.parts import ToolCall
from playground.domain.prices import money
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition, check_arguments, check_schema
from playground.domain.transcript import Turn
from playground.domain.values import LongText, Value
from playground.domain.variables import mentions, resolve
from playground.jsonkit import limits
from playground.jsonkit.patterns import PatternError, found_in
from playground.jsonkit.problems import Problem, not_checked
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import cut
from playground.jsonkit.validation import check_value
from playground.jsonkit.values import JSON, JSONObject, same

SHOWN: Final = 60  # characters of a text that a reason or a card quotes
_READ: Final = 2_000  # of a text that is looked at for these
_CELLS: Final = 4_000_000  # letters of one text times those of another whose likeness is found in 3 ms
_FENCE: Final = re.compile(r"\A\s*```[\w-]*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
#: Finish reasons that say that the model, or what watches it, would not answer.
_REFUSED: Final = frozenset({"content_filter", "refusal", "safety"})


class Verdict(NamedTuple):
    """What a check says of an answer. ``passed`` is None where it was not judged: that counts neither way."""

    passed: bool | None
    score: float
    reason: str = ""


def not_judged(reason: str) -> Verdict:
    """That a check could not be made."""
    return Verdict(None, 0.0, reason)


@dataclass(frozen=True, slots=True)
class Facts:
    """What an answer is to a check. ``turns`` are those that came, results of tools among them, in order.

    ``tools`` are those on offer. ``seconds`` is the time from the first request to the last token, ``first`` that to
    the first token; ``tokens`` those of all answers, ``price`` what all requests cost. None where nobody says.
    """

    turns: tuple[Turn, ...]
    tools: tuple[ToolDefinition, ...] = ()
    seconds: float | None = None
    first: float | None = None
    tokens: int | None = None
    price: float | None = None
    currency: str = ""

    @property
    def last(self) -> Turn | None:
        """The answer itself, behind all its calls."""
        return next((turn for turn in reversed(self.turns) if turn.role is Role.ASSISTANT), None)

    @property
    def text(self) -> str:
        """What it says."""
        return self.last.text if self.last is not None else ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls on the way."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def finish_reason(self) -> str | None:
        """How the gateway says it ended."""
        return self.last.outcome.finish_reason if self.last is not None and self.last.outcome is not None else None


# ---- what all checks have --------------------------------------------------------------------------------------------


def _row(label: str, editor: str, help_: str, **more: Any) -> Hint:
    return Hint(label=label, group="Check", editor=editor, help=help_, sent=False, **more)


class Check(Value):
    """A rule for answers. A subclass is a kind of rule; {{name}} in its texts stands for a value of the case."""

    TITLE: ClassVar[str]
    HELP: ClassVar[str]

    kind: str
    negated: Annotated[bool, _row("Not", "switch", "Passes where it would fail, and the other way round.")] = False
    weight: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False),
        _row("Weight", "number", "How much its score counts beside those of the other checks.", low=0, step=1),
    ] = 1.0

    @property
    def title(self) -> str:
        """What it is called on its card."""
        return f"Not {self.TITLE[:1].lower()}{self.TITLE[1:]}" if self.negated else self.TITLE

    @property
    def words(self) -> str:
        """What it asks for, in a line or two."""
        return ""

    @property
    def lack(self) -> str:
        """What is missing to make it a check; empty when nothing is."""
        return ""

    @property
    def problem(self) -> str:
        """Why it cannot be used as it stands; empty when it can. Where a value is still to be put in, nobody knows.

        Raises TooCostlyError.
        """
        return self.lack

    @property
    def asks(self) -> bool:
        """Whether somebody has to be asked: what is called ``verdict`` here cannot tell."""
        return False

    @classmethod
    def hints(cls) -> list[tuple[str, Hint]]:
        """The rows of its form: its own fields, switches last, then those of all checks; each starts at its default."""
        found = [
            (name, replace(hint, start=info.default))
            for name, info in cls.model_fields.items()
            if (hint := next((item for item in info.metadata if isinstance(item, Hint)), None)) is not None
        ]
        common = Check.model_fields
        return sorted(found, key=lambda row: 2 if row[0] in common else row[1].editor == "switch")

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that its texts mention, each once."""
        texts = (text for name in type(self).model_fields for text in _texts(getattr(self, name)))
        return tuple(dict.fromkeys(one.name for text in texts for one in mentions(text) if not one.escaped))

    def filled(self, values: Mapping[str, str]) -> Self:
        """The same with the values of a case put in."""
        if not self.names:
            return self
        fields = ((name, getattr(self, name)) for name in type(self).model_fields)
        found = {name: filled for name, value in fields if (filled := _filled(value, values)) is not value}
        return self.model_copy(update=found)

    def verdict(self, facts: Facts) -> Verdict:
        """What it says of an answer, where it has no ``problem``. Raises TooCostlyError."""
        if self.lack:
            return not_judged(self.lack)
        found = self._look(facts)
        if not self.negated or found.passed is None:
            return found
        return Verdict(not found.passed, 1.0 - found.score, found.reason)

    def _look(self, facts: Facts) -> Verdict:
        """The same where nothing is negated."""
        raise NotImplementedError


def _texts(value: JSON) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _filled(value: JSON, values: Mapping[str, str]) -> JSON:
    if isinstance(value, str):
        found = resolve(value, values)
        return value if found == value else found
    if isinstance(value, dict):
        return {resolve(name, values): _filled(inner, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, values) for inner in value]
    return value


def _verdict(passed: bool, reason: str) -> Verdict:
    return Verdict(passed, float(passed), reason)


def quoted(text: str) -> str:
    """A text as a reason or a card quotes it."""
    return f"“{_in_a_line(text, SHOWN)}”"


def _in_a_line(text: str, most: int) -> str:
    """As much of a text as ``most`` characters of a line hold; of a large one its beginning is looked at."""
    line = " ".join(text[:_READ].split())
    return cut(line if len(text) <= _READ else f"{line}…", most)


# ---- texts -----------------------------------------------------------------------------------------------------------


class _OfText(Check):
    text: Annotated[LongText, _row("Text", "lines", "What is looked for; {{name}} stands for a value of the case.")] = (
        ""
    )
    ignore_case: Annotated[bool, _row("Ignore case", "switch", "Capital and small letters are the same.")] = False

    @property
    def words(self) -> str:
        return quoted(self.text)

    @property
    def lack(self) -> str:
        return "" if self.text else "There is no text to look for."

    def _sides(self, facts: Facts) -> tuple[str, str]:
        text, wanted = facts.text, self.text
        return (text.casefold(), wanted.casefold()) if self.ignore_case else (text, wanted)


class Contains(_OfText):
    """The answer has a text in it."""

    TITLE = "Contains"
    HELP = "Passes when the text stands anywhere in the answer."
    kind: Literal["contains"] = "contains"

    def _look(self, facts: Facts) -> Verdict:
        text, wanted = self._sides(facts)
        found = wanted in text
        return _verdict(found, f"{quoted(self.text)} is {'' if found else 'not '}in the answer")


class StartsWith(_OfText):
    """The answer begins with a text."""

    TITLE = "Starts with"
    HELP = "Passes when the answer begins with the text; spaces and line breaks before it do not count."
    kind: Literal["starts_with"] = "starts_with"

    def _look(self, facts: Facts) -> Verdict:
        text, wanted = self._sides(facts)
        found = text.lstrip().startswith(wanted.lstrip())
        return _verdict(found, f"it begins with {quoted(facts.text.lstrip()[:SHOWN])}")


class Equals(_OfText):
    """The answer is a text, and nothing else."""

    TITLE = "Equals"
    HELP = "Passes when the answer is this text; spaces and line breaks around it do not count."
    kind: Literal["equals"] = "equals"

    @property
    def lack(self) -> str:
        return ""  # an answer may well have to be empty

    def _look(self, facts: Facts) -> Verdict:
        text, wanted = self._sides(facts)
        found = text.strip() == wanted.strip()
        return _verdict(found, f"it is {'' if found else 'not '}{quoted(self.text)}")


class Matches(Check):
    """A regular expression finds something in the answer."""

    TITLE = "Regex"
    HELP = (
        "Passes when the regular expression finds something in the answer. It is written as in JSON Schema "
        "(ECMA 262); (?i) at its beginning ignores case, (?s) lets a dot stand for a line break, too."
    )
    kind: Literal["regex"] = "regex"
    pattern: Annotated[LongText, _row("Pattern", "lines", "A regular expression.")] = ""

    @property
    def words(self) -> str:
        return cut(self.pattern, SHOWN)

    @property
    def lack(self) -> str:
        return "" if self.pattern else "There is no pattern."

    @property
    def problem(self) -> str:
        try:
            found_in(self.pattern, "")
        except PatternError:
            return f"{quoted(self.pattern)} is no regular expression." if not self.names else ""
        return self.lack

    def _look(self, facts: Facts) -> Verdict:
        try:
            found = found_in(self.pattern, facts.text)
        except PatternError:
            return not_judged(f"{quoted(self.pattern)} is no regular expression.")
        return _verdict(found, f"{cut(self.pattern, SHOWN)} finds {'something' if found else 'nothing'}")


class Similar(_OfText):
    """The answer is nearly a text."""

    TITLE = "Similar"
    HELP = (
        "Passes when the answer is like the text: 1 is the same, 0 has no letter in its place. It counts the letters "
        "to be put in, taken out or changed (edit distance) against the longer of both."
    )
    kind: Literal["similar"] = "similar"
    least: Annotated[
        float, Field(ge=0, le=1), _row("At least", "number", "How like it has to be.", low=0, high=1, step=0.05)
    ] = 0.8

    @property
    def words(self) -> str:
        return f"{quoted(self.text)}, at least {self.least:g}"

    def _look(self, facts: Facts) -> Verdict:
        text, wanted = (side.strip() for side in self._sides(facts))
        longest = max(len(text), len(wanted))
        likeness = 1.0 - edit_distance(text, wanted) / longest if longest else 1.0
        return Verdict(likeness >= self.least, likeness, f"{likeness:.2f} like {quoted(self.text)}")


def edit_distance(one: str, other: str) -> int:
    """How many letters have to be put in, taken out or changed to make one text of the other (Levenshtein).

    All columns of a row are worked out at once in the bits of one number: G. Myers, "A fast bit-vector algorithm for
    approximate string matching", J. ACM 46 (1999), in the form of H. Hyyrö (2003). Raises TooCostlyError.
    """
    if len(one) < len(other):
        one, other = other, one
    if not other:
        return len(one)
    if len(one) * len(other) > _CELLS:
        limits.refuse(f"{len(one):,} letters against {len(other):,}")
    where: dict[str, int] = {}
    for place, letter in enumerate(one):
        where[letter] = where.get(letter, 0) | 1 << place
    mask, top = (1 << len(one)) - 1, 1 << (len(one) - 1)
    more, less, distance = mask, 0, len(one)
    for letter in other:
        match = where.get(letter, 0)
        same_ = (((match & more) + more) ^ more) | match | less
        up, down = less | ~(same_ | more), more & same_
        distance += bool(up & top) - bool(down & top)
        up, down = (up << 1 | 1) & mask, (down << 1) & mask
        more, less = (down | ~(same_ | up)) & mask, up & same_
    return distance


# ---- JSON ------------------------------------------------------------------------------------------------------------


class _OfJSON(Check):
    fenced: Annotated[bool, _row("Allow a code fence", "switch", "```json around the answer does not count.")] = False

    def _text(self, facts: Facts) -> str:
        fence = _FENCE.match(facts.text) if self.fenced else None
        return fence[1] if fence is not None else facts.text

    def _look(self, facts: Facts) -> Verdict:
        text = self._text(facts)
        limits.weigh_text(text)
        try:
            value = parse_json(text)
        except ValueError as error:
            return _verdict(False, f"it is not JSON: {cut(str(error), SHOWN)}")
        return self._look_at(value, text)

    def _look_at(self, value: JSON, text: str) -> Verdict:
        """The same of what the ``text`` of the answer stands for."""
        return _verdict(True, "it is JSON")


class IsJSON(_OfJSON):
    """The answer is JSON."""

    TITLE = "Is JSON"
    HELP = "Passes when the whole answer is one JSON value."
    kind: Literal["is_json"] = "is_json"


class FitsSchema(_OfJSON):
    """The answer is JSON that fits a schema."""

    TITLE = "Fits JSON Schema"
    HELP = "Passes when the answer is JSON that fits this schema (JSON Schema 2020-12)."
    kind: Literal["fits_schema"] = "fits_schema"
    json_schema: Annotated[JSONObject | None, _row("Schema", "json", "A JSON Schema.")] = None

    @property
    def words(self) -> str:
        return _spelled(self.json_schema) if self.json_schema is not None else ""

    @property
    def lack(self) -> str:
        return "" if self.json_schema is not None else "There is no schema."

    @property
    def problem(self) -> str:
        if self.json_schema is None:
            return self.lack
        wrong = next((one for one in check_schema(self.json_schema) if one.severity == "error"), None)
        if wrong is None:
            return ""
        where = Problem(wrong.path[1:], "").where  # the first step only names it
        return f"The schema cannot be used: {where + ': ' if where else ''}{wrong.message}"

    def _look_at(self, value: JSON, text: str) -> Verdict:
        problems = check_value(value, self.json_schema or {})
        if unknown := not_checked(problems):
            return not_judged(unknown.message)
        if any(not one.path and one.message.startswith("the schema cannot be applied") for one in problems):
            return not_judged(problems[0].message)
        if not problems:
            return _verdict(True, "it fits the schema")
        first = problems[0]
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        return _verdict(False, f"{first.where + ': ' if first.where else ''}{cut(first.message, 2 * SHOWN)}{more}")


class PathEquals(_OfJSON):
    """What a JSONPath selects of the answer is a value."""

    TITLE = "JSONPath equals"
    HELP = (
        "Passes when the answer is JSON and the path (RFC 9535) selects this value in it; of several, one that is. "
        "Without a value, when it selects anything."
    )
    kind: Literal["json_path"] = "json_path"
    path: Annotated[str, _row("Path", "text", "A JSONPath such as $.city.")] = ""
    value: Annotated[LongText, _row("Value", "lines", "JSON, or a text as it is.")] = ""

    @property
    def words(self) -> str:
        return f"{cut(self.path, SHOWN)} is {cut(self.value, SHOWN)}" if self.value else cut(self.path, SHOWN)

    @property
    def lack(self) -> str:
        return "" if self.path else "There is no path."

    @property
    def problem(self) -> str:
        return self.lack or _no_path(self.path)

    def _look_at(self, value: JSON, text: str) -> Verdict:
        found = path_values(self.path, text)
        if not found:
            return _verdict(False, f"{self.path} selects nothing")
        if not self.value:
            return _verdict(True, f"{self.path} selects {_spelled(found[0])}")
        wanted = _value_or_text(self.value)
        hit = any(same(one, wanted, exact=False) or (isinstance(one, str) and one == self.value) for one in found)
        return _verdict(hit, f"{self.path} is {_spelled(found[0])}")


def _no_path(path: str) -> str:
    """Why a text is no path; empty where it is one, or a value is still to be put in."""
    wrong = path_problem(path) if not mentions(path) else ""
    return f"{quoted(path)} is no JSONPath: {wrong}" if wrong else ""


def _value_or_text(text: str) -> JSON:
    try:
        return parse_json(text)
    except ValueError:
        return text


def _spelled(value: JSON) -> str:
    """A value as JSON, as much of it as a reason or a card shows: of a large one the rest is not written."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        text += piece
        if len(text) > SHOWN:
            break
    return cut(text, SHOWN)


# ---- calls -----------------------------------------------------------------------------------------------------------


class ToolCalled(Check):
    """A tool is called, with arguments as they should be."""

    TITLE = "Tool called"
    HELP = (
        "Passes when one of the calls on the way to the answer is of this tool, and its arguments are as asked for "
        "here. Without a name, of any tool."
    )
    kind: Literal["tool_called"] = "tool_called"
    tool: Annotated[str, _row("Tool", "text", "Its name; empty for any.")] = ""
    fits: Annotated[bool, _row("Arguments fit", "switch", "They fit the schema of the tool.")] = False
    path: Annotated[str, _row("Arguments match", "text", "A JSONPath that selects something in them.")] = ""
    arguments: Annotated[
        LongText, _row("Arguments equal", "lines", "JSON they are equal to; the order of names does not matter.")
    ] = ""

    @property
    def words(self) -> str:
        asked = ["fit its schema"] if self.fits else []
        asked += [f"match {cut(self.path, SHOWN)}"] if self.path else []
        asked += [f"are {cut(self.arguments, SHOWN)}"] if self.arguments else []
        which = short_name(self.tool) if self.tool else "any tool"
        return f"{which} with arguments that {' and '.join(asked)}" if asked else which

    @property
    def problem(self) -> str:
        if self.path and (wrong := _no_path(self.path)):
            return wrong
        if self.arguments and not mentions(self.arguments):
            try:
                parse_json(self.arguments)
            except ValueError as error:
                return f"The arguments are not JSON: {error}"
        return ""

    def _look(self, facts: Facts) -> Verdict:
        calls = [call for call in facts.calls if not self.tool or call.name == self.tool]
        if not calls:
            others = ", ".join(dict.fromkeys(short_name(call.name) for call in facts.calls))
            name = short_name(self.tool) if self.tool else "no tool"
            was = f"{name} was not called" if self.tool else "no tool was called"
            return _verdict(False, f"{was}; {others} {'was' if ',' not in others else 'were'}" if others else was)
        offered = {tool.name: tool for tool in facts.tools if tool.sendable}
        wrong = ""
        for call in calls:
            what = self._wrong(call, offered.get(call.name))
            if not what:
                return _verdict(True, _called(call))
            wrong = wrong or f"{_called(call)}: {what}"
        return _verdict(False, wrong)

    def _wrong(self, call: ToolCall, tool: ToolDefinition | None) -> str:
        if self.fits:
            if tool is None:
                return "no such tool is on offer"
            if problems := check_arguments(call.arguments, tool.parameters):
                first = problems[0]
                return f"{first.where + ': ' if first.where else ''}{first.message}"
        if self.path and not path_matches(self.path, call.arguments):
            return f"{self.path} selects nothing"
        if self.arguments and canonical(self.arguments) != canonical(call.arguments):
            return "other arguments"
        return ""


def _called(call: ToolCall) -> str:
    return f"called {short_name(call.name)}({cut(call.arguments, SHOWN)})"


class Calls(Check):
    """So many calls are made."""

    TITLE = "Number of calls"
    HELP = "Passes when so many calls are made on the way to the answer, those of one tool or all."
    kind: Literal["calls"] = "calls"
    least: Annotated[int, Field(ge=0), _row("At least", "integer", "So many calls, or more.", low=0)] = 0
    most: Annotated[int | None, Field(ge=0), _row("At most", "integer", "So many, or fewer.", low=0)] = None
    tool: Annotated[str, _row("Tool", "text", "Its name; empty for all.")] = ""

    @property
    def words(self) -> str:
        span = f"{self.least} or more" if self.most is None else f"{self.least} to {self.most}"
        span = f"{self.most}" if self.most == self.least else span
        return f"{span} of {short_name(self.tool)}" if self.tool else span

    @property
    def lack(self) -> str:
        return "At most is less than at least." if self.most is not None and self.most < self.least else ""

    def _look(self, facts: Facts) -> Verdict:
        count = sum(not self.tool or call.name == self.tool for call in facts.calls)
        held = self.least <= count and (self.most is None or count <= self.most)
        return _verdict(held, f"{count} call{'s' * (count != 1)}")


class Finish(Check):
    """The answer ended as it should."""

    TITLE = "Finish reason"
    HELP = "Passes when the gateway says that the answer ended for this reason."
    kind: Literal["finish"] = "finish"
    reason: Annotated[
        str,
        _row(
            "Reason",
            "choice",
            "As the gateway spells it.",
            suggestions=("stop", "end_turn", "tool_calls", "tool_use", "length", "max_tokens", "content_filter"),
        ),
    ] = "stop"

    @property
    def words(self) -> str:
        return self.reason

    @property
    def lack(self) -> str:
        return "" if self.reason else "There is no finish reason to look for."

    def _look(self, facts: Facts) -> Verdict:
        found = facts.finish_reason
        return _verdict(found == self.reason, f"it ended with {found}" if found else "it ended without a reason")


class Refused(Check):
    """The model would not answer."""

    TITLE = "Refusal"
    HELP = (
        "Passes when the answer is marked as a refusal: a part for it, or a finish reason that says so. A refusal in "
        "plain words is for a judge."
    )
    kind: Literal["refusal"] = "refusal"

    def _look(self, facts: Facts) -> Verdict:
        said = "".join(turn.refusal for turn in facts.turns)
        if said:
            return _verdict(True, f"it refused: {quoted(said)}")
        found = facts.finish_reason
        return _verdict(found in _REFUSED, f"it ended with {found}" if found in _REFUSED else "it did not refuse")


# ---- figures ---------------------------------------------------------------------------------------------------------


class _OfFigure(Check):
    def _held(self, found: float | None, most: float, words: str) -> Verdict:
        return not_judged(words) if found is None else _verdict(found <= most, words)


class Latency(_OfFigure):
    """The answer is there in time."""

    TITLE = "Latency"
    HELP = "Passes when the last token is there in time, all requests of a tool loop together."
    kind: Literal["latency"] = "latency"
    seconds: Annotated[
        float, Field(ge=0, allow_inf_nan=False), _row("Seconds", "number", "To the last token, at most.", low=0)
    ] = 5.0

    @property
    def words(self) -> str:
        return f"≤ {self.seconds:g} s to the last token"

    def _look(self, facts: Facts) -> Verdict:
        found = facts.seconds
        return self._held(found, self.seconds, f"{found:.2f} s" if found is not None else "no time was taken")


class FirstToken(_OfFigure):
    """The answer begins in time."""

    TITLE = "First token"
    HELP = "Passes when the first token is there in time. An answer that is not streamed has none: it is not judged."
    kind: Literal["first_token"] = "first_token"
    seconds: Annotated[
        float, Field(ge=0, allow_inf_nan=False), _row("Seconds", "number", "To the first token, at most.", low=0)
    ] = 1.0

    @property
    def words(self) -> str:
        return f"≤ {self.seconds:g} s to the first token"

    def _look(self, facts: Facts) -> Verdict:
        found = facts.first
        return self._held(found, self.seconds, f"{found:.2f} s" if found is not None else "the answer came as a whole")


class Tokens(_OfFigure):
    """The answer is not too long."""

    TITLE = "Tokens"
    HELP = "Passes when the answers of all requests together have at most so many tokens, as the gateway counts them."
    kind: Literal["tokens"] = "tokens"
    most: Annotated[int, Field(ge=0), _row("At most", "integer", "So many, or fewer.", low=0)] = 500

    @property
    def words(self) -> str:
        return f"≤ {self.most:,}"

    def _look(self, facts: Facts) -> Verdict:
        found = facts.tokens
        return self._held(found, self.most, f"{found:,} tokens" if found is not None else "the gateway does not say")


class Cheap(_OfFigure):
    """The answer does not cost too much."""

    TITLE = "Price"
    HELP = "Passes when all requests of the answer together cost at most so much, by the prices entered for the models."
    kind: Literal["price"] = "price"
    most: Annotated[
        float, Field(ge=0, allow_inf_nan=False), _row("At most", "number", "In the currency of its price.", low=0)
    ] = 0.01

    @property
    def words(self) -> str:
        return f"≤ {self.most:g}"

    def _look(self, facts: Facts) -> Verdict:
        found = facts.price
        words = money(found, facts.currency) if found is not None else "no price is known"
        return self._held(found, self.most, words)


# ---- those that somebody is asked for --------------------------------------------------------------------------------


class _Asked(Check):
    @property
    def asks(self) -> bool:
        return True

    def _look(self, facts: Facts) -> Verdict:
        return not_judged("not judged yet")


class Judge(_Asked):
    """A model reads the answer and judges it by a rubric."""

    TITLE = "Judge"
    HELP = (
        "A model of your choice reads what was asked and what was answered, and gives a score from 0 to 1 with a "
        "reason. It is asked for JSON. A judge that fails, or gives none, has not judged: that counts neither way."
    )
    kind: Literal["judge"] = "judge"
    rubric: Annotated[LongText, _row("Passes when", "lines", "What a good answer is, in a sentence or a few.")] = ""
    model: Annotated[str, _row("Model", "model", "The model that judges.")] = ""
    profile_id: str = ""  # of its gateway; empty: that of the experiment
    least: Annotated[
        float, Field(ge=0, le=1), _row("At least", "number", "The score from which it passes.", low=0, high=1, step=0.1)
    ] = 0.5

    @property
    def words(self) -> str:
        return ": ".join(filter(None, (cut(self.model, SHOWN), _in_a_line(self.rubric, 2 * SHOWN))))

    @property
    def lack(self) -> str:
        if not self.model:
            return "The judge has no model. Choose one in its form."
        return "" if self.rubric.strip() else "The judge has no rubric: say when an answer passes."


class You(_Asked):
    """A person looks at the answer and says whether it is good."""

    TITLE = "You"
    HELP = "You look at each answer and give a thumb, with a note if you like. What you did not look at is not judged."
    kind: Literal["you"] = "you"
    rubric: Annotated[LongText, _row("Look at", "lines", "What to look at, for whoever judges.")] = ""

    @property
    def words(self) -> str:
        return quoted(self.rubric) if self.rubric else ""


class UnknownCheck(Check):
    """A check of a kind that only a newer version has. It is kept as it is, and does not judge."""

    TITLE = "Unknown check"
    HELP = "A newer version of this application has this check. It is kept, and not judged here."
    kind: str = "unknown"

    @property
    def words(self) -> str:
        return self.kind

    @property
    def lack(self) -> str:
        return "A newer version has this check; it is not judged here."

    def _look(self, facts: Facts) -> Verdict:
        return not_judged(self.lack)


# ---- all of them -----------------------------------------------------------------------------------------------------

#: All kinds, in the order in which they are offered.
CHECKS: Final[tuple[type[Check], ...]] = (
    Contains,
    Matches,
    Equals,
    StartsWith,
    IsJSON,
    FitsSchema,
    PathEquals,
    ToolCalled,
    Calls,
    Finish,
    Latency,
    FirstToken,
    Tokens,
    Cheap,
    Refused,
    Similar,
    Judge,
    You,
)
_KINDS: Final = frozenset(str(kind.model_fields["kind"].default) for kind in CHECKS)

_CONTRARY: Final[Mapping[type[Check], tuple[str, Callable[[], Check]]]] = {
    Contains: ("Not contains", partial(Contains, negated=True)),
    ToolCalled: ("No tool called", partial(ToolCalled, negated=True)),
}

#: What can be added, by what it is called: each kind, and where the contrary is asked for as often, that.
OFFERED: Final[Mapping[str, Callable[[], Check]]] = {
    name: make
    for kind in CHECKS
    for name, make in ((kind.TITLE, kind), *((_CONTRARY[kind],) if kind in _CONTRARY else ()))
}


def _kind(value: Any) -> str | None:
    """What kind of check something is to be read as; None where it does not say."""
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return None if kind is None else kind if kind in _KINDS else "unknown"


if TYPE_CHECKING:
    AnyCheck: TypeAlias = Check
else:
    _TAGGED = [Annotated[kind, Tag(kind.model_fields["kind"].default)] for kind in CHECKS]
    AnyCheck = Annotated[
        Union[(*_TAGGED, Annotated[SkipJsonSchema[UnknownCheck], Tag("unknown")])],
        Discriminator(_kind),
    ]
