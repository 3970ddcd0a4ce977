"""The pages of the help: read from ``resources/help``, with this computer's places filled in. No widgets in here.

The page on shortcuts is made from the table of actions, so that it cannot say anything else than the menus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from playground.engine.io.resources import resource_root
from playground.ui.features.action import MENUS, Action, key_text

#: In the order of the contents; each is a file of that name with ``.md``.
FILES: Final = (
    "getting-started",
    "gateways-and-keys",
    "experiments-and-files",
    "tool-debugging",
    "tool-servers",
    "comparing",
    "evaluating",
    "the-wire",
    "what-is-stored-where",
    "privacy",
)
SHORTCUTS: Final = "shortcuts"


class Page(NamedTuple):
    """One page; ``text`` is Markdown that begins with the title as a heading."""

    name: str
    title: str
    text: str


class PageHit(NamedTuple):
    """A page that holds what was looked for, how often, and the words around the first place."""

    page: Page
    times: int
    around: str


def read_pages(places: Mapping[str, str], actions: Sequence[Action[Any]]) -> tuple[Page, ...]:
    """All pages; ``{name}`` in a text is replaced by the place of that name. ``actions`` are the window's."""
    texts = {name: (resource_root() / "help" / f"{name}.md").read_text(encoding="utf-8") for name in FILES}
    for key, place in places.items():
        texts = {name: text.replace(f"{{{key}}}", place) for name, text in texts.items()}
    texts[SHORTCUTS] = _shortcuts(actions)
    return tuple(Page(name, text.partition("\n")[0].removeprefix("# "), text) for name, text in texts.items())


def places(window_settings: str) -> dict[str, str]:
    """Where things are on this computer, for ``read_pages``; ``window_settings`` is the window's own file."""
    from playground.engine.files.presets import default_path as presets
    from playground.engine.gateway_check.report import default_folder as checks
    from playground.engine.gateways.profiles import default_path as gateways
    from playground.engine.library.store.opening import default_path as experiments
    from playground.engine.library.workspace import ANSWERS
    from playground.log import log_path

    return {
        "data": str(experiments()),
        "answers": str(experiments().with_name(ANSWERS)),
        "checks": str(checks()),
        "settings": str(gateways()),
        "presets": str(presets()),
        "window": window_settings,
        "log": str(log_path()),
    }


def search(pages: tuple[Page, ...], words: str) -> list[PageHit]:
    """The pages that hold all of ``words``, the one with the most places first; all pages for no words."""
    wanted = words.casefold().split()
    found: list[PageHit] = []
    for page in pages:
        text = page.text.casefold()
        if all(word in text for word in wanted):
            times = sum(text.count(word) for word in wanted)
            found.append(PageHit(page, times, _around(page.text, wanted[0]) if wanted else ""))
    if wanted:
        found.sort(key=lambda one: (not all(word in one.page.title.casefold() for word in wanted), -one.times))
    return found


def _around(text: str, word: str, room: int = 40) -> str:
    """The line that holds the word, cut to some characters around it, without Markdown's marks."""
    body = text.partition("\n")[2] or text
    line = next((line for line in body.splitlines() if word in line.casefold()), "")
    plain = line.translate(str.maketrans("", "", "*`#|")).strip(" -")
    at = max(plain.casefold().find(word), 0)
    start = max(at - room, 0)
    end = at + len(word) + room
    return f"{'…' if start else ''}{plain[start:end].strip()}{'…' if end < len(plain) else ''}"


def _shortcuts(actions: Sequence[Action[Any]]) -> str:
    lines = [
        "# Shortcuts",
        "",
        "Every action is in the command palette (Ctrl+K), whether it has a shortcut or not.",
        "",
    ]
    for menu in MENUS:
        rows = [(spec.text, key_text(spec)) for spec in actions if spec.menu == menu and spec.keys]
        if rows:
            lines += [f"## {menu}", "", "| action | keys |", "|:--|:--|"]
            lines += [f"| {text} | `{keys}` |" for text, keys in rows]
            lines.append("")
    lines += ["Ctrl and the mouse wheel change the size of the text in the conversation.", ""]
    return "\n".join(lines)
