"""The export formats of evaluations, by the names that the command line and the window use."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from playground.domain.request import Request
from playground.domain.transcript import Role, Turn
from playground.domain.variables import resolve_turns
from playground.engine.evaluation.export.page import to_page
from playground.engine.evaluation.export.rows import Export, Fetch, to_csv, to_json, to_jsonl
from playground.engine.evaluation.imports.asserts import write_assert
from playground.engine.evaluation.resolved import EvalVariant, ResolvedEvaluation
from playground.engine.evaluation.results import Cell, Results
from playground.engine.gateways.redaction import redact, redact_json, redactor_of
from playground.engine.io.files import render_template
from playground.engine.session.plan import Case
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, MESSAGES
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret


async def to_promptfoo(source: Export) -> str:
    """Return a configuration and its results as JSON, which is YAML too. Checks without a counterpart are named."""
    records = [record async for record in source.records()]
    value: JSONObject = {"config": configuration(source.results.resolved), "results": _results(records)}
    return json.dumps(redact_json(value, source.redactor), ensure_ascii=False, indent=2) + "\n"


def configuration(resolved: ResolvedEvaluation) -> JSONObject:
    """Return a promptfoo configuration for the same evaluation."""
    checks = resolved.plan.checks
    left_out = dict.fromkeys(check.title for check in checks if write_assert(check) is None)
    asserts = [assertion for check in checks if (assertion := write_assert(check)) is not None]
    names = list(dict.fromkeys(name for case in resolved.cases for name in case.known))
    description = "From Gateway Playground."
    if left_out:
        description += f" Checks that promptfoo has none of were left out: {', '.join(left_out)}."
    return {
        "description": description,
        "prompts": [json.dumps(messages_of(resolved.turns), ensure_ascii=False)] if resolved.turns else ["{{input}}"],
        "providers": [
            {
                "id": _provider(column),
                "label": column.title,
                "config": _config(column),
            }
            for column in resolved.columns
        ],
        **({"defaultTest": {"assert": asserts}} if asserts else {}),
        "tests": [_test(resolved, case, names) for case in resolved.cases],
    }


def _provider(column: EvalVariant) -> str:
    """Return ``openai:chat:MODEL``: the vendor of a protocol, the protocol, the model."""
    protocol = get_protocol(column.settings.protocol)
    return f"{protocol.libraries[0]}:{protocol.name}:{column.settings.model}"


def _config(column: EvalVariant) -> JSONObject:
    wire = column.settings.current.to_wire()
    return {name: wire[name] for name in ("temperature", "max_tokens", "top_p", "stop", "seed") if name in wire}


def _test(resolved: ResolvedEvaluation, case: Case, names: Sequence[str]) -> JSONObject:
    values: JSONObject = {name: case.known[name] for name in names if name in case.known}
    if case.turns:
        values["input"] = case.turns[-1].text
    own = [assertion for check in case.checks if (assertion := write_assert(check)) is not None]
    return {"description": resolved.title(case), "vars": values, **({"assert": own} if own else {})}


def _results(records: Sequence[JSONObject]) -> JSONObject:
    results = [
        {
            "provider": {"id": record["model"], "label": record["variant"]},
            "testCase": {"description": record["case"], "vars": record["values"]},
            "vars": record["values"],
            "response": {
                "output": record["text"],
                "tokenUsage": {"prompt": record["prompt_tokens"], "completion": record["completion_tokens"]},
                **({"error": record["failure"]} if record["failure"] else {}),
            },
            "success": record["passed"] is True,
            "score": record["score"] or 0.0,
            "latencyMs": round((record["seconds"] or 0.0) * 1000),
            "cost": record["price"],
            "gradingResult": {
                "pass": record["passed"] is True,
                "score": record["score"] or 0.0,
                "reason": "; ".join(check["reason"] for check in record["checks"] if check["passed"] is False),
                "componentResults": [
                    {
                        "pass": check["passed"] is True,
                        "score": check["score"],
                        "reason": f"{check['check']}: {check['reason']}",
                    }
                    for check in record["checks"]
                ],
            },
        }
        for record in records
    ]
    failures = sum(record["passed"] is False for record in records)
    errors = sum(bool(record["failure"]) for record in records)
    stats = {"successes": sum(record["passed"] is True for record in records), "failures": failures, "errors": errors}
    return {"version": 3, "results": results, "stats": stats}


async def to_inspect(source: Export) -> str:
    """Return a line of JSON for each case: its messages with values filled in, and the expected answer."""
    resolved = source.results.resolved
    lines = []
    for case in resolved.cases:
        turns = resolved.rounds(case, resolved.columns[0])[0] if resolved.columns else case.turns
        line: JSONObject = {
            "id": case.id,
            "input": messages_of(resolve_turns(turns, {**resolved.base.variables, **case.values})),
            "target": case.expected,
            "metadata": {"name": resolved.title(case), **case.values},
        }
        lines.append(source.json_line(line))
    return "".join(lines)


async def to_junit(source: Export) -> str:
    """Return the results as JUnit XML."""
    suites = [_suite(source.results, column) for column in source.results.resolved.columns]
    return redact(render_template("junit.xml.j2", _xml_text, suites=suites), source.redactor)


def _suite(results: Results, column: EvalVariant) -> JSONObject:
    tests = [_test_case(results, results.cell(case, column)) for case in results.resolved.cases]
    counts = Counter(test["kind"] for test in tests)
    seconds = sum(test["seconds"] for test in tests)
    return {"title": column.title, "tests": tests, "counts": counts, "seconds": seconds}


def _test_case(results: Results, cell: Cell) -> JSONObject:
    """Return a test: failed if an answer failed a check, an error if one failed, skipped if nothing was judged."""
    failures: list[str] = []
    errors: list[str] = []
    answers = [(answer, mark) for answer, mark in zip(cell.answers, cell.marks, strict=True) if answer is not None]
    for answer, mark in answers:
        if answer.failure:
            errors.append(f"repeat {answer.repeat}: {answer.failure}")
        elif mark is False:
            reasons = "; ".join(results.failed_checks(cell.case, answer, "failed"))
            failures.append(f"repeat {answer.repeat}: {reasons}\n{answer.preview}")
    size = len(cell.answers)
    kind, message = "", ""
    if failures:
        kind, message = "failure", f"{len(failures)} of {size} failed a check"
    elif errors:
        kind, message = "error", f"{len(errors)} of {size} failed to answer"
    elif not any(cell.marks):
        kind, message = "skipped", "not judged"
    return {
        "title": " ".join(results.resolved.title(cell.case).split()),
        "seconds": sum(answer.metrics.seconds or 0.0 for answer, _ in answers),
        "kind": kind,
        "message": message,
        "details": failures or errors,
    }


def _xml_text(text: str) -> str:
    """Replace the characters that XML cannot hold (XML 1.0, section 2.2)."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def messages_of(turns: Sequence[Turn]) -> JSON:
    """Return turns as chat messages."""
    plain = tuple(turn for turn in turns if turn.role is not Role.TOOL or turn.results)
    return get_protocol(DEFAULT).encode(Request(protocol=DEFAULT, model="", turns=plain))[MESSAGES]


class Format(NamedTuple):
    """A format: its name on the command line, its words in a menu, the suffix of its files, and its writer."""

    name: str
    words: str
    suffix: str
    write: Callable[[Export], Awaitable[str]]


FORMATS: Final = {
    row.name: row
    for row in (
        Format("html", "Web page", "html", to_page),
        Format("csv", "Table (CSV)", "csv", to_csv),
        Format("jsonl", "JSON lines", "jsonl", to_jsonl),
        Format("json", "JSON", "json", to_json),
        Format("junit", "Test results (JUnit)", "xml", to_junit),
        Format("promptfoo", "promptfoo", "json", to_promptfoo),
        Format("inspect", "Data set for Inspect AI", "jsonl", to_inspect),
    )
}


async def export(
    name: str, results: Results, fetch: Fetch, secrets: Iterable[Secret], seconds: float | None = None
) -> str:
    """Return an evaluation in one of ``FORMATS``, without ``secrets``.

    ``seconds`` is the duration of the run. Raises the errors of ``fetch``, and KeyError for an unknown format.
    """
    return await FORMATS[name].write(Export(results, fetch, redactor_of(secrets), seconds))
