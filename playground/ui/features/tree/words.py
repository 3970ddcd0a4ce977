"""What is to be said of a turn in the tree, and of the tree as a whole, in words. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from playground.domain.transcript import Transcript, Turn
from playground.jsonkit.texts import cut
from playground.ui.features.tree.layout import TreeLayout
from playground.ui.widgets.plain_text import short_name, show_prose
from playground.ui.widgets.role_words import ROLE_WORDS

LONGEST = 160  # letters of a turn that are shown


def mark_of(turn: Turn, growing: Collection[str]) -> str:
    """The word for how a turn ended, where it did not end well, or that it is still being received; else empty."""
    if turn.id in growing:
        return "being received"
    if turn.outcome is None:
        return ""
    return turn.outcome.ending.words or ("part unread" if turn.outcome.holes else "")


def about(layout: TreeLayout, turn: Turn, growing: Collection[str]) -> str:
    """All there is to say of one turn, in a line."""
    alternatives = layout.transcript.siblings(turn.id)
    words = [ROLE_WORDS[turn.role], f"turn {layout.place(turn.id)[1] + 1:,}"]
    if len(alternatives) > 1:
        words.append(f"alternative {alternatives.index(turn.id) + 1} of {len(alternatives)}")
    words.append(mark_of(turn, growing))
    first = first_words(turn)
    return " · ".join(word for word in words if word) + (f" — {first}" if first else "")


def first_words(turn: Turn) -> str:
    """What a turn begins with, safe to show."""
    results = " ".join(result.text[:LONGEST] for result in turn.results)
    calls = ", ".join(f"{short_name(call.name)}({call.arguments[:40]})" for call in turn.calls[:3])
    text = next((text for text in (turn.text, results, calls, turn.reasoning) if text.strip()), "")
    line = " ".join(text[: 2 * LONGEST].split())
    return show_prose(cut(line, LONGEST))


def summary(transcript: Transcript, ends: int) -> str:
    """The tree in a line: turns, branches, and what did not end well."""
    turns = transcript.turns.values()
    counts = Counter(word for turn in turns if (word := mark_of(turn, ())))
    words = [plural(len(transcript.turns), "turn"), plural(ends, "branch", "branches")]
    words += [f"{count:,} {word}" for word, count in sorted(counts.items())]
    return " · ".join(words)


def plural(count: int, one: str, several: str = "") -> str:
    """A number and what it counts."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
