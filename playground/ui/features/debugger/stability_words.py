"""The figures of a step that was asked many times, in words. Counts only. No Qt."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from playground.domain.debugging import signature
from playground.engine.session.stability import Stability, VariantResult
from playground.jsonkit.reading import parse_json
from playground.ui.features.debugger.call_words import seconds_words

MOST_FAILURES = 3

#: The calls of an answer, a signature each (or one word for none), and how often that came.
Bar = tuple[tuple[str, ...], int]


def figures(result: VariantResult) -> list[tuple[str, str]]:
    """Name and words of each figure of one variant."""
    fit, of = result.fitting
    prompt, completion = result.tokens
    reported = [sample.usage for sample in result.samples if sample.usage is not None]
    out = [
        ("Answers", f"{len(result.samples)}"),
        ("Fit the schema", f"{fit} of {of} call{'s' * (of != 1)} · {share(fit, of)}" if of else "no calls"),
        ("Whole answer", times(result.seconds)),
        ("First content", times(result.first_content)),
        ("Tokens", f"{prompt:,} in · {completion:,} out" if reported else "not reported"),
    ]
    choices = max((sample.choices for sample in result.samples), default=1)
    if choices > 1:
        out.insert(1, ("Choices", f"the first of {choices} is looked at; tokens are of all"))
    failures = result.failures()
    said = [f"{count} × {words}" for words, count in failures[:MOST_FAILURES]]
    if len(failures) > MOST_FAILURES:
        said.append(f"and {len(failures) - MOST_FAILURES} other kinds")
    out.append(("Failures", "\n".join(said) if said else "none"))
    return out


def times(quantile: Callable[[float], float | None]) -> str:
    """Median, the time for nine in ten, and the longest."""
    middle = quantile(0.5)
    if middle is None:
        return "–"
    found = [("median", middle), ("90 % within", quantile(0.9)), ("longest", quantile(1))]
    return " · ".join(f"{name} {seconds_words(value)}".replace(" ", "\u00a0") for name, value in found)


def share(part: int, whole: int) -> str:
    """A part in per cent."""
    return f"{part / whole:.0%}".replace("%", "\u00a0%") if whole else "–"


def bars(results: Sequence[VariantResult], *, single: bool) -> list[list[Bar]]:
    """The histogram of each variant, all with the same labels in the same order; ``single`` counts call by call."""
    counted = [Counter(_labels(result, single=single)) for result in results]
    totals: Counter[tuple[str, ...]] = Counter()
    for counts in counted:
        totals.update(counts)
    return [[(label, counts[label]) for label, _ in totals.most_common()] for counts in counted]


def _labels(result: VariantResult, *, single: bool) -> Iterator[tuple[str, ...]]:
    for sample in result.samples:
        calls = sorted(signature(call) for call in sample.calls)
        if single:
            yield from ((call,) for call in calls)
        else:
            yield tuple(calls) or (sample.label,)


def brief(call: str) -> str:
    """A call for people: ``get_weather(city: "Oslo", unit: "celsius")``; what is no call, or no JSON, as it is."""
    name, bracket, rest = call.partition("(")
    if not name or not bracket or not rest.endswith(")"):
        return call
    try:
        value = parse_json(rest[:-1])
    except ValueError:
        return call
    if not isinstance(value, dict):
        return call
    return f"{name}({', '.join(f'{key}: {json.dumps(item, ensure_ascii=False)}' for key, item in value.items())})"


def progress_words(stability: Stability) -> str:
    """How far it is."""
    done = f"{stability.done} of {stability.total}"
    if stability.running:
        return f"{done} answers"
    return f"Stopped after {done} answers." if stability.stopped else f"{stability.done} answers."
