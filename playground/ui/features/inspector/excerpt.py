"""The part of a body that is shown: bounded, however large the body is."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import NamedTuple

from playground.ui.widgets.figures import size
from playground.ui.widgets.json_text import lay_out

SHOWN_AT_MOST = 100 * 1024  # bytes
LINES_AT_MOST = 3_000
LINE_AT_MOST = 32 * 1024  # bytes; Qt lays out a line as a whole
LONGEST_STRING = 20_000  # characters of a JSON string in a body that is laid out
PARSED_AT_MOST = 2 * 1024 * 1024  # bytes that are laid out
_LINE_END = re.compile(rb"\r\n|\n|\r")


class Excerpt(NamedTuple):
    """The part of a body that is shown; ``note`` says how much that is, empty for all of it."""

    text: str
    note: str = ""


def excerpt(body: bytes, *, laid_out: bool) -> Excerpt:
    """Return the beginning of a body that is quickly shown; ``laid_out`` puts each member of JSON on a line."""
    total = len(body)
    if laid_out and body[:64].lstrip()[:1] in (b"{", b"["):
        source = body[:PARSED_AT_MOST].decode("utf-8", errors="replace")
        layout = lay_out(source, LONGEST_STRING, SHOWN_AT_MOST, LINES_AT_MOST)
        if layout.read < len(source) or total > PARSED_AT_MOST:
            return Excerpt(layout.text, f"First {size(min(layout.read, total - 1))} of {size(total)}")
        return Excerpt(layout.text, f"Long texts are shortened. {size(total)} in all" if layout.shortened else "")
    part = _first_lines(body[:SHOWN_AT_MOST])
    note = f"First {size(len(part))} of {size(total)}" if len(part) < total else ""
    return Excerpt(part.decode("utf-8", errors="replace"), note)


def _first_lines(part: bytes) -> bytes:
    """Return the lines until there are too many, or until one is too long."""
    ends = [0, *(end.end() for end in islice(_LINE_END.finditer(part), LINES_AT_MOST))]
    if len(ends) > LINES_AT_MOST:
        part = part[: ends[-1]]
    elif ends[-1] < len(part):
        ends.append(len(part))
    long = next((start for start, end in pairwise(ends) if end - start > LINE_AT_MOST), None)
    return part if long is None else part[: long + LINE_AT_MOST]
