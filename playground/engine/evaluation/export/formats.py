"""What an evaluation can be written as, by the names that the command line and the window have for it."""

from __future__ import annotations

from typing import Final, NamedTuple

from playground.engine.evaluation.export.rows import Fetch
from playground.engine.evaluation.results import Results


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


async def export(name: str, results: Results, fetch: Fetch, seconds: float | None = None) -> str:
    """An evaluation in one of ``FORMATS``; ``seconds`` is how long it took. Raises what ``fetch`` raises."""
    from playground.engine.evaluation.export import junit, others, page, rows

    if name == "junit":
        return junit.to_junit(results)
    if name == "html":
        title = results.inquiry.base.title or "Evaluation"
        return await page.to_page(results, fetch, title=title, seconds=seconds)
    if name == "promptfoo":
        return await others.to_promptfoo(results, fetch)
    if name == "inspect":
        return others.to_inspect(results.inquiry)
    if name == "csv":
        return await rows.to_csv(results, fetch)
    if name == "jsonl":
        return await rows.to_jsonl(results, fetch)
    return await rows.to_json(results, fetch)
