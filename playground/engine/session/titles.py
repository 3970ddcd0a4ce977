"""What an experiment is called, and its line of state: made of its turns, and cut by whoever knows the secrets."""

from __future__ import annotations

import re
from collections.abc import Callable

from playground.domain.roles import Role
from playground.domain.transcript import Ending, Transcript
from playground.engine.session.run_state import RunState

UNTITLED = "New experiment"
_LONGEST = 48  # characters of a title made of first words
_LOOKED_AT = 4096  # characters of the text that has them: a secret at the title's end is known as a whole
_INK = re.compile(r"\S")
_STATE_WORDS = {RunState.RETRYING: "waiting to retry", RunState.ANSWERING: "waiting for a tool"}


#: Gives the first so many characters of a text, without the secrets in it.
Front = Callable[[str, int], str]


def plain_front(text: str, most: int) -> str:
    """The first characters of a text that holds no secrets."""
    return text[:most]


def title_of(transcript: Transcript, given: str, front: Front = plain_front) -> str:
    """The title given, else the first words of the first user turn. Cut by ``front``, which knows the secrets."""
    if given:
        return front(given, len(given))
    for turn in transcript.path:
        if turn.role is Role.USER and (words := _first_words(turn.text)):
            fits = len(words) <= _LONGEST
            return front(words, _LONGEST) if fits else front(words, _LONGEST - 1).rstrip() + "…"
    return UNTITLED


def _first_words(text: str) -> str:
    """The words of a text in one line, more of them than a title has, however long the text is."""
    ink = _INK.search(text)
    if ink is None:
        return ""
    end = ink.start() + _LOOKED_AT
    words = " ".join(text[ink.start() : end].split())
    if end >= len(text):
        return words
    return words.rpartition(" ")[0] or words  # the last one is cut


def summary_of(transcript: Transcript, model: str, state: RunState = RunState.IDLE) -> str:
    """One line of state: model, then what stands out."""
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
