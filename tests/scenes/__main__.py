"""Draws the window in named states: ``python -m tests.scenes OUT [NAME ...]``. Look at the pictures.

``python -m tests.scenes --golden [NAME ...]`` renews the golden pictures, which ``test_golden`` compares with.

Each scene becomes a file for each scheme and each of its sizes, ``NAME-SCHEME-WIDTHxHEIGHT.png``. Ends with 1, naming
the scenes, when one fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.surroundings import settle

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

SCHEMES = "light", "dark"
GOLDEN = Path(__file__).parent / "golden"


def main(arguments: list[str] | None = None) -> int:
    """Draw the scenes named, or all: one process a scheme, side by side. Returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    values = _read(arguments)
    began = time.monotonic()
    if values.golden:
        return draw_golden(values.names, values.out)
    if values.scheme:
        return draw_scheme(values.scheme, values.size, values.names, values.out)
    command = [sys.executable, "-m", "tests.scenes", *arguments, "--scheme"]
    parts = [subprocess.Popen([*command, scheme]) for scheme in SCHEMES]
    codes = [part.wait() for part in parts]
    print(f"{len(list(values.out.glob('*.png')))} pictures in {values.out} after {time.monotonic() - began:.0f} s")
    return max(1 if code else 0 for code in codes)


def draw_scheme(scheme: str, sizes: Sequence[str] | None, names: Sequence[str], out: Path) -> int:
    """Draw scenes in one scheme, each in its own sizes unless ``sizes`` are given. Returns the exit code."""
    from tests.scenes.registry import all_scenes

    scenes = all_scenes()
    if unknown := [name for name in names if name not in scenes]:
        print(f"no scene is called {', '.join(unknown)}; there are {', '.join(scenes)}", file=sys.stderr)
        return 2
    pictures = [(name, scheme, size) for name in names or scenes for size in sizes or scenes[name].sizes]
    return _draw(pictures, out, _write)


def draw_golden(names: Sequence[str], out: Path) -> int:
    """Draw golden pictures by the names of the pictures or their scenes, or all. Returns the exit code."""
    from tests.scenes.golden import PICTURES, scene_and_look, write_golden

    listed = {name: scene_and_look(name) for name in PICTURES}
    if unknown := [name for name in names if not any(name in (picture, look[0]) for picture, look in listed.items())]:
        print(f"no golden picture is called {', '.join(unknown)}; there are {', '.join(PICTURES)}", file=sys.stderr)
        return 2
    chosen = [look for picture, look in listed.items() if not names or picture in names or look[0] in names]
    return _draw(chosen, out, write_golden if out == GOLDEN else _write)


def _draw(pictures: Sequence[tuple[str, str, str]], out: Path, write: Callable[[QImage, Path], bool]) -> int:
    """Draw in this process. A scene that fails is named and leaves no picture; the others are drawn."""
    from tests.scenes.registry import all_scenes
    from tests.scenes.stage import Look, draw

    scenes = all_scenes()
    out.mkdir(parents=True, exist_ok=True)
    failed = False
    for name, scheme, size in pictures:
        width, height = size.split("x")
        look = Look(scheme, int(width), int(height))
        file = out / f"{name}-{look.name}.png"
        file.unlink(missing_ok=True)
        try:
            if not write(draw(scenes[name].play, look, scenes[name].demo), file):
                raise OSError(f"{file} could not be written")
        except Exception as error:
            failed = True
            words = " ".join(str(error).split())
            print(f"FAILED {file.stem}: {type(error).__name__}: {words}", file=sys.stderr)
    return 1 if failed else 0


def _write(picture: QImage, file: Path) -> bool:
    return picture.save(str(file))


def _read(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.scenes", description="Draw the window in named states.")
    parser.add_argument("names", nargs="*", metavar="OUT NAME", help="the folder for the pictures, then scenes (all)")
    parser.add_argument("--scheme", choices=SCHEMES, help="only this one")
    parser.add_argument("--size", action="append", metavar="WIDTHxHEIGHT", help="instead of each scene's own sizes")
    parser.add_argument("--golden", action="store_true", help="renew golden pictures, all or those named; without OUT")
    parser.add_argument("--into", type=Path, default=GOLDEN, help="draw golden pictures in full size into this folder")
    values = parser.parse_args(arguments)
    if not values.golden and not values.names:
        parser.error("give the folder for the pictures")
    values.out = values.into if values.golden else Path(values.names.pop(0))
    return values


def _fix_surroundings() -> None:
    """Draw alike on every machine: no screen, its scale or theme, the fonts beside the scenes, one zone of time."""
    for name in ("QT_QPA_PLATFORM", "QT_QPA_PLATFORMTHEME", "QT_SCALE_FACTOR", "DISPLAY", "WAYLAND_DISPLAY"):
        os.environ.pop(name, None)
    os.environ |= {"QT_ENABLE_HIGHDPI_SCALING": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    os.environ["FONTCONFIG_FILE"] = str(Path(__file__).parent / "fonts" / "fonts.conf")


if __name__ == "__main__":
    _fix_surroundings()
    settle()
    raise SystemExit(main())
