"""The pages of the help: read from ``resources/help``, with this computer's places filled in. No widgets in here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from playground.engine.files.presets import default_path as presets_path
from playground.engine.gateway_check.report import default_folder as checks_folder
from playground.engine.gateways.profiles import default_path as gateways_path
from playground.engine.io.files import resource_root
from playground.engine.library.store.opening import default_path as experiments_path
from playground.engine.library.workspace import ANSWERS
from playground.system.log import log_path

#: In the order of the contents; each is a file of that name with ``.md``.
FILES: Final = (
    "getting-started",
    "gateways-and-keys",
    "experiments-and-files",
    "tool-debugging",
    "tool-servers",
    "comparing",
    "evaluating",
    "listening",
    "the-wire",
    "what-is-stored-where",
    "keyboard",
    "privacy",
)


class Page(NamedTuple):
    """One page; ``text`` is Markdown that begins with the title as a heading."""

    name: str
    title: str
    text: str


class PageHit(NamedTuple):
    """A page that contains the words of a search, how often, and the text around the first match."""

    page: Page
    times: int
    around: str


def read_pages(places: Mapping[str, str]) -> tuple[Page, ...]:
    """Return all pages; ``{name}`` in a text is replaced by the place of that name."""
    texts = {name: (resource_root() / "help" / f"{name}.md").read_text(encoding="utf-8") for name in FILES}
    for key, place in places.items():
        texts = {name: text.replace(f"{{{key}}}", place) for name, text in texts.items()}
    return tuple(Page(name, text.partition("\n")[0].removeprefix("# "), text) for name, text in texts.items())


def places(window_settings: str) -> dict[str, str]:
    """Return the places on this computer for ``read_pages``; ``window_settings`` is the window's own file."""
    return {
        "data": str(experiments_path()),
        "answers": str(experiments_path().with_name(ANSWERS)),
        "checks": str(checks_folder()),
        "settings": str(gateways_path()),
        "presets": str(presets_path()),
        "window": window_settings,
        "log": str(log_path()),
    }


def search(pages: tuple[Page, ...], query: str) -> list[PageHit]:
    """Return the pages that contain all words of ``query``, the one with the most first; all pages for no words."""
    words = query.casefold().split()
    hits: list[PageHit] = []
    for page in pages:
        text = page.text.casefold()
        if all(word in text for word in words):
            times = sum(text.count(word) for word in words)
            hits.append(PageHit(page, times, _around(page.text, words[0]) if words else ""))
    if words:
        hits.sort(key=lambda hit: (not all(word in hit.page.title.casefold() for word in words), -hit.times))
    return hits


def _around(text: str, word: str, width: int = 40) -> str:
    """Return the first line with the word, cut to ``width`` characters around it, without Markdown's marks."""
    body = text.partition("\n")[2] or text
    line = next((line for line in body.splitlines() if word in line.casefold()), "")
    plain = line.translate(str.maketrans("", "", "*`#|")).strip(" -")
    position = max(plain.casefold().find(word), 0)
    start, end = max(position - width, 0), position + len(word) + width
    return f"{'…' if start else ''}{plain[start:end].strip()}{'…' if end < len(plain) else ''}"
