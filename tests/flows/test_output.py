"""The format of the answer, and extra fields and headers: what is sent, and the check of the answer."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QLineEdit, QPlainTextEdit

from tests.flows.conftest import Person, flow
from tests.flows.pages.steps import open_tab


@flow()
async def test_format_and_extra_fields_are_sent_and_the_answer_is_checked(person: Person) -> None:
    await open_tab(person, "Output")
    await person.press("JSON schema")
    await person.press("Insert an example")
    await person.trigger("view.raw")
    extra = await person.seen(QPlainTextEdit, "Extra body fields")
    await person.type_into(extra, '{"x_extra": [1, 2]}')
    await person.press("Add header")
    await person.type_into(await person.seen(QLineEdit, "Header name"), "X-Trace")
    await person.type_into(await person.seen(QLineEdit, "Header value"), "on")
    fold = await person.seen(QAbstractButton, "Extra fields and headers")
    assert fold.accessibleDescription() == "2"
    await person.run("Extract the invoice.")
    await person.idle(turns=2)
    assert person.body()["response_format"]["json_schema"]["name"] == "invoice"
    assert person.body()["x_extra"] == [1, 2]
    assert person.posts[-1].header("X-Trace") == "on"
    answer = person.conversation.message(1)
    await answer.wait_until(lambda: "Valid" in answer.texts, "a valid answer")
    await answer.save_edit('{"vendor": 1, "items": [], "total": "x"}')
    await answer.wait_until(lambda: "2 schema errors" in answer.texts, "an invalid answer")
    await open_tab(person, "Output")
    await person.press("JSON mode")
    assert "2 schema errors" in answer.texts  # the format with which it was requested counts
