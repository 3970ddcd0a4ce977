"""Pydantic models of what requests of both protocols have in common: blocks of content, tools, schemas, images.

``null`` counts as an absent field, as it does in most services. Validators raise ValueError with a text that continues
the path of their value: " must not be empty", or ".name is required" for a field inside it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    model_validator,
)

from playground.demo import from_schema
from playground.demo.generation import Choice, Tool, Turn
from playground.demo.images import Picture
from playground.demo.models import BY_ID, Model
from playground.demo.problems import NO_MODEL, ApiError, invalid
from playground.demo.request_body import JsonObject, escape_surrogates, quoted

ModelT = TypeVar("ModelT", bound="RequestModel")
_LARGEST = 2**63 - 1
_REQUIRED = {
    "text": ("text",),
    "image_url": ("image_url",),
    "image": ("source",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
}


class NotAnObjectError(ValueError):
    """A value that must be a JSON object is none."""


class RequestModel(BaseModel):
    """A JSON object of a request. Fields that the specification does not list are accepted and ignored."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: object) -> object:
        if not isinstance(value, dict):
            raise NotAnObjectError(f" must be an object; it is {quoted(value)}")
        return {name: member for name, member in value.items() if member is not None}

    def require(self, *names: str) -> None:
        """Raise ValueError for the first of these fields that is absent."""
        for name in names:
            if getattr(self, name) is None:
                raise ValueError(f".{name} is required")


def validate(model: type[ModelT], body: JsonObject) -> ModelT:
    """Return ``body`` as a ``model``. Raises ApiError 400 that names the first invalid field, or 404 for the model."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        problem: Any = error.errors(include_url=False)[0]
        location, text = problem["loc"], f": {problem['msg']}"
        if problem["type"] == "missing":
            location, text = location[:-1], f".{location[-1]} is required"
        elif problem["type"] == "value_error":
            text = str(problem["ctx"]["error"])
        elif problem["msg"].startswith("Input should "):
            text = f"{problem['msg'].removeprefix('Input')}; it is {quoted(problem['input'])}"
        raise invalid(f"{_path(body, location)}{text}.".lstrip(". ")) from None


def _path(value: Any, location: Iterable[Any]) -> str:
    """Return the path of an error in the body ``value``, without the names pydantic gives to members of a union."""
    path = ""
    for part in location:  # a key or an index
        if (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int)):
            path += f"[{part}]" if isinstance(part, int) else f".{part}"
            value = value[part]
    return path


def find_model(model_id: str) -> Model:
    """Return the model of that id. Raises ApiError 404 when there is none."""
    if model_id not in BY_ID:
        reason = f"does not exist or is not available to this account. Available: {', '.join(BY_ID)}."
        raise ApiError(404, NO_MODEL, f"The model {quoted(model_id)} {reason}")
    return BY_ID[model_id]


def _read_model(model_id: object) -> Model:
    if not isinstance(model_id, str) or not model_id:
        raise ValueError(f" must be the id of a model; it is {quoted(model_id)}")
    return find_model(model_id)


def _check_schema(schema: dict[str, Any]) -> dict[str, Any]:
    if problem := from_schema.fault(schema):
        raise ValueError(f" is not a valid JSON schema: {escape_surrogates(problem[:300])}")
    return schema


def _check_object_schema(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type", "object") != "object":
        raise ValueError(f".type must be object; it is {quoted(schema['type'])}")
    return schema


def _decode_picture(media_type: str, encoded: str) -> Picture:
    if not media_type.startswith("image/"):
        raise ValueError(f": the media type must be an image, not {quoted(media_type)}")
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except ValueError:
        raise ValueError(": the image data is not valid base64") from None
    if not data:
        raise ValueError(": the image has no data")
    return Picture(media_type, data)


def read_picture(url: object) -> Picture:
    """Return the image of a data URL or an http(s) address."""
    if not isinstance(url, str) or not url.startswith(("data:", "http://", "https://")):
        raise ValueError(f" must be an http(s) address or a data URL; it is {quoted(url)}")
    if not url.startswith("data:"):
        return Picture(address=url)
    head, comma, encoded = url[5:].partition(",")
    media_type, _, coding = head.partition(";")
    if not comma or not coding.rstrip().endswith("base64"):
        raise ValueError(" must be a data URL in base64, such as data:image/png;base64,…")
    return _decode_picture(media_type, encoded)


def _read_source(source: object) -> Picture:
    match source:
        case {"type": "url", "url": str(url)}:
            return read_picture(url)
        case {"type": "base64", "media_type": str(media_type), "data": str(data)}:
            return _decode_picture(media_type, data)
    raise ValueError(".type must be url (with url) or base64 (with media_type and data)")


def _as_blocks(content: object) -> object:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


KnownModel = Annotated[Model, PlainValidator(_read_model)]
NonEmpty = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Positive = Annotated[int, Field(ge=1, le=_LARGEST)]
Share = Annotated[float, Field(ge=0, le=1)]
Schema = Annotated[dict[str, Any], AfterValidator(_check_schema)]
ObjectSchema = Annotated[Schema, AfterValidator(_check_object_schema)]


class Request(RequestModel):
    """The fields that requests of both protocols have."""

    model: KnownModel
    max_tokens: Positive | None = None
    top_p: Share = 1
    stream: bool = False
    seed: Annotated[int, Field(ge=-(2**63), le=_LARGEST)] | None = None


class _ImageUrl(RequestModel):
    url: Annotated[Picture, PlainValidator(read_picture)]
    detail: Literal["auto", "low", "high"] = "auto"


class Block(RequestModel):
    """One block of content in either protocol; its ``type`` decides which fields it needs."""

    type: str
    text: str | None = None
    image_url: _ImageUrl | None = None
    source: Annotated[Picture, PlainValidator(_read_source)] | None = None
    id: NonEmpty | None = None
    name: NonEmpty | None = None
    input: dict[str, Any] | None = None
    tool_use_id: NonEmpty | None = None
    content: Content = []
    is_error: bool = False
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.require(*_REQUIRED.get(self.type, ()))
        return self

    @property
    def picture(self) -> Picture | None:
        """The image of an image block."""
        return replace(self.image_url.url, detail=self.image_url.detail) if self.image_url else self.source


Content = Annotated[list[Block], BeforeValidator(_as_blocks)]
Block.model_rebuild()


def check_types(blocks: Iterable[Block], path: str, *types: str) -> None:
    """Raise ValueError for the first block of another type."""
    for i, block in enumerate(blocks):
        if block.type not in types:
            raise ValueError(f"{path}[{i}].type must be one of {', '.join(types)}; it is {quoted(block.type)}")


def check_ids(ids: list[str]) -> None:
    """Raise ValueError where an assistant message uses the id of a call twice."""
    for call_id in ids:
        if ids.count(call_id) > 1:
            raise ValueError(f" uses the id {quoted(call_id)} twice")


def text_of(blocks: Iterable[Block]) -> str:
    """Return the text blocks, one a line."""
    return "\n".join(block.text or "" for block in blocks if block.type == "text")


def pictures_of(blocks: Iterable[Block]) -> tuple[Picture, ...]:
    """Return the images of the blocks."""
    return tuple(block.picture for block in blocks if block.picture)


def check_results(turns: tuple[Turn, ...]) -> None:
    """Raise ApiError 400 where calls and results do not match: each call needs one result before the next message."""
    open_calls: list[str] = []
    for turn in (*turns, Turn("user")):
        if turn.role == "tool":
            if turn.call_id not in open_calls:
                raise invalid(
                    f"The result for the call {quoted(turn.call_id)} answers no open call: it must follow the "
                    "assistant message with that call, once for each call."
                )
            open_calls.remove(turn.call_id)
            continue
        if open_calls:
            ids = ", ".join(map(quoted, open_calls))
            raise invalid(f"Each tool call needs its result before the next message; there is none for {ids}.")
        open_calls = [call.id for call in turn.calls]


def check_tools(tools: tuple[Tool, ...], choice: Choice) -> None:
    """Raise ApiError 400 where two tools have one name, or the choice does not fit the tools."""
    names = [tool.name for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise invalid(f"tools holds two tools named {name}; names must differ.")
    if choice.mode == "required" and not tools:
        raise invalid("tool_choice requires a call, but no tools are offered.")
    if choice.mode == "named" and choice.name not in names:
        raise invalid(f"tool_choice names the tool {quoted(choice.name)}, which is not in tools.")
