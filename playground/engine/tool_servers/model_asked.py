"""A model is asked what a tool server wants one asked, once a person has said so: as an experiment of its own.

What the server wants is but a draft here: a person edits it, and chooses the gateway, the protocol and the model.
"""

from __future__ import annotations

from playground.domain.parameters import Parameters
from playground.domain.parts import Image, Part, Text
from playground.domain.served import bytes_in, is_picture, pictures_in
from playground.domain.sizes import size_words
from playground.domain.tool_servers import DataBlock, LinkBlock, Message, OtherBlock, Sampling, TextBlock
from playground.domain.transcript import Role, Transcript, Turn, make_turn
from playground.domain.values import LongText, Value
from playground.engine.session.run import Mode
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.foreign import write
from playground.jsonkit.values import JSON
from playground.protocols.protocol import get_protocol

#: What the protocol of servers calls the ways an answer ends.
_ENDS = {
    "stop": "endTurn",
    "end_turn": "endTurn",
    "length": "maxTokens",
    "max_tokens": "maxTokens",
    "stop_sequence": "stopSequence",
}
BY_HAND = "a person"  # stands for the model of an answer that somebody typed


class Said(Value):
    """One message of what is asked: who says it, its text and pictures."""

    role: Role = Role.USER
    text: LongText = ""
    images: tuple[Image, ...] = ()


class Question(Value):
    """What is asked of a model; ``limit`` of tokens is left to the gateway where it is None."""

    said: tuple[Said, ...] = ()
    system: LongText = ""
    limit: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()


class Reply(Value):
    """What the model said; ``stop_reason`` as servers know it. ``failure`` says why there is nothing."""

    text: LongText = ""
    model: str = ""
    stop_reason: str = ""
    failure: str = ""


def question_of(ask: Sampling) -> Question:
    """What a server wants asked, to be looked at. What no message can hold has a line in its text."""
    return Question(
        said=tuple(_said(message) for message in ask.messages),
        system=ask.system,
        limit=ask.max_tokens or None,
        temperature=ask.temperature,
        stop=ask.stop,
    )


def _said(message: Message) -> Said:
    role = Role.ASSISTANT if message.role == "assistant" else Role.USER
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
    return Said(role=role, text="\n".join(lines), images=tuple(pictures_in(message.blocks)))


def prepare(session: Session, question: Question, protocol: str, model: str) -> None:
    """Have an empty experiment ask that, and nothing else."""
    turns: list[Turn] = [make_turn(Role.SYSTEM, question.system)] if question.system else []
    turns += [_turn(said) for said in question.said]
    settings = ExperimentSettings(
        profile_id=session.settings.profile_id,
        protocol=protocol,
        model=model,
        parameters={protocol: _parameters(question, protocol)},
    )
    session.experiment.literal = True  # what a server writes in braces is no variable
    session.history.reset(Transcript().append(*turns), settings)


def _turn(said: Said) -> Turn:
    parts: list[Part] = [Text(text=said.text)] if said.text else []
    return make_turn(said.role, "", *parts, *said.images)


def _parameters(question: Question, protocol: str) -> Parameters:
    parameters = get_protocol(protocol).parameters_type()
    fields = parameters.shared()
    wanted: dict[str, JSON] = {
        "limit": question.limit,
        "temperature": question.temperature,
        "stop": list(question.stop) or None,
    }
    for meaning, value in wanted.items():
        if value is not None and meaning in fields:
            field = fields[meaning]
            parameters = parameters.with_value(field.name, field.write(value))
    return parameters


async def ask(session: Session) -> Reply:
    """Ask, once. Raises RunRefusedError where that cannot be done. Stopped, what came until then is the answer."""
    before = len(session.transcript.path)
    if reason := session.next_request.refusal():
        return Reply(failure=reason)
    await session.runs.start(Mode.ONCE)
    came = session.transcript.path[before:]
    turn = next((turn for turn in reversed(came) if turn.role is Role.ASSISTANT), None)
    outcome = turn.outcome if turn is not None else None
    if turn is None or outcome is None:
        return Reply(failure="No answer came.")
    failure = outcome.failure.message if outcome.failure is not None and not turn.text else ""
    reason = outcome.finish_reason or ""
    return Reply(
        text=turn.text or turn.refusal,
        model=outcome.model or session.settings.model,
        stop_reason=_ENDS.get(reason, reason or "endTurn"),
        failure=failure,
    )
