"""What a server's prompts and resources become in a conversation: text, pictures, turns; and what is left out of them.

Nothing is asked of a server here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from playground.domain.parts import Image, Part
from playground.domain.served import is_picture, pictures_in, text_of
from playground.domain.sizes import size_words
from playground.domain.tool_servers import Block, DataBlock, Message, ResourceBlock, ServerAnswer, TextBlock
from playground.domain.transcript import Role, Turn, make_turn

_KINDS: Final = {"image": "A picture", "audio": "Sound", "blob": "A file"}


@dataclass(frozen=True, slots=True)
class Content:
    """What goes into a message. ``left_out`` are sentences on what does not."""

    text: str
    images: tuple[Image, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> str:
        """How much it is, in words."""
        words = [f"{len(self.text):,} character{'s' * (len(self.text) != 1)}"] if self.text else []
        words += [f"{len(self.images)} picture{'s' * (len(self.images) > 1)}"] if self.images else []
        return " and ".join(words) or "nothing"


def content_of(blocks: Iterable[Block]) -> Content:
    """The text and the pictures of some blocks. The text of a resource has a line with its address before it."""
    told: list[Block] = []
    left_out: list[str] = []
    for block in blocks:
        if isinstance(block, DataBlock) and not is_picture(block):
            left_out.append(_why_not(block))
            continue
        if isinstance(block, TextBlock | ResourceBlock) and block.cut:
            left_out.append(f"Only the first {len(block.text):,} of {block.cut:,} characters were kept.")
        told.append(block)
    text = text_of(ServerAnswer(server="", tool="", blocks=tuple(told)))
    return Content(text, tuple(pictures_in(told)), tuple(left_out))


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """Each message as a turn of its own; a role that is not known counts as the user's."""
    out: list[Turn] = []
    for message in messages:
        content = content_of(message.blocks)
        role = Role.ASSISTANT if message.role == "assistant" else Role.USER
        images: tuple[Part, ...] = content.images if role is Role.USER else ()
        if content.text or images:
            out.append(make_turn(role, content.text, *images))
    return out


def _why_not(block: DataBlock) -> str:
    what = f"{_KINDS[block.kind]} ({', '.join(filter(None, (block.mime, block.uri)))})".replace(" ()", "")
    if block.cut:
        return f"{what} of {size_words(block.cut)} is left out: it was too large to be kept."
    if block.kind == "image" or block.mime.startswith("image/"):
        return f"{what} is left out: gateways read PNG, JPEG, GIF and WebP."
    return f"{what} is left out: messages hold text and pictures only."
