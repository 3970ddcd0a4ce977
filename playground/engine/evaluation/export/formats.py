"""The export formats of evaluations, by the names that the command line and the window use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from playground.engine.evaluation.export.others import to_inspect, to_junit, to_promptfoo
from playground.engine.evaluation.export.page import to_page
from playground.engine.evaluation.export.rows import Export, Fetch, to_csv, to_json, to_jsonl
from playground.engine.evaluation.results import Results
from playground.engine.gateways.known_secrets import redactor_of

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret


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
