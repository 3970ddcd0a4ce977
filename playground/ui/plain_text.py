"""Text written by others, made safe to show: hidden characters as marks, tooltips that never become rich text."""

from __future__ import annotations

from playground.domain.hidden import HIDDEN as HIDDEN
from playground.domain.hidden import LOOKED_AT as LOOKED_AT
from playground.domain.hidden import escape_hidden as escape_hidden
from playground.domain.hidden import hidden_name as hidden_name
from playground.domain.hidden import show_hidden as show_hidden
from playground.domain.hidden import show_prose as show_prose
from playground.domain.hidden import unseen as unseen
from playground.domain.hidden import without_unseen as without_unseen

_LONGEST_TITLE = 60  # letters in a sentence


def short_title(title: str) -> str:
    """A title as it can stand in a sentence."""
    return show_prose(title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1] + "…")


def tip(text: str) -> str:
    """A tooltip's text that is shown as written: Qt guesses whether a tooltip is rich text, so say it and escape it."""
    if not text:
        return ""
    from html import escape

    return f'<p style="white-space:pre-wrap">{escape(show_hidden(text))}</p>'
