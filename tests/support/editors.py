"""The edits that cards ask for where they stand in no pane: what is in editors is told to a session, the rest noted."""

from __future__ import annotations

from playground.domain.errors import RunRefusedError
from playground.domain.parts import Image
from playground.domain.transcript import Role
from playground.engine.session.drafts import EditKey, OpenEdit
from playground.engine.session.edits import with_text
from playground.engine.session.session import Experiment, Session
from playground.gateway.client import GatewayClient


async def no_gateway(profile_id: str) -> GatewayClient:
    raise RunRefusedError(f"no run is made here, at {profile_id}")


def edit_in_place(session: Session, turn_id: str, text: str) -> None:
    """Replace the text of a turn without a branch, as an edit below which turns remain."""
    session.turns.rewrite(session.transcript.replace(with_text(session.transcript.turns[turn_id], text)))


class Edits:
    """Those of ``session``, else of an empty one; ``log`` has what else was asked for."""

    fixed = False

    def __init__(self, session: Session | None = None) -> None:
        self.session = session or Experiment(no_gateway, profile_id="demo").main
        self.log: list[tuple[object, ...]] = []

    def get(self, key: EditKey) -> OpenEdit | None:
        return self.session.editors.open.get(key)

    def of(self, turn_id: str) -> list[OpenEdit]:
        return [edit for edit in self.session.editors.open.values() if edit.turn == turn_id]

    def put(self, edit: OpenEdit) -> None:
        self.session.editors.set_editing(edit)

    def cancel(self, key: EditKey) -> None:
        self.session.editors.end_editing(key)

    def keep(self, key: EditKey) -> str:
        self.session.editors.keep_editing(key)
        return ""

    def branches(self, turn_id: str, call_id: str = "") -> bool:
        return False

    def run(self, turn_id: str, text: str) -> None:
        self.log.append(("run", turn_id, text))

    def image(self, turn_id: str, at: int, image: Image | None) -> None:
        self.log.append(("image", turn_id, at, image))

    def role(self, turn_id: str, role: Role) -> None:
        self.log.append(("role", turn_id, role))
