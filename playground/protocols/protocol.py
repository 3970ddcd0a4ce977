"""What a wire protocol has to offer: all that is known of it. Nothing here opens a socket or reads a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from typing import Protocol as Interface

from playground.domain.accumulator import Accumulator
from playground.domain.events import Event
from playground.domain.parameters import Parameters
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.jsonkit.merge import at_path
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.sse import DEFAULT_CAP, Frame

if TYPE_CHECKING:
    from playground.protocols.conversion import Told, TurnContext
    from playground.protocols.expected import Expected
    from playground.protocols.marks import Marks
    from playground.protocols.oddities import Check, Oddity


T = TypeVar("T")


class Traced(NamedTuple):
    """One frame and the events that it gave."""

    frame: Frame
    events: list[Event]


class Decoder(Interface):
    """Turns one response body into events, whatever the chunks it arrives in.

    It never raises on any bytes. ``decode_bytes`` gives the events of one network read; ``close`` is called once at the
    end of the body and gives what was still open, deviations and the verdict included (``Failed`` with kind CUT_OFF or
    EMPTY where the answer is not whole); ``delimited`` says that the body was read to an end of its own, which a length
    or a last chunk told, and not only to that of the connection. ``finished`` is True as soon as the protocol's end
    marker was seen, so that the reader may stop although the socket stays open.
    """

    finished: bool

    @property
    def is_one_body(self) -> bool:
        """Whether what came so far is one JSON text, and no stream."""
        ...

    def decode_bytes(self, data: bytes) -> list[Event]: ...

    def close(self, *, delimited: bool = False) -> list[Event]: ...

    def trace(self, data: bytes) -> list[Traced]:
        """As ``decode_bytes``: what came of each frame. The frames' raw bytes, joined, are the bytes received."""
        ...

    def trace_close(self, *, delimited: bool = False) -> list[Traced]:
        """As ``close``, frame by frame. A decoder is either fed or traced, never both."""
        ...


class Encode(Interface):
    """Writes a request as a body. Only what is set is in it; the extra bodies are merged last.

    Without ``extras`` it is what they are merged into, the request's adaptations applied. With ``beside``, for files, a
    message also has what its answer came with and does not go back (``Turn.extra``), under
    ``playground.protocols.reading.BESIDE``. Raises ValueError where the protocol has no place for something.
    """

    def __call__(self, request: Request, *, extras: bool = True, beside: bool = False) -> JSONObject: ...


class MakeDecoder(Interface):
    """Makes a decoder. ``content_type`` is a hint; the body itself decides where it is wrong or missing.

    ``cap`` is the largest event, or whole JSON body, in bytes; a larger one ends in ``Failed`` with TOO_LARGE.
    ``make_id`` makes an id for a call that comes without one.
    """

    def __call__(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> Decoder: ...


class AnswerCode(Interface):
    """Lines of code, not indented. ``choices`` is how many answers there are, ``tools`` whether one may be a call.

    Those for a stream show one ``event``, parsed, as it comes; the others show the answer in ``response``.
    """

    def python_stream(self, choices: int, *, tools: bool) -> list[str]:
        """With ``print``."""
        ...

    def python_whole(self, *, tools: bool) -> list[str]:
        """With ``print``."""
        ...

    def javascript_stream(self, choices: int, *, tools: bool) -> list[str]:
        """With ``process.stdout``."""
        ...

    def javascript_whole(self, *, tools: bool) -> list[str]:
        """With ``console``."""
        ...


class Facet(Generic[T]):
    """What stands at a place in a protocol's folder, a module or a name in one; loaded when it is first asked for."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __set_name__(self, owner: type[Protocol], name: str) -> None:
        self._name = name

    def __get__(self, protocol: Protocol, owner: type[Protocol]) -> T:
        module, _, name = self._place.partition(".")
        found: Any = import_module(f"playground.protocols.{protocol.name}.{module}")
        facet: T = getattr(found, name) if name else found
        protocol.__dict__[self._name] = facet  # from now on it is found there
        return facet


class Protocol:
    """One wire protocol: a subclass in the folder of its name says what is not in the modules beside it."""

    name: str  # used in files and settings
    in_words: str  # the title inside a sentence
    endpoint: str  # path below the base URL
    served_as: tuple[str, ...]  # how model lists end what they call that endpoint
    conversation: tuple[str, ...]  # members of a body in which it stands; what is said in turns is the last of them
    alternates: bool  # neighbours of one side are one message, and a turn that says nothing is left out
    returns_reasoning: bool  # whether a person can choose when and how reasoning goes back
    pictures_in_results: bool  # whether the result of a call may hold pictures, if it is no error
    continues_paused: bool  # whether an answer that the gateway paused is continued by sending it back
    libraries: tuple[str, ...]  # of clients that speak it, by their names in the package registries
    key_headers: Mapping[str, str] = {}  # in lower case: what goes along with a key in x-api-key

    #: How code in languages without such a library shows an answer.
    answer_code: Facet[AnswerCode] = Facet("snippets")
    #: What its answers are to be.
    expected: Facet[Expected] = Facet("expected.EXPECTED")
    #: What tells its bodies from those of others.
    marks: Facet[Marks] = Facet("marks.MARKS")
    #: What can be set on a request.
    parameters_type: Facet[type[Parameters]]
    #: What is looked for in a body that does not go together.
    checks: Facet[tuple[Check, ...]] = Facet("checks.CHECKS")
    encode: Facet[Encode] = Facet("encode.encode")
    #: Raises ValueError where ``encode`` does, without writing anything: quick however long the conversation is.
    check: Facet[Callable[[Request], None]] = Facet("encode.check")
    #: What goes back, as it does, of the members that a received message came with (``Turn.extra``).
    returned: Facet[Callable[[Turn], JSONObject]] = Facet("encode.returned")
    #: Members that a received message came with and that go back where its reasoning does.
    returned_with_reasoning: Facet[Callable[[Turn], JSONObject]] = Facet("encode.returned_with_reasoning")
    #: The calls of a conversation whose id is sent in another spelling: number of the turn from 0, id, id as sent.
    renamed_ids: Facet[Callable[[Iterable[Turn]], list[tuple[int, str, str]]]] = Facet("ids.renamed_ids")
    #: How many answers a body asks for.
    choices: Facet[Callable[[JSONObject], int]] = Facet("encode.choices")
    #: What it sends of a turn in another form or place than it stands in it, or what may be refused.
    changes: Facet[Callable[[TurnContext], Iterator[Told]]] = Facet("conversion.changes")
    #: The reverse of ``encode``: the request, and sentences on what could not be kept. What has no field of its own
    #: goes into ``extra_body``. Raises ValueError naming what is wrong with a message.
    read_body: Facet[Callable[[JSONObject], tuple[Request, tuple[str, ...]]]] = Facet("body.read_body")
    decoder: Facet[MakeDecoder]
    #: What a stream said as the body of an answer that is not streamed, made at a Unix time in seconds. Raises
    #: ValueError where the protocol has no place for what was said.
    write_answer: Facet[Callable[[Accumulator, int], JSONObject]] = Facet("encode.write_answer")
    #: A tool definition in this protocol's shape. Raises ValueError saying what is wrong.
    read_tool: Facet[Callable[[JSON], ToolDefinition]] = Facet("encode.read_tool")
    #: The reverse of ``read_tool``.
    write_tool: Facet[Callable[[ToolDefinition], JSONObject]] = Facet("encode.write_tool")

    @property
    def title(self) -> str:
        """What it is called, for people."""
        return PROTOCOLS[self.name]

    def oddities(self, body: JSONObject) -> tuple[Oddity, ...]:
        """What in a body does not go together, with the place it is said at. It is sent all the same."""
        return tuple(oddity for check in self.checks for oddity in check(body))


@cache
def get_protocol(name: str) -> Protocol:
    """The protocol of that name, loaded when it is first asked for. Raises ValueError for a name we do not speak."""
    if name not in PROTOCOLS:
        raise ValueError(f"unknown protocol {name!r}; known are {', '.join(PROTOCOLS)}")
    protocol: Protocol = import_module(f"playground.protocols.{name}").PROTOCOL
    return protocol


def protocol_of(body: JSONObject) -> tuple[str, bool]:
    """The protocol whose marks a body bears more of than those of any other, and whether there is one."""
    counts = {name: get_protocol(name).marks.count(body) for name in PROTOCOLS}
    *_, second, first = sorted(counts.values())
    return max(counts, key=counts.__getitem__), first != second


def protocol_of_tool(tool: JSONObject) -> str:
    """The protocol in whose shape the definition of a tool is."""
    if get_protocol(DEFAULT).marks.defines(tool):
        return DEFAULT
    for name in PROTOCOLS:
        marks = get_protocol(name).marks
        if name != DEFAULT and (marks.defines(tool) or tool.get("type") == marks.tool_type):
            return name
    return DEFAULT


def runs_at_vendor(tool: JSON) -> bool:
    """Whether a tool is one of a vendor's own, which no definition here describes."""
    types = [get_protocol(name).marks.tool_type for name in PROTOCOLS]
    return isinstance(tool, dict) and tool.get("type") is not None and tool["type"] not in types


def protocol_at(path: str) -> str:
    """The protocol whose endpoint an address ends in; empty for none."""
    return next((name for name in PROTOCOLS if path.endswith(f"/{get_protocol(name).endpoint}")), "")


def format_in(protocol: str, body: JSONObject) -> JSONObject | None:
    """The format that a body asks the answer to have, where its protocol says it; None where it asks for none."""
    if protocol not in PROTOCOLS:
        return None
    found = at_path(body, get_protocol(protocol).parameters_type.places()["response_format"])
    return found if isinstance(found, dict) else None


def parameters_of(protocol: str, fields: JSONObject, by_hand: Iterable[str] = ()) -> Parameters:
    """The parameters of a protocol from the fields that are set, the reverse of ``Parameters.set_fields``.

    ``by_hand`` are those that a person set. A value of a wrong type stays as it is, to be sent and flagged. Those of a
    protocol that is not known here keep all they have. Raises ValidationError.
    """
    kind = get_protocol(protocol).parameters_type if protocol in PROTOCOLS else Parameters
    odd = {name: value for name, value in fields.items() if name in kind.model_fields and not kind.fits(name, value)}
    rest = {name: value for name, value in fields.items() if name not in odd}
    return kind.model_validate(rest).model_copy(update=odd).set_by_hand(by_hand)
