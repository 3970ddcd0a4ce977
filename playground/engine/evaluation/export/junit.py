"""Results as JUnit XML, which every CI shows: a suite a variant, a test a case, a failure where a check was failed.

An answer that never came is an error; one that nothing judged is skipped. Repeats of a case are one test, which fails
when one of them does.
"""

from __future__ import annotations

import re
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from playground.engine.evaluation.results import Cell, Results

#: Characters that no XML has (XML 1.0, section 2.2).
_NONE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(results: Results) -> str:
    """The whole document."""
    suites = [_suite(results, place) for place in range(len(results.inquiry.columns))]
    return '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n' + "".join(suites) + "</testsuites>\n"


def _suite(results: Results, place: int) -> str:
    column = results.inquiry.columns[place]
    tests: list[str] = []
    failures = errors = skipped = 0
    seconds = 0.0
    for case in results.inquiry.cases:
        cell = results.cell(case, column)
        took = sum(one.figures.seconds or 0.0 for one in cell.answers if one is not None)
        seconds += took
        inner = _inner(results, cell)
        failures += inner.startswith("<failure")
        errors += inner.startswith("<error")
        skipped += inner.startswith("<skipped")
        named = f"name={_attribute(results.inquiry.title(case))} classname={_attribute(column.title)}"
        tests.append(f'    <testcase {named} time="{took:.3f}">{inner}</testcase>\n')
    counts = f'tests="{len(tests)}" failures="{failures}" errors="{errors}" skipped="{skipped}" time="{seconds:.3f}"'
    return f"  <testsuite name={_attribute(column.title)} {counts}>\n{''.join(tests)}  </testsuite>\n"


def _inner(results: Results, cell: Cell) -> str:
    """What stands in a test: nothing where all is well."""
    failed: list[str] = []
    broken: list[str] = []
    for answer, mark in zip(cell.answers, cell.marks, strict=True):
        if answer is None:
            continue
        if answer.failure:
            broken.append(f"repeat {answer.repeat}: {answer.failure}")
        elif mark is False:
            said = [
                f"{check.title}: {verdict.reason or 'failed'}"
                for check, verdict in results.verdicts(cell.case, answer)
                if verdict is not None and verdict.passed is False
            ]
            failed.append(f"repeat {answer.repeat}: {'; '.join(said)}\n{answer.gist}")
    if failed:
        message = f"{len(failed)} of {len(cell.answers)} failed a check"
        return f"<failure message={_attribute(message)}>{_text(chr(10).join(failed))}</failure>"
    if broken:
        message = f"{len(broken)} of {len(cell.answers)} failed to answer"
        return f"<error message={_attribute(message)}>{_text(chr(10).join(broken))}</error>"
    if not any(cell.marks):
        return '<skipped message="not judged"/>'
    return ""


def _attribute(text: str) -> str:
    return quoteattr(_clean(" ".join(text.split())))


def _text(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    return _NONE.sub("\ufffd", text)
