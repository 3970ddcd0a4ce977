"""Runs of files as the command line begins them, with what they wrote and how they ended."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground.engine.gateways.secrets import Secret
from playground.engine.headless.run import RunOptions, run_file

CANARY = "sk-canary-93ac55d1"
NOWHERE = "http://127.0.0.1:1/v1"  # a run that is begun ends with TRANSPORT there


def experiment(prompt: str = "Hello", **fields: Any) -> dict[str, Any]:
    """A request file that asks one thing."""
    messages = [{"role": "user", "content": prompt}]
    return {"playground": 1, "model": "demo-chat", "messages": messages, **fields}


@dataclass
class Ended:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The JSON on standard output."""
        output: dict[str, Any] = json.loads(self.out)
        return output

    @property
    def roles(self) -> list[str]:
        """The roles in the printed transcript."""
        return [turn["role"] for turn in self.json["turns"]]


@dataclass
class Desk:
    """Writes files into ``folder`` and runs them at ``base_url``; nothing is tried again by itself unless asked for.

    The key is looked for in all that a run writes.
    """

    folder: Path
    base_url: str

    async def run(self, content: object, **options: Any) -> Ended:
        """Run a file of that content: bytes, text, or a value that is written as JSON."""
        return await self.run_path(self.write("experiment.json", content), **options)

    async def run_path(self, path: Path, **options: Any) -> Ended:
        """Run the file at ``path``; ``options`` are those of ``RunOptions``."""
        out, err = io.StringIO(), io.StringIO()
        run_options = RunOptions(**{"base_url": self.base_url, "key": Secret(CANARY), "retries": 0, **options})
        code = await run_file(path, run_options, out, err)
        assert CANARY not in out.getvalue() + err.getvalue()
        return Ended(code, out.getvalue(), err.getvalue())

    def write(self, name: str, content: object) -> Path:
        """A file of that content."""
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path
