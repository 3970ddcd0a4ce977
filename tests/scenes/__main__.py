"""Draws the window in named states: ``python -m tests.scenes OUT [NAME ...]``. Look at the pictures.

Each scene becomes a file for each scheme and each of its sizes, ``NAME-SCHEME-WIDTHxHEIGHT.png``. Ends with 1, naming
the scenes, when one fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.surroundings import settle

SCHEMES = "light", "dark"


def main(arguments: list[str] | None = None) -> int:
    """Draw the scenes named, or all: one process a scheme, side by side. Returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    given = _read(arguments)
    began = time.monotonic()
    if given.scheme:
        return draw_scheme(given.scheme, given.size, given.names, given.out)
    command = [sys.executable, "-m", "tests.scenes", *arguments, "--scheme"]
    parts = [subprocess.Popen([*command, scheme]) for scheme in SCHEMES]
    codes = [part.wait() for part in parts]
    print(f"{len(list(given.out.glob('*.png')))} pictures in {given.out} after {time.monotonic() - began:.0f} s")
    return max(1 if code else 0 for code in codes)


def draw_scheme(scheme: str, sizes: Sequence[str] | None, names: Sequence[str], out: Path) -> int:
    """Draw in this process. A scene that fails is named and leaves no picture; the others are drawn."""
    from tests.scenes.registry import all_scenes
    from tests.scenes.stage import Look, draw

    scenes = all_scenes()
    if unknown := [name for name in names if name not in scenes]:
        print(f"no scene is called {', '.join(unknown)}; there are {', '.join(scenes)}", file=sys.stderr)
        return 2
    out.mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    for name in names or scenes:
        for size in sizes or scenes[name].sizes:
            width, height = size.split("x")
            look = Look(scheme, int(width), int(height))
            file = out / f"{name}-{look.name}.png"
            file.unlink(missing_ok=True)
            try:
                if not draw(scenes[name].play, look, scenes[name].demo).save(str(file)):
                    raise OSError(f"{file} could not be written")
            except Exception as error:
                failed.append(file.stem)
                words = " ".join(str(error).split())
                print(f"FAILED {file.stem}: {type(error).__name__}: {words}", file=sys.stderr)
    return 1 if failed else 0


def _read(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.scenes", description="Draw the window in named states.")
    parser.add_argument("out", type=Path, help="the folder the pictures go to")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which scenes (default: all)")
    parser.add_argument("--scheme", choices=SCHEMES, help="only this one")
    parser.add_argument("--size", action="append", metavar="WIDTHxHEIGHT", help="instead of each scene's own sizes")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    settle()
    # A picture has the size it is named after, whatever the screen's own scale and the desktop's theme.
    os.environ["QT_ENABLE_HIGHDPI_SCALING"] = "0"
    os.environ.pop("QT_SCALE_FACTOR", None)
    os.environ.pop("QT_QPA_PLATFORMTHEME", None)
    raise SystemExit(main())
