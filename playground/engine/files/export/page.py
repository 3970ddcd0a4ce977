"""A conversation as one HTML page that loads nothing and runs nothing.

The page's policy allows its own style and the images inside it: no script, no fetched address, no form. All texts are
escaped as well. The templates are in ``resources/templates``.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from playground.domain.hidden import show_hidden
from playground.engine.files.export import rendered
from playground.engine.files.export.selection import Selection, raster_url, server_notes, snapshot_facts
from playground.engine.inspect.unknown_members import beside_part, beside_turn
from playground.engine.io.resources import render_template, resource_root
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
STYLE: Final = (resource_root() / "templates" / "page.css").read_text(encoding="utf-8")


def to_page(selection: Selection) -> str:
    """Return the page of a conversation."""
    title = selection.title
    body = render_turns(
        "conversation.html.j2",
        selection,
        title=title,
        facts=" · ".join(snapshot_facts(selection.snapshot)),
        settings=_settings(selection.snapshot),
    )
    return head(escaped(title), STYLE) + body + TAIL


def head(title: str, style: str) -> str:
    """Return the beginning of a page, with a policy that allows ``style`` only; ``title`` is escaped."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return HEAD.format(policy=policy, title=title, style=style)


def render_turns(template: str, selection: Selection, **values: Any) -> str:
    """Render a template that uses the macros of ``turn.html.j2``. No text in it has a secret or a line break."""

    def prose(text: str, breaks: bool) -> Markup:
        # Redacted again: characters that Markdown drops may have split a secret.
        return Markup(selection.clean(rendered.prose(text, breaks=breaks)))  # noqa: S704 - it is safe HTML already

    body = render_template(
        template,
        lambda text: show_hidden(" ".join(selection.clean(text).split())),
        selection=selection,
        prose=prose,
        plain=rendered.plain,
        code=rendered.code,
        link=rendered.link,
        raster_url=lambda url: Markup(raster_url(url)),  # noqa: S704 - base64 of an image; too long to be searched
        server_notes=server_notes,
        beside_part=beside_part,
        beside_turn=beside_turn,
        **values,
    )
    return body.encode("utf-8", "replace").decode()


def _settings(snapshot: Snapshot) -> list[tuple[str, JSON]]:
    """Return headings and JSON of the parameters, the extra body and the tools, as far as any are set."""
    parameters = snapshot.parameters.get(snapshot.protocol)
    protocol = get_protocol(snapshot.protocol if snapshot.protocol in PROTOCOLS else DEFAULT)
    tools = [protocol.write_tool(tool) for tool in snapshot.tools if tool.sendable]
    settings: list[tuple[str, JSON]] = [
        ("Parameters", parameters.set_fields if parameters is not None else {}),
        ("Extra body", snapshot.extra_body),
        (f"{len(tools)} tool{'s' * (len(tools) != 1)}", tools),
    ]
    return [(heading, value) for heading, value in settings if value]


def escaped(text: str) -> str:
    """Return a short text escaped and on one line."""
    return str(escape(show_hidden(" ".join(text.split()))))
