"""What of a request does not go with what the gateway's list says of the model: said, and sent all the same.

The list may be wrong, or old: nothing here keeps anything from going out. No Qt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from playground.domain.model_facts import BY_LIST, ModelFacts
from playground.domain.parts import Image
from playground.domain.transcript import Turn
from playground.jsonkit.merge import MemberPath
from playground.protocols.oddities import Oddity
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.domain.request import Request
    from playground.engine.session.session import Session

NO_TOOLS: Final = f"the model calls no tools, {BY_LIST}; they are sent all the same"
NO_IMAGES: Final = f"the model takes no images, {BY_LIST}; they are sent all the same"
NO_SCHEMA: Final = f"the model does not keep to a JSON schema, {BY_LIST}; it is sent all the same"
NOT_SUPPORTED: Final = f"the model does not take it, {BY_LIST}; it is sent all the same"

TOOLS: Final[MemberPath] = ("tools",)
#: Fields that are about tools: where none are called, that is said of the tools.
_ABOUT_TOOLS: Final = frozenset({*TOOLS, "tool_choice", "parallel_tool_calls"})
_FORMAT: Final = "response_format"
_SCHEMA: Final = "json_schema"
#: Fields that lists do not name, since they are about how an answer comes, or by whom it is asked for.
_UNNAMED: Final = frozenset(
    {"stream", "stream_options", "n", "user", "metadata", "store", "service_tier", "safety_identifier", "extra_body"}
)
#: Names of one thing, by gateways and protocols.
_ALIKE: Final = (
    frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"}),
    frozenset({"reasoning", "reasoning_effort", "include_reasoning", "thinking", "output_config", "effort"}),
    frozenset({"stop", "stop_sequences"}),
    frozenset({"logprobs", "top_logprobs"}),
    frozenset({_FORMAT, "structured_outputs", "output_format", "output_config"}),
)


def told_flags(request: Request, facts: ModelFacts) -> tuple[Oddity, ...]:
    """What of a request does not go with what is told of its model; the turns are looked at as well."""
    return tuple(_flags(request, facts)) if facts.is_known else ()


def flags_now(session: Session) -> tuple[Oddity, ...]:
    """The same for what is set in a session, without its turns."""
    request = session.next_request.build(tip=None)
    return told_flags(request, session.facts(request.model))


def flags_about(flags: Iterable[Oddity], path: MemberPath) -> str:
    """What is said of the field at ``path``, as a sentence for each; empty for nothing."""
    words = dict.fromkeys(flag.words for flag in flags if flag.is_about(path))
    return " ".join(f"{one[:1].upper()}{one[1:]}." for one in words)


def image_flag(facts: ModelFacts, images: int) -> str:
    """What is said of so many images that would be sent; empty for nothing."""
    return f"{NO_IMAGES[:1].upper()}{NO_IMAGES[1:]}." if images and facts.takes("image") is False else ""


def _flags(request: Request, facts: ModelFacts) -> Iterator[Oddity]:
    protocol = get_protocol(request.protocol)
    if facts.tools is False and any(tool.sendable for tool in request.tools):
        yield Oddity(TOOLS, NO_TOOLS)
    if facts.takes("image") is False and _has_image(request.turns):
        yield Oddity((protocol.conversation[-1],), NO_IMAGES)
    parameters = request.parameters
    for name, path in type(parameters).places().items():
        value = getattr(parameters, name)
        if value is None or parameters.is_ours(name):
            continue
        schema = name == _FORMAT and isinstance(value, dict) and value.get("type") == _SCHEMA
        if schema and facts.schema_kept is False:
            yield Oddity(path, NO_SCHEMA)
        elif facts.parameters is not None and not _supported(path[0], name, facts):
            yield Oddity(path, NOT_SUPPORTED)


def _supported(member: str, name: str, facts: ModelFacts) -> bool:
    """Whether the list names a field, by any name there is for it, or says nothing of such fields."""
    told = facts.parameters or frozenset()
    if not told or {member, name} & (told | _UNNAMED):
        return True
    if member in _ABOUT_TOOLS and facts.tools is not False:
        return True
    return any(names & {member, name} and names & told for names in _ALIKE)


def _has_image(turns: Iterable[Turn]) -> bool:
    return any(isinstance(part, Image) for turn in turns for part in turn.parts)
