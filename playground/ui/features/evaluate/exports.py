"""An evaluation as a file: asked where, made off the window's thread of what is there now, and written whole."""

from __future__ import annotations

import asyncio

from PySide6.QtWidgets import QWidget

from playground.engine.evaluation.answers import AnswersError, SavedAnswer
from playground.engine.evaluation.export.formats import FORMATS, export
from playground.engine.evaluation.provider import Answer
from playground.engine.gateways.redacted_output import write_output
from playground.ui.features.evaluate.look import Look
from playground.ui.widgets.dialogs import ask_where, file_name


async def export_answers(look: Look, name: str, window: QWidget) -> str:
    """Ask for a file and write the evaluation to it, in the format of that name.

    Returns how that went, in words; an empty text where no file was named.
    """
    found = FORMATS[name]
    offered = f"{file_name(look.resolved.base.title, 'Evaluation')}.{found.suffix}"
    kinds = f"{found.words} (*.{found.suffix});;All files (*)"
    path = await ask_where(window, "Export the evaluation", offered, kinds, found.suffix)
    if path is None:
        return ""
    try:
        text = await exported(look, name)
        await asyncio.to_thread(lambda: write_output(path, text, look.store.secrets))
    except OSError as error:
        return f"{path.name} could not be written: {error.strerror or error}. Choose another place."
    except AnswersError as error:
        return str(error)
    return f"Saved as {path}."


async def exported(look: Look, name: str) -> str:
    """What the file has in it. Raises AnswersError."""
    results, store, evaluation = look.results.copy(), look.store, look.resolved.id
    seconds = look.progress.seconds if look.progress is not None else None

    async def fetch(answer: Answer) -> SavedAnswer:
        return await store.details(evaluation, answer)

    def work() -> str:
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            return runner.run(export(name, results, fetch, store.secrets, seconds))

    return await asyncio.to_thread(work)
