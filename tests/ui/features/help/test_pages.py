"""The pages of the help: titles, actions, keys and search."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QKeySequence

from playground.ui.features.conversation.markdown_stream import MarkdownStream
from playground.ui.features.help.pages import FILES, Page, places, read_pages, search
from playground.ui.shell.actions import ACTIONS

#: Words in italics that are not an action: parts of the window, and words of the text itself.
NOT_IN_WINDOW = {
    "Add your own…",
    "All services…",
    "All settings…",
    "Bearer",
    "Connect a gateway",
    "Connect",
    "Delete",
    "Edit…",
    "Float",
    "Help › Start guide",
    "Save as service…",
    "Tools › Find local gateways…",
    "Tools › Set model price…",
    "View › Layout",
    "Max output tokens",
    "Put back",
    "Tools › Tool results…",
    "Tools › Tool servers…",
    "Open sample",
    "Keyboard shortcuts",
    "Tools",
    "Undo",
    "Use a variable",
    "default",
    "set",
}
#: Keys of a field or a list and of no action: sending from the composer, a favourite in the list of models.
OF_A_FIELD = {"Ctrl+Enter", "Ctrl+D"}


@pytest.fixture(scope="module")
def pages() -> tuple[Page, ...]:
    return read_pages(places("the window's file"))


def test_every_page_has_a_title_and_can_be_drawn(pages: tuple[Page, ...]) -> None:
    assert [page.name for page in pages] == [*FILES]
    for page in pages:
        assert page.title
        stream = MarkdownStream()
        stream.append_markdown(page.text)
        assert stream.lines[0].kind == "heading"
        assert len(stream.lines) > 5


def test_places_are_filled_in(pages: tuple[Page, ...]) -> None:
    stored = next(page for page in pages if page.name == "what-is-stored-where")
    for place in places("the window's file").values():
        assert place in stored.text
    assert not re.search(r"`\{[a-z]+\}`", "".join(page.text for page in pages))


def test_actions_that_are_named_exist(pages: tuple[Page, ...]) -> None:
    texts = {spec.text for spec in ACTIONS}
    for page in pages:
        for named in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", re.sub(r"`[^`]*`", "", page.text)):
            assert named in texts | NOT_IN_WINDOW, f"{page.name}: {named}"
            if " › " in named:
                menu, _, action = named.partition(" › ")
                assert any((menu, action) in ((spec.menu, spec.text), tuple(spec.menu.split("/"))) for spec in ACTIONS)


def test_keys_that_are_named_are_right(pages: tuple[Page, ...]) -> None:
    """A key is written in brackets behind the action, or in its sentence."""
    shortcuts = {QKeySequence(keys).toString() for spec in ACTIONS for keys in spec.keys.split()} | OF_A_FIELD
    for page in pages:
        for keys in re.findall(r"\b(?:Ctrl\+[A-Za-z+]+|F\d+)\b", page.text):
            assert keys in shortcuts, f"{page.name}: {keys}"


def test_search_wants_all_words_and_titles_come_first(pages: tuple[Page, ...]) -> None:
    assert [match.page for match in search(pages, " ")] == list(pages)
    match = search(pages, "KEYRING")
    assert {item.page.name for item in match} >= {"gateways-and-keys", "what-is-stored-where", "privacy"}
    assert "keyring" in match[0].around.casefold()
    assert search(pages, "privacy")[0].page.name == "privacy"
    assert [item.page.name for item in search(pages, "cassette HAR")] == ["the-wire"]
    assert search(pages, "keyring zebra") == []
