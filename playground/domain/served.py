"""What a tool server answered, as the answer to a call: its text, its pictures, and what is said for all that no result
of a call can hold. What is said stands in the text, where it is seen and can be changed before it is sent.

Pictures go along where the protocol carries them in results; ``sent_text`` has a line for each where it does not.
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

MOST_BLOCKS: Final = 1_000  # of one answer that are looked at
MOST_PICTURES: Final = 100  # that go along
PICTURES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")  # those that gateways read
_COMPARED: Final = 200_000  # characters of JSON that are read to see whether they say the same
_LARGEST: Final = 400_000  # characters of structured content that become a text
_TOO_LARGE: Final = f"Structured content of more than {_LARGEST:,} characters, not sent"
_LONGEST: Final = 500  # characters of an address, a name or a type in a line
_DATA_URL: Final = re.compile(r"data:([^;,]*)[^,]*,")


def answer_of(served: ServerAnswer) -> Answer:
    """The answer that is made ready for a call. An answer without any block has its structured content for text."""
    return Answer(
        text=text_of(served), is_error=served.is_error, images=tuple(pictures_in(served.blocks)), served=served
    )


def as_served(text: str, served: ServerAnswer) -> bool:
    """Whether a text is what ``answer_of`` makes of it: nobody edited it."""
    return text == text_of(served)


def text_of(served: ServerAnswer) -> str:
    """All that can be said of an answer in text."""
    if not served.blocks and served.structured is not None:
        large = weight(served.structured, _LARGEST) > _LARGEST
        return f"[{_TOO_LARGE}]" if large else write(served.structured)
    lines = [_words(block) for block in served.blocks[:MOST_BLOCKS] if not is_picture(block)]
    return "\n".join(line for line in (*lines, *(f"[{words}]" for words in _too_many(served))) if line)


def pictures_in(blocks: Sequence[Block]) -> list[Image]:
    """The pictures that gateways read, in order; the first ones of very many."""
    found = (block for block in blocks[:MOST_BLOCKS] if isinstance(block, DataBlock) and is_picture(block))
    return [
        Image(url=f"data:{_type(block)};base64,{block.data}", name=_line(block.uri) or None)
        for block in islice(found, MOST_PICTURES)
    ]


def _too_many(served: ServerAnswer) -> list[str]:
    """What is left out because there is too much of it."""
    out = []
    pictures = sum(is_picture(block) for block in served.blocks[:MOST_BLOCKS])
    if pictures > MOST_PICTURES:
        out.append(f"{pictures - MOST_PICTURES:,} more pictures, not sent: {MOST_PICTURES} go along at most")
    if len(served.blocks) > MOST_BLOCKS:
        out.append(f"{len(served.blocks) - MOST_BLOCKS:,} more blocks, not sent: {MOST_BLOCKS:,} are read at most")
    return out


def is_picture(block: Block) -> bool:
    """Whether a block is a picture that was kept, of a kind that gateways read."""
    return isinstance(block, DataBlock) and block.kind != "audio" and _type(block) in PICTURES and bool(block.data)


def unsaid(served: ServerAnswer) -> tuple[str, ...]:
    """What of an answer is not in the result that is made of it, a line each with the reason."""
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
            out.append(_kept(block))
    return (*out, *_too_many(served), *served.lost)


def sent_text(result: ToolResult | Answer, *, pictures: bool) -> str:
    """The text as it goes out: with a line for each picture, where the protocol carries none in results."""
    text = result.body if isinstance(result, Answer) else result.text
    if not result.images or carries(result, pictures=pictures):
        return text
    return "\n".join([text] * bool(text) + [picture_line(image) for image in result.images])


def carries(result: ToolResult | Answer, *, pictures: bool) -> bool:
    """Whether the pictures of a result go along; ``pictures``: the protocol carries them. An error is text only."""
    return pictures and not result.is_error


def picture_line(image: Image) -> str:
    """What is sent in the place of a picture."""
    found = _DATA_URL.match(image.url[:_LONGEST])
    if found is None:
        return f"[Picture at {_line(image.url)}, not sent: this result is text only]"
    size = size_words(bytes_in(image.url, found.end()))
    return f"[Picture, {_line(found.group(1))}, {size}, not sent: this result is text only]"


def bytes_in(text: str, start: int = 0) -> int:
    """How many bytes a text in base64 holds, from ``start`` on."""
    return max((len(text) - start) * 3 // 4 - text[-2:].count("="), 0)


def weight(value: JSON, most: int) -> int:
    """About how many characters a value has as JSON; nothing is counted behind ``most``."""
    found, left = 0, [value]
    while left and found <= most:
        one = left.pop()
        found += 4
        if isinstance(one, str):
            found += len(one)
        elif isinstance(one, dict):
            found += sum(len(name) + 4 for name in one)
            left += one.values()
        elif isinstance(one, list):
            left += one
    return found


def _words(block: Block) -> str:
    match block:
        case TextBlock():
            return f"{block.text}\n[{_kept(block)}]" if block.cut else block.text
        case ResourceBlock():
            about = ", ".join(filter(None, (f"Resource {_line(block.uri)}", _line(block.mime))))
            return f"[{about}]\n{block.text}" + (f"\n[{_kept(block)}]" if block.cut else "")
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
        return "too large to be kept" if block.cut else "it is empty"
    if block.kind == "image" or block.mime.startswith("image/"):
        return "gateways read PNG, JPEG, GIF and WebP"
    return "results of calls hold no sound" if block.kind == "audio" else "results of calls hold no files"


def _kept(block: TextBlock | ResourceBlock) -> str:
    return f"Cut: the first {len(block.text):,} of {block.cut:,} characters"


def _says(served: ServerAnswer, value: JSON) -> bool:
    """Whether a text says the same as the structured content, as far as that is quickly seen."""
    left = _COMPARED
    texts = (block.text for block in served.blocks[:MOST_BLOCKS] if isinstance(block, TextBlock) and not block.cut)
    for text in texts:
        if len(text) > left:
            continue
        left -= len(text)
        try:
            if parse_json(text) == value:
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _type(block: DataBlock) -> str:
    """The media type, without what is said beside it."""
    return block.mime.partition(";")[0].strip().lower()


def _line(text: str) -> str:
    """A short text on one line."""
    return " ".join(cut(text, _LONGEST).split())
