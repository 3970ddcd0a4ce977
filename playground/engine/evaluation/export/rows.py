"""Answers as rows: one an answer, with what it was asked, what it said, what it took and what the checks said of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from playground.domain.transcript import Role, Turn, last_answer
from playground.engine.evaluation.answering import Answer
from playground.engine.evaluation.answers import Kept
from playground.engine.evaluation.inquiry import Column
from playground.engine.evaluation.results import Results
from playground.engine.gateways.redacted_output import output_json, redact_json
from playground.engine.io.spreadsheet import csv_text
from playground.engine.session.plan import Case
from playground.gateway.redact import Redactor
from playground.jsonkit.values import JSONObject

#: Gives what is kept of an answer.
Fetch: TypeAlias = Callable[[Answer], Awaitable[Kept]]

_COLUMNS: Final = (
    "case",
    "variant",
    "repeat",
    "passed",
    "score",
    "text",
    "calls",
    "real_calls",
    "finish_reason",
    "failure",
    "seconds",
    "first_token_s",
    "prompt_tokens",
    "completion_tokens",
    "price",
    "currency",
    "price_by_list",
    "expected",
)


async def records(results: Results, fetch: Fetch) -> AsyncIterator[JSONObject]:
    """Each answer that there is, case by case."""
    for case in results.inquiry.cases:
        for column in results.inquiry.columns:
            cell = results.cell(case, column)
            for answer, mark in zip(cell.answers, cell.marks, strict=True):
                if answer is not None:
                    yield _record(results, case, column, answer, mark, (await fetch(answer)).turns)


def _record(
    results: Results, case: Case, column: Column, answer: Answer, passed: bool | None, turns: tuple[Turn, ...]
) -> JSONObject:
    last = next((turn for turn in reversed(turns) if turn.role is Role.ASSISTANT and turn.outcome is not None), None)
    figures = answer.figures
    verdicts = results.verdicts(case, answer)
    return {
        "case": results.inquiry.title(case),
        "case_id": case.id,
        "values": case.values,
        "expected": case.expected,
        "variant": column.title,
        "model": column.settings.model,
        "repeat": answer.repeat,
        "passed": passed,
        "score": results.score(case, answer),
        "text": "".join(turn.text for turn in last_answer(turns)),
        "calls": [
            {"name": call.name, "arguments": call.arguments, **answered_by(turns[place:], call.id)}
            for place, turn in enumerate(turns)
            if turn.outcome is not None
            for call in turn.calls
        ],
        "real_calls": figures.real,
        "finish_reason": last.outcome.finish_reason if last is not None and last.outcome is not None else None,
        "failure": answer.failure,
        "at": answer.at,
        "seconds": figures.seconds,
        "first_token_s": figures.first,
        "prompt_tokens": figures.prompt,
        "completion_tokens": figures.tokens,
        "price": figures.price,
        "currency": figures.currency,
        "price_by_list": figures.listed,
        "requests": figures.requests,
        "checks": [
            {
                "check": check.title,
                "asks": check.words,
                "passed": verdict.passed,
                "score": verdict.score,
                "reason": verdict.reason,
            }
            for check, verdict in verdicts
            if verdict is not None
        ],
    }


def answered_by(after: Sequence[Turn], call_id: str) -> JSONObject:
    """How a call was answered, in the turns from the one on that made it; ``real``: a tool server was asked for it."""
    found = next((one for turn in after[1:] for one in turn.results if one.call_id == call_id), None)
    if found is None:
        return {}
    served = found.served
    about = {"server": served.server, "real": not served.recorded} if served is not None else {"real": False}
    return {"answered_by": found.by, **about}


async def to_jsonl(results: Results, fetch: Fetch, redactor: Redactor) -> str:
    """A line of JSON an answer."""
    lines = [
        json.dumps(redact_json(record, redactor), ensure_ascii=False) + "\n" async for record in records(results, fetch)
    ]
    return "".join(lines).encode("utf-8", "replace").decode()


async def to_json(results: Results, fetch: Fetch, redactor: Redactor) -> str:
    """All of it as one value: the columns, how they compare, the checks, each answer."""
    columns: list[JSONObject] = [
        {
            "variant": one.column.title,
            "letter": one.column.letter,
            "model": one.column.settings.model,
            "passed": one.rate.passed,
            "judged": one.rate.judged,
            "rate": one.rate.share,
            "interval": list(one.rate.interval) if one.rate.judged else None,
            "score": one.score,
            "answered": one.answered,
            "failed": one.failed,
            "not_judged": one.not_judged,
            "medians": dict(one.medians),
            "price": dict(one.spent),
        }
        for one in results.columns
    ]
    compared: list[JSONObject] = [
        {
            "variant": one.column.title,
            "what": one.what,
            "p": one.p,
            "difference": one.difference,
            "interval": list(one.interval) if one.interval is not None else None,
            "words": one.words,
        }
        for one in results.comparisons()
    ]
    checks: list[JSONObject] = [
        {"check": one.title, "asks": one.words, "passed": one.rate.passed, "judged": one.rate.judged}
        for one in results.checks()
    ]
    answers = [one async for one in records(results, fetch)]
    return output_json({"variants": columns, "compared": compared, "checks": checks, "answers": answers}, redactor)


async def to_csv(results: Results, fetch: Fetch, redactor: Redactor) -> str:
    """A row an answer: the values of the case behind what all have, then a column a check of the plan."""
    names = list(dict.fromkeys(name for case in results.inquiry.cases for name in case.values))
    plan = results.inquiry.plan
    titles = [f"{check.title}: {check.words}" if check.words else check.title for check in plan.checks]
    cases = {case.id: case for case in results.inquiry.cases}
    rows = []
    async for one in records(results, fetch):
        said = {(check["check"], check["asks"]): check for check in one["checks"]}
        case = cases[one["case_id"]]
        answered = [one[name] if name != "calls" else _calls(one) for name in _COLUMNS]
        filled = [results.inquiry.plan_check(case, place) for place in range(len(plan.checks))]
        verdicts = [said.get((check.title, check.words)) if check is not None else None for check in filled]
        marks = [_mark(found) for found in verdicts]
        rows.append([*answered, *(case.values.get(name) for name in names), *marks])
    header, *cells = redact_json([[*_COLUMNS, *names, *titles], *rows], redactor)
    return csv_text(header, cells)


def _calls(record: JSONObject) -> str:
    return "; ".join(f"{call['name']}({call['arguments']})" for call in record["calls"])


def _mark(found: JSONObject | None) -> str | None:
    if found is None:
        return None
    passed = found["passed"]
    word = "not judged" if passed is None else "passed" if passed else "failed"
    return f"{word}: {found['reason']}" if found["reason"] and passed is not True else word
