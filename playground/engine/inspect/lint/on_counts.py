"""Rules on how an answer ends and what it counts: finish reasons, token limits, usage.

Each looks at a case and says what it saw; where it can judge, the table of rules says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playground.engine.inspect.lint.case import Case, Seen
from playground.jsonkit import foreign
from playground.jsonkit.foreign import count_of

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
        yield Seen("no usage came although it was asked for", case.last)


def usage_unasked(case: Case) -> Iterator[Seen]:
    if case.streamed and case.request.stream and not case.request.usage and case.index.usage is not None:
        yield Seen("usage came although it was not asked for", case.index.usage_at)


def usage_in_whole(case: Case) -> Iterator[Seen]:
    if not case.streamed and case.index.usage is None:
        yield Seen("the completion has no usage", case.last)


def usage_in_any(case: Case) -> Iterator[Seen]:
    if case.index.usage is None:
        yield Seen("no usage came", case.last)


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
