"""Scenes of single features: alternatives, images, prices, a switch of protocol; and the pictures of the read-me."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QLinearGradient, QPainter

from playground.domain.transcript import Role, make_turn
from playground.ui.features.parameters.panel import MORE, ParameterPanel
from tests.scenes.registry import WIDE, scene
from tests.scenes.stage import Stage
from tests.support.editors import edit_call


@scene(sizes=WIDE)
async def alternatives_in_lanes(stage: Stage) -> None:
    """The three variants as lanes."""
    await _three(stage)
    stage.window.pane.commands.alternatives_asked.emit(stage.session.transcript.path[-1].id)
    await stage.until(lambda: stage.window.pane.columns is not None, "the lanes")


@scene()
async def image_attached(stage: Stage) -> None:
    """An image turn with its answer, and two images attached to the next message."""
    stage.fresh("demo-vision")
    await _attach(stage, _landscape(640, 420))
    await stage.ask("What is in this picture?")
    await _attach(stage, _landscape(300, 420), _landscape(480, 480))
    stage.window.pane.composer.set_text("And what do these two have in common?")
    stage.window.bottom_dock.hide()
    await stage.scroll_to_top()


@scene(sizes=("760x520", "960x600"))
async def panel_over_the_conversation(stage: Stage) -> None:
    """In a small window the side panel lies over the conversation, with a title and a button to close it."""
    stage.fresh("demo-chat")
    await stage.ask("What is a token? !fast")
    stage.act("view.parameters")
    await stage.settle()


@scene(sizes=("760x520", "960x600"))
async def narrow_window(stage: Stage) -> None:
    """In a small window the panels are closed, pages are icons, and nothing vanishes from the tool bar."""
    stage.fresh("demo-chat")
    await stage.ask("What is a token? !fast")
    stage.window.pane.composer.set_role(Role.ASSISTANT)
    stage.window.pane.composer.set_text("A piece of a word.")


@scene()
async def protocol_switch(stage: Stage) -> None:
    """The question before a switch: what the messages protocol cannot carry."""
    schema = {"type": "json_schema", "json_schema": {"name": "way", "schema": {"type": "object"}}}
    stage.fresh("demo-chat", response_format=schema, frequency_penalty=0.4, n=2)
    stage.session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    stage.session.turns.add_turn(make_turn(Role.USER, "Which way is shorter?"))
    stage.session.turns.add_turn(make_turn(Role.DEVELOPER, "Count the sea as well."))
    stage.act("run.protocol")
    await stage.settle()


@scene(sizes=WIDE)
async def hosted_items(stage: Stage) -> None:
    """An answer over the Responses API: reasoning, what the gateway ran itself, and a text with a citation."""
    stage.fresh("demo-responses", protocol="responses", reasoning_summary="auto")
    hosted = [
        {"type": "web_search"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "image_generation"},
    ]
    stage.session.change(extra_body={"tools": hosted})
    await stage.ask("What is the highest mountain of Norway?")
    stage.window.bottom_dock.hide()
    await stage.scroll_to_top()


@scene(sizes=WIDE)
async def parameters_of_responses(stage: Stage) -> None:
    """All parameters of the Responses API, and below them those that it does not have."""
    stage.fresh("demo-responses", protocol="responses")
    stage.act("view.parameters")
    panel = stage.find(ParameterPanel)
    panel.set_open(MORE, True)
    await stage.settle()
    panel.verticalScrollBar().setValue(panel.verticalScrollBar().maximum())


@scene(tokens_per_second=140, sizes=WIDE)
async def readme(stage: Stage) -> None:
    """The read-me's picture: one call answered, the other one waiting with an argument changed by hand."""
    for model, prompt in (
        ("demo-chat", "Stop sequences in lists !fast"),
        ("demo-chat", "Tone of voice, three ways !fast"),
        ("demo-chat", "Credit limit probe !402"),
        ("demo-chat", "Extract the invoice fields !fast"),
    ):
        stage.fresh(model)
        await stage.ask(prompt)
        stage.session.change(title=prompt.split(" !")[0])
        stage.act("experiment.new")
    stage.act("sample.tools")
    values = stage.session.settings.current
    expected = {"seed": 7, "max_completion_tokens": 2048, "reasoning_effort": "low", "tool_choice": "auto"}
    for name, value in expected.items():
        values = values.with_value(name, value)
    stage.session.set_parameters(values)
    await stage.run()
    await stage.until(lambda: len(stage.session.transcript.unanswered()) > 1, "two calls to wait for an answer")
    first, second = stage.session.transcript.unanswered()
    turn = stage.session.transcript.path[-1]
    edit_call(stage.session, turn.id, second.id, second.arguments.replace("celsius", "C"))
    stage.send(first.id, '{"temp": 21, "sky": "clear"}')
    stage.act("wire.timeline")
    await stage.settle()


async def _three(stage: Stage) -> None:
    stage.fresh("demo-chat", n=3, temperature=1.2)
    stage.window.bottom_dock.hide()
    await stage.ask("Say it in one line. !long=40")
    await stage.until(
        lambda: len(stage.session.transcript.siblings(stage.session.transcript.path[-1].id)) == 3, "three"
    )


async def _attach(stage: Stage, *pictures: QImage) -> None:
    """Attach as a paste would."""
    composer = stage.window.pane.composer
    stage.window.pane.intake.take(list(pictures))
    await stage.until(lambda: len(composer.attached) == len(pictures), "the images to be attached")


def _landscape(width: int, height: int) -> QImage:
    """A small made picture: a sky, a sun, hills."""
    picture = QImage(width, height, QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    sky = QLinearGradient(QPointF(0, 0), QPointF(0, height))
    sky.setColorAt(0, QColor("#8ec5fc"))
    sky.setColorAt(1, QColor("#fde2c4"))
    painter.fillRect(picture.rect(), sky)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor("#ffd166"))
    painter.drawEllipse(QPointF(width * 0.72, height * 0.3), height * 0.11, height * 0.11)
    for colour, x, y, wide in (
        ("#4f9d8f", -0.2, 0.62, 0.9),
        ("#2f7f79", 0.35, 0.68, 1.0),
        ("#1d5b63", -0.1, 0.82, 1.3),
    ):
        painter.setBrush(QColor(colour))
        painter.drawEllipse(QRectF(width * x, height * y, width * wide, height * 0.7))
    painter.end()
    return picture


@scene()
async def find(stage: Stage) -> None:
    """Words looked for across the turns: every place marked, one of them more, in an answer and in its reasoning."""
    stage.fresh("demo-reasoner")
    await stage.ask("What does a token cost, and why is a token not a word? !fast")
    await stage.ask("Then how many tokens are in a page? !fast")
    await stage.scroll_to_top()
    stage.act("edit.find")
    finder = stage.window.pane.finder
    finder.bar.field.setText("token")
    await stage.until(lambda: " of " in finder.bar.says, "places to be found")
    for _ in range(2):
        stage.act("edit.find-next")
    await stage.settle()
