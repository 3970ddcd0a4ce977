"""What a model said, as the answer to a server that wanted one asked."""

from __future__ import annotations

from playground.domain.tool_servers import Block, DataBlock, Message, TextBlock
from playground.jsonkit.values import JSONObject


def sampled(message: Message, model: str, stop_reason: str) -> JSONObject:
    """The result as the protocol has it: one block, all texts joined; pictures and sound go only without a text."""
    texts = [block.text for block in message.blocks if isinstance(block, TextBlock)]
    other = next((it for it in map(_content, message.blocks) if it is not None and it["type"] != "text"), None)
    content = {"type": "text", "text": "\n\n".join(texts)} if texts or other is None else other
    return {"role": message.role, "content": content, "model": model, "stopReason": stop_reason}


def _content(block: Block) -> JSONObject | None:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, DataBlock) and block.kind != "blob":
        return {"type": block.kind, "data": block.data, "mimeType": block.mime}
    return None
