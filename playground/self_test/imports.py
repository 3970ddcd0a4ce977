"""Loads every part of the application and carries out every import statement in it, those inside functions included.

A packager that overlooked a module is found out here and not when a person first presses the button that needs it. The
statements are read from the compiled modules themselves, so that no list can go stale.
"""

from __future__ import annotations

import dis
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator
from types import CodeType

import playground
from playground.self_test.report import MissingError

#: Modules of the standard library that Windows lacks, and that only Windows has; we import them behind a guard.
OF_UNIX = frozenset({"curses", "fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"})
OF_WINDOWS = frozenset({"_winapi", "msvcrt", "nt", "winreg", "winsound"})
#: Modules of pywin32, which only Windows has and must have.
OF_PYWIN32 = frozenset({"pywintypes", "win32api", "win32con", "win32job"})
OF_ONE_SYSTEM = OF_UNIX | OF_WINDOWS | (frozenset() if sys.platform == "win32" else OF_PYWIN32)

#: Modules that need a library which only an extra brings, and that library.
OF_AN_EXTRA = {
    "playground.engine.headless.cluster.client": "distributed",
}

#: What others load by a name they hold in a text, on the way of something the application does.
BY_NAME = (
    "anyio._backends._asyncio",
    "keyring.backends.SecretService",
    "keyring.backends.Windows",
    "keyring.backends.kwallet",
    "keyring.backends.libsecret",
    "keyring.backends.macOS",
    "pygments.lexers.javascript",
    "pygments.lexers.python",
    "pygments.lexers.shell",
    "pygments.lexers.data",
    "socksio.socks5",
    "uvicorn.lifespan.off",
    "uvicorn.lifespan.on",
    "uvicorn.loops.asyncio",
    "uvicorn.protocols.http.h11_impl",
)


def load_everything() -> str:
    """Import all there is. Returns a sentence with the numbers; raises MissingError naming what cannot be loaded."""
    every = [module.name for module in pkgutil.walk_packages(playground.__path__, "playground.")]
    ours = [name for name in every if not _lacks_its_extra(name)]
    if "playground.app" not in ours:
        raise MissingError("the application's own modules cannot be listed")
    expected: set[tuple[str, tuple[str, ...]]] = {(name, ()) for name in BY_NAME}
    for name in ours:
        expected.add((name, ()))
        expected.update(_statements(name))
    missing = sorted({words for name, parts in sorted(expected) for words in _load(name, parts)})
    if missing:
        raise MissingError("; ".join(missing))
    others = {name.partition(".")[0] for name, _ in expected} - sys.stdlib_module_names - {"playground"}
    return f"{len(ours)} modules, {len(expected)} different imports, from {len(others)} libraries"


def _lacks_its_extra(name: str) -> bool:
    return name in OF_AN_EXTRA and importlib.util.find_spec(OF_AN_EXTRA[name]) is None


def _statements(module: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The imports in a module as (name, imported names), from any place in it."""
    spec = importlib.util.find_spec(module)
    get_code = getattr(spec.loader if spec else None, "get_code", None)  # a packager's loader is of a class of its own
    code = get_code(module) if get_code is not None else None
    if not isinstance(code, CodeType):
        raise MissingError(f"{module} has no code")
    for part in _parts(code):
        before = None
        for instruction in dis.get_instructions(part):
            if instruction.opname == "IMPORT_NAME":
                names: object = before.argval if before is not None and before.opname == "LOAD_CONST" else None
                yield str(instruction.argval), names if isinstance(names, tuple) else ()
            before = instruction


def _parts(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


def _load(name: str, parts: tuple[str, ...]) -> Iterator[str]:
    """Import a module and those submodules that are taken from it; yields what could not be loaded, and why."""
    if name.partition(".")[0] in OF_ONE_SYSTEM or _lacks_its_extra(name):
        return
    try:
        module = importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 - whatever a module raises while it loads
        yield f"{name} ({type(error).__name__}: {error})"
        return
    for part in parts:
        # A name that a module without a folder does not have is one for the type checker alone.
        if hasattr(module, "__path__") and not hasattr(module, part):
            yield from _load(f"{name}.{part}", ())
