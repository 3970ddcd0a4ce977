"""The chat-completions protocol (specification, section 4.1)."""

from __future__ import annotations

from playground.domain.parameters import Parameters
from playground.protocols import MESSAGES, PROTOCOLS
from playground.protocols.protocol import Facet, MakeDecoder, Protocol


class ChatProtocol(Protocol):
    """Conversation and tools are members of one list of messages; reasoning goes back as a person chooses."""

    name = "chat"
    in_words = PROTOCOLS[name]
    endpoint = "chat/completions"
    served_as = "chat/completions", "openai"
    conversation = (MESSAGES,)
    libraries = ("openai",)
    alternates = False
    returns_reasoning = True
    pictures_in_results = False
    continues_paused = False

    parameters_type: Facet[type[Parameters]] = Facet("parameters.ChatParameters")
    decoder: Facet[MakeDecoder] = Facet("decode.ChatDecoder")


PROTOCOL = ChatProtocol()
