"""Images for a turn that is there, and large ones made smaller, through the real window."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from playground.domain.parts import ToolResult
from playground.domain.transcript import Role, make_turn
from playground.engine.files.images import facts
from playground.ui.features.conversation.image_sizes import AS_THEY_ARE, CHOICES, KEY, SMALLER
from playground.ui.features.conversation.inline_editor import InlineEditor
from tests.flows.conftest import Person, Stage

NO_KEYS = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier


def saved(path: Path, width: int, height: int, colour: str = "#0B7285") -> Path:
    made = QImage(width, height, QImage.Format.Format_RGB32)
    made.fill(QColor(colour))
    assert made.save(str(path))
    return path


def grainy(path: Path, width: int, height: int) -> Path:
    data = random.Random(path.name).randbytes(width * height * 4)
    assert QImage(data, width, height, QImage.Format.Format_RGB32).save(str(path), quality=90)
    return path


def of_files(*paths: Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return mime


def drop(on: QWidget, mime: QMimeData) -> bool:
    action, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(QPoint(30, 10), action, mime, button, NO_KEYS)
    QApplication.sendEvent(on, enter)
    if enter.isAccepted():
        QApplication.sendEvent(on, QDropEvent(QPointF(30, 10), action, mime, button, NO_KEYS))
    return enter.isAccepted()


def names(person: Person, at: int = 0) -> list[str | None]:
    return [image.name for image in person.path[at].images]


def widths(person: Person) -> list[int]:
    known = [facts(image).measure for image in person.pane.composer.attached]
    return [one.width for one in known if one is not None]


def test_images_are_put_into_a_turn_that_is_there(stage: Stage, tmp_path: Path) -> None:
    one, two = saved(tmp_path / "one.png", 30, 20), saved(tmp_path / "two.png", 20, 30)
    (tmp_path / "notes.txt").write_text("words", encoding="utf-8")

    async def scene(person: Person) -> None:
        person.session.turns.add_turn(make_turn(Role.USER, "What are these?"))
        person.session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
        await person.until(lambda: person.card(0), "the turn")
        mime = of_files(two, tmp_path / "notes.txt", one)
        assert drop(person.card(0), mime)
        await person.until(lambda: names(person) == ["two.png", "one.png"], "both, in their order")
        await person.until(lambda: "“notes.txt” is not an image" in person.pane.notice.words, "the third by name")
        assert not person.pane.composer.attached
        await person.do(person.pane.undo)
        assert names(person) == []
        drop(person.card(1), of_files(one))  # a system turn takes none
        await person.until(lambda: len(person.pane.composer.attached) == 1, "the image in the composer")
        assert not person.path[1].images

        QGuiApplication.clipboard().setImage(QImage(str(one)))
        await person.do(person.card(0).setFocus)
        await person.key(Qt.Key.Key_V, CTRL)
        await person.until(lambda: names(person) == ["pasted.png"], "what was pasted onto the card")
        await person.do(person.card(0).editing.begin)
        editor = await person.seen(InlineEditor)
        await person.type_into(editor.field, "What are all these?")
        await person.key(Qt.Key.Key_V, CTRL)
        await person.until(lambda: names(person) == ["pasted.png"] * 2, "what was pasted while it is edited")
        editor = await person.seen(InlineEditor)
        assert "What are all these?" in editor.text
        await person.do(editor.kept.emit)
        assert "What are all these?" in person.path[0].text
        assert names(person) == ["pasted.png"] * 2

    stage.play(scene)


def test_a_result_takes_images_and_says_what_becomes_of_them(stage: Stage, tmp_path: Path) -> None:
    path = saved(tmp_path / "map.png", 30, 20)

    async def scene(person: Person) -> None:
        result = ToolResult(call_id="nobody", text="see the map")
        person.session.turns.add_turn(make_turn(Role.TOOL, "", result))
        await person.until(lambda: person.card(0), "the turn")
        assert drop(person.card(0), of_files(path))
        await person.until(lambda: person.path[0].results[0].images, "the image in the result")
        assert "a line stands for each image" in person.pane.notice.words
        person.session.undo()
        person.session.change(protocol="messages")
        assert drop(person.card(0), of_files(path))
        await person.until(lambda: person.path[0].results[0].images, "the image in the result")
        assert "a line stands" not in person.pane.notice.words

    stage.play(scene)


def test_large_images_are_offered_smaller_all_at_once(stage: Stage, tmp_path: Path) -> None:
    large = [grainy(tmp_path / f"{at}.jpg", 2_400, 1_200) for at in range(2)]
    small = saved(tmp_path / "small.png", 40, 30)

    async def scene(person: Person) -> None:
        pane = person.pane
        pane.intake.take([large[0], small, large[1]])
        await person.until(lambda: "Send them" in pane.notice.words, "the offer")
        assert "2 large images" in pane.notice.words
        assert "at most 1,568 pixels a side" in pane.notice.words
        assert "saves" in pane.notice.words
        assert widths(person) == [2_400, 40, 2_400]
        await person.click(await person.seen(QPushButton, "Make them smaller", pane.notice))
        assert widths(person) == [1_568, 40, 1_568]
        assert "What it was is not kept" in pane.notice.words
        await person.click(await person.seen(QPushButton, "Undo", pane.notice))
        assert widths(person) == [2_400, 40, 2_400]

        pane.composer.set_images(())
        pane.intake.take([large[0]])
        await person.until(lambda: "2,400 × 1,200" in pane.notice.words, "the offer")
        await person.click(await person.seen(QPushButton, "Make it smaller", pane.notice))
        await person.click(await person.seen(QPushButton, "Always do so", pane.notice))
        pane.intake.take([large[1]])
        await person.until(lambda: widths(person) == [1_568, 1_568], "the next one, without a question")
        assert pane.sizes.choice == SMALLER
        settings = person.app.window._settings
        assert settings.value(KEY) == SMALLER

        await person.choose(person.one(QPushButton, "Attach an image", pane.composer), CHOICES[-1][1])
        assert pane.sizes.choice == AS_THEY_ARE
        pane.notice.hide()
        pane.intake.take([large[0]])
        await person.until(lambda: widths(person) == [1_568, 1_568, 2_400], "the image as it is")
        assert pane.notice.isHidden()

    stage.play(scene)


def test_an_image_of_a_turn_is_made_smaller_and_undo_brings_it_back(stage: Stage, tmp_path: Path) -> None:
    path = grainy(tmp_path / "grain.jpg", 2_400, 1_200)

    async def scene(person: Person) -> None:
        person.session.turns.add_turn(make_turn(Role.USER, "What is it?"))
        await person.until(lambda: person.card(0), "the turn")
        assert drop(person.card(0), of_files(path))
        await person.until(lambda: "Send it as" in person.pane.notice.words, "the offer")
        before = person.path[0].images[0].url
        await person.click(await person.seen(QPushButton, "Make it smaller", person.pane.notice))
        now = facts(person.path[0].images[0])
        assert now.measure is not None
        assert now.measure.width == 1_568
        await person.do(partial(person.pane.undo))
        assert person.path[0].images[0].url == before
        await person.do(partial(person.pane.undo))
        assert not person.path[0].images

    stage.play(scene)
