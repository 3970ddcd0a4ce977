"""Checks of the installation and its surroundings: files, certificates, the environment of children."""

from __future__ import annotations

import asyncio
import json
import os
import re
import ssl
import sys
from pathlib import Path
from typing import NoReturn

from playground.self_test.report import MissingError, Report

#: A certificate in a folder of OpenSSL's carries its name's hash.
_HASHED = re.compile(r"[0-9a-f]{8}\.\d+")


def read_resources() -> str:
    """Read every shipped file. Returns a sentence; raises MissingError for one that is empty or not what it says."""
    from playground.engine.io.files import resource_root

    root = resource_root()
    files = sorted(path for path in root.rglob("*") if path.is_file())
    for path in files:
        text = path.read_bytes()
        if not text:
            raise MissingError(f"{path} is empty")
        if path.suffix == ".json":
            json.loads(text)
    for name in ("style.qss", "icons/app.svg", "samples", "schemas"):
        if not (root / name).exists():
            raise MissingError(f"{name} is not in {root}")
    return f"{len(files)} files in {root}"


def look_at_certificates(report: Report) -> None:
    """Check that https can be verified: load the certificates of the operating system as connections do."""
    import truststore

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if sys.platform in ("win32", "darwin"):
        report.good("the operating system checks them")
        return
    begun = context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="localhost")  # loads what is trusted
    count = begun.context.cert_store_stats()["x509_ca"]
    if count:
        report.good(f"{count} authorities are trusted")
        return
    folder = Path(ssl.get_default_verify_paths().capath or os.devnull)
    if folder.is_dir() and (count := sum(1 for path in folder.iterdir() if _HASHED.fullmatch(path.name))):
        report.good(f"{count} authorities are trusted, in {folder}")
        return
    report.absent("this system trusts no authority; https needs the package ca-certificates, or a CA file")


def check_elsewhere() -> str:
    """Have a schema that may take long checked by a process of its own. Raises MissingError when that does not work."""
    from playground.engine.questions import checking
    from playground.engine.questions.kinds import ArgumentsFit
    from playground.jsonkit.problems import not_checked

    looks_ahead = ArgumentsFit('{"a": "xyz"}', {"properties": {"a": {"pattern": "^(?=y)"}}})
    if checking.now(looks_ahead) is not None:
        raise MissingError("a pattern that may take long was not left to the process that checks")
    result = asyncio.run(checking.answer(looks_ahead))
    if unknown := not_checked(result):
        raise MissingError(unknown.message)
    if len(result) != 1:
        raise MissingError("the process that checks does not know what fits")
    return "a process of its own checks what may take long"


def ask_a_tool_server() -> str:
    """Start our own tool server in the process for them and call a tool. Raises MissingError when nothing answers."""
    from playground.engine.gateways.secrets import KeyringError, Keys
    from playground.engine.session.tool_calls import Ticket
    from playground.engine.tool_servers.registry import DEMO_ID, ServerRegistry
    from playground.engine.tool_servers.servers import ServerError, Servers

    def no_keyring() -> NoReturn:
        raise KeyringError("none is needed here")

    async def ask() -> str:
        servers = Servers(ServerRegistry.temporary(()), Keys(backend=no_keyring))
        try:
            live = await servers.start(DEMO_ID)
            answer = await servers.call(DEMO_ID, "roll_dice", {"count": 2}, Ticket())
        finally:
            await servers.close()
        if answer.is_error or not isinstance(answer.structured, dict) or "sum" not in answer.structured:
            raise MissingError(f"the demo's tool server answered otherwise: {answer.structured}")
        return f"one of our own answers, with {len(live.tools)} tools"

    try:
        return asyncio.run(ask())
    except ServerError as error:
        raise MissingError(str(error)) from None


def what_children_inherit() -> str:
    """Check that a browser started from here would load its own libraries. Raises MissingError with a variable.

    A frozen application borrows environment variables to find its libraries; see ``playground.system.frozen``.
    """
    ours = getattr(sys, "_MEIPASS", None)
    if ours is None:
        return "inherit the environment as it was"
    borrowed = sorted(name for name, value in os.environ.items() if ours in value and name != "PATH")
    if borrowed:
        raise MissingError(f"would inherit {', '.join(borrowed)}")
    return "inherit nothing of the frozen application's"
