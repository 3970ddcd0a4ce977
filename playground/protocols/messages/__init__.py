"""The native messages protocol (specification, section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping

from playground.domain.parameters import Parameters
from playground.protocols import MESSAGES
from playground.protocols.protocol import Facet, MakeDecoder, Protocol


class MessagesProtocol(Protocol):
    """The system prompt stands beside the messages, in which user and assistant alternate."""

    name = "messages"
    in_words = "the Messages protocol"
    endpoint = "messages"
    served_as = "messages", "anthropic"
    conversation = ("system", MESSAGES)
    libraries = ("anthropic",)
    alternates = True
    returns_reasoning = False
    pictures_in_results = True
    continues_paused = True
    #: By the public protocol; the specification is silent, section 5.
    key_headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}

    parameters_type: Facet[type[Parameters]] = Facet("parameters.MessagesParameters")
    decoder: Facet[MakeDecoder] = Facet("decode.MessagesDecoder")


PROTOCOL = MessagesProtocol()
