"""Images added to a message, and large images resized, in the real window."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QAbstractButton

from playground.domain.parts import ToolResult
from playground.domain.transcript import Role, make_turn
from playground.engine.files.images import facts
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.drop import drop, file_data
from tests.flows.pages.steps import trigger

AS_THEY_ARE = "Send large images unchanged"
CTRL = Qt.KeyboardModifier.ControlModifier


def saved(path: Path, width: int, height: int, colour: str = "#0B7285") -> Path:
    created = QImage(width, height, QImage.Format.Format_RGB32)
    created.fill(QColor(colour))
    assert created.save(str(path))
    return path


def grainy(path: Path, width: int, height: int) -> Path:
    data = random.Random(path.name).randbytes(width * height * 4)
    assert QImage(data, width, height, QImage.Format.Format_RGB32).save(str(path), quality=90)
    return path


def names(person: Person, index: int = 0) -> list[str | None]:
    return [image.name for image in person.path[index].images]


def widths(person: Person) -> list[int]:
    measures = [facts(image).measure for image in person.session.draft.images]
    return [measure.width for measure in measures if measure is not None]


def attach(person: Person, *paths: Path) -> None:
    assert drop(person.conversation.widget, file_data(paths))


def remove_buttons(person: Person) -> list[QAbstractButton]:
    return person.conversation.composer.find(QAbstractButton, "Remove")


def choices(person: Person) -> list[str]:
    """The ticked entries in the menu for images."""
    menu = person.conversation.composer.image_menu
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions() if action.isChecked()]


async def undo(person: Person) -> None:
    await person.trigger("edit.undo")


@flow()
async def test_images_are_dropped_and_pasted_into_messages_and_results(person: Person, tmp_path: Path) -> None:
    item, two = saved(tmp_path / "one.png", 30, 20), saved(tmp_path / "two.png", 20, 30)
    (tmp_path / "notes.txt").write_text("words", encoding="utf-8")
    person.session.turns.add_turn(make_turn(Role.USER, "What are these?"))
    person.session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    await person.conversation.wait_for_message(0)
    mime = file_data([two, tmp_path / "notes.txt", item])
    assert drop(person.conversation.message(0).widget, mime)
    await person.until(lambda: names(person) == ["two.png", "one.png"], "both, in their order")
    await person.conversation.notice.wait_for_text("“notes.txt” is not an image")
    assert not person.session.draft.images
    await undo(person)
    assert names(person) == []
    drop(person.conversation.message(1).widget, file_data([item]))  # a system turn takes none
    await person.until(lambda: len(person.session.draft.images) == 1, "the image in the composer")
    assert not person.path[1].images

    QGuiApplication.clipboard().setImage(QImage(str(item)))
    await person.do(person.conversation.message(0).widget.setFocus)
    await person.key(Qt.Key.Key_V, CTRL)
    await person.until(lambda: names(person) == ["pasted.png"], "what was pasted onto the card")
    editor = await person.conversation.message(0).edit()
    await person.type_into(editor, "What are all these?")
    await person.key(Qt.Key.Key_V, CTRL)
    await person.until(lambda: names(person) == ["pasted.png"] * 2, "what was pasted while it is edited")
    editor = await person.conversation.message(0).wait_for_editor()
    assert "What are all these?" in editor.toPlainText()
    await person.conversation.message(0).press("Save")
    await person.until(lambda: "What are all these?" in person.path[0].text, "the new text")
    assert names(person) == ["pasted.png"] * 2

    # In a result, they are lost where the protocol takes none
    await person.do(person.app.workspace.new)
    result = ToolResult(call_id="nobody", text="see the map")
    person.session.turns.add_turn(make_turn(Role.TOOL, "", result))
    await person.conversation.wait_for_message(0)
    assert drop(person.conversation.message(0).widget, file_data([item]))
    await person.until(lambda: person.path[0].results[0].images, "the image in the result")
    await person.conversation.notice.wait_for_text("each image becomes a line")
    person.session.undo()
    person.session.change(protocol="messages")
    assert drop(person.conversation.message(0).widget, file_data([item]))
    await person.until(lambda: person.path[0].results[0].images, "the image in the result")
    assert "becomes a line" not in person.conversation.notice.text


def test_large_images_are_made_smaller_together(stage: Stage, tmp_path: Path) -> None:
    large = [grainy(tmp_path / f"{index}.jpg", 2_400, 1_200) for index in range(2)]
    small = saved(tmp_path / "small.png", 40, 30)

    async def scene(person: Person) -> None:
        person.session.turns.add_turn(make_turn(Role.USER, "What is it?"))
        await person.conversation.wait_for_message(0)
        assert drop(person.conversation.message(0).widget, file_data([large[0]]))
        await person.conversation.notice.wait_for_text("Resize to")
        before = person.path[0].images[0].url
        await person.conversation.notice.press("Resize")
        await person.until(lambda: person.path[0].images[0].url != before, "a smaller image")
        measure = facts(person.path[0].images[0]).measure
        assert measure is not None
        assert measure.width == 1_568
        await undo(person)
        assert person.path[0].images[0].url == before
        await undo(person)
        assert not person.path[0].images

        # Several of a draft are made smaller together
        await person.do(person.app.workspace.new)
        attach(person, large[0], small, large[1])
        await person.conversation.notice.wait_for_text("Resize them")
        for words in ("2 large images", "at most 1,568 pixels a side", "saves"):
            await person.conversation.notice.wait_for_text(words)
        assert widths(person) == [2_400, 40, 2_400]
        await person.conversation.notice.press("Resize")
        await person.until(lambda: widths(person) == [1_568, 40, 1_568], "smaller images")
        await person.conversation.notice.wait_for_text("The original is not saved")
        await person.conversation.notice.press("Undo")
        await person.until(lambda: widths(person) == [2_400, 40, 2_400], "the images as they were")

        for count in (2, 1, 0):
            await person.until(lambda: remove_buttons(person), "the button of an image")
            await person.click(remove_buttons(person)[0])
            await person.until(partial(lambda count: len(widths(person)) == count, count), f"{count} images")
        attach(person, large[0])
        await person.conversation.notice.wait_for_text("2,400 × 1,200")
        await person.conversation.notice.press("Resize")
        await person.conversation.notice.press("Always resize")
        attach(person, large[1])
        await person.until(lambda: widths(person) == [1_568, 1_568], "the next one, without a question")

        assert choices(person) == ["Resize large images"]
        await trigger(person, person.conversation.composer.image_menu, AS_THEY_ARE)
        attach(person, large[0])
        await person.until(lambda: widths(person) == [1_568, 1_568, 2_400], "the image as it is")
        assert "Resize to" not in person.conversation.notice.text

    async def restart(person: Person) -> None:
        assert choices(person) == [AS_THEY_ARE]

    stage.play(scene)
    stage.play(restart)
