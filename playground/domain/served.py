"""Conversion of a tool server's answer to a tool result: text, pictures, and a line for each unsupported block.

These lines are part of the text, so that a person sees them and can edit them before sending. Pictures are sent if the
protocol supports them in results; otherwise ``sent_text`` has a line for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from playground.domain.debugging import Answer
from playground.domain.parts import Image, ToolResult
from playground.domain.sizes import size_words
from playground.domain.tool_servers import (
    Block,
    DataBlock,
    LinkBlock,
    OtherBlock,
    ResourceBlock,
    ServerAnswer,
    TextBlock,
)
from playground.jsonkit.foreign import write
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON

MOST_BLOCKS: Final = 1_000  # blocks of one answer that are read
MOST_PICTURES: Final = 100  # pictures of one answer that are sent
PICTURES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")  # types that gateways accept
_COMPARED: Final = 200_000  # characters of JSON text that are compared with the structured content
_LARGEST: Final = 400_000  # characters of structured content that are sent as text
_TOO_LARGE: Final = f"Structured content of more than {_LARGEST:,} characters, not sent"
_LONGEST: Final = 500  # characters of a URL, a name or a type in a line
_DATA_URL: Final = re.compile(r"data:([^;,]*)[^,]*,")


def answer_of(served: ServerAnswer) -> Answer:
    """Return the answer for a call. Without any blocks its text is the structured content."""
    return Answer(
        text=text_of(served), is_error=served.is_error, images=tuple(pictures_in(served.blocks)), served=served
    )


def as_served(text: str, served: ServerAnswer) -> bool:
    """Return whether a text equals that of ``answer_of``, so that it was not edited."""
    return text == text_of(served)


def text_of(served: ServerAnswer) -> str:
    """Return the text of an answer, with a line for each unsupported block."""
    if not served.blocks and served.structured is not None:
        large = weight(served.structured, _LARGEST) > _LARGEST
        return f"[{_TOO_LARGE}]" if large else write(served.structured)
    lines = [_words(block) for block in served.blocks[:MOST_BLOCKS] if not is_picture(block)]
    return "\n".join(line for line in (*lines, *(f"[{words}]" for words in _too_many(served))) if line)


def pictures_in(blocks: Sequence[Block]) -> list[Image]:
    """Return the first ``MOST_PICTURES`` supported pictures, in order."""
    pictures = (block for block in blocks[:MOST_BLOCKS] if isinstance(block, DataBlock) and is_picture(block))
    return [
        Image(url=f"data:{_type(block)};base64,{block.data}", name=_line(block.uri) or None)
        for block in islice(pictures, MOST_PICTURES)
    ]


def _too_many(served: ServerAnswer) -> list[str]:
    """Return a line each for blocks and pictures above the limits."""
    out = []
    pictures = sum(is_picture(block) for block in served.blocks[:MOST_BLOCKS])
    if pictures > MOST_PICTURES:
        out.append(f"{pictures - MOST_PICTURES:,} more pictures, not sent: {MOST_PICTURES} go along at most")
    if len(served.blocks) > MOST_BLOCKS:
        out.append(f"{len(served.blocks) - MOST_BLOCKS:,} more blocks, not sent: {MOST_BLOCKS:,} are read at most")
    return out


def is_picture(block: Block) -> bool:
    """Return whether a block is a stored picture of a supported type."""
    return isinstance(block, DataBlock) and block.kind != "audio" and _type(block) in PICTURES and bool(block.data)


def unsaid(served: ServerAnswer) -> tuple[str, ...]:
    """Return a line with the reason for each piece of an answer that is missing in its result."""
    out: list[str] = []
    if served.structured is not None and not served.blocks and weight(served.structured, _LARGEST) > _LARGEST:
        out.append(_TOO_LARGE)
    elif served.structured is not None and served.blocks and not _says(served, served.structured):
        out.append("Structured content: the text is sent in its place")
    for block in served.blocks[:MOST_BLOCKS]:
        if isinstance(block, DataBlock) and not is_picture(block):
            out.append(f"{_what(block)}: {_why(block)}; a line says that it was there")
        elif isinstance(block, LinkBlock):
            out.append(f"What {_line(block.uri)} leads to: the link is named")
        elif isinstance(block, TextBlock | ResourceBlock) and block.cut:
            out.append(_cut_note(block))
    return (*out, *_too_many(served), *served.lost)


def sent_text(result: ToolResult | Answer, *, pictures: bool) -> str:
    """Return the text to send, with a line for each picture unless the protocol supports ``pictures`` in results."""
    text = result.body if isinstance(result, Answer) else result.text
    if not result.images or carries(result, pictures=pictures):
        return text
    return "\n".join([text] * bool(text) + [picture_line(image) for image in result.images])


def carries(result: ToolResult | Answer, *, pictures: bool) -> bool:
    """Return whether a result is sent with its pictures: the protocol supports ``pictures``, and it is not an error."""
    return pictures and not result.is_error


def picture_line(image: Image) -> str:
    """Return the line that is sent in place of a picture."""
    match = _DATA_URL.match(image.url[:_LONGEST])
    if match is None:
        return f"[Picture at {_line(image.url)}, not sent: this result is text only]"
    size = size_words(bytes_in(image.url, match.end()))
    return f"[Picture, {_line(match.group(1))}, {size}, not sent: this result is text only]"


def bytes_in(text: str, start: int = 0) -> int:
    """Return the number of bytes that base64 text encodes, from index ``start`` on."""
    return max((len(text) - start) * 3 // 4 - text[-2:].count("="), 0)


def weight(value: JSON, most: int) -> int:
    """Estimate the characters of a value as JSON; counting stops above ``most``."""
    size, pending = 0, [value]
    while pending and size <= most:
        item = pending.pop()
        size += 4
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, dict):
            size += sum(len(name) + 4 for name in item)
            pending += item.values()
        elif isinstance(item, list):
            pending += item
    return size


def _words(block: Block) -> str:
    match block:
        case TextBlock():
            return f"{block.text}\n[{_cut_note(block)}]" if block.cut else block.text
        case ResourceBlock():
            about = ", ".join(filter(None, (f"Resource {_line(block.uri)}", _line(block.mime))))
            return f"[{about}]\n{block.text}" + (f"\n[{_cut_note(block)}]" if block.cut else "")
        case DataBlock():
            return f"[{_what(block)}, not sent: {_why(block)}]"
        case LinkBlock():
            size = size_words(block.size) if block.size is not None else ""
            named = [f"Link to {_line(block.uri)}", _line(block.title or block.name), _line(block.mime), size]
            words = f"[{', '.join(filter(None, named))}]"
            return f"{words}\n{block.description}" if block.description else words
        case OtherBlock():
            return write(block.value)


def _what(block: DataBlock) -> str:
    kind = {"image": "Picture", "audio": "Sound"}.get(block.kind, "Bytes")
    size = size_words(block.cut or bytes_in(block.data))
    return ", ".join(filter(None, (f"{kind} of {_line(block.uri)}" if block.uri else kind, _line(block.mime), size)))


def _why(block: DataBlock) -> str:
    if block.cut or not block.data:
        return "too large to store" if block.cut else "it is empty"
    if block.kind == "image" or block.mime.startswith("image/"):
        return "gateways read PNG, JPEG, GIF and WebP"
    return "results of calls hold no sound" if block.kind == "audio" else "results of calls hold no files"


def _cut_note(block: TextBlock | ResourceBlock) -> str:
    return f"Cut: the first {len(block.text):,} of {block.cut:,} characters"


def _says(served: ServerAnswer, value: JSON) -> bool:
    """Return whether a text block equals the structured content; only ``_COMPARED`` characters are compared."""
    budget = _COMPARED
    texts = (block.text for block in served.blocks[:MOST_BLOCKS] if isinstance(block, TextBlock) and not block.cut)
    for text in texts:
        if len(text) > budget:
            continue
        budget -= len(text)
        try:
            if parse_json(text) == value:
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _type(block: DataBlock) -> str:
    """Return the media type without parameters."""
    return block.mime.partition(";")[0].strip().lower()


def _line(text: str) -> str:
    """Return a text cut and on one line."""
    return " ".join(cut(text, _LONGEST).split())
