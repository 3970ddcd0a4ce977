"""Images through the real window: dropped, pasted, sent over both protocols; the question before a switch; and what is
offered when an edit makes signed thinking stale."""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton, QToolButton

from playground.domain.parts import Reasoning
from playground.domain.transcript import Ending, Role
from playground.ui.features.conversation.image_dialog import ImageDialog
from playground.ui.features.conversation.image_view import ImageBox
from playground.ui.features.protocols.control import ProtocolSwitch
from playground.ui.widgets.icon_button import IconButton
from tests.flows.conftest import Person, Stage

NO_KEYS = Qt.KeyboardModifier.NoModifier


def picture(width: int, height: int) -> QImage:
    made = QImage(width, height, QImage.Format.Format_RGB32)
    made.fill(QColor("#0B7285"))
    return made


def drop(person: Person, mime: QMimeData) -> None:
    """Let something go above the turns, as a file manager would."""
    pane, action, button = person.pane, Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(QPoint(50, 50), action, mime, button, NO_KEYS)
    QApplication.sendEvent(pane, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(pane, QDropEvent(QPointF(50, 50), action, mime, button, NO_KEYS))


def names(person: Person) -> list[str | None]:
    """The names of the images attached to what is being written."""
    return [image.name for image in person.pane.composer.attached]


def test_dropped_and_pasted_images_are_described_over_both_protocols(stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "shore.png"
    assert picture(64, 48).save(str(path))
    (tmp_path / "notes.txt").write_text("words", encoding="utf-8")

    async def scene(person: Person) -> None:
        composer = person.pane.composer
        person.session.change(model="demo-vision")
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(tmp_path / name)) for name in ("shore.png", "notes.txt")])
        await person.do(partial(drop, person, mime))
        await person.until(lambda: "“notes.txt” is not an image" in person.pane.notice.words, "the notice")
        assert names(person) == ["shore.png"]

        broken = QMimeData()
        broken.setData("image/png", b"no picture at all")
        QGuiApplication.clipboard().setMimeData(broken)
        await person.click(person.one(QPlainTextEdit, "Message", composer))
        await person.key(Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        await person.until(lambda: "Not attached. This is not an image" in person.pane.notice.words, "the notice")
        assert names(person) == ["shore.png"]
        assert composer.text == ""

        QGuiApplication.clipboard().setImage(picture(33, 22))
        await person.key(Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        await person.until(lambda: len(composer.attached) == 2, "the pasted bitmap")
        person.pane.intake.take(["https://example.org/a.png"])
        await person.until(lambda: len(composer.attached) == 3, "the address")
        first = person.find(ImageBox, "Image", composer)[0]
        await person.choose(person.one(QToolButton, "Detail of the image: default", first), "high")
        assert composer.attached[0].detail == "high"

        # the draft waits while another experiment is looked at
        draft = person.session.id
        await person.do(partial(person.app.window.action("experiment.new").trigger))
        assert names(person) == []
        await person.do(partial(person.app.workspace.open, draft))
        assert names(person) == ["shore.png", "pasted.png", None]

        await person.run("What is this?")
        await person.idle(turns=2)
        assert names(person) == []
        parts = person.body()["messages"][0]["content"]
        assert [part["type"] for part in parts] == ["text", "image_url", "image_url", "image_url"]
        sent = parts[1]["image_url"]
        assert sent["detail"] == "high"
        assert base64.b64decode(sent["url"].removeprefix("data:image/png;base64,")) == path.read_bytes()
        assert "detail" not in parts[2]["image_url"]
        assert "64 × 48 pixels" in person.path[1].text
        assert "33 × 22 pixels" in person.path[1].text
        assert not any("example.org" in request.path for request in person.server.requests)

        await person.until(lambda: len(person.find(ImageBox, "Image", person.card(0))) == 3, "all of them in the turn")
        boxes = person.find(ImageBox, "Image", person.card(0))
        assert [box.image.name for box in boxes] == ["shore.png", "pasted.png", None]
        await person.press("Remove https://example.org/a.png", person.card(0))
        await person.until(lambda: len(person.path[0].images) == 2, "the address to go")
        await person.press("shore.png: show larger", person.card(0))
        dialog = person.pane.findChildren(ImageDialog)[0]
        await person.until(lambda: dialog.canvas.picture is not None, "the larger view")
        await person.do(dialog.accept)
        person.app.window.activateWindow()
        await person.until(lambda: QApplication.activeWindow() is person.app.window, "the window in front again")

        person.session.change(model="demo-messages")
        await person.press("Messages", person.app.window.bar)
        bar = await person.seen(ProtocolSwitch)
        assert bar.lines == ["Turn 1 (user): the detail of its image (high)"]
        assert person.session.settings.protocol == "chat"
        await person.press("Switch to Messages", bar)
        await person.until(lambda: person.session.settings.protocol == "messages", "the switch")
        await person.run("And now?")
        await person.idle(turns=3)  # the answer to all three images is on the branch with them
        outcome = person.path[-1].outcome
        assert outcome is not None
        assert outcome.ending is Ending.COMPLETE, outcome.failure
        blocks = person.body()["messages"][0]["content"]
        assert [block["type"] for block in blocks] == ["text", "image", "image", "text"]
        assert blocks[1]["source"]["media_type"] == "image/png"
        assert "64 × 48 pixels" in person.path[-1].text

    stage.play(scene)


def test_an_image_alone_is_a_message_and_none_is_lost_while_it_is_read(stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    assert picture(8_100, 3_000).save(str(path))

    async def scene(person: Person) -> None:
        composer = person.pane.composer
        person.session.change(model="demo-vision")
        person.pane.intake.take([path])
        person.pane.run()
        assert "still being read" in person.pane.notice.words
        assert not person.session.transcript.turns
        await person.until(lambda: len(composer.attached) == 1, "the image")
        box = await person.seen(ImageBox, "Image", composer)
        await person.until(lambda: box.thumb.loaded, "its thumbnail")
        await person.click(person.one(QPushButton, "Shrink to", box))
        await person.until(lambda: "1,568 × 580" in box.accessibleName(), "the smaller copy")
        await person.do(person.pane.run)
        await person.idle(turns=2)
        assert "1568 × 580 pixels" in person.path[1].text

    stage.play(scene)


def test_an_edit_before_signed_thinking_offers_a_way_out(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        person.session.switch_protocol("messages")
        person.session.change(model="demo-messages")
        values = person.session.settings.current
        person.session.set_parameters(values.with_value("thinking", {"type": "enabled", "budget_tokens": 1024}))
        await person.run("What is a monad?")
        await person.idle(turns=2)
        await person.run("And shorter?")
        await person.idle(turns=4)
        signatures = [part.signature for turn in person.path for part in turn.parts if isinstance(part, Reasoning)]
        assert len(signatures) == 2
        assert all(signatures)
        sent = person.body()["messages"][1]["content"][0]
        assert (sent["type"], sent["signature"]) == ("thinking", signatures[0]), "thinking goes back byte for byte"

        first = person.path[0].id
        person.pane.edit_by_hand(partial(person.session.turns.edit_text, first, "What is a functor?", in_place=True))
        assert "signed thinking of turns 2 and 4" in person.pane.notice.words
        await person.press("Branch", person.pane.notice)
        assert [turn.text for turn in person.path if turn.role is Role.USER] == ["What is a functor?", "And shorter?"]
        assert not any(turn.reasoning for turn in person.path)
        await person.run("Once more.")
        await person.idle(turns=6)
        outcome = person.path[-1].outcome
        assert outcome is not None
        assert outcome.ending is Ending.COMPLETE, outcome.failure

        person.session.turns.select_alternative(first)
        assert person.path[0].text == "What is a monad?"
        assert [
            part.signature for turn in person.path for part in turn.parts if isinstance(part, Reasoning)
        ] == signatures
        person.pane.delete_turn(first)
        await person.press("Drop that thinking", person.pane.notice)
        assert not any(turn.reasoning for turn in person.path)
        person.pane.undo()
        person.pane.undo()
        assert [bool(turn.reasoning) for turn in person.path] == [False, True, False, True]

        other = partial(person.session.turns.edit_text, person.path[0].id, "Other words", in_place=True)
        person.pane.edit_by_hand(other)
        await person.press("Keep as is", person.pane.notice)
        assert person.pane.notice.isHidden()
        assert [bool(turn.reasoning) for turn in person.path] == [False, True, False, True]
        assert person.find(IconButton, "Close this notice") == []

    stage.play(scene)
