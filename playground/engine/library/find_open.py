"""Search in experiments, those that are open as they are now: where there is no store, or it is behind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from playground.engine.library.experiment_summary import summarize
from playground.engine.library.store.search import MOST_PASSAGES, Filters, Passage, SearchResult, words_in
from playground.engine.session.session import Session

_BEFORE, _AFTER = 50, 110  # characters around a hit


def find_all(
    stored: Iterable[SearchResult],
    sessions: Sequence[Session],
    behind: Sequence[Session],
    deleted: Collection[str],
    typed: str,
    filters: Filters,
) -> list[SearchResult]:
    """What the store found, but of the open ones ``behind`` which it is what is found in them now."""
    fresh = [found for one in behind if (found := find_open(one, typed, filters)) is not None]
    known = {session.id: session for session in sessions}
    gone = {session.id for session in behind}.union(deleted)
    rest = ((one, known.get(one.experiment.id)) for one in stored if one.experiment.id not in gone)
    rest_now = (replace(one, experiment=summarize(session)) if session is not None else one for one, session in rest)
    return [*fresh, *rest_now]


def find_open(session: Session, typed: str, filters: Filters) -> SearchResult | None:
    """What is found in one experiment: every word stands in it somewhere, whatever its case. None where not."""
    experiment = summarize(session)
    if not filters.take(experiment):
        return None
    words = [word.casefold() for word in words_in(typed)]
    if not words:
        return SearchResult(experiment) if not typed.strip() else None
    texts = [("", "title", experiment.title), ("", "model", experiment.model), *_texts(session)]
    lowered = [(key, name, text, text.casefold()) for key, name, text in texts]
    if not all(any(word in low for *_, low in lowered) for word in words):
        return None
    hits = [(key, name, text) for key, name, text, low in lowered if any(word in low for word in words)]
    return SearchResult(experiment, tuple(_passage(*hit, words) for hit in hits[:MOST_PASSAGES]))


def _texts(session: Session) -> Iterator[tuple[str, str, str]]:
    for turn in reversed(list(session.transcript.turns.values())):
        yield turn.id, "text", " ".join((turn.text, turn.refusal, *(result.text for result in turn.results)))
        yield turn.id, "reasoning", turn.reasoning
        yield turn.id, "arguments", " ".join(f"{call.name} {call.arguments}" for call in turn.calls)


def _passage(turn_id: str, name: str, text: str, words: Sequence[str]) -> Passage:
    """The words around the first hit. Hits are marked where lower case has as many letters, as it nearly always has."""
    low = text.casefold()
    first = min(at for word in words if (at := low.find(word)) >= 0)
    start = max(0, first - _BEFORE)
    shown = text[start : first + _AFTER]
    head = "…" if start else ""
    tail = "…" if first + _AFTER < len(text) else ""
    marks: list[tuple[int, int]] = []
    if len(low) == len(text):
        for word in words:
            at = shown.casefold().find(word)
            if at >= 0:
                marks.append((at + len(head), at + len(head) + len(word)))
    return Passage(
        turn_id, name, head + "".join(" " if c in "\r\n\t" else c for c in shown) + tail, tuple(sorted(marks))
    )
