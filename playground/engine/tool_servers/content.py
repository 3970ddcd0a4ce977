"""Content of tool servers in conversations: prompts, resources and their templates, and requests for sampling.

No server is called here. A sampling request is a draft: a person edits it, and chooses gateway, protocol and model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from playground.domain.parameters import Parameters
from playground.domain.parts import Image, Part, Text
from playground.domain.served import bytes_in, is_picture, pictures_in, text_of
from playground.domain.sizes import size_words
from playground.domain.tool_servers import (
    Block,
    DataBlock,
    LinkBlock,
    Message,
    OtherBlock,
    ResourceBlock,
    Sampling,
    ServerAnswer,
    TextBlock,
)
from playground.domain.transcript import LIMIT_REASONS, Role, Transcript, Turn, make_turn
from playground.domain.values import LongText, Value
from playground.engine.session.run import Mode
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.foreign import write
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol

_KINDS: Final = {"image": "A picture", "audio": "Sound", "blob": "A file"}

# ---- prompts and resources -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Content:
    """Text and pictures for a message. ``left_out`` are sentences on content that messages cannot hold."""

    text: str
    images: tuple[Image, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> str:
        """The amount of content in words."""
        words = [f"{len(self.text):,} character{'s' * (len(self.text) != 1)}"] if self.text else []
        words += [f"{len(self.images)} picture{'s' * (len(self.images) > 1)}"] if self.images else []
        return " and ".join(words) or "nothing"


def content_of(blocks: Iterable[Block]) -> Content:
    """Return the text and the pictures of blocks. The text of a resource follows a line with its address."""
    usable: list[Block] = []
    left_out: list[str] = []
    for block in blocks:
        if isinstance(block, DataBlock) and not is_picture(block):
            left_out.append(_reason_left_out(block))
            continue
        if isinstance(block, TextBlock | ResourceBlock) and block.cut:
            left_out.append(f"Only the first {len(block.text):,} of {block.cut:,} characters were stored.")
        usable.append(block)
    text = text_of(ServerAnswer(server="", tool="", blocks=tuple(usable)))
    return Content(text, tuple(pictures_in(usable)), tuple(left_out))


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """Return a turn for each message with content; an unknown role counts as the user's."""
    out: list[Turn] = []
    for message in messages:
        content, role = content_of(message.blocks), _role(message)
        images: tuple[Part, ...] = content.images if role is Role.USER else ()
        if content.text or images:
            out.append(make_turn(role, content.text, *images))
    return out


def _role(message: Message) -> Role:
    return Role.ASSISTANT if message.role == "assistant" else Role.USER


def _reason_left_out(block: DataBlock) -> str:
    words = f"{_KINDS[block.kind]} ({', '.join(filter(None, (block.mime, block.uri)))})".replace(" ()", "")
    if block.cut:
        return f"{words} of {size_words(block.cut)} is left out: it was too large to store."
    if block.kind == "image" or block.mime.startswith("image/"):
        return f"{words} is left out: gateways read PNG, JPEG, GIF and WebP."
    return f"{words} is left out: messages hold text and pictures only."


# ---- templates of addresses: RFC 6570, all four levels, with texts for values ----------------------------------------

_EXPRESSION: Final = re.compile(r"\{([+#./;?&]?)([\w.%]+(?::\d{1,4}|\*)?(?:,[\w.%]+(?::\d{1,4}|\*)?)*)\}")
_RESERVED: Final = ":/?#[]@!$&'()*+,;="
#: By operator: the text before the expression, the separator of values, and whether names are written.
_OPERATORS: Final = {
    "": ("", ",", False),
    "+": ("", ",", False),
    "#": ("#", ",", False),
    ".": (".", ".", False),
    "/": ("/", "/", False),
    ";": (";", ";", True),
    "?": ("?", "&", True),
    "&": ("&", "&", True),
}


def names_of(template: str) -> tuple[str, ...]:
    """Return the names of a template's variables in order, each once."""
    names = (name for match in _EXPRESSION.finditer(template) for name in match[2].split(","))
    return tuple(dict.fromkeys(_variable(name)[0] for name in names))


def fill(template: str, values: dict[str, str]) -> str:
    """Expand a template. A variable without a value is left out; text that is no expression stays."""

    def expand(match: re.Match[str]) -> str:
        before, separator, has_names = _OPERATORS[match[1]]
        safe = _RESERVED if match[1] in ("+", "#") else ""
        out: list[str] = []
        for specification in match[2].split(","):
            name, length = _variable(specification)
            if value := values.get(name, ""):
                text = quote(value[:length], safe=safe + "-._~")
                out.append(f"{name}={text}" if has_names else text)
        return before + separator.join(out) if out else ""

    return _EXPRESSION.sub(expand, template)


def _variable(specification: str) -> tuple[str, int | None]:
    """Return the name of a variable and the number of characters to use of its value, None for all."""
    name, _, length = specification.rstrip("*").partition(":")
    return name, int(length) if length else None


# ---- requests for sampling -------------------------------------------------------------------------------------------

#: Stop reasons of MCP by those of the gateways.
_STOP_REASONS = {
    "stop": "endTurn",
    "end_turn": "endTurn",
    "completed": "endTurn",
    **dict.fromkeys(LIMIT_REASONS, "maxTokens"),
    "stop_sequence": "stopSequence",
}
BY_HAND = "a person"  # the model of an answer that was typed


class SamplingMessage(Value):
    """One message of a question: its role, text and pictures."""

    role: Role = Role.USER
    text: LongText = ""
    images: tuple[Image, ...] = ()


class Question(Value):
    """The draft of a request to a model; with a ``limit`` of None the gateway chooses the number of tokens."""

    turns: tuple[SamplingMessage, ...] = ()
    system: LongText = ""
    limit: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()


class Reply(Value):
    """The answer of a model, with the stop reason as MCP names it. ``failure`` is the reason of an empty answer."""

    text: LongText = ""
    model: str = ""
    stop_reason: str = ""
    failure: str = ""


def question_of(ask: Sampling) -> Question:
    """Return the draft for a server's request. Content that no message can hold has a line in the text."""
    return Question(
        turns=tuple(_sampling_message(message) for message in ask.messages),
        system=ask.system,
        limit=ask.max_tokens or None,
        temperature=ask.temperature,
        stop=ask.stop,
    )


def _sampling_message(message: Message) -> SamplingMessage:
    lines = []
    for block in message.blocks:
        if isinstance(block, DataBlock) and not is_picture(block):
            size = size_words(block.cut or bytes_in(block.data))
            lines.append(f"[{block.kind}, {' '.join(block.mime[:200].split())}, {size}, not sent]")
        elif isinstance(block, LinkBlock):
            lines.append(f"[Link to {' '.join(block.uri[:500].split())}]")
        elif isinstance(block, OtherBlock):
            lines.append(write(block.value))
        elif not isinstance(block, DataBlock):
            lines.append(block.text + ("\n[cut]" if isinstance(block, TextBlock) and block.cut else ""))
    return SamplingMessage(role=_role(message), text="\n".join(lines), images=tuple(pictures_in(message.blocks)))


def prepare(session: Session, question: Question, protocol: str, model: str) -> None:
    """Replace the content of an empty experiment by the question."""
    turns: list[Turn] = [make_turn(Role.SYSTEM, question.system)] if question.system else []
    for message in question.turns:
        parts: list[Part] = [Text(text=message.text)] if message.text else []
        turns.append(make_turn(message.role, "", *parts, *message.images))
    settings = ExperimentSettings(
        profile_id=session.settings.profile_id,
        protocol=protocol,
        model=model,
        parameters={protocol: _parameters(question, protocol)},
    )
    session.experiment.literal = True  # braces in a server's text are no variables
    session.history.reset(Transcript().append(*turns), settings)


def _parameters(question: Question, protocol: str) -> Parameters:
    parameters = get_protocol(protocol).parameters_type()
    fields = parameters.shared()
    values: dict[str, JSON] = {
        "limit": question.limit,
        "temperature": question.temperature,
        "stop": list(question.stop) or None,
    }
    for meaning, value in values.items():
        if value is not None and meaning in fields:
            field = fields[meaning]
            parameters = parameters.with_value(field.name, field.write(value))
    return parameters


async def ask(session: Session) -> Reply:
    """Send the prepared question once. A stopped run replies with the text received. Raises RunRefusedError."""
    before = len(session.transcript.path)
    if reason := session.next_request.refusal():
        return Reply(failure=reason)
    await session.runs.start(Mode.ONCE)
    turn = next((turn for turn in reversed(session.transcript.path[before:]) if turn.role is Role.ASSISTANT), None)
    outcome = turn.outcome if turn is not None else None
    if turn is None or outcome is None:
        return Reply(failure="No answer was received.")
    failure = outcome.failure.message if outcome.failure is not None and not turn.text else ""
    reason = outcome.finish_reason or ""
    return Reply(
        text=turn.text or turn.refusal,
        model=outcome.model or session.settings.model,
        stop_reason=_STOP_REASONS.get(reason, reason or "endTurn"),
        failure=failure,
    )


def sampling_result(message: Message, model: str, stop_reason: str) -> JSONObject:
    """Return the result for the server: one block with all texts joined; a picture or sound only without text."""
    texts = [block.text for block in message.blocks if isinstance(block, TextBlock)]
    content: JSONObject = {"type": "text", "text": "\n\n".join(texts)}
    media = [block for block in message.blocks if isinstance(block, DataBlock) and block.kind != "blob"]
    if media and not texts:
        content = {"type": media[0].kind, "data": media[0].data, "mimeType": media[0].mime}
    return {"role": message.role, "content": content, "model": model, "stopReason": stop_reason}
