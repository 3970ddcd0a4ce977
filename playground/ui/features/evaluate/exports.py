"""Exports an evaluation to a file; the text is made in a worker thread."""

from __future__ import annotations

import asyncio

from PySide6.QtWidgets import QWidget

from playground.engine.evaluation.answers import AnswersError, SavedAnswer
from playground.engine.evaluation.export.formats import FORMATS, export
from playground.engine.evaluation.provider import Answer
from playground.engine.gateways.redaction import write_output
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.widgets.dialogs import ask_where, file_name


async def export_answers(evaluation: EvaluationModel, name: str, window: QWidget) -> str:
    """Ask for a file and write the evaluation to it, in the format of that name.

    Returns a message for the user, or "" if no file was chosen.
    """
    chosen_format = FORMATS[name]
    offered = f"{file_name(evaluation.resolved.base.title, 'Evaluation')}.{chosen_format.suffix}"
    kinds = f"{chosen_format.label} (*.{chosen_format.suffix});;All files (*)"
    path = await ask_where(window, "Export the evaluation", offered, kinds, chosen_format.suffix)
    if path is None:
        return ""
    try:
        text = await exported(evaluation, name)
        await asyncio.to_thread(lambda: write_output(path, text, evaluation.store.secrets))
    except OSError as error:
        return f"{path.name} could not be written: {error.strerror or error}. Choose another place."
    except AnswersError as error:
        return str(error)
    return f"Saved as {path}."


async def exported(evaluation: EvaluationModel, name: str) -> str:
    """Return the text of the file. Raises AnswersError."""
    results, store, evaluation_id = evaluation.results.copy(), evaluation.store, evaluation.resolved.id
    seconds = evaluation.progress.seconds if evaluation.progress is not None else None

    async def fetch(answer: Answer) -> SavedAnswer:
        return await store.details(evaluation_id, answer)

    def work() -> str:
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            return runner.run(export(name, results, fetch, store.secrets, seconds))

    return await asyncio.to_thread(work)
