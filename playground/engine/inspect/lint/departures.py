"""Rules on an answer: how it came (status, headers, errors, stream, model), its content, and its counts.

Each function looks at a case and returns what it saw; the table of rules says where it can judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from playground.domain.errors import GUESSES, FailureKind
from playground.domain.output import check_answer
from playground.engine.inspect.lint.case import Case, Seen, call_ids
from playground.jsonkit import foreign
from playground.jsonkit.foreign import count_of
from playground.jsonkit.values import JSON, is_number
from playground.protocols.error_fields import error_fields
from playground.protocols.error_waits import rate_limit_dimension
from playground.protocols.expected import other_count, other_way

# ---- content ---------------------------------------------------------------------------------------------------------


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
            yield Seen("no tool is called although tool_choice requires one", case.index.finish_at[choice])


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
            yield Seen(f"{len(calls)} calls were received although one at a time was requested", calls[1])


def late_name(case: Case) -> Iterator[Seen]:
    for call in case.index.calls.values():
        if call.named_at not in (None, call.frame) and case.noted.isdisjoint(("tool_name_late", "tool_name_pieces")):
            yield Seen("the name of a call follows its first fragment", call.named_at)
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
            yield Seen(f"JSON was requested; the content is {problems[0].message}", case.index.finish_at.get(choice))


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


_DOCUMENTED_STATUS: Final = frozenset({200, 400, 401, 402, 403, 404, 429, 500, 503, 504})
_EPOCH: Final = range(1_000_000_000, 100_000_000_000)  # seconds: later than 2001, and not milliseconds
#: What the decoders note where they say why an answer cannot be read.
_REPORTED: Final = frozenset({"cut_off", "empty", "no_body", "not_json", "not_object", "other_protocol", "stray_text"})
#: What the last part of a model's id may say of it that an answer leaves out or adds.
_VERSION: Final = re.compile(r"(?:[-@:.](?:latest|free|preview|v?\d[\d.\-]*))+$")


def status(case: Case) -> Iterator[Seen]:
    if case.exchange.status not in _DOCUMENTED_STATUS:
        yield Seen(f"the status is {case.exchange.status}, which is not a documented one", None)


def limit_values(case: Case) -> Iterator[Seen]:
    for name in ("X-RateLimit-Limit", "X-RateLimit-Remaining"):
        value = case.exchange.response_header(name)
        if value is not None and not value.strip().isdecimal():
            yield Seen(f"{name} is “{value[:60]}”, not a whole number", None)


def limit_reset(case: Case) -> Iterator[Seen]:
    value = case.exchange.response_header("X-RateLimit-Reset")
    if value is None:
        return
    number = int(value) if value.strip().isdecimal() and len(value) < 20 else 0
    if number not in _EPOCH:
        yield Seen(f"X-RateLimit-Reset is “{value[:60]}”, not a time in Unix seconds", None)


def mended(case: Case, code: str) -> Iterator[Seen]:
    """A body that contradicts its headers."""
    if code in case.exchange.mended:
        yield Seen(case.exchange.mended[code], None)


def no_body(case: Case) -> Iterator[Seen]:
    exchange = case.exchange
    empty = exchange.complete and not exchange.size and not exchange.dropped
    if empty and 200 <= (exchange.status or 0) < 300 and "no_body" not in case.noted:
        yield Seen("the answer has no body", None)


def error_shape(case: Case) -> Iterator[Seen]:
    error = case.error
    if not isinstance(error, dict):
        yield Seen("the error body is empty" if not case.exchange.reads else _not_an_object(error), case.last)
        return
    if case.exchange.protocol and case.expected.is_error(error):
        return
    wrong = []
    if type(error.get("code")) is not int:
        wrong.append("a code that is a whole number")
    if not isinstance(error.get("message"), str):
        wrong.append("a message")
    if "data" not in error or error["data"] is not None:
        wrong.append("data with null")
    if wrong:
        yield Seen(f"the error body lacks {', '.join(wrong[:-1])}{' and ' if wrong[1:] else ''}{wrong[-1]}", case.last)


def _not_an_object(error: JSON) -> str:
    return "the error body is not JSON" if error is None else "the error body is JSON, but not an object"


def error_type(case: Case) -> Iterator[Seen]:
    if isinstance(case.error, dict) and case.media_type != "application/json":
        arrival = f"came as {case.media_type}" if case.media_type else "has no Content-Type"
        yield Seen(f"the error {arrival}", None)


def dimension(case: Case) -> Iterator[Seen]:
    if case.exchange.status == 429 and not rate_limit_dimension(error_fields(case.error).message):
        yield Seen("the message of the 429 names no limit", case.last)


def not_streamed(case: Case) -> Iterator[Seen]:
    if case.request.stream and not case.streamed and case.index.failure is None and "json_body" not in case.noted:
        yield Seen(other_way(streamed=False)[1], 0)


def streamed(case: Case) -> Iterator[Seen]:
    if case.streamed and not case.request.stream:
        yield Seen(other_way(streamed=True)[1], 0)


def stream_type(case: Case) -> Iterator[Seen]:
    if case.streamed and case.media_type != "text/event-stream" and "content_type" not in case.noted:
        yield Seen(
            f"the stream was sent as {case.media_type}" if case.media_type else "the stream has no Content-Type", 0
        )


def error_inside(case: Case) -> Iterator[Seen]:
    failure = case.index.failure
    if failure is not None and failure.kind is FailureKind.STREAM:
        where = "inside the stream" if case.streamed else "as an answer, with a status that says all is well"
        if case.streamed and case.expected.errors_in_stream and case.is_own_error(case.index.failed_at):
            return
        yield Seen(f"an error came {where}", case.index.failed_at)


def unreadable(case: Case) -> Iterator[Seen]:
    failure, kinds = case.index.failure, GUESSES | {FailureKind.OTHER_PROTOCOL}
    if failure is not None and failure.kind in kinds and case.exchange.complete and not case.noted & _REPORTED:
        yield Seen(failure.message, case.index.failed_at)


def choices(case: Case) -> Iterator[Seen]:
    """Another number of completions than asked for."""
    expected, received = case.request.count, len(case.choices)
    if received != expected:
        yield Seen(other_count(expected, received)[1], case.last)


def model(case: Case) -> Iterator[Seen]:
    requested, answered = case.request.model, case.index.model
    if requested and answered and not _akin(requested, answered):
        yield Seen(
            f"the answer names the model “{answered[:80]}”; “{requested[:80]}” was requested", case.index.model_at
        )


def _akin(first: str, second: str) -> bool:
    """Return whether two ids may name one model: they differ only in a vendor prefix or a version suffix."""
    first, second = (_VERSION.sub("", name.lower().rpartition("/")[2]) for name in (first, second))
    return first.startswith(second) or second.startswith(first)


# ---- counts ----------------------------------------------------------------------------------------------------------


_EARLY: Final = 0.9  # of a limit: tokenisers differ, and a last token may not be counted


def finish_with_calls(case: Case) -> Iterator[Seen]:
    for choice, reason in case.index.finish.items():
        if reason == case.expected.talking and case.calls_of(choice):
            yield Seen(f"the finish reason is {reason}, and a tool is called", case.index.finish_at[choice])


def finish_without_calls(case: Case) -> Iterator[Seen]:
    for choice, reason in case.index.finish.items():
        if reason == case.expected.calling and not case.calls_of(choice):
            yield Seen(f"the finish reason is {reason}, and no tool is called", case.index.finish_at[choice])


def cut_early(case: Case) -> Iterator[Seen]:
    request, used = case.request, _output(case)
    if request.limit is None or request.count > 1 or used is None or used >= request.limit * _EARLY:
        return
    for choice, reason in case.index.finish.items():
        if reason == case.expected.cut:
            note = f"the finish reason is {reason} after {used:,} of {request.limit:,} tokens"
            yield Seen(note, case.index.finish_at[choice])


def beyond_limit(case: Case) -> Iterator[Seen]:
    request, used = case.request, _output(case)
    if request.limit is not None and used is not None and used > request.limit * request.count:
        most = f"{request.limit:,}" + (f" for each of {request.count} choices" if request.count > 1 else "")
        yield Seen(f"{used:,} tokens were generated; the limit was {most}", case.index.usage_at)


def _output(case: Case) -> int | None:
    """The tokens that a limit is about."""
    usage = case.index.usage
    if usage is None or usage.completion is None:
        return None
    return usage.completion - (0 if case.request.limits_reasoning else usage.reasoning or 0)


def usage_in_stream(case: Case) -> Iterator[Seen]:
    if case.streamed and case.request.usage and case.index.usage is None:
        yield Seen("no usage was received although it was requested", case.last)


def usage_unasked(case: Case) -> Iterator[Seen]:
    if case.streamed and case.request.stream and not case.request.usage and case.index.usage is not None:
        yield Seen("usage was received although it was not requested", case.index.usage_at)


def usage_in_whole(case: Case) -> Iterator[Seen]:
    if not case.streamed and case.index.usage is None:
        yield Seen("the completion has no usage", case.last)


def usage_in_any(case: Case) -> Iterator[Seen]:
    if case.index.usage is None:
        yield Seen("no usage was received", case.last)


def usage_counts(case: Case) -> Iterator[Seen]:
    """Counts that are missing, or none."""
    if case.index.usage is None:
        return
    counts = {name: case.usage.get(name) for name in case.expected.counts}
    odd = [name for name, value in counts.items() if value is None]
    odd = [f"usage lacks {' and '.join(odd)}"] * bool(odd)
    for name, value in counts.items():
        if value is not None and (isinstance(value, str) or count_of(value) is None):
            what = "text instead of a number" if isinstance(value, str) else "not a count"
            odd.append(f"{name} is {foreign.write(value)[:60]}, {what}")
    if odd:
        yield Seen("; ".join(odd), case.index.usage_at)


def usage_sum(case: Case) -> Iterator[Seen]:
    usage = case.index.usage
    if usage is None or usage.prompt is None or usage.completion is None or usage.total is None:
        return
    if usage.prompt + usage.completion != usage.total:
        sum_ = f"{usage.prompt:,} + {usage.completion:,} = {usage.prompt + usage.completion:,}"
        yield Seen(f"usage does not add up: {sum_}, total_tokens is {usage.total:,}", case.index.usage_at)


def usage_parts(case: Case) -> Iterator[Seen]:
    usage = case.index.usage
    if usage is None:
        return
    pairs = (
        ("cached", usage.cached, "prompt", usage.prompt),
        ("reasoning", usage.reasoning, "output", usage.completion),
    )
    for part, some, total, all_ in pairs:
        if some is not None and all_ is not None and some > all_:
            yield Seen(f"usage has {some:,} {part} tokens of {all_:,} {total} tokens", case.index.usage_at)


def usage_none(case: Case) -> Iterator[Seen]:
    usage = case.index.usage
    has_output = any(part.length for choice in case.choices for part in case.index.parts(choice))
    if usage is not None and usage.completion == 0 and has_output:
        yield Seen("usage counts no output token, and there is an answer", case.index.usage_at)
