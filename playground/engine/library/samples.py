"""Opens a sample experiment: a run file that ships with the application, on the demo gateway.

Which samples there are, and what each of them shows, is the window's business.
"""

from __future__ import annotations

from pathlib import Path

from playground.engine.gateways.offered import DEMO_ID
from playground.engine.requests.request_file import read_run_file
from playground.engine.session.session import Session


def open_sample(session: Session, path: Path, title: str) -> None:
    """Fill ``session`` with the sample in ``path``. Raises BadInputError, as a run file that cannot be read does."""
    session.change(profile_id=DEMO_ID)
    session.load(read_run_file(path), title)
