"""The log: in the platform's folder, small, and never a reason to fail."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.system import log


@pytest.fixture
def logger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    monkeypatch.setattr(logging, "raiseExceptions", logging.raiseExceptions)
    logger = logging.getLogger("playground")
    saved, level, propagate = list(logger.handlers), logger.level, logger.propagate
    monkeypatch.setattr(log, "log_path", lambda: tmp_path / "logs" / log.NAME)
    yield logger
    for handler in [handler for handler in logger.handlers if handler not in saved]:
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(level)
    logger.propagate = propagate


def test_it_lies_in_the_platforms_folder(home: Path) -> None:
    assert log.log_path().is_relative_to(home)
    assert log.log_path().name == "playground.log"


def test_an_entry_has_its_time_and_lands_in_the_file(logger: logging.Logger, tmp_path: Path) -> None:
    log.begin()
    assert not (tmp_path / "logs" / log.NAME).exists()  # nothing happened, nothing is written
    logging.getLogger("playground.freeze").warning("something about “Zoë”")
    text = (tmp_path / "logs" / log.NAME).read_text(encoding="utf-8")
    assert "WARNING something about “Zoë”" in text
    assert text[:2] == "20"


def test_it_does_not_grow_without_bound(logger: logging.Logger, tmp_path: Path) -> None:
    log.begin()
    for number in range(300):
        logger.warning("%d %s", number, "x" * 5000)
    files = list((tmp_path / "logs").iterdir())
    assert len(files) == log.FILES
    assert sum(file.stat().st_size for file in files) <= log.BYTES * log.FILES
    assert "299 x" in (tmp_path / "logs" / log.NAME).read_text(encoding="utf-8")


def test_without_a_folder_nothing_is_kept_and_nothing_raised(
    logger: logging.Logger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").write_text("a file in the place of the folder", encoding="utf-8")
    log.begin()
    logger.warning("lost")
    assert capsys.readouterr() == ("", "")
