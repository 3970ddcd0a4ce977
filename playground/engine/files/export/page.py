"""A conversation as one HTML page that loads nothing and runs nothing.

The page's policy allows its own style and the images inside it: no script, no fetched address, no form. All texts are
escaped as well. The templates are in ``resources/templates``.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from playground.domain.hidden import show_hidden, show_prose
from playground.engine.files.export.selection import Selection, raster_url, server_notes, snapshot_facts
from playground.engine.files.lexers import lexer_for
from playground.engine.inspect.hosted_items import generated_picture, hosted_item
from playground.engine.inspect.unknown_members import clipped, unknown_in_part, unknown_in_turn
from playground.engine.io.files import render_template, resource_root
from playground.jsonkit.values import JSON
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from playground.engine.session.snapshot import Snapshot

# ---- Markdown and code as HTML ---------------------------------------------------------------------------------------


_MAX_NESTING: Final = 20  # levels of nesting that are followed; a list item takes two
_MAX_PROSE: Final = 200_000  # characters of a text that is parsed; a longer one is shown literally
_MAX_CODE: Final = 50_000  # characters of code that get colours
_SCHEMES: Final = ("http://", "https://", "mailto:")
_ALIGNED: Final = {"text-align:right": "right", "text-align:center": "center"}
#: Beginnings of Pygments' names of tokens, and the class that gives them a colour.
_CLASSES: Final = (
    ("Token.Comment", "c"),
    ("Token.Keyword", "k"),
    ("Token.Literal.String", "s"),
    ("Token.Literal.Number", "m"),
    ("Token.Name.Function", "n"),
    ("Token.Name.Class", "n"),
    ("Token.Name.Tag", "k"),
    ("Token.Name.Attribute", "n"),
    ("Token.Name.Builtin", "k"),
    ("Token.Operator.Word", "k"),
)


def prose(text: str, *, breaks: bool = False) -> Markup:
    """Return Markdown as HTML; with ``breaks``, line breaks are kept."""
    parser = _parser(breaks)
    try:
        tokens = parser.parse(show_prose(text)) if len(text) <= _MAX_PROSE else []
        if not tokens or any(token.nesting == 1 and token.level >= _MAX_NESTING - 1 for token in tokens):
            return plain(text)  # the parser drops deeper levels
        _align(tokens)
        html = Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - the rules below escape
        return Markup('<div class="said" dir="auto">{}</div>').format(html)
    except (RecursionError, ValueError, IndexError):
        return plain(text)


def plain(text: str) -> Markup:
    """Return a text literally."""
    return Markup("<pre>{}</pre>").format(show_hidden(text))


def code(text: str, language: str) -> Markup:
    """Return code, with colours if the language is known."""
    return Markup("<pre><code>{}</code></pre>").format(_coloured(text, language))


def link(address: str, label: str = "") -> Markup:
    """Return a link that shows its address; plain text for an address with another scheme."""
    label = show_hidden(label or address)
    if not _is_linkable(address):
        return Markup("<span>{}</span>").format(label)
    return Markup('<a href="{}" rel="noopener noreferrer nofollow">{}</a>').format(address, label)


def _is_linkable(address: str) -> bool:
    return address.strip().lower().startswith(_SCHEMES)


# ---- Markdown --------------------------------------------------------------------------------------------------------


@cache
def _parser(breaks: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    class Parser(MarkdownIt):
        def validateLink(self, url: str) -> bool:
            return _is_linkable(url)

    options = {"html": False, "maxNesting": _MAX_NESTING, "breaks": breaks, "xhtmlOut": False}
    parser = Parser("commonmark", options).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("code_block", _fence)
    parser.add_render_rule("code_inline", _inline_code)
    parser.add_render_rule("link_open", _link_open)
    return parser


def _align(tokens: Sequence[Token]) -> None:
    """Replace the alignment of cells by a class: the policy of the page forbids inline styles."""
    for token in tokens:
        style = token.attrs.pop("style", None)
        if style in _ALIGNED:
            token.attrs["class"] = _ALIGNED[str(style)]


def _link_open(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    address = str(tokens[index].attrs.get("href", ""))
    if not _is_linkable(address):
        return "<a>"  # an empty address would lead to this page
    link_start = Markup('<a href="{}" rel="noopener noreferrer nofollow" title="{}">')
    return link_start.format(address, show_hidden(address))


def _image(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    address = str(tokens[index].attrs.get("src", ""))
    return link(address, f"Image: {tokens[index].content or address}")


def _fence(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    return code(token.content.removesuffix("\n"), language) + "\n"


def _inline_code(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return Markup("<code>{}</code>").format(show_hidden(tokens[index].content))


# ---- code ------------------------------------------------------------------------------------------------------------


def _coloured(text: str, language: str) -> Markup:
    lexer = lexer_for(language.lower()) if language and len(text) <= _MAX_CODE else None
    if lexer is None:
        return escape(show_hidden(text))
    pieces: list[Markup] = []
    position = 0
    try:
        for start, token, piece in lexer.get_tokens_unprocessed(text):
            if start != position:
                return escape(show_hidden(text))
            position += len(piece)
            kind = _token_class(str(token)) if piece.strip() else ""
            html = escape(show_hidden(piece))
            pieces.append(Markup('<span class="{}">{}</span>').format(kind, html) if kind else html)
    except Exception:  # noqa: BLE001 - a lexer that fails on hostile input must not cost the text
        return escape(show_hidden(text))
    return Markup("").join(pieces) if position == len(text) else escape(show_hidden(text))


@lru_cache(maxsize=512)
def _token_class(token: str) -> str:
    return next((kind for prefix, kind in _CLASSES if token.startswith(prefix)), "")


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

    def redacted_prose(text: str, breaks: bool) -> Markup:
        # Redacted again: characters that Markdown drops may have split a secret.
        return Markup(selection.clean(prose(text, breaks=breaks)))  # noqa: S704 - it is safe HTML already

    body = render_template(
        template,
        lambda text: show_hidden(" ".join(selection.clean(text).split())),
        selection=selection,
        prose=redacted_prose,
        plain=plain,
        code=code,
        link=link,
        raster_url=lambda url: Markup(raster_url(url)),  # noqa: S704 - base64 of an image; too long to be searched
        server_notes=server_notes,
        hosted_item=hosted_item,
        generated_picture=generated_picture,
        clipped=clipped,
        unknown_in_part=unknown_in_part,
        unknown_in_turn=unknown_in_turn,
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
