"""The experiments that are open, and which one is looked at. In memory only: a store comes to it later."""

from __future__ import annotations

from collections.abc import Callable

from playground.domain.transcript import Transcript
from playground.engine.gateways import Gateways
from playground.engine.session import Session
from playground.engine.tapes import DEFAULT_LIMIT

UNDELETED = 10  # experiments that can be brought back at most


class Workspace:
    """Experiments, newest first. ``changed`` callbacks are told when the list or the current one is different."""

    def __init__(self, gateways: Gateways) -> None:
        self.gateways = gateways
        self.sessions: list[Session] = []
        self._observers: list[Callable[[], None]] = []
        self._deleted: list[tuple[int, Session]] = []
        self._texts: dict[str, tuple[tuple[Transcript, str, str], str]] = {}
        self.tape_limit = DEFAULT_LIMIT
        self.current = self.new()

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Tell ``callback`` when the list or the current experiment is different."""
        self._observers.append(callback)

    def new(self) -> Session:
        """A new, empty experiment becomes the current one; an untouched one is used again."""
        current = self.sessions[0] if self.sessions else None
        if current is not None and not (current.transcript.turns or current.draft.text or current.draft.images):
            self.current = current
            self._tell()
            return current
        model = protocol = profile_id = ""
        if self.sessions:
            profile_id, protocol, model = self.current.profile_id, self.current.protocol, self.current.model
        profile_id = profile_id or self.gateways.active_id
        session = Session(
            self.gateways.client,
            profile_of=self.gateways.get,
            profile_id=profile_id,
            protocol=protocol or "chat",
            model=model or self.gateways.get(profile_id).default_model,
        )
        self.add(session)
        return session

    def add(self, session: Session) -> None:
        """An experiment that was made elsewhere becomes the newest and the current one."""
        session.exchanges.limit = self.tape_limit
        self.sessions.insert(0, session)
        self.current = session
        self._tell()

    def set_tape_limit(self, limit: int) -> None:
        """Keep at most ``limit`` bytes of each experiment's tapes in memory, from now on."""
        self.tape_limit = limit
        for session in self.sessions:
            session.exchanges.limit = limit

    def open(self, session_id: str) -> Session:
        """Make an experiment the current one. Raises KeyError for an unknown id."""
        self.current = self._find(session_id)
        self._tell()
        return self.current

    def delete(self, session_id: str) -> None:
        """Take an experiment off the list, its run stopped; ``undelete`` brings it back."""
        session = self._find(session_id)
        session.stop()
        at = self.sessions.index(session)
        self.sessions.remove(session)
        self._deleted.append((at, session))
        del self._deleted[:-UNDELETED]
        if self.current is session:
            self.current = self.sessions[min(at, len(self.sessions) - 1)] if self.sessions else self.new()
        self._tell()

    def undelete(self) -> bool:
        """Bring the experiment deleted last back. Returns whether there was one."""
        if not self._deleted:
            return False
        at, session = self._deleted.pop()
        self.sessions.insert(min(at, len(self.sessions)), session)
        self.current = session
        self._tell()
        return True

    def search(self, words: str) -> list[Session]:
        """Experiments whose title or turns hold all of ``words``, newest first; all of them for no words."""
        wanted = words.casefold().split()
        if not wanted:
            self._texts.clear()
            return list(self.sessions)
        return [session for session in self.sessions if all(map(self._text(session).__contains__, wanted))]

    def _text(self, session: Session) -> str:
        """What is searched of an experiment; kept while there is a search, for the next letter typed."""
        key = (session.transcript, session.title, session.model)
        known = self._texts.get(session.id)
        if known is None or known[0][0] is not key[0] or known[0][1:] != key[1:]:
            known = self._texts[session.id] = (key, _haystack(session))
        return known[1]

    def _find(self, session_id: str) -> Session:
        for session in self.sessions:
            if session.id == session_id:
                return session
        raise KeyError(session_id)

    def _tell(self) -> None:
        for callback in tuple(self._observers):
            callback()


def _haystack(session: Session) -> str:
    parts = [session.title, session.model]
    parts += [f"{turn.text} {turn.reasoning}" for turn in session.transcript.path]
    return " ".join(parts).casefold()
