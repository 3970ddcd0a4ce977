"""The findings as a text for the operator of a gateway. It quotes a short excerpt of each event, and no request."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from playground.engine.inspect.frames import FrameIndex, Kind
from playground.engine.inspect.lint.review import Finding
from playground.jsonkit.texts import cut
from playground.protocols.protocol import get_protocol

_EXCERPT: Final = 300  # characters of a frame


def report(index: FrameIndex, findings: Iterable[Finding], unseen: str = "") -> str:
    """Return the findings as Markdown; ``unseen`` tells what could not be checked."""
    exchange = index.exchange
    where = urlsplit(exchange.url)
    when = datetime.fromtimestamp(exchange.started_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    protocol = get_protocol(exchange.protocol).title if exchange.protocol else "no protocol"
    lines = [
        "# Deviations from the specification",
        "",
        f"- Request: {exchange.method} {where.scheme}://{where.netloc.rpartition('@')[2]}{where.path}",
        f"- Protocol: {protocol}",
        f"- Answered: {when}, status {exchange.status if exchange.status is not None else 'none'}",
        f"- Content type: {_inline(exchange.content_type or 'none')}",
    ]
    ids = [exchange.response_header(name) for name in ("x-request-id", "request-id")]
    facts = {"Model": index.model, "Response id": index.response_id, "Request id": next(filter(None, ids), "")}
    lines += [f"- {name}: {_inline(value)}" for name, value in facts.items() if value]
    lines += [f"- Events: {len(index)}", ""]
    if unseen:
        lines += [unseen, ""]
    items = list(findings)
    if not items:
        return "\n".join([*lines, "No problems found.", ""])
    for number, finding in enumerate(items, 1):
        lines += [f"## {number}. {_sentence(finding.note)}", ""]
        source = f"Specification, section {finding.section}" if finding.section else "Not in the specification"
        lines += [f"{source}: {finding.rule}", ""]
        lines += _evidence(index, finding)
    return "\n".join(lines)


def _evidence(index: FrameIndex, finding: Finding) -> list[str]:
    code = f"`{finding.code}`"
    if finding.frame is None:
        return [f"Shown by the status and the headers ({code}).", ""]
    row = index.row(finding.frame)
    if not row.size:
        return [f"Seen at the end of the body, {row.at:.3f} s after the request ({code}).", ""]
    raw = index.raw(finding.frame)[: 8 * _EXCERPT].decode("utf-8", "replace").strip()
    excerpt = cut(raw, _EXCERPT)
    what = "the body" if row.kind is Kind.BODY else f"event {row.number + 1}"
    if not excerpt:
        return [f"Shown by {what}, {row.at:.3f} s after the request ({code}).", ""]
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", excerpt)), default=0))
    return [f"Shown by {what}, {row.at:.3f} s after the request ({code}):", "", f"{fence}text", excerpt, fence, ""]


def _sentence(note: str) -> str:
    text = " ".join(note.split())
    return text[:1].upper() + text[1:]


def _inline(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split())[:200] + "`"
