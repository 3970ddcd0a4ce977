"""An edited body that is split into its origins and merged again is the same body."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.requests.edit import apply_edit, read_edit, unmerge_body
from playground.engine.session.session import Session
from playground.jsonkit.merge import merged
from tests.support.editors import no_gateway

NAMES = ["stream", "stream_options", "thinking", "output_config", "metadata", "response_format", "vendor", "top_p"]
MEMBERS = ["include_usage", "type", "budget_tokens", "effort", "format", "user_id", "x"]
leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "json_schema", "enabled", "low"])
inner = st.recursive(leaves, lambda deeper: st.dictionaries(st.sampled_from(MEMBERS), deeper, max_size=3), max_leaves=6)
bodies = st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)


def session_with(protocol: str, panels: dict[str, Any], inherited: dict[str, Any], own: dict[str, Any]) -> Session:
    profile = Profile(id="p", base_url="https://g.example/v1", extra_body=inherited)
    session = Session(no_gateway, profile_id="p", model="m", protocol=protocol, profile_of=lambda _: profile)
    session.turns.add_turn(make_turn(Role.USER, "Hello"))
    kind = type(session.settings.current)
    fields = {name for name, hint in kind.hints() if hint.path}  # these stand elsewhere in a body
    session.set_parameters(kind.from_wire({name: value for name, value in panels.items() if name not in fields}))
    session.change(extra_body=own)
    return session


@settings(max_examples=60)
@given(st.sampled_from(["chat", "messages"]), bodies, bodies, bodies)
@example("chat", {"stream_options": {"include_usage": False}}, {}, {"stream": {}, "stream_options": None})
def test_unchanged_body_comes_apart_into_its_origins(
    protocol: str, panels: dict[str, Any], inherited: dict[str, Any], own: dict[str, Any]
) -> None:
    body = merged(merged(panels, inherited), own)
    split = unmerge_body(body, panels, inherited, own)
    assert (split.stuck, split.panels) == ([], panels)
    assert merged(merged(split.panels, inherited), split.extra) == body
    session = session_with(protocol, panels, inherited, own)
    edited = read_edit(session, json.dumps(session.next_request.body()))
    assert not edited.changed, edited


@settings(max_examples=60)
@given(st.sampled_from(["chat", "messages"]), bodies, bodies, bodies, bodies, st.sets(st.sampled_from(NAMES)))
def test_edited_body_is_what_is_sent(
    protocol: str,
    panels: dict[str, Any],
    inherited: dict[str, Any],
    own: dict[str, Any],
    put: dict[str, Any],
    out: set[str],
) -> None:
    session = session_with(protocol, panels, inherited, own)
    before = session.next_request.body()
    wanted = {name: value for name, value in {**before, **put}.items() if name in put or name not in out}
    edited = read_edit(session, json.dumps(wanted))
    apply_edit(session, edited)
    stuck = {note.split("“")[1].split("”")[0].split(".")[0] for note in edited.notes if "gateway's settings" in note}
    sent = session.next_request.body()
    assert {k: v for k, v in sent.items() if k not in stuck} == {k: v for k, v in wanted.items() if k not in stuck}
    assert stuck <= set(inherited)
