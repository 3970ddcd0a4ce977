"""Check this gateway: what may be asked, lines that came, one that is looked at, refusals, changes, a dead gateway."""

from __future__ import annotations

import time

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.prices import Price
from playground.engine.gateway_check.report import Departure, Line, Report, Verdict
from playground.engine.gateways.offered import DEMO_ID
from playground.engine.gateways.profiles import Profile
from playground.ui.features.gateway_check.window import CheckWindow
from tests.scenes.registry import SMALL, scene
from tests.scenes.stage import SceneError, Stage

LONG = "a-model-with-a-name-that-somebody-never-thought-would-be-shown-in-a-narrow-list-0123456789"


async def _opened(stage: Stage) -> CheckWindow:
    stage.act("gateway.check")
    found = stage.window.findChild(CheckWindow)
    if found is None:
        raise SceneError("there is no window of checks")
    await stage.until(lambda: bool(found.lines.wanted), "the checks")
    return found


async def _made(stage: Stage) -> CheckWindow:
    window = await _opened(stage)
    window.begin()
    await stage.until(lambda: not window.running and window.report is not None, "the report")
    return window


@scene()
async def check_before(stage: Stage) -> None:
    """What can be asked, with its price; two checks are not ticked."""
    stage.fresh("demo-reasoner")
    stage.app.gateways.set_price(DEMO_ID, "demo-reasoner", Price(input=2.0, output=8.0))
    window = await _opened(stage)
    window.lines.tick(("image", "chat"), False)
    window.lines.tick(("reasoning", "chat"), False)


@scene()
async def check_made(stage: Stage) -> None:
    """All lines of the demo gateway, the stream looked at."""
    stage.fresh("demo-messages")
    window = await _made(stage)
    window.lines.choose(("stream", "messages"))


@scene(tokens_per_second=30)
async def check_under_way(stage: Stage) -> None:
    """Some lines are there, one is asked for."""
    stage.fresh("demo-reasoner")
    window = await _opened(stage)
    window.begin()
    await stage.until(lambda: window.lines.line(("whole", "chat")) is not None, "the first answer")


@scene()
async def check_dead(stage: Stage) -> None:
    """A gateway at which nothing listens."""
    profile = stage.app.gateways.store.add_profile(Profile(name="Nobody there", base_url="http://127.0.0.1:1/v1"))
    stage.session.change(profile_id=profile.id)
    stage.session.change(model="gpt-oss-20b")
    window = await _made(stage)
    window.lines.choose(("whole", "chat"))


@scene()
async def check_changed(stage: Stage) -> None:
    """Long names, refusals, deviations, rules to keep, and what is otherwise than in the report before."""
    stage.fresh("demo-reasoner")
    now = _report(Verdict.REFUSED, time.time() - 3600)
    earlier = _report(Verdict.WORKS, time.time() - 3 * 86400)
    window = await _opened(stage)
    for old in window._kept.load():  # what other scenes left behind
        window._kept.delete(old)
    for report in (earlier, now):
        window._kept.save(report, (), ())
    stage.act("gateway.check")
    await stage.until(lambda: window.earlier.count() > 1, "the reports")
    window.earlier.setCurrentIndex(1)
    window.earlier.activated.emit(1)
    await stage.until(lambda: window.report is not None, "the report")
    window.lines.choose(("schema", "chat"))


@scene(sizes=SMALL)
async def check_no_model(stage: Stage) -> None:
    """A gateway without a list and without a model: what is needed first is said."""
    profile = stage.app.gateways.store.add_profile(Profile(name="Nobody there", base_url="http://127.0.0.1:1/v1"))
    stage.session.change(profile_id=profile.id)
    stage.session.change(model="")
    await _opened(stage)


def _report(schema: Verdict, begun: float) -> Report:
    def line(check: str, title: str, verdict: Verdict, words: str, protocol: str = "chat") -> Line:
        return Line(check=check, title=title, verdict=verdict, words=words, protocol=protocol, seconds=0.84)

    notes = (
        Departure(code="no_end_marker", note="the stream ends without data: [DONE]", section="4.1"),
        Departure(code="created_missing", note="a chunk has no created", section="2.5"),
    )
    stream = line(
        "stream", "Stream", Verdict.DEVIATES, "First token after 210 ms, “Hello” in 12 reads, ended with “stop”."
    )
    usage = line(
        "stream_usage", "Token counts in the stream", Verdict.REFUSED, "HTTP 400: unknown field stream_options"
    )
    lines = (
        line("models", "Model list", Verdict.WORKS, "219 models, this one among them.", ""),
        line("whole", "Short answer", Verdict.WORKS, "“Hello” in 840 ms.").model_copy(
            update={"without": ("max_completion_tokens (sent as max_tokens)",)}
        ),
        stream.model_copy(update={"deviations": notes}),
        usage,
        line("tool", "Tool call", Verdict.UNSUPPORTED, 'The call came as text and not as a call: “{"name": …”.'),
        line("tool_named", "Named tool demanded", Verdict.UNTOLD, "It answered in words although a call was demanded."),
        line("schema", "JSON schema", schema, "HTTP 400: " + "response_format json_schema is not available " * 6),
        line("whole", "Short answer", Verdict.SKIPPED, "The gateway lists this model elsewhere.", "messages"),
    )
    rule = Adaptation(kind=AdaptationKind.OMIT, field="stream_options", protocol="chat", learnt="2026-11-23")
    return Report(
        gateway="The team’s gateway in the other building, behind the second proxy",
        profile_id=DEMO_ID,
        base_url="https://gateway.example/v1",
        model=LONG,
        begun=begun,
        ended=begun + 31,
        lines=lines,
        learnt=(rule,),
    )
