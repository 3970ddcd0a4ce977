"""Markdown and code as HTML that does no harm, whoever wrote it.

No HTML of the text's own goes through, no link but http, https and mailto, no image: one that is named in a text
becomes a link. Nothing bears a style or a script. What cannot be parsed stands there as it was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from playground.domain.hidden import show_hidden, show_prose
from playground.engine.files.lexers import lexer_for

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_DEEPEST: Final = 20  # levels of nesting that are followed; a list item takes two
_LONGEST: Final = 200_000  # characters of a text that is parsed; a longer one stands as it is
_LONGEST_CODE: Final = 50_000  # characters of code that get colours
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


def prose(text: str, *, breaks: bool = False) -> str:
    """A text as it is meant to be read. ``breaks``: a line break in it is one, as people write."""
    parser = _parser(breaks)
    try:
        tokens = parser.parse(show_prose(text)) if len(text) <= _LONGEST else []
        if not tokens or any(token.nesting == 1 and token.level >= _DEEPEST - 1 for token in tokens):
            return plain(text)  # the parser drops what lies deeper
        _align(tokens)
        return f'<div class="said" dir="auto">{parser.renderer.render(tokens, parser.options, {})}</div>'
    except (RecursionError, ValueError, IndexError):
        return plain(text)


def plain(text: str) -> str:
    """A text letter by letter."""
    return f"<pre>{escape(show_hidden(text))}</pre>"


def code(text: str, language: str) -> str:
    """Code with colours, if the language is known."""
    return f"<pre><code>{_coloured(text, language)}</code></pre>"


def link(address: str, words: str = "") -> str:
    """A link that shows where it leads; plain text for an address that must not be opened."""
    shown = escape(show_hidden(words or address))
    if not _opens(address):
        return f"<span>{shown}</span>"
    return f'<a href="{escape(address)}" rel="noopener noreferrer nofollow">{shown}</a>'


def _opens(address: str) -> bool:
    return address.strip().lower().startswith(_SCHEMES)


# ---- Markdown --------------------------------------------------------------------------------------------------------


@cache
def _parser(breaks: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    class Parser(MarkdownIt):
        def validateLink(self, url: str) -> bool:
            return _opens(url)

    options = {"html": False, "maxNesting": _DEEPEST, "breaks": breaks, "xhtmlOut": False}
    made = Parser("commonmark", options).enable(["table", "strikethrough"])
    made.add_render_rule("image", _image)
    made.add_render_rule("fence", _fence)
    made.add_render_rule("code_block", _fence)
    made.add_render_rule("code_inline", _inline_code)
    made.add_render_rule("link_open", _link_open)
    return made


def _align(tokens: Sequence[Token]) -> None:
    """Alignment of cells as a class: the page allows no style of its own to any element."""
    for token in tokens:
        style = token.attrs.pop("style", None)
        if style in _ALIGNED:
            token.attrs["class"] = _ALIGNED[str(style)]


def _link_open(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    address = str(tokens[at].attrs.get("href", ""))
    if not _opens(address):
        return "<a>"  # “[]()” leads nowhere, not to this page
    return f'<a href="{escape(address)}" rel="noopener noreferrer nofollow" title="{escape(show_hidden(address))}">'


def _image(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    address = str(tokens[at].attrs.get("src", ""))
    return link(address, f"Image: {tokens[at].content or address}")


def _fence(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token = tokens[at]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    return code(token.content.removesuffix("\n"), language) + "\n"


def _inline_code(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return f"<code>{escape(show_hidden(tokens[at].content))}</code>"


# ---- code ------------------------------------------------------------------------------------------------------------


def _coloured(text: str, language: str) -> str:
    lexer = lexer_for(language.lower()) if language and len(text) <= _LONGEST_CODE else None
    if lexer is None:
        return escape(show_hidden(text))
    out: list[str] = []
    seen = 0
    try:
        for at, token, piece in lexer.get_tokens_unprocessed(text):
            if at != seen:
                return escape(show_hidden(text))
            seen += len(piece)
            kind = _class(str(token))
            shown = escape(show_hidden(piece))
            out.append(f'<span class="{kind}">{shown}</span>' if kind and piece.strip() else shown)
    except Exception:  # noqa: BLE001 - a lexer that fails on hostile input must not cost the text
        return escape(show_hidden(text))
    return "".join(out) if seen == len(text) else escape(show_hidden(text))


@lru_cache(maxsize=512)
def _class(token: str) -> str:
    return next((kind for prefix, kind in _CLASSES if token.startswith(prefix)), "")
