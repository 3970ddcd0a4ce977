"""Exports of answers as rows: one for each answer, with its request, text, metrics and verdicts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from playground.domain.transcript import Role, Turn, last_answer
from playground.engine.evaluation.answers import SavedAnswer
from playground.engine.evaluation.provider import Answer
from playground.engine.evaluation.results import Cell, Results
from playground.engine.gateways.redaction import output_json, redact_json
from playground.engine.io.spreadsheet import csv_text
from playground.gateway.redact import Redactor
from playground.jsonkit.values import JSON, JSONObject

#: Returns the saved turns and judgements of an answer.
Fetch: TypeAlias = Callable[[Answer], Awaitable[SavedAnswer]]

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


@dataclass(frozen=True)
class Export:
    """An evaluation to export without the secrets of ``redactor``. ``seconds`` is the duration of the run."""

    results: Results
    fetch: Fetch
    redactor: Redactor
    seconds: float | None = None

    def answers(self) -> Iterator[tuple[Cell, Answer, bool | None]]:
        """Yield each answer with its cell and whether it passed, case by case."""
        for case in self.results.resolved.cases:
            for column in self.results.resolved.columns:
                cell = self.results.cell(case, column)
                for answer, mark in zip(cell.answers, cell.marks, strict=True):
                    if answer is not None:
                        yield cell, answer, mark

    async def records(self) -> AsyncIterator[JSONObject]:
        """Yield each answer as a JSON object."""
        for cell, answer, mark in self.answers():
            yield _record(self.results, cell, answer, mark, (await self.fetch(answer)).turns)

    def json_line(self, value: JSON) -> str:
        """Return a redacted value as one line of JSON."""
        text = json.dumps(redact_json(value, self.redactor), ensure_ascii=False) + "\n"
        return text.encode("utf-8", "replace").decode()


def _record(results: Results, cell: Cell, answer: Answer, passed: bool | None, turns: tuple[Turn, ...]) -> JSONObject:
    last = next((turn for turn in reversed(turns) if turn.role is Role.ASSISTANT and turn.outcome is not None), None)
    case, column, metrics = cell.case, cell.column, answer.metrics
    verdicts = results.verdicts(case, answer)
    return {
        "case": results.resolved.title(case),
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
        "real_calls": metrics.real,
        "finish_reason": last.outcome.finish_reason if last is not None and last.outcome is not None else None,
        "failure": answer.failure,
        "at": answer.created_at,
        "seconds": metrics.seconds,
        "first_token_s": metrics.first,
        "prompt_tokens": metrics.prompt,
        "completion_tokens": metrics.tokens,
        "price": metrics.price,
        "currency": metrics.currency,
        "price_by_list": metrics.listed,
        "requests": metrics.requests,
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
    """Return how a call of the first of these turns was answered; ``real``: by a tool server, not a recording."""
    results = (result for turn in after[1:] for result in turn.results if result.call_id == call_id)
    result = next(results, None)
    if result is None:
        return {}
    served = result.served
    about = {"server": served.server, "real": not served.recorded} if served is not None else {"real": False}
    return {"answered_by": result.by, **about}


async def to_jsonl(source: Export) -> str:
    """Return a line of JSON for each answer."""
    return "".join([source.json_line(record) async for record in source.records()])


async def to_json(source: Export) -> str:
    """Return one JSON object: variants, comparisons, checks and answers."""
    results = source.results
    variants: list[JSONObject] = [
        {
            "variant": result.column.title,
            "letter": result.column.letter,
            "model": result.column.settings.model,
            "passed": result.rate.passed,
            "judged": result.rate.judged,
            "rate": result.rate.share,
            "interval": list(result.rate.interval) if result.rate.judged else None,
            "score": result.score,
            "answered": result.answered,
            "failed": result.failed,
            "not_judged": result.not_judged,
            "medians": dict(result.medians),
            "price": {cost.currency: cost.amount for cost in result.costs},
        }
        for result in results.columns
    ]
    compared: list[JSONObject] = [
        {
            "variant": comparison.column.title,
            "what": comparison.what,
            "p": comparison.p,
            "difference": comparison.difference,
            "interval": list(comparison.interval) if comparison.interval is not None else None,
            "words": comparison.words,
        }
        for comparison in results.comparisons()
    ]
    checks: list[JSONObject] = [
        {"check": check.title, "asks": check.words, "passed": check.rate.passed, "judged": check.rate.judged}
        for check in results.checks()
    ]
    answers = [record async for record in source.records()]
    document = {"variants": variants, "compared": compared, "checks": checks, "answers": answers}
    return output_json(document, source.redactor)


async def to_csv(source: Export) -> str:
    """Return a row for each answer: common columns, the values of the case, and a column for each check of the plan."""
    resolved = source.results.resolved
    names = list(dict.fromkeys(name for case in resolved.cases for name in case.values))
    checks = resolved.plan.checks
    titles = [f"{check.title}: {check.words}" if check.words else check.title for check in checks]
    cases = {case.id: case for case in resolved.cases}
    rows = []
    async for record in source.records():
        case = cases[record["case_id"]]
        verdicts = {(verdict["check"], verdict["asks"]): verdict for verdict in record["checks"]}
        cells = [record[name] if name != "calls" else _calls(record) for name in _COLUMNS]
        keyed = [item.check if item is not None else None for item in resolved.plan_checks(case)]
        marks = [_mark(verdicts.get((check.title, check.words))) if check is not None else None for check in keyed]
        rows.append([*cells, *(case.values.get(name) for name in names), *marks])
    header, *cells = redact_json([[*_COLUMNS, *names, *titles], *rows], source.redactor)
    return csv_text(header, cells)


def _calls(record: JSONObject) -> str:
    return "; ".join(f"{call['name']}({call['arguments']})" for call in record["calls"])


def _mark(verdict: JSONObject | None) -> str | None:
    if verdict is None:
        return None
    passed = verdict["passed"]
    word = "not judged" if passed is None else "passed" if passed else "failed"
    return f"{word}: {verdict['reason']}" if verdict["reason"] and passed is not True else word
