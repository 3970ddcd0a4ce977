"""Markdown and code as safe HTML, whatever their source.

HTML in a text is escaped. Links are http, https and mailto only, and images become links. No element has a style or a
script. Text that cannot be parsed is shown literally.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from playground.domain.hidden import show_hidden, show_prose
from playground.engine.files.lexers import lexer_for

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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
