"""Evaluations for other tools: a promptfoo configuration with results, and a dataset for Inspect AI.

promptfoo: ``https://www.promptfoo.dev/docs/configuration/reference``; the results have the shape that its own
``--output`` has. Inspect: ``https://inspect.aisi.org.uk/datasets.html``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from playground.domain.request import Request
from playground.domain.transcript import Role, Turn
from playground.domain.variables import resolve_turns
from playground.engine.evaluation.export.rows import Fetch, records
from playground.engine.evaluation.imports.asserts import write_assert
from playground.engine.evaluation.inquiry import Column, Inquiry
from playground.engine.evaluation.results import Results
from playground.engine.gateways.redacted_output import redact_json
from playground.engine.session.plan import Case
from playground.gateway.redact import Redactor
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, MESSAGES
from playground.protocols.protocol import get_protocol


async def to_promptfoo(results: Results, fetch: Fetch, redactor: Redactor) -> str:
    """A configuration, and what came, as JSON, which is YAML, too. Checks that it has none of are named in it."""
    inquiry = results.inquiry
    rows = [one async for one in records(results, fetch)]
    out: JSONObject = {"config": configuration(inquiry), "results": _results(results, rows)}
    return json.dumps(redact_json(out, redactor), ensure_ascii=False, indent=2) + "\n"


def configuration(inquiry: Inquiry) -> JSONObject:
    """What promptfoo would be asked to do for the same."""
    left = [check.title for check in inquiry.plan.checks if write_assert(check) is None]
    asserts = [found for check in inquiry.plan.checks if (found := write_assert(check)) is not None]
    names = list(dict.fromkeys(name for case in inquiry.cases for name in case.known))
    description = "From Gateway Playground."
    if left:
        description += f" Checks that promptfoo has none of were left out: {', '.join(dict.fromkeys(left))}."
    return {
        "description": description,
        "prompts": [json.dumps(messages_of(inquiry.turns), ensure_ascii=False)] if inquiry.turns else ["{{input}}"],
        "providers": [
            {
                "id": _provider(column),
                "label": column.title,
                "config": _config(column),
            }
            for column in inquiry.columns
        ],
        **({"defaultTest": {"assert": asserts}} if asserts else {}),
        "tests": [_test(inquiry, case, names) for case in inquiry.cases],
    }


def _provider(column: Column) -> str:
    """``openai:chat:MODEL``: who is known for a protocol, the protocol, the model."""
    spoken = get_protocol(column.settings.protocol)
    return f"{spoken.served_as[-1]}:{spoken.name}:{column.settings.model}"


def _config(column: Column) -> JSONObject:
    wire = column.settings.current.to_wire()
    return {name: wire[name] for name in ("temperature", "max_tokens", "top_p", "stop", "seed") if name in wire}


def _test(inquiry: Inquiry, case: Case, names: Sequence[str]) -> JSONObject:
    values: JSONObject = {name: case.known[name] for name in names if name in case.known}
    if case.turns:
        values["input"] = case.turns[-1].text
    own = [found for check in case.checks if (found := write_assert(check)) is not None]
    return {"description": inquiry.title(case), "vars": values, **({"assert": own} if own else {})}


def _results(results: Results, rows: Sequence[JSONObject]) -> JSONObject:
    found = [
        {
            "provider": {"id": row["model"], "label": row["variant"]},
            "testCase": {"description": row["case"], "vars": row["values"]},
            "vars": row["values"],
            "response": {
                "output": row["text"],
                "tokenUsage": {"prompt": row["prompt_tokens"], "completion": row["completion_tokens"]},
                **({"error": row["failure"]} if row["failure"] else {}),
            },
            "success": row["passed"] is True,
            "score": row["score"] or 0.0,
            "latencyMs": round((row["seconds"] or 0.0) * 1000),
            "cost": row["price"],
            "gradingResult": {
                "pass": row["passed"] is True,
                "score": row["score"] or 0.0,
                "reason": "; ".join(one["reason"] for one in row["checks"] if one["passed"] is False),
                "componentResults": [
                    {"pass": one["passed"] is True, "score": one["score"], "reason": f"{one['check']}: {one['reason']}"}
                    for one in row["checks"]
                ],
            },
        }
        for row in rows
    ]
    failures = sum(row["passed"] is False for row in rows)
    errors = sum(bool(row["failure"]) for row in rows)
    stats = {"successes": sum(row["passed"] is True for row in rows), "failures": failures, "errors": errors}
    return {"version": 3, "results": found, "stats": stats}


def to_inspect(inquiry: Inquiry, redactor: Redactor) -> str:
    """A line of JSON a case: what is asked with the values put in, and what is expected."""
    lines = []
    for case in inquiry.cases:
        values = {**inquiry.base.variables, **case.values}
        given = inquiry.rounds(case, inquiry.columns[0])[0] if inquiry.columns else case.turns
        line: JSONObject = {
            "id": case.id,
            "input": messages_of(resolve_turns(given, values)),
            "target": case.expected,
            "metadata": {"name": inquiry.title(case), **case.values},
        }
        lines.append(json.dumps(redact_json(line, redactor), ensure_ascii=False) + "\n")
    return "".join(lines).encode("utf-8", "replace").decode()


def messages_of(turns: Sequence[Turn]) -> JSON:
    """Turns as chat messages."""
    plain = tuple(turn for turn in turns if turn.role is not Role.TOOL or turn.results)
    return get_protocol(DEFAULT).encode(Request(protocol=DEFAULT, model="", turns=plain))[MESSAGES]
