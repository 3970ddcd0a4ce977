"""Make untrusted text safe to show: hidden characters as marks, tooltips never as rich text."""

from __future__ import annotations

from playground.domain.hidden import HIDDEN as HIDDEN
from playground.domain.hidden import LOOKED_AT as LOOKED_AT
from playground.domain.hidden import escape_hidden as escape_hidden
from playground.domain.hidden import hidden_name as hidden_name
from playground.domain.hidden import short_name as short_name
from playground.domain.hidden import show_hidden as show_hidden
from playground.domain.hidden import show_prose as show_prose
from playground.domain.hidden import unseen as unseen
from playground.domain.hidden import without_unseen as without_unseen
from playground.jsonkit.texts import cut, in_html

_LONGEST_TITLE = 60  # letters in a sentence
_LONGEST_TIP = 8_000  # letters in a tooltip; laying out a megabyte takes seconds
_FEW_LINES = 6
_LONGEST_LINE = 2_000  # letters on one line, more than any screen has room for


def short_title(title: str) -> str:
    """Return a title shortened for use in a sentence."""
    return show_prose(cut(title, _LONGEST_TITLE))


def one_line_of(text: str) -> str:
    """Return a text for one line, its middle left out if it is very long, so that measuring it is fast."""
    if len(text) > _LONGEST_LINE:
        text = f"{text[: _LONGEST_LINE // 2]}…{text[-_LONGEST_LINE // 2 :]}"
    return show_hidden(text)


def few_lines_of(text: str) -> str:
    """Return the first lines of a text for a wrapped label; a very long result loses its middle."""
    lines = text[:_LONGEST_TIP].split("\n")
    truncated = len(lines) > _FEW_LINES
    return one_line_of("\n".join(lines[:_FEW_LINES]) + "…" if truncated else text)


def shown_name(name: str) -> str:
    """Return an untrusted name, shortened and with hidden characters as marks."""
    return show_hidden(short_name(name))


def tip(text: str) -> str:
    """Return a text as a tooltip that shows it literally: escaped HTML, since Qt guesses the format of a tooltip."""
    if not text:
        return ""
    escaped = in_html(show_hidden(cut(text, _LONGEST_TIP)), quote=False)
    return f'<p style="white-space:pre-wrap">{escaped}</p>'
