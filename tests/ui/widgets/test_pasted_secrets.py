"""A secret leaves the screen and comes back exactly, however it was written."""

from __future__ import annotations

import base64
import json

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from playground.engine.gateways.secrets import Secret
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.pasted_secrets import PastedSecrets

KEY = "sk-canary-0123456789"


def test_a_key_is_concealed_wherever_it_stands_and_comes_back() -> None:
    text = f"curl -H 'Authorization: Bearer {KEY}' -H 'x-api-key: {KEY}' https://x.example/v1"
    secrets = PastedSecrets()
    displayed = secrets.conceal(text, [Secret(KEY)])
    assert KEY not in displayed
    assert "Authorization: Bearer ••••" in displayed
    assert secrets.reveal(displayed) == text
    assert secrets.conceal(text, [Secret(KEY)]) == displayed, "one mark for one secret"
    assert KEY not in repr(secrets) + repr(vars(secrets))


def test_a_scheme_and_a_user_with_a_password_are_recognised() -> None:
    basic = "Basic " + base64.b64encode(b"somebody:very secret").decode()
    secrets = PastedSecrets()
    for text in ("curl -u 'somebody:very secret' https://x", f"-H 'Proxy-Auth: {basic}'", f"token {basic[6:]} here"):
        displayed = secrets.conceal(text, [Secret(basic)])
        assert "very secret" not in displayed
        assert basic[6:] not in displayed
        assert secrets.reveal(displayed) == text


def test_a_key_is_recognised_as_json_spells_it() -> None:
    key = 'pass/"word"-ünd'
    for text in (json.dumps({"key": key}), json.dumps({"key": key}, ensure_ascii=False), json.dumps([json.dumps(key)])):
        secrets = PastedSecrets()
        displayed = secrets.conceal(text, [Secret(key)])
        assert "word" not in displayed
        assert secrets.reveal(displayed) == text


def test_the_cursor_stays_behind_what_it_stood_behind(qapp: QApplication) -> None:
    editor = CodeEditor(json=False)
    editor.setPlainText(f"😀 {KEY} {KEY} here and there")
    cursor = editor.textCursor()
    cursor.setPosition(editor.toPlainText().index(" and there") + 1)  # the picture takes two places
    editor.setTextCursor(cursor)
    PastedSecrets().take_off(editor, [Secret(KEY)])
    assert KEY not in editor.text()
    assert not editor.document().isUndoAvailable()
    editor.insertPlainText("|")
    assert editor.text().endswith(" here| and there")


def test_what_is_not_in_the_text_or_too_short_changes_nothing() -> None:
    text = "curl https://x -d '{}'"
    assert PastedSecrets().conceal(text, [Secret(KEY), Secret("u"), Secret("Basic ??")]) == text


@given(st.text(), st.lists(st.text(min_size=4, max_size=12), max_size=4))
def test_what_is_concealed_always_comes_back(text: str, secrets: list[str]) -> None:
    if "••••" in text + "".join(secrets):
        return
    complete = text + "".join(secrets) + text
    pasted = PastedSecrets()
    assert pasted.reveal(pasted.conceal(complete, [Secret(secret) for secret in secrets])) == complete
