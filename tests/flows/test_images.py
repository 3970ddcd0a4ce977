"""Images through the real window: dropped, pasted, sent over both protocols; the question before a switch of protocol;
and the choices after an edit that makes signed thinking outdated.
"""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QToolButton, QWidget

from playground.domain.parts import Reasoning
from playground.domain.transcript import Ending, Role, Turn
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.conversation import wait_for_dialog
from tests.flows.pages.drop import drop, file_data
from tests.flows.pages.gateways import GatewayBar
from tests.flows.pages.inspector import RequestPage

CONTROL = Qt.KeyboardModifier.ControlModifier
ADDRESS = "https://example.org/a.png"


def picture(width: int, height: int) -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("#0B7285"))
    return image


def draft_names(person: Person) -> list[str | None]:
    """The names of the images attached to the message that is being written."""
    return [image.name for image in person.session.draft.images]


def signatures(person: Person) -> list[str | None]:
    """The signatures of the thinking on the path."""
    return [part.signature for turn in person.path for part in turn.parts if isinstance(part, Reasoning)]


async def edit_question(person: Person, text: str, new_text: str) -> None:
    """Edit a text in the body of the next request."""
    request = RequestPage(person)
    await request.show_tab("Request")
    await request.press("Next")
    roles = len(person.path)
    await person.until(
        lambda: text in request.next_text and request.next_text.count('"role"') == roles, "all messages in the request"
    )
    await request.edit_next(request.next_text.replace(text, new_text))
    await request.press("Apply")


def assert_complete(turn: Turn) -> None:
    assert turn.outcome is not None
    assert turn.outcome.ending is Ending.COMPLETE, turn.outcome.failure


def test_attached_images_are_sent_over_both_protocols(stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "shore.png"
    assert picture(64, 48).save(str(path))
    (tmp_path / "notes.txt").write_text("words", encoding="utf-8")

    async def scene(person: Person) -> None:
        conversation, composer = person.conversation, person.conversation.composer
        clipboard = QGuiApplication.clipboard()
        person.session.change(model="demo-vision")
        files = file_data([path, tmp_path / "notes.txt"])
        await person.do(lambda: drop(conversation.widget, files))
        await conversation.notice.wait_for_text("“notes.txt” is not an image")
        assert draft_names(person) == ["shore.png"]

        broken = QMimeData()
        broken.setData("image/png", b"no picture at all")
        clipboard.setMimeData(broken)
        await person.click(person.message)
        await person.key(Qt.Key.Key_V, CONTROL)
        await conversation.notice.wait_for_text("Not attached. This is not an image")
        assert draft_names(person) == ["shore.png"]
        assert composer.text == ""

        clipboard.setImage(picture(33, 22))
        await person.key(Qt.Key.Key_V, CONTROL)
        await person.until(lambda: len(composer.images) == 2, "the pasted image")
        link = QMimeData()
        link.setUrls([QUrl(ADDRESS)])
        await person.do(lambda: drop(conversation.widget, link))
        await person.until(lambda: len(composer.images) == 3, "the address")
        detail = composer.find(QToolButton, "Detail of the image: default")[0]
        await person.choose(detail, "high")
        assert person.session.draft.images[0].detail == "high"

        # the draft waits while another experiment is open
        draft = person.session.id
        await person.trigger("experiment.new")
        assert composer.images == []
        await person.do(partial(person.app.workspace.open, draft))
        assert draft_names(person) == ["shore.png", "pasted.png", None]

        await person.run("What is this?")
        await person.idle(turns=2)
        assert draft_names(person) == []
        parts = person.body()["messages"][0]["content"]
        assert [part["type"] for part in parts] == ["text", "image_url", "image_url", "image_url"]
        sent = parts[1]["image_url"]
        assert sent["detail"] == "high"
        assert base64.b64decode(sent["url"].removeprefix("data:image/png;base64,")) == path.read_bytes()
        assert "detail" not in parts[2]["image_url"]
        assert "64 × 48 pixels" in person.path[1].text
        assert "33 × 22 pixels" in person.path[1].text
        assert not any("example.org" in request.path for request in person.server.requests)

        message = conversation.message(0)
        await person.until(lambda: len(message.images) == 3, "all images in the message")
        assert [image.name for image in person.path[0].images] == ["shore.png", "pasted.png", None]
        await message.press(f"Remove {ADDRESS}")
        await person.until(lambda: len(person.path[0].images) == 2, "the address to go")
        await conversation.message(0).press("shore.png: show larger")
        dialog = await wait_for_dialog(person, "shore.png")
        await person.until(lambda: dialog.get(QPushButton, "Copy image").isEnabled(), "the larger picture")
        await dialog.press("Close")
        await person.do(person.app.window.activateWindow)  # as a desktop does when a dialog closes
        await person.until(lambda: QApplication.activeWindow() is person.app.window, "the window in front again")

        person.session.change(model="demo-messages")
        await GatewayBar(person).choose_api("Messages API")
        question = await person.seen(QWidget, "Switch to Messages API?")
        assert question.accessibleDescription() == "Message 1 (user): the detail of its image (high)"
        assert person.session.settings.protocol == "chat"
        await person.press("Switch to Messages API", question)
        await person.until(lambda: person.session.settings.protocol == "messages", "the switch")
        await person.run("And now?")
        await person.idle(turns=3)  # the answer to all three images is on another branch
        assert_complete(person.path[-1])
        blocks = person.body()["messages"][0]["content"]
        assert [block["type"] for block in blocks] == ["text", "image", "image", "text"]
        assert blocks[1]["source"]["media_type"] == "image/png"
        assert "64 × 48 pixels" in person.path[-1].text

    stage.play(scene)


def test_large_image_is_waited_for_shrunk_and_sent_alone(stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    assert picture(8_100, 3_000).save(str(path))

    async def scene(person: Person) -> None:
        conversation, composer = person.conversation, person.conversation.composer
        person.session.change(model="demo-vision")

        def drop_and_run() -> None:
            assert drop(conversation.widget, file_data([path]))
            QTest.keyClick(person.message, Qt.Key.Key_Return, CONTROL)

        await person.do(drop_and_run)
        assert "still being read" in conversation.notice.text
        assert not person.session.transcript.turns
        await person.until(lambda: len(composer.images) == 1, "the image")
        await composer.press("Resize to")
        await person.until(lambda: "1,568 × 580" in composer.images[0].name, "the smaller copy")
        await composer.press("Run")
        await person.idle(turns=2)
        assert "1568 × 580 pixels" in person.path[1].text

    stage.play(scene)


@flow()
async def test_edit_before_signed_thinking_offers_choices(person: Person) -> None:
    conversation, notice = person.conversation, person.conversation.notice
    person.session.switch_protocol("messages")
    person.session.change(model="demo-messages")
    values = person.session.settings.current
    person.session.set_parameters(values.with_value("thinking", {"type": "enabled", "budget_tokens": 1024}))
    for number, text in enumerate(("What is a monad?", "And shorter?"), 1):
        await person.run(text)
        await person.idle(turns=2 * number)
    signed = signatures(person)
    assert len(signed) == 2
    assert all(signed)
    sent = person.body()["messages"][1]["content"][0]
    assert (sent["type"], sent["signature"]) == ("thinking", signed[0]), "thinking goes back byte for byte"

    first = person.path[0].id
    await edit_question(person, "What is a monad?", "What is a functor?")
    await notice.wait_for_text("the reasoning of messages 2 and 4")
    await notice.press("Branch")
    assert [turn.text for turn in person.path if turn.role is Role.USER] == ["What is a functor?", "And shorter?"]
    assert not signatures(person)
    await person.run("Once more.")
    await person.idle(turns=6)
    assert_complete(person.path[-1])

    await person.do(partial(person.session.turns.select_alternative, first))
    assert person.path[0].text == "What is a monad?"
    assert signatures(person) == signed
    await (await conversation.wait_for_message(0)).choose("Delete")
    await notice.press("Remove reasoning")
    assert not signatures(person)
    await person.trigger("edit.undo")
    await person.trigger("edit.undo")
    assert signatures(person) == signed

    await edit_question(person, person.path[0].text, "Other words")
    await notice.press("Keep as is")
    await notice.wait_until_hidden()
    assert signatures(person) == signed
    assert not person.find(QAbstractButton, "Dismiss this notice")
