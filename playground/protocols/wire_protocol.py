"""The base class of wire protocols: requests to JSON, bytes to events, without sockets or clocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import ClassVar

from playground.domain.accumulator import Accumulator
from playground.domain.parameters import Parameters
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS
from playground.protocols.answer_format import AnswerFormat
from playground.protocols.answers import TITLES_IN_SENTENCE
from playground.protocols.conversion import ConversionNote, TurnContext
from playground.protocols.decoding import Decoder
from playground.protocols.expected import Expected
from playground.protocols.marks import Marks
from playground.protocols.oddities import Oddity
from playground.protocols.openai_library import OpenAIResource
from playground.protocols.sse import DEFAULT_CAP


class Protocol(ABC):
    """A wire protocol. There is one subclass for each, in the folder of its name."""

    name: ClassVar[str]  # used in files and settings
    endpoint: ClassVar[str]  # path below the base URL
    served_as: ClassVar[tuple[str, ...]]  # endings of what model lists call that endpoint
    conversation: ClassVar[tuple[str, ...]]  # members of a body that hold it; the list of messages is the last of them
    alternates: ClassVar[bool]  # neighbouring turns of one side are merged, and an empty turn is left out
    returns_reasoning: ClassVar[bool]  # a person can choose when and how reasoning is sent back
    pictures_in_results: ClassVar[bool]  # the result of a call may hold pictures, if it is no error
    continues_paused: ClassVar[bool]  # sending a paused answer back continues it
    libraries: ClassVar[tuple[str, ...]]  # names of client libraries in the package registries
    openai: ClassVar[OpenAIResource | None] = None  # its resource in OpenAI's libraries
    known_members: ClassVar[frozenset[str]] = frozenset()  # documented members of a part that no field holds
    key_headers: ClassVar[Mapping[str, str]] = {}  # in lower case: sent along with a key in x-api-key
    expected: ClassVar[Expected]  # rules for its answers
    marks: ClassVar[Marks]  # names that tell its bodies from those of others
    answers: ClassVar[AnswerFormat]  # makes, edits and streams its complete answers
    parameters_type: ClassVar[type[Parameters]]

    @property
    def title(self) -> str:
        """The name for people."""
        return PROTOCOLS[self.name]

    @property
    def in_words(self) -> str:
        """The name for people in the middle of a sentence."""
        return TITLES_IN_SENTENCE[self.name]

    def oddities(self, body: JSONObject) -> tuple[Oddity, ...]:
        """Return the members of a body that contradict each other. The body is sent nevertheless."""
        return tuple(self.check_body(body))

    @abstractmethod
    def check_body(self, body: JSONObject) -> Iterator[Oddity]:
        """Yield the members of a body that contradict each other."""

    # -- requests ----------------------------------------------------------------------------------------------------

    def encode(self, request: Request, *, extras: bool = True, with_extra: bool = False) -> JSONObject:
        """Return the body of a request. Only what is set is in it; the extra bodies are merged last.

        Without ``extras`` it is the body that they are merged into, the request's adaptations applied. With
        ``with_extra``, for files, a message also has the members that its answer was received with and that are not
        sent back (``Turn.extra``), under ``playground.protocols.reading.EXTRA``. Raises ValueError for content that the
        protocol cannot express.
        """
        body: JSONObject = {"model": request.model, **self._write_conversation(request, with_extra=with_extra)}
        body.update(self._write_parameters(request))
        tools = [self.write_tool(tool) for tool in request.tools if tool.sendable]
        if tools:
            body["tools"] = tools
        return request.with_extras(body) if extras else request.adapted(body)

    def check(self, request: Request) -> None:
        """Raise ValueError where ``encode`` does, quickly however long the conversation is."""
        turns = tuple(turn for turn in request.turns if self._can_fail(turn))
        self.encode(request.model_copy(update={"turns": turns}))

    @abstractmethod
    def _write_conversation(self, request: Request, *, with_extra: bool) -> JSONObject:
        """Return the members of a body with the turns of a request."""

    def _write_parameters(self, request: Request) -> JSONObject:
        """Return the members of a body with the parameters of a request."""
        return request.parameters.to_wire(request.with_extras({}))

    @abstractmethod
    def _can_fail(self, turn: Turn) -> bool:
        """Return whether the protocol may have no way to express a turn."""

    @abstractmethod
    def read_body(self, body: JSONObject) -> tuple[Request, tuple[str, ...]]:
        """Return the request that a body encodes, and sentences on what could not be kept.

        Members without a field go into ``extra_body``. Raises ValueError naming what is wrong with a message.
        """

    @abstractmethod
    def changes(self, placed: TurnContext) -> Iterator[ConversionNote]:
        """Yield what is sent of a turn in another form or place, or may be refused."""

    def entries(self, body: JSONObject) -> list[JSON]:
        """Return the messages or items of a body; a text in their place is one message."""
        value = body.get(self.conversation[-1])
        if isinstance(value, str):
            return [{"role": Role.USER.value, "content": value}]
        return value if isinstance(value, list) else []

    def choices(self, body: JSONObject) -> int:
        """Return how many answers a body asks for."""
        return 1

    def returned(self, turn: Turn) -> JSONObject:
        """Return the members of a received message (``Turn.extra``) that are sent back."""
        return {}

    def returned_with_reasoning(self, turn: Turn) -> JSONObject:
        """Return the members of a received message that are sent back whenever its reasoning is."""
        return {}

    def withheld(self, request: Request) -> str:
        """Return a phrase on the turns that are not sent because the server has them; empty if all are sent."""
        return ""

    def visible_members(self, members: JSONObject) -> JSONObject:
        """Return the members that were received with a part, as people see them: without marks of the decoder."""
        return members

    def unknown_names(self, members: JSONObject) -> list[str]:
        """Return the names of the visible members received with a part that the protocol does not document."""
        return [name for name in self.visible_members(members) if name not in self.known_members]

    def without_sealed_reasoning(self, turn: Turn) -> Turn:
        """Return a turn without encrypted reasoning, and what refers to it; the turn itself if it has none."""
        return turn

    def renamed_ids(self, turns: Iterable[Turn]) -> list[tuple[int, str, str]]:
        """Return the calls whose id is sent in another spelling: number of the turn from 0, id, id as sent."""
        return []

    # -- tools -------------------------------------------------------------------------------------------------------

    @abstractmethod
    def read_tool(self, value: JSON) -> ToolDefinition:
        """Return the tool that a definition in this protocol's shape describes. Raises ValueError with the reason."""

    @abstractmethod
    def write_tool(self, tool: ToolDefinition) -> JSONObject:
        """Return the definition of a tool in this protocol's shape."""

    def tool_changes(self, tool: ToolDefinition) -> Iterator[ConversionNote]:
        """Yield what a tool of another protocol means otherwise here."""
        return iter(())

    # -- answers -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def decoder(
        self, content_type: str | None = None, cap: int = DEFAULT_CAP, make_id: Callable[[], str] | None = None
    ) -> Decoder:
        """Return a decoder for one response body; see ``Decoder`` for the arguments."""

    def is_hosted(self, value: JSONObject) -> bool:
        """Return whether an unknown part is an item that the gateway ran, or asks for, itself."""
        return False

    def body_of_answer(self, value: JSONObject) -> JSONObject | None:
        """Return the body that sends a complete answer of this protocol back; None for other objects."""
        return None

    @abstractmethod
    def write_answer(self, answer: Accumulator, created: int) -> JSONObject:
        """Return a streamed answer as the body of one that is not streamed.

        ``created`` is a Unix time in seconds. Raises ValueError for content that the protocol cannot express.
        """

    # -- lines of code, not indented, that show an answer in languages without a client library ------------------------

    @abstractmethod
    def python_stream(self, choices: int, *, tools: bool) -> list[str]:
        """Show one parsed ``event`` of ``choices`` answers with ``print``; ``tools``: one may be a call."""

    @abstractmethod
    def python_whole(self, *, tools: bool) -> list[str]:
        """Show the answer in ``response`` with ``print``."""

    @abstractmethod
    def javascript_stream(self, choices: int, *, tools: bool) -> list[str]:
        """Show one parsed ``event`` with ``process.stdout``; see ``python_stream``."""

    @abstractmethod
    def javascript_whole(self, *, tools: bool) -> list[str]:
        """Show the answer in ``response`` with ``console``."""
