"""Print 100 identifiers made in a process and 100 made in its fork."""

from __future__ import annotations

import os

from playground.domain.transcript import new_id

new_id()  # before the fork, so that both processes share the state of the generator
child = os.fork()
os.write(1, "".join(f"{new_id()} " for _ in range(100)).encode())
if child:
    os.waitpid(child, 0)
