"""Answers of tool servers, made ready for a call: nothing of it is lost without a word."""

from __future__ import annotations

from playground.domain.debugging import Answer
from playground.domain.parts import Image, ToolResult
from playground.domain.served import answer_of, as_served, carries, sent_text, text_of, unsaid
from playground.domain.tool_servers import (
    Block,
    DataBlock,
    LinkBlock,
    OtherBlock,
    ResourceBlock,
    ServerAnswer,
    TextBlock,
)
from playground.jsonkit.values import JSON
from tests.support.each_case import each_case

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
PNG = DataBlock(kind="image", data=PIXEL, mime="image/png")
SOUND = DataBlock(kind="audio", data="AAAA" * 1000, mime="audio/wav")


def served(*blocks: Block, **more: object) -> ServerAnswer:
    return ServerAnswer(server="s", tool="t", blocks=blocks).model_copy(update=more)


def test_text_stays_as_it_came_and_pictures_go_beside_it() -> None:
    received = served(TextBlock(text="one\n"), PNG, TextBlock(text="two"), is_error=False)
    answer = answer_of(received)
    assert answer.text == "one\n\ntwo"
    assert [image.url for image in answer.images] == [f"data:image/png;base64,{PIXEL}"]
    assert answer.served is received
    assert not answer.is_error
    assert as_served(answer.text, received)
    assert not as_served(answer.text + " ", received)
    assert unsaid(received) == ()


@each_case(
    ("block", "line", "word"),
    [
        (SOUND, "[Sound, audio/wav, 3 KB, not sent: results of calls hold no sound]", "no sound"),
        (
            DataBlock(kind="image", data="AAAA", mime="image/svg+xml"),
            "[Picture, image/svg+xml, 3 bytes, not sent: gateways read PNG, JPEG, GIF and WebP]",
            "PNG, JPEG, GIF and WebP",
        ),
        (
            DataBlock(kind="image", data="", mime="image/png", cut=34_000_000),
            "[Picture, image/png, 34 MB, not sent: too large to store]",
            "too large to store",
        ),
        (
            DataBlock(kind="blob", data="AAAA", mime="application/gzip", uri="demo://a\nb"),
            "[Bytes of demo://a b, application/gzip, 3 bytes, not sent: results of calls hold no files]",
            "no files",
        ),
        (
            TextBlock(text="begin", cut=3_000_000),
            "begin\n[Cut: the first 5 of 3,000,000 characters]",
            "the first 5 of 3,000,000",
        ),
        (
            LinkBlock(uri="file:///x", name="x", mime="text/plain", size=10, description="a file"),
            "[Link to file:///x, x, text/plain, 10 bytes]\na file",
            "file:///x",
        ),
    ],
)
def test_unsupported_block_is_named_in_text_and_notes(block: Block, line: str, word: str) -> None:
    received = served(TextBlock(text="before"), block)
    assert text_of(received) == f"before\n{line}"
    assert not answer_of(received).images
    assert any(word in message for message in unsaid(received))


ROWS: list[JSON] = ["x" * 100] * 20_000
TOO_LARGE = "Structured content of more than 400,000 characters, not sent"


@each_case(
    ("answer", "text", "notes"),
    [
        (served(), "", []),
        (served(TextBlock(text="no"), is_error=True), "no", []),
        (
            served(ResourceBlock(uri="demo://r", text="inside", mime="text/plain")),
            "[Resource demo://r, text/plain]\ninside",
            [],
        ),
        (served(OtherBlock(value={"type": "hologram"})), '{"type": "hologram"}', None),
        (served(structured={"temp": 4}), '{"temp": 4}', []),  # it is the text where there is none
        (served(TextBlock(text='{"temp":4.0}'), structured={"temp": 4}), '{"temp":4.0}', []),
        (served(TextBlock(text="mild"), structured={"temp": 4}), "mild", ["Structured content"]),
        (served(structured=ROWS), f"[{TOO_LARGE}]", [TOO_LARGE]),
        (served(lost=("a picture of 100 MB",)), "", ["a picture of 100 MB"]),
    ],
)
def test_answer_has_a_text_and_notes_of_what_is_left_out(
    answer: ServerAnswer, text: str, notes: list[str] | None
) -> None:
    result = answer_of(answer)
    assert (result.text, result.is_error) == (text, answer.is_error)
    assert text_of(answer) == text
    if notes is not None:
        assert [note[: len(start)] for note, start in zip(unsaid(answer), notes, strict=True)] == notes


def test_picture_in_a_resource_is_an_image() -> None:
    (image,) = answer_of(served(DataBlock(kind="blob", data=PIXEL, mime="IMAGE/PNG; x=y", uri="demo://p"))).images
    assert image.url.startswith("data:image/png;base64,")
    assert image.name == "demo://p"


def test_line_replaces_a_picture_that_is_not_sent() -> None:
    image = Image(url=f"data:image/png;base64,{PIXEL}")
    result = ToolResult(call_id="a", text="see", images=(image,))
    assert sent_text(result, pictures=True) == "see"
    assert (
        sent_text(result, pictures=False) == "see\n[Picture, image/png, 69 bytes, not sent: this result is text only]"
    )
    assert sent_text(Answer(images=(image, Image(url="https://x.test/a.png"))), pictures=False).split("\n")[1:] == [
        "[Picture at https://x.test/a.png, not sent: this result is text only]"
    ]
    failed = result.model_copy(update={"is_error": True})
    assert not carries(failed, pictures=True)
    assert "not sent" in sent_text(failed, pictures=True)


def test_blocks_and_pictures_above_the_limit_are_counted() -> None:
    links = served(*[LinkBlock(uri=f"demo://{number}") for number in range(3_000)])
    assert text_of(links).endswith("[2,000 more blocks, not sent: 1,000 are read at most]")
    assert len(unsaid(links)) == 1_001
    pictures = served(*[PNG] * 150)
    assert len(answer_of(pictures).images) == 100
    assert text_of(pictures) == "[50 more pictures, not sent: 100 go along at most]"
