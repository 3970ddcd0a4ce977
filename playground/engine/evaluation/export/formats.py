"""What an evaluation can be written as, by the names that the command line and the window have for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from playground.engine.evaluation.export.rows import Fetch
from playground.engine.evaluation.results import Results
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.redacted_output import redact

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret


class Format(NamedTuple):
    """What it is called on a command line and in a menu, and how the names of its files end."""

    name: str
    words: str
    suffix: str


FORMATS: Final = {
    one.name: one
    for one in (
        Format("html", "Web page", "html"),
        Format("csv", "Table (CSV)", "csv"),
        Format("jsonl", "JSON lines", "jsonl"),
        Format("json", "JSON", "json"),
        Format("junit", "Test results (JUnit)", "xml"),
        Format("promptfoo", "promptfoo", "json"),
        Format("inspect", "Data set for Inspect AI", "jsonl"),
    )
}


async def export(
    name: str, results: Results, fetch: Fetch, known: Iterable[Secret], seconds: float | None = None
) -> str:
    """Return an evaluation in one of ``FORMATS``, without the secrets in ``known``.

    ``seconds`` is how long it took. Raises what ``fetch`` raises.
    """
    from playground.engine.evaluation.export import junit, others, page, rows

    redactor = redactor_of(known)
    if name == "junit":
        return redact(junit.to_junit(results), redactor)
    if name == "html":
        title = results.inquiry.base.title or "Evaluation"
        return redact(await page.to_page(results, fetch, title=title, seconds=seconds), redactor)
    if name == "promptfoo":
        return await others.to_promptfoo(results, fetch, redactor)
    if name == "inspect":
        return others.to_inspect(results.inquiry, redactor)
    if name == "csv":
        return await rows.to_csv(results, fetch, redactor)
    if name == "jsonl":
        return await rows.to_jsonl(results, fetch, redactor)
    return await rows.to_json(results, fetch, redactor)
