"""Complete answers of a protocol: make one by hand, edit it, and write it as the stream of its events.

Pure functions on JSON: members that are not edited keep their values and their order.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject, Path

#: Characters of a text in one event. Some clients refuse lines above 64 KiB.
PIECE: Final = 4096

#: Makes an id with a prefix such as ``call_``.
MakeId = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A tool call of an answer made by hand; ``arguments`` is text, mostly JSON. An empty id gets a new one."""

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A text of a complete answer; ``path`` leads to it. Reasoning is not among the texts: it is often signed."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class AnswerCall:
    """A tool call of a complete answer that the client has to run; ``path`` leads to it.

    ``arguments`` is text, mostly JSON. ``free_text``: it is the input of a custom tool, which is never JSON.
    """

    path: Path
    id: str
    name: str
    arguments: str
    free_text: bool = False


@dataclass(frozen=True, slots=True)
class SetText:
    """Replace a text of an answer."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class SetCall:
    """Replace the name and the arguments of a call."""

    path: Path
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class DropCall:
    """Remove a call."""

    path: Path


@dataclass(frozen=True, slots=True)
class AddCall:
    """Add a call behind the others of a choice; ``choice`` is its place in the list of choices."""

    call: MadeCall
    choice: int = 0


AnswerEdit = SetText | SetCall | DropCall | AddCall


def make_random_id(prefix: str) -> str:
    """Return a new id with a prefix."""
    return prefix + secrets.token_hex(12)


class AnswerFormat(ABC):
    """The form of complete answers and streams of one protocol."""

    call_prefix: ClassVar[str]  # of ids of calls
    calling: ClassVar[
        Mapping[str | None, str]
    ]  # finish reasons of answers with calls: the one that replaces it without calls
    natural: ClassVar[Mapping[str | None, str]]  # finish reasons without calls: the one that replaces it with calls
    error_types: ClassVar[Mapping[int, str]] = {}  # by status
    error_else: ClassVar[tuple[str, str]]  # type of an error for other statuses below 500, and from 500 on

    # -- parts of an answer ------------------------------------------------------------------------------------------

    @abstractmethod
    def texts(self, body: JSONObject) -> Iterator[AnswerText]:
        """Yield the texts of an answer that can be edited."""

    @abstractmethod
    def calls(self, body: JSONObject) -> Iterator[AnswerCall]:
        """Yield the calls of an answer that the client has to run."""

    def edit(self, body: JSONObject, edits: Sequence[AnswerEdit], make_id: MakeId = make_random_id) -> JSONObject:
        """Return an answer with edits made; their paths are those in ``body``, which is not changed.

        The finish reason follows if a choice loses its last call or gets its first one. Raises ValueError for a path
        that leads to no text or call, and for arguments that the protocol cannot express.
        """
        texts = {text.path for text in self.texts(body)}
        calls = {call.path: call for call in self.calls(body)}
        before = Counter(map(self._choice_of, calls))
        result = body
        dropped: list[Path] = []
        added: list[AddCall] = []
        for edit in edits:
            if isinstance(edit, AddCall):
                added.append(edit)
            elif edit.path not in (texts if isinstance(edit, SetText) else calls):
                raise ValueError("the answer has no such text or call")
            elif isinstance(edit, SetText):
                result = with_value(result, edit.path, edit.text)
            elif isinstance(edit, SetCall):
                result = with_value(result, edit.path, self._with_call(value_at(result, edit.path), edit))
            else:
                dropped.append(edit.path)
        for path in sorted(set(dropped), reverse=True):
            result = self._without_call(result, path)
        for edit in added:
            call = (
                edit.call if edit.call.id else MadeCall(edit.call.name, edit.call.arguments, make_id(self.call_prefix))
            )
            result = self._with_added(result, call, edit.choice, make_id)
        after = Counter(self._choice_of(call.path) for call in self.calls(result))
        for choice in {*before, *after}:
            if bool(before[choice]) != bool(after[choice]):
                result = self._with_finish(result, choice, has_calls=bool(after[choice]))
        return result

    def _choice_of(self, path: Path) -> int:
        """Return the place in the list of choices of what a path leads to."""
        return 0

    @abstractmethod
    def _with_call(self, entry: JSONObject, edit: SetCall) -> JSONObject:
        """Return the JSON of a call with another name and other arguments."""

    def _without_call(self, body: JSONObject, path: Path) -> JSONObject:
        """Return an answer without a call."""
        result: JSONObject = without_value(body, path)
        return result

    @abstractmethod
    def _with_added(self, body: JSONObject, call: MadeCall, choice: int, make_id: MakeId) -> JSONObject:
        """Return an answer with one more call."""

    @abstractmethod
    def _finish_path(self, choice: int) -> Path:
        """Return the path of the finish reason of a choice; empty where calls do not change it."""

    def _with_finish(self, body: JSONObject, choice: int, *, has_calls: bool) -> JSONObject:
        path = self._finish_path(choice)
        reason = value_at(body, path) if path else None
        reasons = self.natural if has_calls else self.calling
        if not path or not isinstance(reason, str | None) or reason not in reasons:
            return body
        result: JSONObject = with_value(body, path, reasons[reason])
        return result

    # -- whole answers -----------------------------------------------------------------------------------------------

    @abstractmethod
    def make(
        self,
        request: JSONObject,
        text: str,
        calls: Sequence[MadeCall] = (),
        *,
        created: int,
        make_id: MakeId = make_random_id,
    ) -> JSONObject:
        """Return an answer to the body of a request. ``created`` is a Unix time in seconds.

        Its usage is 0, in a stream only if the request asks for usage. Raises ValueError for arguments that the
        protocol cannot express.
        """

    def last_whole(self, events: Sequence[JSONObject]) -> JSONObject | None:
        """Return the complete answer that the events of a stream contain; None if the protocol repeats none."""
        return None

    @abstractmethod
    def stream(self, body: JSONObject) -> Iterator[bytes]:
        """Yield the events of a stream that says what an answer says."""

    def error(self, status: int, message: str, kind: str = "") -> JSONObject:
        """Return the body of an error; ``kind`` is its type, by default that of the status."""
        client, server = self.error_else
        kind = kind or self.error_types.get(status, client if status < 500 else server)
        return self._error(message, kind)

    @abstractmethod
    def _error(self, message: str, kind: str) -> JSONObject:
        """Return the body of an error of a type."""

    @abstractmethod
    def error_event(self, error: JSONObject) -> bytes:
        """Return an event that reports an error within a stream."""


# -- shared by the formats of all protocols ----------------------------------------------------------------------------


def value_at(value: JSON, path: Path) -> JSON:
    """Return the value at a path of members and list items; None where there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def with_value(value: JSON, path: Path, new: JSON) -> JSON:
    """Return a copy of ``value`` with another value at a path, whose objects and lists exist."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = with_value(copy.get(path[0]) if isinstance(copy, dict) else copy[path[0]], path[1:], new)
    return copy


def without_value(value: JSON, path: Path) -> JSON:
    """Return a copy of ``value`` without the member or item at a path."""
    copy = value.copy()
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = without_value(copy[path[0]], path[1:])
    return copy


def objects(value: JSON) -> Iterator[tuple[int, JSONObject]]:
    """Yield the objects of a list with their places; none for other values."""
    for place, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield place, item


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces for one event each; none for an empty text."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def to_event(value: JSONObject, name: str = "") -> bytes:
    """Return a server-sent event with a JSON object."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {foreign.whole(foreign.write(value))}\n\n".encode()


def custom_tools(request: JSONObject) -> frozenset[str]:
    """Return the names of the tools of a request whose calls have a text instead of JSON."""
    names = set()
    for _, tool in objects(request.get("tools")):
        if tool.get("type") == "custom":
            custom = tool.get("custom")
            names.add(foreign.text_of((custom if isinstance(custom, dict) else tool).get("name")))
    return frozenset(names)
