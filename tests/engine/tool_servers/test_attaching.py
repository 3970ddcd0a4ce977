"""What prompts and resources become in a conversation."""

from __future__ import annotations

from playground.domain.tool_servers import DataBlock, Message, ResourceBlock, TextBlock
from playground.domain.transcript import Role
from playground.engine.tool_servers.content import content_of, turns_of

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_text_of_a_resource_follows_its_address() -> None:
    content = content_of([ResourceBlock(uri="demo://notes/tides", text="High at noon.", mime="text/plain")])
    assert content.text == "[Resource demo://notes/tides, text/plain]\nHigh at noon."
    assert content.size == f"{len(content.text)} characters"


def test_pictures_are_attached_and_other_content_is_named() -> None:
    content = content_of(
        [
            DataBlock(kind="blob", data=PIXEL, mime="image/png", uri="demo://dot"),
            DataBlock(kind="audio", data="AAAA", mime="audio/wav"),
            DataBlock(kind="blob", data="", mime="application/zip", uri="demo://all", cut=9_000_000),
            TextBlock(text="abc", cut=10),
        ]
    )
    assert [image.url for image in content.images] == [f"data:image/png;base64,{PIXEL}"]
    assert content.left_out[0] == "Sound (audio/wav) is left out: messages hold text and pictures only."
    assert content.left_out[1].startswith("A file (application/zip, demo://all) of ")
    assert content.left_out[2] == "Only the first 3 of 10 characters were kept."
    assert "1 picture" in content.size


def test_messages_of_a_prompt_become_turns() -> None:
    picture = DataBlock(kind="image", data=PIXEL, mime="image/png")
    turns = turns_of(
        [
            Message(role="user", blocks=(TextBlock(text="Look"), picture)),
            Message(role="assistant", blocks=(TextBlock(text="A dot."),)),
            Message(role="tester", blocks=(TextBlock(text="And now?"),)),
            Message(role="user", blocks=()),
        ]
    )
    assert [turn.role for turn in turns] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert turns[0].images
    assert turns[1].text == "A dot."
