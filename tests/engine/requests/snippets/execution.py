"""Execution of snippets in the real tools: sh and curl, Python with its libraries, Node.

Those of one language run in one process, because most of the time goes into starting it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

MARK = "\x1e"  # stands before what each snippet prints

_PYTHON = """
import runpy, sys, traceback
for path in sys.argv[1:]:
    print("\\x1e", end="")
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        print("FAILED", end)
    except Exception as error:
        print("FAILED", type(error).__name__, error)
        traceback.print_exc()
"""
_NODE = """
import { pathToFileURL } from "node:url";
for (const path of process.argv.slice(2)) {
  process.stdout.write("\\x1e");
  try { await import(pathToFileURL(path)); } catch (error) { console.log("FAILED", error); console.error(error); }
}
"""
_SHELL = 'for path in "$@"; do printf "\\036"; sh "$path" || echo FAILED; done'


def run(lexer: str, files: list[Path], environment: Mapping[str, str]) -> list[str]:
    """Return the output of each file."""
    folder = files[0].parent
    if lexer == "bash":
        command = ["sh", "-c", _SHELL, "sh"]
    elif lexer == "python":
        driver = folder / "driver.py"
        driver.write_text(_PYTHON, encoding="utf-8")
        command = [sys.executable, str(driver)]
    else:
        driver = folder / "driver.mjs"
        driver.write_text(_NODE, encoding="utf-8")
        command = ["node", str(driver)]
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "HOME", "LANG", "TMPDIR") if name in os.environ}
    done = subprocess.run(
        [*command, *map(str, files)],
        env={**kept, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", **environment},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )
    printed = done.stdout.split(MARK)[1:]
    assert len(printed) == len(files), f"{done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return printed
