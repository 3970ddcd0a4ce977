"""The gateway dialog: typing, tests, consent, copies and removal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QWidget

from playground.demo.server import DemoConfig, DemoServer
from playground.engine.gateways.credentials import credentials_for, store_secret
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.ui.features.gateways.dialog import ProfileDialog
from tests.support.eventually import eventually
from tests.ui.features.gateways.conftest import DialogDriver, Scene, idle, type_into

CANARY = "sk-canary-8f2a61c0de"


def answer(dialog: ProfileDialog, text: str) -> None:
    next(button for button in dialog.body.notice.buttons if button.text() == text).click()


async def saved_profile(driver: DialogDriver, name: str = "Work", url: str = "https://gateway.example/v1") -> Profile:
    profile, _state = await store_secret(Profile(name=name, base_url=url), driver.keys, Secret(CANARY))
    return driver.store.add_profile(profile)


def test_every_field_is_saved(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        dialog = driver.open()
        form = dialog.form
        type_into(form.line("name"), "Everything")
        type_into(form.address.edit, "https://gateway.example/v1")
        type_into(form.line("default_model"), "model-1")
        QTest.keyClicks(form.fields.rows["auth.messages"].main_field(), "both")
        QTest.keyClicks(form.fields.rows["reasoning_return.when"].main_field(), "after")
        QTest.keyClicks(form.fields.rows["reasoning_return.field"].main_field(), "reasoning_content")
        type_into(form.line("timeouts.connect"), "2,5")
        type_into(form.line("timeouts.idle"), "off")
        type_into(form.line("timeouts.total"), "600")
        form.headers.add.click()
        type_into(form.headers.edits[0].name, "X-Team")
        type_into(form.headers.edits[0].value, "docs")
        form.headers.add.click()
        secret = form.headers.edits[1]
        type_into(secret.name, "X-Edge-Token")
        assert "stored in the keyring" in form.headers.hint.text()
        assert secret.value.echoMode() is QLineEdit.EchoMode.Password
        type_into(secret.value, CANARY)
        type_into(form.line("ca_file"), "/etc/ssl/own.pem")
        type_into(form.line("proxy"), f"http://me:{CANARY}@proxy.example:3128")
        dialog.save_button.click()
        await eventually(lambda: "holds a user name or a password" in dialog.body.message.text())
        assert CANARY not in dialog.body.message.text()
        type_into(form.line("proxy"), "proxy.example:3128")
        before = form.value
        dialog.save_button.click()
        await eventually(lambda: bool(driver.saved))
        await idle(dialog)
        profile = driver.saved[0]
        timeouts = profile.timeouts
        assert (timeouts.connect, timeouts.first, timeouts.idle, timeouts.total) == (2.5, 120, None, 600)
        assert (profile.auth, profile.default_model, profile.ca_file) == (
            {"messages": "both"},
            "model-1",
            "/etc/ssl/own.pem",
        )
        assert (profile.reasoning_return.when, profile.reasoning_return.field) == (
            "after_tool_calls",
            "reasoning_content",
        )
        assert profile.headers == {"X-Team": "docs"}
        assert profile.proxy == "http://proxy.example:3128"
        assert list(profile.secret_headers) == ["X-Edge-Token"]
        assert before.profile.timeouts == timeouts
        assert not dialog.save_button.isEnabled()  # what was stored is what is shown

    driver = play(scene)
    assert CANARY not in driver.store.path.read_text(encoding="utf-8")


def test_pasted_key_is_cleaned_with_a_remark(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        dialog = driver.open()
        key = dialog.form.key
        QApplication.clipboard().setText(f"Bearer {CANARY}\n")
        key.edit.paste()
        assert key.edit.text() == CANARY
        assert "Bearer" in key.remarks.text()
        assert CANARY not in key.remarks.text()
        assert key.edit.echoMode() is QLineEdit.EchoMode.Password
        key.show_key.click()
        assert key.edit.echoMode() is QLineEdit.EchoMode.Normal

    play(scene)


def test_connection_test_uses_the_typed_values(play: Callable[[Scene], DialogDriver]) -> None:
    with DemoServer(DemoConfig(key=CANARY, rate_limit=1_000_000)) as server:

        async def scene(driver: DialogDriver) -> None:
            dialog = driver.open()
            type_into(dialog.form.address.edit, server.base_url)
            type_into(dialog.form.key.edit, "wrong-key")
            dialog.test_button.click()
            assert dialog.test_button.text() == "Stop &test"
            await eventually(lambda: dialog.test_button.text() == "&Test")
            assert "401" in dialog.body.message.text()
            assert dialog.body.message.property("kind") == "error"
            type_into(dialog.form.key.edit, CANARY)
            dialog.test_button.click()
            await eventually(lambda: dialog.test_button.text() == "&Test")
            assert dialog.body.message.text().startswith("OK: ")
            lines = [line.text() for line in dialog.test_result.lines]
            assert lines[0].startswith("Model list: 6 models in ")
            assert lines[1:] == [
                "Chat completions: is there and does not refuse the key (HTTP 400 to an empty request)",
                "Messages: is there and does not refuse the key (HTTP 400 to an empty request)",
                "Responses: is there and does not refuse the key (HTTP 400 to an empty request)",
            ]
            assert [line.mark for line in dialog.test_result.lines] == ["check"] * 4
            assert "nothing" not in dialog.test_result.details.text().lower()
            assert driver.store.profiles == ()  # a test saves nothing

        play(scene)


def test_closing_with_unsaved_changes_asks(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        profile = await saved_profile(driver)
        dialog = driver.open()
        type_into(dialog.form.line("name"), "Renamed")
        dialog.close()
        assert dialog.isVisible()
        assert "“Renamed” has unsaved changes." in dialog.body.notice.words
        answer(dialog, "Keep editing")
        assert dialog.isVisible()
        assert dialog.form.line("name").text() == "Renamed"
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        answer(dialog, "Save")
        await eventually(lambda: not dialog.isVisible())
        stored = driver.store.get(profile.id)
        assert stored is not None
        assert stored.name == "Renamed"

        again = driver.open()
        type_into(again.form.line("name"), "Thrown away")
        again.reject()
        answer(again, "Discard")
        assert not again.isVisible()
        assert driver.store.get(profile.id) == stored

    play(scene)


def test_copy_has_no_key_and_removal_forgets_it_until_undone(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        profile = await saved_profile(driver)
        dialog = driver.open()
        dialog.body.buttons["duplicate"].click()
        assert dialog.body.list.count() == 2
        dialog.save_button.click()
        await eventually(lambda: bool(driver.saved))
        await idle(dialog)
        copy = driver.saved[0]
        assert (copy.name, copy.base_url, copy.key_origin) == ("Work (copy)", profile.base_url, "")
        assert copy.id != profile.id

        dialog.select(profile.id)
        dialog.body.buttons["remove"].click()
        await eventually(lambda: driver.store.get(profile.id) is None)
        await idle(dialog)
        assert "“Work” was deleted." in dialog.body.notice.words
        assert tuple(driver.keys.known_secrets()) == ()
        assert dialog.body.list.count() == 1
        answer(dialog, "Undo")
        await eventually(lambda: driver.store.get(profile.id) == profile)
        await idle(dialog)
        assert [it.id for it in driver.store.profiles] == [profile.id, copy.id], "in its place"
        assert await driver.keys.get(profile.id, profile.key_origin) == Secret(CANARY)
        assert driver.removed == []
        dialog.body.buttons["remove"].click()
        await eventually(lambda: driver.store.get(profile.id) is None)
        await idle(dialog)
        dialog.close_button.click()
        assert driver.removed == [profile.id]

    play(scene)


def test_gateways_are_edited_with_the_keyboard_alone(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        first, second = await saved_profile(driver, "First"), await saved_profile(driver, "Second")
        dialog = driver.open()
        dialog.activateWindow()
        await eventually(dialog.isActiveWindow)
        dialog.body.list.setFocus()
        QTest.keyClick(dialog.body.list, Qt.Key.Key_Down)
        assert dialog.form.line("name").text() == "Second"
        QTest.keyClick(dialog.body.list, Qt.Key.Key_Return)
        assert dialog.focusWidget() is dialog.form.line("name")
        type_into(dialog.form.line("name"), "Renamed")
        dialog.body.list.setFocus()
        QTest.keyClick(dialog.body.list, Qt.Key.Key_Up)
        assert dialog.form.line("name").text() == "First"
        QTest.keyClick(dialog.body.list, Qt.Key.Key_Down)
        assert dialog.form.line("name").text() == "Renamed", "the draft stays"
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert dialog.focusWidget() is dialog.body.notice.buttons[0]
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert dialog.isVisible(), "Escape takes the question back"
        assert not dialog.body.notice.isVisible()
        QTest.keyClick(dialog, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        await eventually(lambda: [it.name for it in driver.store.profiles] == ["First", "Renamed"])
        await idle(dialog)
        QTest.keyClick(dialog, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        assert dialog.focusWidget() is dialog.form.address.edit
        assert dialog.body.list.count() == 3
        dialog.body.list.setFocus()
        QTest.keyClick(dialog.body.list, Qt.Key.Key_Delete)
        await eventually(lambda: dialog.body.list.count() == 2)
        await idle(dialog)
        assert not dialog.body.notice.isVisible(), "an empty one is removed without a word"
        QTest.keyClick(dialog.body.list, Qt.Key.Key_Delete)
        await eventually(lambda: [it.id for it in driver.store.profiles] == [first.id])
        await idle(dialog)
        assert second.id not in dialog.ids()
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert not dialog.isVisible()

    play(scene)


def test_changed_address_needs_consent_for_the_key(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        profile = await saved_profile(driver)
        dialog = driver.open()
        assert not dialog.form.key.move_key.isVisible()
        type_into(dialog.form.address.edit, "https://elsewhere.example/v1")
        assert dialog.form.key.move_key.isVisibleTo(dialog)
        dialog.test_button.click()
        await eventually(lambda: dialog.test_button.text() == "&Test")
        assert dialog.body.message.text().startswith("Nothing was sent.")
        assert driver.tested == []
        dialog.form.key.move_key.click()
        dialog.save_button.click()
        await eventually(lambda: bool(driver.saved))
        assert driver.saved[0].key_origin == "https://elsewhere.example:443"
        assert await driver.keys.get(profile.id, profile.key_origin) is None

    play(scene)


def test_plain_http_needs_consent_for_the_key(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        dialog = driver.open()
        address = dialog.form.address
        type_into(address.edit, "http://127.0.0.1:9/v1")
        assert not address.consent.isVisibleTo(dialog)
        type_into(address.edit, "http://10.0.0.7:8000/v1")
        assert address.consent.isVisibleTo(dialog)
        assert "Not encrypted" in address.warning.text()
        type_into(dialog.form.key.edit, CANARY)
        dialog.test_button.click()
        await eventually(lambda: dialog.test_button.text() == "&Test")
        assert "Nothing was sent" in dialog.body.message.text()
        assert driver.tested == []
        address.consent.click()
        dialog.save_button.click()
        await eventually(lambda: bool(driver.saved))
        await idle(dialog)
        assert driver.saved[0].plain_http_origin == "http://10.0.0.7:8000"
        result = await credentials_for(driver.saved[0], driver.keys)
        assert getattr(result, "key", None) is not None
        type_into(address.edit, "http://10.0.0.8:8000/v1")
        assert not address.consent.isChecked()  # a yes is for one host

    play(scene)


def test_damaged_file_is_reported(play: Callable[[Scene], DialogDriver], tmp_path: Path) -> None:
    (tmp_path / "gateways.json").write_text("{", encoding="utf-8")

    async def scene(driver: DialogDriver) -> None:
        assert "set aside" in driver.open().body.message.text()

    play(scene)


def test_controls_have_names_and_labels_are_plain_text(play: Callable[[Scene], DialogDriver]) -> None:
    async def scene(driver: DialogDriver) -> None:
        await saved_profile(driver, "<b>bold</b>", "http://10.0.0.7/v1")
        dialog = driver.open()
        dialog.form.headers.add.click()
        dialog.close()
        for control in dialog.findChildren(QWidget):
            if isinstance(control, (QLineEdit, QComboBox)) and not isinstance(control.parent(), QComboBox):
                assert control.accessibleName(), control.objectName()
            if isinstance(control, QAbstractButton):
                assert control.accessibleName() or control.text(), control
                in_field = isinstance(control.parent(), QLineEdit)
                assert in_field or control.focusPolicy() & Qt.FocusPolicy.TabFocus
            if isinstance(control, QLabel):
                assert control.textFormat() is Qt.TextFormat.PlainText, control.text()

    play(scene)


def test_offered_address_is_taken_and_tested(play: Callable[[Scene], DialogDriver]) -> None:
    with DemoServer(DemoConfig(key=CANARY, rate_limit=1_000_000)) as server:

        async def scene(driver: DialogDriver) -> None:
            dialog = driver.open()
            type_into(dialog.form.address.edit, server.base_url.removesuffix("/v1"))
            type_into(dialog.form.key.edit, CANARY)
            dialog.test_button.click()
            await eventually(lambda: bool(dialog.test_result.offers))
            (offer,) = dialog.test_result.offers
            assert offer.text() == f"Use {server.base_url}"
            offer.click()
            await eventually(lambda: dialog.body.message.text().startswith("OK: "))
            assert dialog.form.address.text() == server.base_url

        play(scene)
