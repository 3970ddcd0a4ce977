"""Judgements of a model over a real socket, of its words, and of a person."""

from __future__ import annotations

import json

from playground.demo.server import DemoServer
from playground.domain.checks.asked import Judge, You
from playground.domain.checks.check import Verdict
from playground.domain.checks.texts import Contains
from playground.engine.evaluation.judging import manual_verdict, read_verdict
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.session import Session
from tests.engine.evaluation.evaluations import Evaluations, cases, planned
from tests.support.fault_server import FaultServer, head, keep, send

JUDGE = Judge(rubric="It is kind.", model="demo-chat")


def judged(gateway: DemoServer) -> list[dict[str, object]]:
    bodies = [json.loads(request.body) for request in gateway.requests if request.method == "POST"]
    return [body for body in bodies if "You judge" in body["messages"][0]["content"]]


async def test_judge_is_asked_for_json_and_its_verdict_saved(
    evaluations: Evaluations, session: Session, gateway: DemoServer
) -> None:
    runner = await evaluations.run(planned(session, checks=(JUDGE, Contains(text="x"))))
    bodies = judged(gateway)
    assert len(bodies) == 3
    assert all(body["response_format"]["type"] == "json_schema" for body in bodies)  # type: ignore[index]
    assert runner.progress.requests == 6
    for answer in runner.answers.values():
        saved = await evaluations.store.details(session.id, answer)
        ((key, judgement),) = saved.judgements.items()
        verdict = answer.verdicts[key]
        assert verdict.passed is (verdict.score >= 0.5)
        assert judgement.model == "demo-chat"
        assert "Rubric:\nIt is kind." in judgement.turns[1].text
        assert saved.turns[1].text[:40] in judgement.turns[1].text
        assert judgement.turns[2].text.startswith("{")
        assert judgement.tokens
    again = await evaluations.run(planned(session, checks=(Contains(text="x"), JUDGE)))
    assert len(judged(gateway)) == 3, "no judge is asked again"
    assert again.answers == runner.answers
    failing = await evaluations.run(planned(session, checks=(JUDGE.model_copy(update={"model": "no-such-model"}),)))
    for answer in failing.answers.values():
        key, verdict = next(item for item in answer.verdicts.items() if item[1].passed is None)
        assert not answer.failure
        assert verdict.reason.startswith("the judge failed: ")
        assert (await evaluations.store.details(session.id, answer)).judgements[key].failure


def reply(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    body = json.dumps({"id": "1", "object": "chat.completion", "model": "m", "choices": choices}).encode()
    return head(200, "application/json", f"Content-Length: {len(body)}") + body


async def test_judge_without_formats_is_asked_for_text(
    evaluations: Evaluations, session: Session, gateways: Gateways, server: FaultServer
) -> None:
    error = b'{"error": {"message": "response_format is not supported", "param": "response_format"}}'
    server.play_next(send(reply("Well, Lisbon.")), keep())
    server.play_next(send(head(400, "application/json", f"Content-Length: {len(error)}"), error), keep())
    server.play(send(reply('Sure: {"score": 0.9, "reason": "kind\\nwords"} Bye')), keep())
    gateways.update(gateways.get(DEMO_ID).model_copy(update={"base_url": server.url}))
    runner = await evaluations.run(planned(session, cases=cases()[:1], checks=(JUDGE,)))
    (answer,) = runner.answers.values()
    assert list(answer.verdicts.values()) == [Verdict(True, 0.9, "kind words")]
    assert ["response_format" in (request.json or {}) for request in server.requests] == [False, True, False]


def test_words_of_a_judge_become_a_verdict() -> None:
    verdicts = {
        '{"reason": "good", "score": 0.5}': (True, 0.5),
        '{"score": 0.49}': (False, 0.49),
        '```json\n{"score": 1, "reason": "r"}\n```': (True, 1.0),
        'I think {"score": "0.7"} fits': (True, 0.7),
        '{"pass": false}': (False, 0.0),
        '{"score": true}': (True, 1.0),
    }
    none = ('{"score": 7}', '{"score": NaN}', "good", "", "[0.7]", "{" * 100_000)
    for text, (passed, score) in (verdicts | dict.fromkeys(none, (None, 0.0))).items():
        verdict = read_verdict(JUDGE, text)
        assert (verdict.passed, verdict.score) == (passed, score)
        negated = read_verdict(JUDGE.model_copy(update={"negated": True}), text)
        assert negated.passed is (None if passed is None else not passed)


def test_verdict_by_hand_is_taken_over() -> None:
    assert manual_verdict(You(), True) == Verdict(True, 1.0, "")
    assert manual_verdict(You(), False, " too\nlong ") == Verdict(False, 0.0, "too long")
    assert manual_verdict(You(negated=True), False) == Verdict(True, 1.0, "")
    assert manual_verdict(You(), None, "look again").passed is None
