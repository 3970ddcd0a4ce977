"""Dropped files: documents and images."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QUrl

from playground.ui.features.conversation.documents import documents
from playground.ui.features.conversation.images import offers_images


def mime(*names: str) -> QMimeData:
    made = QMimeData()
    made.setUrls([QUrl(name) if "://" in name else QUrl.fromLocalFile(name) for name in names])
    return made


def test_files_that_can_be_opened_are_documents_and_no_images() -> None:
    offered = mime("/a/b.playground.json", "/a/c.JSONL")
    assert documents(offered) == [Path("/a/b.playground.json"), Path("/a/c.JSONL")]
    assert not offers_images(offered)


def test_anything_else_is_not_for_the_window() -> None:
    assert documents(mime("/a/b.png")) == []
    assert documents(mime("/a/b.json", "/a/b.png")) == []
    assert documents(mime("/a/b.json", "https://example.com/b.json")) == []
    assert documents(mime("https://example.com/b.json")) == []
    assert documents(QMimeData()) == []
    assert offers_images(mime("/a/b.png"))
    assert offers_images(mime("/a/b.json", "/a/b.png"))
