"""Assign fragments of tool calls to their calls.

By the specification the first fragment has index, id and name, the others index and arguments. Most of this module is
for gateways that omit the index, give all calls index 0, count it on within one call, repeat ids and names or send them
in pieces, or send a call once more at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from playground.domain.events import Event, ExtraDelta, ToolCallDelta
from playground.jsonkit.foreign import members_beside, text_of, whole, write
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.arguments import Arguments, is_empty_object, is_object

#: Members of an entry and of its “function” that are read.
ENTRY: Final = frozenset({"index", "id", "type", "function"})
FUNCTION: Final = frozenset({"name", "arguments"})
_LONGEST: Final = 1024  # characters of a name or an id that are joined; each piece costs the whole
_ID_START: Final = 3  # characters that two ids of one vendor share ("call_1", "call_2")
_FLAT: Final = ENTRY | FUNCTION
#: Members of “custom” in a call of a custom tool.
CUSTOM: Final = frozenset({"name", "input"})
_CUSTOM_ENTRY: Final = (ENTRY - {"function"}) | {"custom"}


@dataclass(slots=True)
class PartialCall:
    """One call as received so far; ``id`` is empty until the gateway sends one."""

    number: int
    id: str = ""
    name: str = ""
    arguments: Arguments = field(default_factory=Arguments)
    naming: bool = True  # no arguments followed its name yet, so more of the name may follow
    repeated: bool = False  # id and name were repeated after complete arguments: another call may follow
    free_text: bool = False  # of a custom tool


@dataclass(slots=True)
class Fragment:
    """One entry of ``tool_calls`` with checked values. Not frozen, for speed, but never changed."""

    index: int | None
    id: str
    name: str
    arguments: str
    extra: JSONObject  # unknown members, in their places
    free_text: bool = False  # the arguments are those of a custom tool


class ToolCalls:
    """The calls of one choice. ``make_id`` makes the id of a call without one.

    ``notes`` are the deviations so far, code -> text, for the decoder to report; ``holes`` are the codes of those that
    left out a part of a call.
    """

    def __init__(self, choice: int, make_id: Callable[[], str]) -> None:
        self.notes: dict[str, str] = {}
        self.holes: set[str] = set()
        self._choice = choice
        self._make_id = make_id
        self._calls: list[PartialCall] = []
        self._by_index: dict[int, PartialCall] = {}
        self._by_id: dict[str, PartialCall] = {}
        self._holding: dict[int, PartialCall] = {}  # those that may hold arguments back
        self._last: PartialCall | None = None  # the call of the last fragment

    def __len__(self) -> int:
        return len(self._calls)

    def read_calls(self, entries: JSON, out: list[Event], *, all_whole: bool = False, again: bool = False) -> None:
        """Read the ``tool_calls`` of one delta; ``all_whole`` when every entry is a complete call of its own.

        ``again`` means that they repeat all calls of the answer, received before in fragments.
        """
        if isinstance(entries, dict):
            entries = [entries]
        if not isinstance(entries, list):
            entries = [entries]
        touched: set[int] = set()
        for position, entry in enumerate(entries):
            if not isinstance(entry, dict):
                if entry:
                    self._note("tool_call_shape", "a tool call is not an object; it is left out", hole=True)
                continue
            fragment = self._read_fragment(entry)
            if again:
                call = self._match_repeated(fragment, position)
            elif all_whole:
                call = None
            elif fragment.index is None:
                self._note("tool_index_missing", "tool calls have no index")
                call = self._match_without_index(fragment, position if len(entries) > 1 else None, touched)
            else:
                call = self._match_index(fragment, fragment.index, touched)
            says = fragment.id or fragment.name or fragment.arguments or (fragment.extra and fragment.index is not None)
            if call is None and not says:
                continue  # an empty placeholder
            if call is None:
                call = self._open_call(fragment, position if len(entries) > 1 and not all_whole else None, out)
            else:
                self._continue_call(call, fragment, out)
            if fragment.extra:
                out.append(ExtraDelta(self._choice, "tool_call", "chat", fragment.extra, call.number))
            touched.add(call.number)
            self._last = call

    @property
    def are_complete(self) -> bool:
        """All calls have complete arguments, or none: some tools take no arguments."""
        return all(
            not call.arguments or call.arguments.are_complete() for call in self._calls
        )  # of a free text none are

    def release(self, out: list[Event]) -> None:
        """End all calls; emit the arguments that were held back."""
        for call in self._holding.values():
            if text := call.arguments.release():
                out.append(ToolCallDelta(self._choice, call.number, arguments=text, late=len(text)))
        self._holding.clear()

    def function_call(self, value: JSON, out: list[Event]) -> None:
        """Read a call in the older form without an id (``function_call``)."""
        if isinstance(value, dict) and (value.get("name") or value.get("arguments")):
            self._note("function_call", "a call was sent in the older form “function_call”")
            self.read_calls([{"index": 0, "function": value}], out)

    def _note(self, code: str, text: str, *, hole: bool = False) -> None:
        self.notes.setdefault(code, text)
        if hole:
            self.holes.add(code)

    def _read_fragment(self, entry: JSONObject) -> Fragment:
        index = entry.get("index")
        if (isinstance(index, str) and index.isascii() and index.isdigit() and len(index) < 6) or (
            isinstance(index, float) and index.is_integer()
        ):
            index = int(index)
        if (custom := custom_of(entry)) is not None:
            return self._read_custom(entry, custom, index)
        function = entry.get("function")
        if not isinstance(function, dict):
            function = entry
            if "name" in entry or "arguments" in entry:
                self._note("tool_call_flat", "name and arguments of a call are outside “function”")
        arguments = function.get("arguments")
        if isinstance(arguments, dict | list):
            self._note("tool_arguments_object", "the arguments of a call are JSON, not text")
            arguments = write(arguments)
        elif arguments and not isinstance(arguments, str):
            self._note("tool_arguments_shape", "the arguments of a call are neither text nor JSON", hole=True)
        name = function.get("name")
        return Fragment(
            index=index if type(index) is int else None,
            id=text_of(entry.get("id")),
            name=text_of(name),
            arguments=whole(arguments) if isinstance(arguments, str) else "",
            extra=unknown_of(entry),
        )

    def _read_custom(self, entry: JSONObject, custom: JSONObject, index: JSON) -> Fragment:
        """Return a fragment of a call of a custom tool, whose input is text."""
        text = custom.get("input")
        if text and not isinstance(text, str):
            self._note("tool_arguments_object", "the arguments of a call are JSON, not text")
            text = write(text)
        return Fragment(
            index=index if type(index) is int else None,
            id=text_of(entry.get("id")),
            name=text_of(custom.get("name")),
            arguments=whole(text) if text else "",
            extra=unknown_of(entry),
            free_text=True,
        )

    def _match_index(self, fragment: Fragment, index: int, touched: set[int]) -> PartialCall | None:
        """Return the call that a fragment continues; None when it begins one."""
        call = self._by_index.get(index)
        if call is None:
            match = self._match_id(fragment, touched)
            if match is not None:
                self._note("tool_index_moved", "a call changed its index; it is followed by its id")
                self._by_index[index] = match
            elif (last := self._last) is not None and self._continues_last(last, fragment):
                self._note("tool_index_runs_on", "the index counts on within one call; its fragments are joined")
                return last
            elif index != len(self._calls) and fragment.id not in self._by_id:
                self._note("tool_index_start", "the indexes of tool calls do not count from 0")
            return match
        if self._begins_call(call, fragment, touched):
            self._note("tool_index_shared", "several calls share one index")
            fragment.id, fragment.name = call.id, fragment.name or call.name
            return None
        if fragment.id and fragment.id != call.id:
            match = self._by_id.get(fragment.id)
            if match is not None:
                return match
            if call.id and (fragment.name or (call.arguments.are_complete() and not call.arguments.undecided)):
                self._note("tool_index_shared", "several calls share one index; they are separated by id")
                return None
            return call
        if not fragment.id and fragment.name and self._begins_named_call(call, fragment, touched):
            self._note("tool_index_shared", "several calls share one index")
            return None
        return call

    def _match_without_index(self, fragment: Fragment, position: int | None, touched: set[int]) -> PartialCall | None:
        if fragment.id:
            match = self._match_id(fragment, touched)
            if match is None and self._calls and fragment.id not in self._by_id:
                last = self._calls[-1]
                if not last.id and not fragment.name and last.number not in touched:
                    return last
            return match
        if position is not None:
            return self._match_index(fragment, position, touched)
        if not self._calls:
            return None
        last = self._calls[-1]
        if fragment.name and last.id and last.naming and last.number not in touched:
            return last  # with ids in use, another call would have its own
        if (
            fragment.name
            and last.name
            and (fragment.name != last.name or self._begins_named_call(last, fragment, touched))
        ):
            return None
        return last

    def _match_repeated(self, fragment: Fragment, position: int) -> PartialCall | None:
        """Return the call that an entry of the final message repeats, by its id or its place."""
        match = self._by_id.get(fragment.id) if fragment.id else None
        placed = self._calls[position] if position < len(self._calls) else None
        if placed is not None and fragment.id and placed.id == fragment.id:
            return placed  # one of several that have the same id
        return match or (placed if placed is not None and not (fragment.id and placed.id) else None)

    def _match_id(self, fragment: Fragment, touched: set[int]) -> PartialCall | None:
        """Return the call with the fragment's id if the fragment continues it; None if it begins another one."""
        match = self._by_id.get(fragment.id) if fragment.id else None
        if match is None or not (fragment.name and match.name):
            return match
        arguments = match.arguments
        if fragment.name != match.name and not match.naming:
            return None
        if match.number in touched and fragment.index is not None:
            return None
        if not fragment.arguments.strip() or not arguments.are_complete():
            return match
        return match if is_object(fragment.arguments) and arguments.equals(fragment.arguments) else None

    def _continues_last(self, last: PartialCall, fragment: Fragment) -> bool:
        """Return whether a fragment with a new index continues the call before it."""
        if not fragment.arguments or (fragment.id and (fragment.name or not last.name)):
            return False
        if last.arguments.are_complete() and not last.arguments.undecided:
            return False
        return not fragment.name or bool(last.id and fragment.name == last.name)

    def _begins_call(self, call: PartialCall, fragment: Fragment, touched: set[int]) -> bool:
        """Return whether a fragment begins a call after a complete one of the same index and id.

        Both have id and name. Equal or empty arguments are a repeat.
        """
        if not call.id or fragment.id not in ("", call.id) or not (call.repeated or (fragment.id and fragment.name)):
            return False
        arguments = call.arguments
        if not fragment.arguments.lstrip().startswith("{") or not arguments.are_complete():
            return False
        if fragment.name and fragment.name != call.name:
            return True
        if is_object(fragment.arguments) and arguments.equals(fragment.arguments):
            return call.number in touched
        return not (arguments.undecided or arguments.equals("{}") or is_empty_object(fragment.arguments))

    def _begins_named_call(self, call: PartialCall, fragment: Fragment, touched: set[int]) -> bool:
        """Return whether a fragment with a name and no id begins a call although one is open in its place."""
        if not call.name:
            return False
        if call.number in touched:
            return True
        arguments = call.arguments
        if call.id or not arguments.are_complete():  # with ids in use, another call would have its own
            return fragment.name != call.name and not call.naming
        return not (is_object(fragment.arguments) and arguments.equals(fragment.arguments))

    def _open_call(self, fragment: Fragment, position: int | None, out: list[Event]) -> PartialCall:
        index = fragment.index if fragment.index is not None else position
        number = len(self._calls)
        call = PartialCall(index if index == number else number, fragment.id, fragment.name)  # one int object for both
        call.naming = not fragment.arguments
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        repeated = fragment.id in self._by_id
        ours = not fragment.id or repeated
        if repeated:
            self._note("tool_id_repeated", "two calls have the same id; the later one got a generated id")
        elif ours:
            self._note("tool_id_missing", "a tool call has no id; one was generated")
        else:
            self._by_id.setdefault(fragment.id, call)
        call.free_text = fragment.free_text
        arguments = fragment.arguments if call.free_text else call.arguments.take_fragment(fragment.arguments)[0]
        if call.arguments.undecided:
            self._holding[call.number] = call
        out.append(
            ToolCallDelta(
                self._choice,
                call.number,
                id=self._make_id() if ours else fragment.id,
                name=fragment.name or None,
                arguments=arguments,
                id_is_ours=ours,
                held=call.arguments.held,
                free_text=call.free_text,
            )
        )
        return call

    def _continue_call(self, call: PartialCall, fragment: Fragment, out: list[Event]) -> None:
        call.free_text = call.free_text or fragment.free_text
        new_id, new_name = self._update_id(call, fragment), self._update_name(call, fragment)
        call_arguments = call.arguments
        arguments, odd = (
            (fragment.arguments, None) if call.free_text else call_arguments.take_fragment(fragment.arguments)
        )
        if odd is not None:
            self._note(*odd)
        if call_arguments.undecided:
            self._holding[call.number] = call
        if new_id or new_name or arguments or call_arguments.held:
            out.append(
                ToolCallDelta(
                    self._choice,
                    call.number,
                    new_id,
                    new_name,
                    arguments,
                    held=call_arguments.held,
                    late=call_arguments.late,
                    free_text=call.free_text,
                )
            )

    def _update_id(self, call: PartialCall, fragment: Fragment) -> str | None:
        """Read the id of a fragment; return the id of the call if it changed."""
        piece = fragment.id
        if not piece or piece == call.id:
            return None
        if call.id and not self._completes_id(call, fragment):
            self._note("tool_id_changed", "a call changed its id; the first is kept")
            return None
        if call.id:
            self._note("tool_id_pieces", "the id of a call was sent in pieces; they are joined")
            if self._by_id.get(call.id) is call:
                del self._by_id[call.id]
        call.id = piece if piece.startswith(call.id) else call.id + piece
        self._by_id.setdefault(call.id, call)
        return call.id

    def _completes_id(self, call: PartialCall, fragment: Fragment) -> bool:
        """Return whether an id without name and arguments is a piece of the call's id or all of it."""
        if fragment.name or fragment.arguments or call.arguments or self._by_id.get(call.id) is not call:
            return False
        if len(call.id) + len(fragment.id) > _LONGEST:
            return False
        return fragment.id.startswith(call.id) or fragment.id[:_ID_START] != call.id[:_ID_START]

    def _update_name(self, call: PartialCall, fragment: Fragment) -> str | None:
        """Read the name of a fragment; return the name of the call if it changed.

        A name may be repeated with every fragment, be sent in pieces, or grow each time.
        """
        piece, before = fragment.name, call.name
        has_arguments, is_open = bool(call.arguments), call.naming
        if fragment.arguments:
            call.naming = False
        if not piece:
            return None
        if not before:
            if has_arguments:
                self._note("tool_name_late", "the name of a call follows its arguments")
                call.naming = not fragment.arguments
            call.name = piece
            return piece
        if piece == before:
            self._note("tool_name_repeated", "the name of a call is repeated in later fragments")
            call.repeated = bool(fragment.id) and call.arguments.are_complete()
            return None
        if not is_open or len(before) + len(piece) > _LONGEST:
            self._note("tool_name_changed", "a call changed its name; the first is kept")
            return None
        self._note("tool_name_pieces", "the name of a call was sent in pieces; they are joined")
        call.name = piece if piece.startswith(before) else before + piece
        return call.name


def custom_of(entry: JSONObject) -> JSONObject | None:
    """Return the member of an entry that holds a call of a custom tool; None for any other call."""
    custom = entry.get("custom")
    is_custom = isinstance(custom, dict) and not entry.get("function") and entry.get("type") in ("custom", None, "")
    return custom if is_custom else None


def unknown_of(entry: JSONObject, *, empty: bool = False) -> JSONObject:
    """Return the members of an entry of ``tool_calls`` that no field of a call holds, in their places.

    ``empty`` includes null and empty members. The type of a call that is not a function's is among them.
    """
    function = entry.get("function")
    custom = custom_of(entry)
    read = ENTRY if isinstance(function, dict) else _CUSTOM_ENTRY if custom is not None else _FLAT
    extra = {} if entry.keys() <= read else members_beside(entry, read, empty=empty)
    kind = entry.get("type", "function")
    if kind != "function" and kind and isinstance(kind, str) and custom is None:
        extra["type"] = whole(kind)
    if custom is not None and (inner := members_beside(custom, CUSTOM, empty=empty)):
        extra["custom"] = inner
    if isinstance(function, dict) and not function.keys() <= FUNCTION:
        inner = members_beside(function, FUNCTION, empty=empty)
        if inner:
            extra["function"] = inner
    return extra
