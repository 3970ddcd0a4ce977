"""A conversation as one HTML page that needs nothing else and can do nothing.

Its policy lets through its own style and the images inside it, and nothing more: no script, no address that is
fetched, no form. All that anybody wrote is escaped besides.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import TYPE_CHECKING, Final

from playground.domain.hidden import show_hidden
from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult
from playground.domain.roles import Role
from playground.engine.files.export import rendered
from playground.engine.files.export.selection import Section, Selection, facts_of, raster_url, served_words
from playground.engine.inspect.unknown_members import Beside, beside_part, beside_turn
from playground.jsonkit.values import JSON
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.snapshot import Snapshot

HEAD: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
"""
TAIL: Final = "</main>\n</body>\n</html>\n"

STYLE: Final = """
:root { color-scheme: light dark;
  --ground: #f4f5f8; --card: #fff; --line: #e2e5eb; --code: #f6f7f9; --text: #1a1e24; --muted: #5c6675;
  --link: #2f5bea; --thought: #f6f3fe; --error: #c5282b; --system: #7a4fe0; --developer: #7a4fe0; --user: #0b7285;
  --assistant: #2f5bea; --tool: #a85500; --keyword: #7a4fe0; --string: #157a45; --number: #a85500; --name: #2f5bea; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #13161b; --card: #1a1e25; --line: #2e3541; --code: #171b21; --text: #e7eaf0; --muted: #9aa5b4;
  --link: #7e9dff; --thought: #221f30; --error: #ff8a84; --system: #b9a4ff; --developer: #b9a4ff; --user: #5cc9da;
  --assistant: #8faeff; --tool: #f2b460; --keyword: #b9a4ff; --string: #6dd49c; --number: #f2b460; --name: #8faeff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.55 system-ui, sans-serif; }
main { max-width: 860px; margin: 0 auto; padding: 24px 16px 48px; }
h1 { font-size: 24px; line-height: 1.3; margin: 0 0 4px; overflow-wrap: anywhere; }
.facts, .place, .id { color: var(--muted); font-size: 13px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px;
  margin: 12px 0; }
section > h2 { font-size: 13px; margin: 0 0 8px; }
h2 .place, h2 .id { font-weight: normal; margin-left: 8px; }
.system > h2 b { color: var(--system); } .developer > h2 b { color: var(--developer); }
.user > h2 b { color: var(--user); } .assistant > h2 b { color: var(--assistant); }
.tool > h2 b { color: var(--tool); }
.said { overflow-wrap: anywhere; unicode-bidi: isolate; }
.said > :first-child { margin-top: 0; } .said > :last-child { margin-bottom: 0; }
.said h1, .said h2, .said h3, .said h4, .said h5, .said h6 { font-size: 16px; margin: 16px 0 8px; }
.said blockquote { margin: 8px 0; padding-left: 12px; border-left: 3px solid var(--line); color: var(--muted); }
.said table { border-collapse: collapse; display: block; overflow-x: auto; }
.said th, .said td { border: 1px solid var(--line); padding: 4px 8px; text-align: left; }
.said .right { text-align: right; } .said .center { text-align: center; }
a { color: var(--link); }
pre, code { font: 13px/1.5 ui-monospace, monospace; background: var(--code); border-radius: 6px; }
code { padding: 1px 4px; }
pre { padding: 8px 12px; margin: 8px 0; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere;
  border: 1px solid var(--line); unicode-bidi: isolate; }
pre code { padding: 0; background: none; }
details { border-radius: 6px; margin: 8px 0; }
details.thought { background: var(--thought); padding: 6px 12px; }
summary { cursor: pointer; color: var(--muted); font-size: 13px; }
.call, .result, .picture { margin: 8px 0; }
.call > p, .result > p, .ended { margin: 0; font-size: 13px; }
.error > p b, .ended { color: var(--error); }
img { max-width: 100%; height: auto; border-radius: 6px; }
.k { color: var(--keyword); } .s { color: var(--string); } .m { color: var(--number); } .n { color: var(--name); }
.c { color: var(--muted); }
@media print { body { background: none; } section { break-inside: avoid-page; } }
"""


def page(selection: Selection) -> str:
    """The whole page."""
    title = escaped(selection.title)
    out = [head(title, STYLE), f"<header>\n<h1>{title}</h1>\n"]
    out.append(f'<p class="facts">{escaped(selection.clean(" · ".join(facts_of(selection.snapshot))))}</p>\n')
    for name, value in _settings(selection.snapshot):
        text = rendered.code(selection.laid_out(value), "json")
        out.append(f"<details><summary>{name}</summary>{text}</details>\n")
    out.append("</header>\n")
    out += [section_html(section, selection) for section in selection.sections()]
    out.append(TAIL)
    return "".join(out).encode("utf-8", "replace").decode("utf-8")


def head(title: str, style: str) -> str:
    """The beginning of a page that can do nothing; ``title`` is escaped."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return HEAD.format(policy=policy, title=title, style=style)


def _settings(snapshot: Snapshot) -> list[tuple[str, JSON]]:
    """What is set, as JSON under a heading each."""
    parameters = snapshot.parameters.get(snapshot.protocol)
    protocol = get_protocol(snapshot.protocol if snapshot.protocol in PROTOCOLS else DEFAULT)
    tools = [protocol.write_tool(tool) for tool in snapshot.tools if tool.sendable]
    count = f"{len(tools)} tool{'s' * (len(tools) != 1)}"
    found: list[tuple[str, JSON]] = [
        ("Parameters", parameters.set_fields if parameters is not None else {}),
        ("Extra body", snapshot.extra_body),
        (count, tools),
    ]
    return [(words, value) for words, value in found if value]


def section_html(section: Section, selection: Selection, prefix: str = "") -> str:
    """One turn; ``prefix`` begins its id."""
    turn = section.turn
    model = turn.outcome.model if turn.outcome is not None else ""
    above = f"<b>{section.speaker}</b>"
    above += f'<span class="id">{escaped(selection.clean(model))}</span>' if model else ""
    above += f'<span class="place">{section.place}</span>' if section.place else ""
    out = [
        f'<section class="{turn.role.value}" id="{prefix}turn-{section.number}">\n<h2>{section.number}. {above}</h2>\n'
    ]
    for part in turn.parts:
        out.append(_part(part, turn.role, selection) + "\n")
        out += [_beside(found, selection) for found in beside_part(part)]
    out += [_beside(found, selection) for found in beside_turn(turn)]
    if section.ending:
        out.append(f'<p class="ended">{escaped(section.ending)}</p>\n')
    out.append("</section>\n")
    return "".join(out)


def _part(part: Part, role: Role, selection: Selection) -> str:
    match part:
        case Text():
            text = rendered.prose(part.text, breaks=role is not Role.ASSISTANT) if part.text.strip() else ""
            return selection.clean(text)  # once more: what Markdown leaves out may have stood inside a secret
        case Reasoning():
            if not part.text:
                return '<p class="id">Reasoning that is not readable</p>' if part.redacted or part.details else ""
            inner = selection.clean(rendered.prose(part.text, breaks=True))
            return f'<details class="thought"><summary>Reasoning</summary>{inner}</details>'
        case Refusal():
            return f'<div class="result error"><p><b>Refusal</b></p>{rendered.plain(part.text)}</div>'
        case ToolCall():
            about = f'Call of <code>{escaped(part.name)}</code> <span class="id">{escaped(part.id)}</span>'
            return f'<div class="call"><p>{about}</p>{rendered.code(part.arguments, "json")}</div>'
        case ToolResult():
            name = selection.call_name(part.call_id)
            what = f"<b>{'Error' if part.is_error else 'Result'}</b>" + (
                f" of <code>{escaped(name)}</code>" if name else ""
            )
            about = f'{what} <span class="id">{escaped(part.call_id)}</span>'
            kind = "result error" if part.is_error else "result"
            inner = rendered.plain(part.text) + "".join(map(_picture, part.images))
            said = "".join(f'<p class="id">{escaped(selection.clean(words))}</p>' for words in served_words(part))
            return f'<div class="{kind}"><p>{about}</p>{inner}{said}</div>'
        case Image():
            return _picture(part)
        case _:
            text = rendered.code(selection.laid_out(part.value), "json")
            return f'<div class="result"><p>A part of a kind not known here</p>{text}</div>'


def _beside(found: Beside, selection: Selection) -> str:
    words = escaped(selection.clean(f"{found.title}: {found.names} · {found.fate}"))
    text = rendered.code(selection.laid_out(found.members), "json")
    return f"<details><summary>{words}</summary>{text}</details>\n"


def _picture(part: Image) -> str:
    label = part.name or "Image"
    if url := raster_url(part.url):
        return f'<p class="picture"><img src="{url}" alt="{escaped(label)}"></p>'
    address = part.url if len(part.url) <= 2_000 else f"{part.url[:200]}…"  # free of secrets already
    return f'<p class="picture">Image that is not in this file: {rendered.link(address)}</p>'


def escaped(text: str) -> str:
    """A short text, escaped, on one line."""
    return escape(show_hidden(" ".join(text.split())))
