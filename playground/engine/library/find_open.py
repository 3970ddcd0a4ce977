"""Search in experiments, those that are open as they are now: where there is no store, or it is behind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from playground.engine.library.experiment_summary import summarize
from playground.engine.library.passages import SearchWords
from playground.engine.library.store.search import MOST_PASSAGES, Filters, SearchResult, words_in
from playground.engine.session.session import Session


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
    """Search one experiment. Returns None unless each word is the beginning of a word in it."""
    experiment = summarize(session)
    if not filters.take(experiment):
        return None
    words = words_in(typed)
    if not words:
        return SearchResult(experiment) if not typed.strip() else None
    search = SearchWords(words)
    texts = [("", "title", experiment.title), ("", "model", experiment.model), *_texts(session)]
    if not search.all_in(text for *_, text in texts):
        return None
    passages = (search.passage(*text) for text in texts)
    return SearchResult(experiment, tuple(islice(filter(None, passages), MOST_PASSAGES)))


def _texts(session: Session) -> Iterator[tuple[str, str, str]]:
    for turn in reversed(list(session.transcript.turns.values())):
        yield turn.id, "text", " ".join((turn.text, turn.refusal, *(result.text for result in turn.results)))
        yield turn.id, "reasoning", turn.reasoning
        yield turn.id, "arguments", " ".join(f"{call.name} {call.arguments}" for call in turn.calls)
