"""Items of an answer that the gateway ran itself, such as web searches, in words for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from playground.domain.parts import Image, Unknown
from playground.jsonkit.foreign import text_of, write
from playground.jsonkit.texts import cut
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import is_hosted

#: Words that are no ordinary ones in the types of items.
_WORDS: Final = {"mcp": "MCP"}
#: Members that say what an item is about, the first one that is there counts.
_SUBJECTS: Final = (
    *("queries", "query", "code", "name", "command", "prompt", "revised_prompt"),
    *("server_label", "operation"),
)
_LONGEST: Final = 200  # characters
#: Characters of base64 above which a generated image is shown as JSON only.
LARGEST_PICTURE: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class HostedItem:
    """One item: ``value`` is all of it, ``title`` its kind and state, ``subject`` what it is about, on one line."""

    value: JSONObject
    title: str
    subject: str
    kind: Literal["hosted"] = "hosted"


def hosted_item(part: Unknown) -> HostedItem | None:
    """Return the item in a part of an unknown kind; None for a part that is none."""
    value = part.value
    if part.from_file or not is_hosted(value):
        return None
    words = text_of(value.get("type")).replace(":", " ").removesuffix("_call").split("_")
    title = " ".join(_WORDS.get(word, word) for word in words)
    status = text_of(value.get("status"))
    title = title[:1].upper() + title[1:] + (f" · {status.replace('_', ' ')}" if status else "")
    action = value.get("action")
    sources = (action if isinstance(action, dict) else {}, value)
    subjects = (_line(source[name]) for source in sources for name in _SUBJECTS if source.get(name))
    return HostedItem(value, title, next(subjects, ""))


def generated_picture(item: HostedItem) -> Image | None:
    """Return the image that the gateway generated; None if there is none, or one above ``LARGEST_PICTURE``.

    The base64 is not checked: the view reports what cannot be read.
    """
    result = item.value.get("result")
    if item.value.get("type") != "image_generation_call" or not isinstance(result, str):
        return None
    if not 0 < len(result) <= LARGEST_PICTURE or "://" in result[:8]:
        return None
    return Image(url=result if result.startswith("data:") else f"data:image/png;base64,{result}")


def _line(value: JSON) -> str:
    text = value if isinstance(value, str) else ", ".join(map(str, value)) if isinstance(value, list) else write(value)
    return cut(" ".join(text[: 4 * _LONGEST].split()), _LONGEST)
