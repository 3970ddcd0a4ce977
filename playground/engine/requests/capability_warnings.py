"""Warnings about a request that does not fit the model's entry in the gateway's list: capabilities and token limits.

The list may be wrong or old, so the request is sent nevertheless.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from playground.domain.model_facts import BY_LIST, ModelFacts
from playground.domain.parameters import Parameters
from playground.domain.parts import Image
from playground.jsonkit import foreign
from playground.jsonkit.merge import MemberPath
from playground.protocols.oddities import Oddity
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.domain.request import Request
    from playground.engine.session.session import Session

NO_TOOLS: Final = f"the model calls no tools, {BY_LIST}; they are sent anyway"
NO_IMAGES: Final = f"the model does not support images, {BY_LIST}; they are sent anyway"
NO_SCHEMA: Final = f"the model does not support JSON schemas, {BY_LIST}; it is sent anyway"
NOT_SUPPORTED: Final = f"the model does not take it, {BY_LIST}; it is sent anyway"

TOOLS: Final[MemberPath] = ("tools",)
#: Fields that need no warning of their own if the model calls no tools.
_ABOUT_TOOLS: Final = frozenset({*TOOLS, "tool_choice", "parallel_tool_calls"})
#: Fields about the transport or the account, which no list of models names.
_UNLISTED: Final = frozenset(
    """
    stream stream_options n user metadata store service_tier safety_identifier extra_body
    include truncation previous_response_id prompt_cache_key max_tool_calls
    """.split()  # noqa: SIM905 - a list of names reads worse
)
#: Names of one setting in the lists of gateways and in protocols.
_SYNONYMS: Final = (
    frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"}),
    frozenset({"reasoning", "reasoning_effort", "include_reasoning", "thinking", "output_config", "effort"}),
    frozenset({"stop", "stop_sequences"}),
    frozenset({"logprobs", "top_logprobs"}),
    frozenset({"response_format", "structured_outputs", "output_format", "output_config"}),
)


def capability_warnings(request: Request, facts: ModelFacts) -> tuple[Oddity, ...]:
    """Return the warnings about a request, its turns included."""
    return tuple(_warnings(request, facts)) if facts.is_known else ()


def settings_warnings(session: Session) -> tuple[Oddity, ...]:
    """Return the warnings about the settings of a session, its turns not included."""
    request = session.next_request.build(tip=None)
    return capability_warnings(request, session.facts(request.model))


def warning_sentences(warnings: Iterable[Oddity], path: MemberPath) -> str:
    """Return the warnings about the field at ``path`` as sentences; empty without any."""
    phrases = dict.fromkeys(warning.words for warning in warnings if warning.is_about(path))
    return " ".join(f"{phrase[:1].upper()}{phrase[1:]}." for phrase in phrases)


def image_warning(facts: ModelFacts, images: int) -> str:
    """Return a sentence on a number of images that a model refuses; empty without a problem."""
    return f"{NO_IMAGES[:1].upper()}{NO_IMAGES[1:]}." if images and facts.takes("image") is False else ""


def _warnings(request: Request, facts: ModelFacts) -> Iterator[Oddity]:
    protocol = get_protocol(request.protocol)
    if facts.tools is False and any(tool.sendable for tool in request.tools):
        yield Oddity(TOOLS, NO_TOOLS)
    has_image = any(isinstance(part, Image) for turn in request.turns for part in turn.parts)
    if has_image and facts.takes("image") is False:
        yield Oddity((protocol.conversation[-1],), NO_IMAGES)
    parameters = request.parameters
    for name, path in type(parameters).places().items():
        value = getattr(parameters, name)
        if value is None or parameters.is_ours(name):
            continue
        is_schema = name == "response_format" and isinstance(value, dict) and value.get("type") == "json_schema"
        if is_schema and facts.schema_kept is False:
            yield Oddity(path, NO_SCHEMA)
        elif facts.parameters and not _is_listed({path[0], name}, facts.parameters, facts):
            yield Oddity(path, NOT_SUPPORTED)


def _is_listed(names: set[str], listed: frozenset[str], facts: ModelFacts) -> bool:
    """Return whether the list has one of a field's names or a synonym, or never names such fields."""
    if names & (listed | _UNLISTED) or (names & _ABOUT_TOOLS and facts.tools is not False):
        return True
    return any(synonyms & names and synonyms & listed for synonyms in _SYNONYMS)


# ---- limits of tokens ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ContextLimits:
    """Limits of a model in tokens (None: unknown), and the ``requested`` limit of the output."""

    context: int | None = None
    output: int | None = None
    requested: int | None = None

    @property
    def words(self) -> str:
        """A sentence on the size of the context; empty if it is unknown."""
        return f"The model takes {self.context:,} tokens, {BY_LIST}." if self.context is not None else ""

    def problem(self, prompt: int) -> str:
        """Return a sentence on a prompt of about that many tokens that does not fit; empty without a problem."""
        if self.context is None:
            return ""
        limit = f"the {self.context:,} that the model takes {BY_LIST}"
        if prompt > self.context:
            return f"About {prompt:,} tokens are more than {limit}."
        if self.requested is not None and prompt + self.requested > self.context:
            return f"About {prompt:,} tokens and up to {self.requested:,} that may be written are more than {limit}."
        return ""


NO_LIMITS: Final = ContextLimits()


def context_limits(facts: ModelFacts, parameters: Parameters) -> ContextLimits:
    """Return the limits of a model, and the limit in the parameters."""
    limit = limit_field(parameters)
    requested = foreign.count_of(getattr(parameters, limit, None)) if limit else None
    return ContextLimits(facts.context, facts.output, requested if requested is not None and requested > 0 else None)


def limit_field(parameters: Parameters) -> str:
    """Return the name of the field that limits the output; empty without one."""
    shared = parameters.shared().get("limit")
    return shared.name if shared is not None else ""


def output_limit_words(facts: ModelFacts, parameters: Parameters) -> tuple[str, bool]:
    """Return a phrase on the model's output limit, and whether the parameters exceed it."""
    if facts.output is None:
        return "", False
    requested = context_limits(facts, parameters).requested
    if requested is not None and requested > facts.output:
        return f"more than the {facts.output:,} that the model writes at most, {BY_LIST}", True
    return f"the model writes {facts.output:,} at most, {BY_LIST}", False
