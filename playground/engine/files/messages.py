"""Conversations from a file of messages: JSON or JSON Lines, in the shape of any protocol.

A file is an array of messages; an object with “messages”, with or without other members of a request body; a record of
a batch file, which has such a body; an array of these; or lines of these, such as one message or one conversation a
line in files for fine-tuning. Messages may have the shape of a library or an application
(``requests/message_shapes.py``). Nothing else is opened and nothing is sent. Unreadable parts are reported with line
and column; only a file without any conversation is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from playground.domain.request import Request
from playground.engine.io.weighed_json import TooMuchError, check_weight
from playground.engine.requests.message_shapes import (
    is_foreign_message,
    is_record,
    read_list,
    read_record,
    records_in,
    title_of,
    wrapped,
)
from playground.engine.requests.pasted import NO_MODEL, Imported, ImportRefusedError, is_archive, read_body
from playground.jsonkit import tree
from playground.jsonkit.problems import JsonTextError, position
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.jsonkit.values import Path as PathInside
from playground.protocols import DEFAULT, MESSAGES, PROTOCOLS
from playground.protocols.protocol import (
    body_of_answer,
    conversation_in,
    get_protocol,
    is_item,
    protocol_of,
    with_messages,
)
from playground.system.named_file import read_named

if TYPE_CHECKING:
    from playground.engine.session.session import Session

MAX_SIZE: Final = 256 * 1024 * 1024  # bytes of a file
MAX_CONVERSATIONS: Final = 1_000  # of one file
MAX_BAD_RECORDS: Final = 1_000  # before the first conversation; above it the file is refused
MAX_UNREADABLE: Final = 20  # messages of a conversation that are left out; above it the file is refused

#: Members of a record of a batch file that say where its request goes.
_OF_BATCH: Final = frozenset({"custom_id", "method", "url", "id", "key", "title"})
#: The weight of a message in training; no request has it.
_WEIGHT: Final = "weight"
_NOTHING: Final = "There are no messages. Expected are objects with “role” and “content”, or “messages”"


class MessagesImportError(ValueError):
    """A text has no readable conversation. Line and column count from 1; 0 if unknown."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        self.line, self.column = line, column
        sentence = f"{reason.rstrip('.')}."
        where = f"Line {line}, column {column}: " if line else ""
        super().__init__(where + (sentence[:1].lower() + sentence[1:] if where else sentence))


@dataclass(frozen=True)
class Conversation:
    """A conversation of a file, with its number from 1.

    ``request`` has the turns and settings; its model is empty if the file names none. ``rest`` has the members of the
    record that belong to no request, such as ``source``: they are stored and not sent. ``notes`` are for people.
    """

    request: Request
    title: str = ""
    number: int = 1
    rest: JSONObject = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportedConversations:
    """The content of a text. ``words`` names its format, ``total`` is the number of its conversations.

    ``conversations`` are the first ``MAX_CONVERSATIONS``. ``problems`` has the reason for each unreadable part.
    """

    words: str
    conversations: tuple[Conversation, ...]
    total: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Piece:
    """A JSON value of the file, its text, and its first line."""

    value: JSON
    text: str
    line: int

    def error(self, reason: str, path: PathInside = ()) -> MessagesImportError:
        """Return an error at the place of ``path``."""
        root = self._tree
        if root is None:
            return MessagesImportError(reason, self.line, 1)
        node = tree.find(root, path) or root
        line, column = position(self.text, node.start)
        return MessagesImportError(reason, self.line + line - 1, column)

    @cached_property  # each record of a long list may have a problem
    def _tree(self) -> tree.Node | None:
        """The nodes of the text with their positions, None if it is not JSON."""
        try:
            return tree.parse(self.text)
        except JsonTextError:
            return None

    def blame(self, *path: str | int) -> _Blame:
        """Return a function that makes errors about messages of a list at ``path``."""
        return lambda reason, number: self.error(reason, (*path, number - 1) if number else path)


#: Makes an error of a reason and the number of the invalid message, 0 for all.
_Blame: TypeAlias = Callable[[str, int], MessagesImportError]


def open_file(path: Path, prefer: str = DEFAULT) -> ImportedConversations:
    """Read a file; blocks. Raises MessagesImportError."""
    try:
        data = read_named(path, MAX_SIZE)
        check_weight(data)
    except TooMuchError as error:
        raise MessagesImportError(f"{path} cannot be read: {error}") from None
    except OSError as error:
        raise MessagesImportError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        sound = data[: error.start].decode("utf-8-sig")
        line, column = position(sound, len(sound))
        raise MessagesImportError("This is not UTF-8 text", line, column) from None
    return read(text, prefer)


def read(text: str, prefer: str = DEFAULT) -> ImportedConversations:
    """Parse a text; conversations that are valid in several protocols get ``prefer``.

    Raises MessagesImportError.
    """
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise MessagesImportError("There is nothing to import: the text is empty")
    try:
        piece = _Piece(parse_json(text), text, 1)
    except ValueError:
        if not _by_line(text):
            raise _not_json(text, 1) from None
        return _from_lines(text, prefer)
    if isinstance(piece.value, list):
        return _from_list(piece, prefer)
    if isinstance(piece.value, dict) and not conversation_in(piece.value) and (name := records_in(piece.value)):
        records = ((piece, item, (name, index)) for index, item in enumerate(piece.value[name]))
        return _records(records, "a list of conversations", prefer, [])
    if is_message(piece.value):
        conversation = _conversation(with_messages([piece.value]), prefer, lambda why, _: piece.error(why))
        return ImportedConversations("one message", (conversation,), 1)
    return ImportedConversations("one conversation", (_record(piece, piece.value, (), prefer, 1),), 1)


def into(session: Session, conversation: Conversation) -> None:
    """Load a conversation into ``session``; settings that the file does not have are unchanged."""
    request = conversation.request
    if not request.model:
        before, now = session.settings.protocol, request.protocol
        session.switch_protocol(now)
        parameters = {name: value for name, value in request.parameters if value is not None}
        request = request.model_copy(
            update={
                "model": session.settings.model,
                "parameters": session.settings.current.model_copy(update=parameters),
            }
        )
        session.switch_protocol(before)
    session.load(request, conversation.title)
    if conversation.rest:
        session.history.settings = session.settings.model_copy(update={"imported": conversation.rest})


# ---- what kind of file -----------------------------------------------------------------------------------------------


def _by_line(text: str) -> bool:
    """Return whether a text has several lines, and one of the first three non-empty ones is JSON."""
    lines = (line for line in text.split("\n") if line.strip())
    first = list(islice(lines, 4))
    return len(first) > 1 and any(map(_is_record, first[:3]))


def _is_record(line: str) -> bool:
    try:
        return isinstance(parse_json(line), dict | list)
    except ValueError:
        return False


def _from_lines(text: str, prefer: str) -> ImportedConversations:
    problems: list[MessagesImportError] = []
    pieces = list(_pieces(text, problems))
    first = next((piece for piece in pieces if piece.value), pieces[0])
    if not is_message(first.value):
        return _records(((piece, piece.value, ()) for piece in pieces), "one conversation a line", prefer, problems)
    messages = []
    for piece in pieces:
        if is_message(piece.value):
            messages.append(piece)
        else:
            problems.append(piece.error(f"This is no message, but line {first.line} is one. A file holds one or other"))
    values = [piece.value for piece in messages]
    conversation = _conversation(
        with_messages(values), prefer, lambda why, number: messages[max(number, 1) - 1].error(why)
    )
    return ImportedConversations("one message a line", (conversation,), 1, tuple(map(str, problems)))


def _pieces(text: str, problems: list[MessagesImportError]) -> Iterator[_Piece]:
    """Yield the non-empty lines; those that are not JSON go to ``problems``."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except ValueError:
            problems.append(_not_json(line, number))
        else:
            yield _Piece(value, line, number)


def _from_list(piece: _Piece, prefer: str) -> ImportedConversations:
    items = piece.value
    if not items:
        raise piece.error("There are no messages: the list is empty")
    first = next((item for item in items if item), items[0])
    if is_message(first) or not isinstance(first, dict | list):
        return ImportedConversations(
            "a list of messages", (_conversation(with_messages(items), prefer, piece.blame()),), 1
        )
    records = ((piece, item, (index,)) for index, item in enumerate(items))
    return _records(records, "a list of conversations", prefer, [])


def _records(
    records: Iterable[tuple[_Piece, JSON, PathInside]],
    words: str,
    prefer: str,
    problems: list[MessagesImportError],
) -> ImportedConversations:
    """Return the conversations of records; errors go to ``problems``.

    Raises the first error if all records fail, or the first ``MAX_BAD_RECORDS``.

    A record is a piece, the record's value, and its path in the piece.
    """
    out: list[Conversation] = []
    total = 0
    for piece, value, path in records:
        total += 1
        if len(out) < MAX_CONVERSATIONS:
            try:
                out.append(_record(piece, value, path, prefer, len(out) + 1))
            except MessagesImportError as problem:
                total -= 1
                problems.append(problem)
                if not out and len(problems) >= MAX_BAD_RECORDS:
                    break
    problems.sort(key=lambda problem: problem.line)
    if not out:
        raise problems[0]
    return ImportedConversations(words, tuple(out), total, tuple(map(str, problems)))


def is_conversation(value: JSONObject) -> bool:
    """Return whether an object is a record that holds a conversation under another name than “messages”."""
    return is_record(value) or records_in(value) is not None


def is_message(value: JSON) -> bool:
    """Return whether a value is one message."""
    if not isinstance(value, dict) or conversation_in(value):
        return False
    return "role" in value or is_foreign_message(value) or is_item(value)


# ---- one conversation ------------------------------------------------------------------------------------------------


def _record(piece: _Piece, value: JSON, path: PathInside, prefer: str, number: int) -> Conversation:
    """Return the conversation of a record: a list of messages, a body, or a record of a batch with a body inside."""
    if isinstance(value, list):
        return _conversation(with_messages(value), prefer, piece.blame(*path), number)
    if not isinstance(value, dict):
        raise piece.error(_NOTHING, path)
    if member := conversation_in(value):
        return _conversation(value, prefer, piece.blame(*path, member), number)
    if (body := body_of_answer(value)) is not None:
        return _conversation(body, prefer, piece.blame(*path), number)
    if is_message(value):
        raise piece.error("This is a message, but the record before it is a conversation", path)
    if (name := wrapped(value)) is not None:
        conversation = _record(piece, value[name], (*path, name), prefer, number)
        omitted = [member for member in value if member != name and member not in _OF_BATCH]
        notes = (
            (f"Left out of the record: {', '.join(omitted)}.", *conversation.notes) if omitted else conversation.notes
        )
        return replace(conversation, title=title_of(value) or conversation.title, notes=notes)
    if (shaped := read_record(value)) is not None:
        conversation = _conversation(shaped.body, prefer, lambda why, _: piece.error(why, path), number, shaped.notes)
        return replace(conversation, title=title_of(value))
    if "playground" in value or "cassette" in value:
        raise piece.error("This is a file of this application. Open it instead of importing it", path)
    if is_archive(value):
        raise piece.error("This is an HTTP archive. Paste it into “Import request”", path)
    raise piece.error(_NOTHING, path)


def _conversation(
    body: JSONObject, prefer: str, blame: _Blame, number: int = 1, given_notes: tuple[str, ...] = ()
) -> Conversation:
    """The conversation of a body; ``said`` are notes on how it was made."""
    notes = list(given_notes)
    moved = 0
    member = conversation_in(body) or MESSAGES
    messages = body[member]
    if isinstance(messages, list) and member == MESSAGES and (shaped := read_list(messages)) is not None:
        messages = shaped.body[MESSAGES]
        body = {**body, MESSAGES: messages}
        notes += shaped.notes
    if isinstance(messages, list):
        if not messages:
            raise blame("There are no messages: the list is empty", 0)
        body = {**body, member: _without_weights(messages, notes)}
        body = _system_at_the_top(body, notes) if member == MESSAGES else body
        moved = len(messages) - len(body[member])
    places = list(range(moved, moved + len(body[member]))) if isinstance(body[member], list) else []
    bad: list[MessagesImportError] = []
    imported: Imported | None = None
    while imported is None:
        try:
            imported = read_body(body, prefer)
        except ImportRefusedError as error:
            if not error.message:
                raise blame(str(error), 0) from None
            place, reason = places.pop(error.message - 1) + 1, str(error).partition(": ")[2]
            bad.append(blame(f"Message {place}: {reason}", place))
            remaining = [item for number, item in enumerate(body[member], 1) if number != error.message]
            body = {**body, member: remaining}
            if not remaining or len(bad) > MAX_UNREADABLE:
                raise bad[0] from None
    notes += [f"Left out. {problem}" for problem in bad]
    rest, request = _split_rest(imported)
    notes += [
        note for note in imported.notes if note != NO_MODEL and not (rest and note.startswith("Kept in the extra"))
    ]
    if rest:
        notes.append(f"Not sent, since no request has it: {', '.join(f'“{name}”' for name in rest)}.")
    title = rest.get("title")
    return Conversation(request, title if isinstance(title, str) else "", number, rest, tuple(notes))


def _split_rest(imported: Imported) -> tuple[JSONObject, Request]:
    """Split off members that belong to no request. A body with a model is a request as a whole."""
    request = imported.request
    if request.model:
        return {}, request
    marks = [get_protocol(name).marks for name in PROTOCOLS]
    own = {"tools", "tool_choice", "metadata"}.union(*(mark.members | mark.common for mark in marks))
    rest = {name: value for name, value in request.extra_body.items() if name not in own}
    sent = {name: value for name, value in request.extra_body.items() if name in own}
    return rest, request.model_copy(update={"extra_body": sent})


def _without_weights(messages: list[JSON], notes: list[str]) -> list[JSON]:
    if not any(isinstance(item, dict) and _WEIGHT in item for item in messages):
        return messages
    notes.append("“weight” was left out: it is for training, and no request has it.")
    return [
        {name: value for name, value in item.items() if name != _WEIGHT} if isinstance(item, dict) else item
        for item in messages
    ]


def _system_at_the_top(body: JSONObject, notes: list[str]) -> JSONObject:
    """Move leading system messages to the top of the body, if blocks of tools or thinking identify such a protocol."""
    messages = body[MESSAGES]
    leading = 0
    while leading < len(messages) and isinstance(messages[leading], dict) and _is_system(messages[leading]):
        leading += 1
    if not leading:
        return body
    others = messages[leading:]
    name, sure = protocol_of({MESSAGES: others})
    protocol = get_protocol(name)
    *above, _ = protocol.conversation
    if not sure or not above or above[0] in body or not _has_blocks(others, protocol.marks.sure_blocks):
        return body
    blocks: list[JSON] = []
    for item in messages[:leading]:
        content = item.get("content")
        blocks += content if isinstance(content, list) else [{"type": "text", "text": content}]
    notes.append(f"The system message is at the top, where the {protocol.title} protocol has it.")
    return {**body, above[0]: blocks, MESSAGES: others}


def _is_system(item: JSONObject) -> bool:
    return item.get("role") in ("system", "developer") and isinstance(item.get("content"), str | list)


def _has_blocks(messages: list[JSON], kinds: frozenset[str]) -> bool:
    blocks = (
        block
        for item in messages
        if isinstance(item, dict) and isinstance(item.get("content"), list)
        for block in item["content"]
    )
    return any(isinstance(block, dict) and block.get("type") == kind for block in blocks for kind in kinds)


# ---- places ----------------------------------------------------------------------------------------------------------


def _not_json(text: str, line: int) -> MessagesImportError:
    """Return the error of a text that is not JSON; it begins in ``line``."""
    try:
        tree.parse(text)
    except JsonTextError as error:
        return MessagesImportError(f"This is not JSON: {error.message}", line + error.line - 1, error.column)
    return MessagesImportError("This JSON cannot be read: it is nested too deeply, or a number is too long", line, 1)
