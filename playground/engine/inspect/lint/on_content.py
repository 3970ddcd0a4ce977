"""Rules on what an answer says: the tools it calls, JSON where that was asked for, stop sequences, values it took.

Each looks at a case and says what it saw; where it can judge, the table of rules says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playground.domain.output import check_answer
from playground.engine.inspect.lint.case import Case, Seen, call_ids
from playground.jsonkit import foreign
from playground.jsonkit.values import is_number

#: Section 8: parameter, lowest, highest.
_RANGES: Final = (
    ("temperature", 0, 2),
    ("top_p", 0, 1),
    ("presence_penalty", -2, 2),
    ("frequency_penalty", -2, 2),
)
_MOST_STOPS: Final = 4


def not_offered(case: Case) -> Iterator[Seen]:
    offered = case.request.tools
    if offered is None:
        return
    for name, frame in _first_calls(case):
        if name not in offered:
            what = "is not among the tools on offer" if offered else "is called, and no tools are on offer"
            yield Seen(f"the tool “{name[:60]}” {what}", frame)


def called_against_none(case: Case) -> Iterator[Seen]:
    if case.request.choice == "none" and case.index.calls:
        yield Seen("a tool is called although tool_choice is none", next(iter(case.index.calls.values())).frame)


def not_called(case: Case) -> Iterator[Seen]:
    """A limit that was reached, or a filter, may be the reason: then it is none to speak of."""
    if case.request.choice not in ("required", "named"):
        return
    natural = (case.expected.talking, case.expected.calling)
    for choice in case.choices:
        if not case.calls_of(choice) and case.index.finish.get(choice) in natural:
            yield Seen("no tool is called although tool_choice asks for one", case.index.finish_at[choice])


def other_called(case: Case) -> Iterator[Seen]:
    for name, frame in _first_calls(case):
        if case.request.choice == "named" and name != case.request.named:
            yield Seen(f"the tool “{name[:60]}” is called, and tool_choice names another", frame)


def _first_calls(case: Case) -> Iterator[tuple[str, int]]:
    """The names of the tools that are called, each with the frame that names it first."""
    first: dict[str, int] = {}
    for call in case.index.calls.values():
        if call.name and call.named_at is not None:
            first.setdefault(call.name, call.named_at)
    yield from first.items()


def several_called(case: Case) -> Iterator[Seen]:
    for choice in case.choices:
        calls = case.calls_of(choice)
        if not case.request.parallel and len(calls) > 1:
            yield Seen(f"{len(calls)} calls came although one at a time was asked for", calls[1])


def late_name(case: Case) -> Iterator[Seen]:
    for call in case.index.calls.values():
        if call.named_at not in (None, call.frame) and case.noted.isdisjoint(("tool_name_late", "tool_name_pieces")):
            yield Seen("the name of a call came after its first fragment", call.named_at)
            return


def reused_id(case: Case) -> Iterator[Seen]:
    """A call with the id of an earlier one: a program that stores answers by id confuses them."""
    if not case.index.calls:
        return
    earlier = call_ids(case.request.body, case.exchange.protocol)
    for call in case.index.calls.values():
        if call.id in earlier:
            yield Seen(f"the id of a call, “{call.id[:60]}”, is that of an earlier call", call.frame)


def no_name(case: Case) -> Iterator[Seen]:
    for call in case.index.calls.values():
        if not call.name:
            yield Seen("a call has no name", call.frame)
            return


def arguments(case: Case) -> Iterator[Seen]:
    for choice in case.answer.choices.values() if case.answer is not None else ():
        if choice.finish_reason == case.expected.cut:
            continue
        for number, call in choice.calls.items():
            text = call.text.strip()
            if text and not call.free_text and not _is_json(text):
                called = case.index.calls.get((choice.index, number))
                note = f"the arguments of “{call.name[:60]}” are not JSON"
                yield Seen(note, called.frame if called is not None else case.last)


def _is_json(text: str) -> bool:
    try:
        foreign.parse(text)
    except ValueError:
        return False
    return True


def _texts(case: Case) -> Iterator[tuple[int, str]]:
    """The content of each completion that ended by itself, without calls."""
    for choice in case.answer.choices.values() if case.answer is not None else ():
        if choice.finish_reason == case.expected.talking and not choice.calls:
            yield choice.index, "".join(part.text for part in choice.parts if part.kind == "text")


def not_json(case: Case) -> Iterator[Seen]:
    for choice, text in _texts(case):
        problems = check_answer(text, {"type": "json_object"}) if case.request.as_json and text else []
        if problems:
            yield Seen(f"JSON was asked for; the content is {problems[0].message}", case.index.finish_at.get(choice))


def beyond_stop(case: Case) -> Iterator[Seen]:
    for choice, text in _texts(case):
        if any(0 <= text.find(stop) < len(text) - len(stop) for stop in case.request.stops):
            yield Seen("the content goes on after a stop sequence", case.index.finish_at.get(choice))


def accepted(case: Case) -> Iterator[Seen]:
    body, stops = case.request.body, len(case.request.stops)
    if stops > _MOST_STOPS:
        yield Seen(f"{stops} stop sequences were accepted; {_MOST_STOPS} are allowed", 0)
    for name, low, high in _RANGES:
        value = body.get(name)
        if is_number(value) and not low <= value <= high:
            yield Seen(f"a {name} beyond {low} to {high} was accepted", 0)
