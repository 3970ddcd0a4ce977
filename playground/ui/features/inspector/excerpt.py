"""How much of a body is put on the screen, and how it is laid out. No widgets here.

However large a body is, what comes back is bounded; whoever shows it says so and offers the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice, pairwise

from playground.jsonkit.layout import Layout
from playground.ui.widgets.json_text import lay_out

SHOWN_AT_MOST = 100 * 1024  # bytes; laying it out takes a frame or two
EVENTS_AT_MOST = 24 * 1024  # bytes of events that are laid out: most of their lines are brackets
LINES_AT_MOST = 3_000  # an empty line costs as much as twenty letters
LINE_AT_MOST = 32 * 1024  # bytes of a line that nothing else fits on: Qt lays out a line as a whole
LIVE_AT_MOST = 16 * 1024  # while it grows: it is laid out and shown anew a few times a second
CUT_STEP = 32 * 1024  # the place of the cut moves in steps, so that a stream is mostly appended to, not shown anew
LONGEST_STRING = 2_000  # characters of one JSON string, in a laid-out body
_END = re.compile(rb"\r\n|\n|\r")
_DATA = re.compile(r"^data:[ ]?(?=[\[{])(?!\[DONE\])(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text to show; ``shown`` of ``total`` bytes, from the ``end`` or the start of the body."""

    text: str
    shown: int
    total: int
    from_end: bool = False
    shortened: bool = False

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self.shown >= self.total and not self.shortened


def excerpt(body: bytes, *, laid_out: bool, events: bool, everything: bool = False, live: bool = False) -> Excerpt:
    """The part of a body that is shown: the end of a stream of events, the beginning of anything else.

    ``laid_out`` puts JSON on lines of its own and shortens very long strings in it; ``everything`` lifts all bounds.
    ``live`` says that more of the stream is coming: the last 16 KB then.
    """
    total = len(body)
    longest, most, lines = (0, 0, 0) if everything else (LONGEST_STRING, SHOWN_AT_MOST, LINES_AT_MOST)
    if events:
        size = LIVE_AT_MOST if live else EVENTS_AT_MOST if laid_out else SHOWN_AT_MOST
        part = body if everything else _last_lines(_end_of(body, size))
        text = part.decode("utf-8", errors="replace")
        if not laid_out:
            return Excerpt(text, len(part), total, from_end=True)
        layouts: list[Layout] = []

        def spread(match: re.Match[str]) -> str:
            layouts.append(lay_out(match[1], longest))
            return "data: " + layouts[-1].text

        text = _DATA.sub(spread, text.replace("\r\n", "\n"))
        return Excerpt(text, len(part), total, True, any(layout.shortened for layout in layouts))
    if laid_out and body[:64].lstrip()[:1] in (b"{", b"["):
        text = body.decode("utf-8", errors="replace")
        layout = lay_out(text, longest, most, lines)
        whole = layout.read == len(text)
        return Excerpt(layout.text, total if whole else min(layout.read, total - 1), total, shortened=layout.shortened)
    part = body if everything else _first_lines(body[:SHOWN_AT_MOST])
    return Excerpt(part.decode("utf-8", errors="replace"), len(part), total)


def _first_lines(part: bytes) -> bytes:
    ends = [0, *(end.end() for end in islice(_END.finditer(part), LINES_AT_MOST))]
    if len(ends) > LINES_AT_MOST:
        part = part[: ends[-1]]
    elif ends[-1] < len(part):
        ends.append(len(part))
    long = next((start for start, end in pairwise(ends) if end - start > LINE_AT_MOST), None)
    return part if long is None else part[: long + LINE_AT_MOST]


def _last_lines(part: bytes) -> bytes:
    ends = [end.end() for end in _END.finditer(part)]
    return part[ends[-LINES_AT_MOST] :] if len(ends) > LINES_AT_MOST else part


def _end_of(body: bytes, most: int) -> bytes:
    """The last part of a body, at most ``most`` bytes, from the start of a line where there is one near."""
    if len(body) <= most:
        return body
    step = min(CUT_STEP, most // 2)
    start = -(-(len(body) - most) // step) * step
    line = body.find(b"\n", start, start + step)
    return body[line + 1 if line >= 0 else start :]
