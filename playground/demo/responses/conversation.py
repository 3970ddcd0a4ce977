"""Makes turns of a list of items, and refuses lists in which calls, results and reasoning do not fit together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from playground.demo.generation import Turn
from playground.demo.images import Picture
from playground.demo.request_model import RequestModel
from playground.demo.responses.errors import ResponsesError
from playground.demo.responses.items import (
    Compaction,
    HostedItem,
    InputFile,
    InputImage,
    InputText,
    ItemReference,
    Message,
    OutputText,
    Reasoning,
    Refusal,
    ToolCall,
    ToolOutput,
)
from playground.demo.responses.sealing import unseal
from playground.demo.responses.store import ResponseStore


def read_turns(items: Sequence[RequestModel], model_id: str) -> tuple[Turn, ...]:
    """Return the items as turns. Raises ResponsesError where a call has no result, or a result no call."""
    turns: list[Turn] = []
    open_calls: dict[str, ToolCall] = {}
    for item in items:
        if isinstance(item, Message) and item.role != "assistant":
            _check_answered(open_calls)
            turns.append(_message_turn(item))
        elif isinstance(item, Message):
            _extend(turns, Turn("assistant", _text(item.content)))
        elif isinstance(item, ToolCall):
            open_calls[item.call_id] = item
            _extend(turns, Turn("assistant", calls=(item.call(),)))
        elif isinstance(item, ToolOutput):
            if open_calls.pop(item.call_id, None) is None:
                message = f"No tool call found for {item.noun} output with call_id {item.call_id}."
                raise ResponsesError(message, param="input")
            turns.append(Turn("tool", _text(item.output), call_id=item.call_id))
        elif isinstance(item, Compaction):
            turns = [Turn("system", _unsealed(item.encrypted_content, item.id, model_id))]
    _check_answered(open_calls)
    return tuple(turns)


def check_reasoning(items: Sequence[RequestModel], model_id: str, store: ResponseStore) -> None:
    """Raise ResponsesError for reasoning that is alone, not stored, or sealed by another model."""
    for item, following in zip(items, (*items[1:], None), strict=True):
        if not isinstance(item, Reasoning):
            continue
        if item.encrypted_content and " " not in item.encrypted_content:  # some gateways send plain text in it
            _unsealed(item.encrypted_content, item.id, model_id)
        if item.id is None:
            continue
        is_readable = item.encrypted_content is not None or item.summary or item.content
        if not is_readable and store.item(item.id) is None:
            raise missing_item(item.id)
        if not _is_output(following):
            message = f"Item '{item.id}' of type 'reasoning' was provided without its required following item."
            raise ResponsesError(message, param="input")


def missing_item(item_id: str) -> ResponsesError:
    """Return the 404 for an item that is not stored."""
    message = (
        f"Item with id '{item_id}' not found. Items are not persisted when `store` is set to false. "
        "Try again with `store` set to true, or remove this item from your input."
    )
    return ResponsesError(message, status=404, param="input")


def _is_output(item: RequestModel | None) -> bool:
    """Return whether ``item`` can follow reasoning: it is one that a model makes."""
    if isinstance(item, Message):
        return item.role == "assistant"
    return isinstance(item, ToolCall | HostedItem | Reasoning | ItemReference)


def _check_answered(open_calls: dict[str, ToolCall]) -> None:
    for call_id, call in open_calls.items():
        raise ResponsesError(f"No tool output found for {call.noun} {call_id}.", param="input")


def _unsealed(sealed: str, item_id: str | None, model_id: str) -> str:
    try:
        return unseal(sealed, model_id)
    except ValueError:
        message = (
            f"The encrypted content for item {item_id or '(without an id)'} could not be verified. "
            "Reason: Encrypted content could not be decrypted or parsed."
        )
        raise ResponsesError(message, reason="invalid_encrypted_content", param="input") from None


def _extend(turns: list[Turn], more: Turn) -> None:
    """Add to the last turn of the assistant, or begin one: its items are siblings in this protocol."""
    if not turns or turns[-1].role != "assistant":
        turns.append(more)
        return
    text = "\n".join(part for part in (turns[-1].text, more.text) if part)
    turns[-1] = replace(turns[-1], text=text, calls=(*turns[-1].calls, *more.calls))


def _message_turn(message: Message) -> Turn:
    pictures = tuple(_picture(part) for part in message.content if isinstance(part, InputImage))
    return Turn("user" if message.role == "user" else "system", _text(message.content), pictures)


def _picture(part: InputImage) -> Picture:
    if part.image_url is None:
        return Picture(address=f"file {part.file_id}", detail=part.detail)
    return replace(part.image_url, detail=part.detail)


def _text(parts: Iterable[RequestModel]) -> str:
    lines: list[str] = []
    for part in parts:
        if isinstance(part, InputText | OutputText):
            lines.append(part.text)
        elif isinstance(part, Refusal):
            lines.append(part.refusal)
        elif isinstance(part, InputFile):
            lines.append(part.label())
    return "\n".join(lines)
