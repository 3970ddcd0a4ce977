"""Title and summary of an experiment, made of its turns."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from playground.domain.roles import Role
from playground.domain.transcript import Ending, Transcript
from playground.engine.session.changes import RunState

#: Returns the first characters of a text, without secrets.
Preview = Callable[[str, int], str]

UNTITLED = "New experiment"
_MAX_TITLE: Final = 48  # characters
_TITLE_SOURCE: Final = 4096  # characters that are searched for secrets: one at the title's end must be complete
_STATE_WORDS: Final = {RunState.RETRYING: "waiting to retry", RunState.ANSWERING: "waiting for a tool"}


def plain_preview(text: str, most: int) -> str:
    """Return the first characters of a text that holds no secrets."""
    return text[:most]


def title_of(transcript: Transcript, title: str, preview: Preview = plain_preview) -> str:
    """Return the title set by a person, else the first words of the first user turn, without secrets."""
    if title:
        return preview(title, len(title))
    for turn in transcript.path:
        if turn.role is Role.USER and (words := _first_words(turn.text)):
            fits = len(words) <= _MAX_TITLE
            return preview(words, _MAX_TITLE) if fits else preview(words, _MAX_TITLE - 1).rstrip() + "…"
    return UNTITLED


def _first_words(text: str) -> str:
    """Return the first words of a text in one line, more of them than a title has."""
    match = re.search(r"\S", text)
    if match is None:
        return ""
    end = match.start() + _TITLE_SOURCE
    words = " ".join(text[match.start() : end].split())
    if end >= len(text):
        return words
    return words.rpartition(" ")[0] or words  # the last one is incomplete


def summary_of(transcript: Transcript, model: str, state: RunState = RunState.IDLE) -> str:
    """Return a summary in one line: the model, then the state or the most important fact."""
    path = transcript.path
    facts = [model or "no model"]
    if state is not RunState.IDLE:
        facts.append(_STATE_WORDS.get(state, "running"))
    elif waiting := transcript.unanswered():
        facts.append(f"{len(waiting):,} call{'s' * (len(waiting) > 1)} · waiting for you")
    elif path and path[-1].outcome and path[-1].outcome.failure:
        failure = path[-1].outcome.failure
        facts.append(str(failure.status) if failure.status else "failed")
    elif path and path[-1].outcome and path[-1].outcome.holes:
        facts.append("part unread")
    elif path and path[-1].outcome and path[-1].outcome.ending is Ending.INTERRUPTED:
        facts.append("interrupted")
    elif path:
        facts.append(f"{len(path):,} turn{'s' * (len(path) > 1)}")
    return " · ".join(facts)
