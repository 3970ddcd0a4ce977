"""Lays out a Windows installation of Python, the application and PyInstaller from wheels of PyPI, for Wine.

Usage: windows_layout.py FOLDER WHEEL, with CPython 3.11 on Linux and Debian's gcc-mingw-w64-x86-64. Writes
FOLDER/python.

The interpreter and its extension modules are those that the panda3d wheel carries; the pure modules are those of the
Python that runs this script. Libraries have the versions and hashes of packaging/locks. The last functions add what
Wine 8 lacks; nothing that is made here is shipped.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import locked

SOURCES = Path(__file__).resolve().parent / "windows"
#: The wheel whose `deploy_libs` holds CPython 3.11.9 for Windows, with its SHA-256.
INTERPRETER = "panda3d==1.10.16 --hash=sha256:37acfb92655c4226879f95c988e2ef1449a53c54486d6c1ebc00e2772429af82"
#: What numpy imports complex functions from, and the library of equal length that takes its place.
C_RUNTIME_MATH = "api-ms-win-crt-math-l1-1-0.dll"
OWN_MATH = "gateway-playground-complex.dll"
#: Complex functions, without the suffixes f and l. Wine 8 has none of them, MinGW has all.
COMPLEX = re.compile(r"_?(c(?:abs|arg|real|imag|pow|sqrt|exp|log|a?(?:sin|cos|tan)h?))([fl]?)")
COMPILER = "x86_64-w64-mingw32-gcc"
OBJDUMP = "x86_64-w64-mingw32-objdump"
#: Folders of the standard library that are left out.
OMITTED = ("__pycache__", "site-packages", "lib-dynload", "test", "config-*", "_sysconfigdata_*", "ensurepip")


def main(folder: Path, wheel: Path) -> None:
    """Lay out everything below `folder`."""
    if sys.version_info[:2] != (3, 11) or sys.platform != "linux":
        raise SystemExit("CPython 3.11 on Linux is needed: its pure modules go into the Windows installation.")
    python = folder / "python"
    python.mkdir(parents=True)
    requirements = folder / "requirements.txt"
    requirements.write_text("\n".join([INTERPRETER, *locked.requirements("win32", "3.11", "app", "build")]))
    wheels = _download(requirements, folder / "wheels")
    (interpreter,) = [path for path in wheels if path.name.startswith("panda3d-")]
    _lay_out_interpreter(interpreter, python)
    packages = python / "Lib" / "site-packages"
    for path in sorted({*wheels, wheel} - {interpreter}):
        _unpack(path, packages)
    _compile_launcher(python)
    _forward_stable_abi(python)
    _add_visual_c_runtime(python, packages)
    _add_what_wine_lacks(python, packages)


def _download(requirements: Path, folder: Path) -> list[Path]:
    platform = ["--platform", "win_amd64", "--implementation", "cp", "--python-version", "3.11"]
    options = ["--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:", *platform, "--dest", str(folder)]
    _run(sys.executable, "-m", "pip", "download", *options, "-r", str(requirements))
    return list(folder.glob("*.whl"))


def _lay_out_interpreter(wheel: Path, python: Path) -> None:
    """Unpack the interpreter's own libraries, and copy the pure modules of the running one."""
    (python / "DLLs").mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            folder, _, file = name.rpartition("/")
            # The C runtime is Wine's; Tk is not used.
            if (
                folder != "deploy_libs"
                or not file.endswith((".dll", ".pyd"))
                or file.startswith(("api-ms-", "VCRUNTIME", "tcl", "tk"))
            ):
                continue
            beside = file.startswith("python3")
            target = python / file if beside else python / "DLLs" / file
            target.write_bytes(archive.read(name))
    shutil.copytree(sysconfig.get_path("stdlib"), python / "Lib", ignore=shutil.ignore_patterns(*OMITTED))


def _unpack(wheel: Path, packages: Path) -> None:
    """Unpack a wheel as an installer does: its data folders are merged into the folder of packages."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            target = re.sub(r"^[^/]+\.data/(?:purelib|platlib)/", "", name)
            if ".data/" in target or name.endswith("/"):
                continue  # scripts and headers
            path = packages / target
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(name))


def _compile_launcher(python: Path) -> None:
    _run(COMPILER, "-municode", "-O2", "-o", str(python / "python.exe"), str(SOURCES / "python.c"))


def _forward_stable_abi(python: Path) -> None:
    """Make python3.dll: every export is forwarded to python311.dll."""
    listing = _run(OBJDUMP, "-p", str(python / "python311.dll"))
    names = re.findall(r"^\s*\[\s*\d+\](?: \+base\[\s*\d+\])?\s+(?:[0-9a-f]+ )?(\w+)$", listing, re.MULTILINE)
    if len(names) < 1000:
        raise SystemExit(f"python311.dll has {len(names)} exports; more than a thousand were expected.")
    _link(python / "python3.dll", [f"{name}=python311.{name}" for name in names])


def _add_visual_c_runtime(python: Path, packages: Path) -> None:
    """Copy the Visual C++ runtime of PySide6 beside the interpreter."""
    for path in (packages / "PySide6").glob("*140*.dll"):
        shutil.copy2(path, python / path.name.lower())


def _add_what_wine_lacks(python: Path, packages: Path) -> None:
    """Add libraries of Windows that Wine 8 does not have, reduced to what is imported here."""
    core = _run(OBJDUMP, "-p", str(packages / "PySide6" / "Qt6Core.dll"))
    imported = core.partition("DLL Name: icuuc.dll")[2].partition("DLL Name:")[0]
    names = re.findall(r"\s((?:ucnv|UCNV)_\w+)$", imported, re.MULTILINE)
    # Converters of ICU serve encodings that the application does not use.
    _link(python / "icuuc.dll", [f"{name}=unavailable" for name in names], SOURCES / "unavailable.c")
    _link(python / "bcryptprimitives.dll", ["ProcessPrng"], SOURCES / "random.c", "-ladvapi32")
    modules = [path for path in (packages / "numpy").rglob("*.pyd") if C_RUNTIME_MATH.encode() in path.read_bytes()]
    functions: set[str] = set()
    for path in modules:
        imports = _run(OBJDUMP, "-p", str(path)).partition(f"DLL Name: {C_RUNTIME_MATH}")[2].partition("DLL Name:")[0]
        functions.update(re.findall(r"^\s+[0-9a-f]+\s+\d+\s+(\w+)$", imports, re.MULTILINE))
        path.write_bytes(path.read_bytes().replace(C_RUNTIME_MATH.encode(), OWN_MATH.encode()))
    _link(python / OWN_MATH, [_math_export(name) for name in sorted(functions)])


def _math_export(name: str) -> str:
    """The definition of a function of the C runtime: MinGW's if it is complex, else Wine's.

    A long double is a double for Microsoft's compiler.
    """
    match = COMPLEX.fullmatch(name)
    return f"{name}={match[1]}{match[2].rstrip('l')}" if match else f"{name}=ucrtbase.{name}"


def _link(library: Path, exports: list[str], *sources: Path | str) -> None:
    """Link a DLL with these exports, in the syntax of a module definition file."""
    definitions = library.with_suffix(".def")
    definitions.write_text("\n".join([f"LIBRARY {library.name}", "EXPORTS", *exports, ""]))
    _run(COMPILER, "-shared", "-static-libgcc", "-s", "-O2", "-o", str(library), str(definitions), *map(str, sources))
    definitions.unlink()


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
