"""Refusals that another endpoint, or the whole conversation, would avoid."""

from __future__ import annotations

from playground.domain.errors import FailureKind, Sent
from playground.engine.advice import advise
from playground.engine.advice.parts import ASK_OVER, DROP_REASONING, SEND_ALL
from playground.protocols.errors import read_error
from tests.support.each_case import each_case

REFUSAL = (
    "Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. "
    "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
)


@each_case(
    "words",
    [
        REFUSAL,
        "Please use /v1/responses instead of /v1/chat/completions for this model.",
        "This model is only supported in v1/responses and not in v1/chat/completions.",
    ],
)
def test_refusal_that_names_another_endpoint_leads_there_first(words: str) -> None:
    sent = Sent(endpoint="chat", fields={"reasoning_effort": "low", "tools": None})
    failure = read_error({"error": {"message": words, "param": "reasoning_effort"}}, 400)
    advice = advise(failure.model_copy(update={"sent": sent}))
    first = advice.actions[0]
    assert (first.name, first.label, first.value) == (ASK_OVER, "Ask over Responses", "responses")
    assert advice.title == "The gateway takes this request over the Responses API"
    assert "“responses”" in advice.command


def test_refusal_that_names_its_own_endpoint_leads_nowhere_else() -> None:
    failure = read_error({"error": {"message": "Please use /v1/responses with a shorter input."}}, 400)
    advice = advise(failure.model_copy(update={"sent": Sent(endpoint="responses")}))
    assert ASK_OVER not in {action.name for action in advice.actions}


@each_case(
    ("status", "body"),
    [
        (
            400,
            {
                "message": "Previous response with id 'resp_1' not found.",
                "code": "previous_response_not_found",
                "param": "previous_response_id",
            },
        ),
        (404, {"message": "Response with id 'resp_1' not found.", "code": "previous_response_not_found"}),
        (400, {"message": "llama.cpp does not support 'previous_response_id'.", "code": 400}),
        (400, {"message": "Previous response cannot be used for this organization due to Zero Data Retention."}),
    ],
)
def test_forgotten_response_offers_to_send_the_whole_conversation(status: int, body: dict[str, object]) -> None:
    failure = read_error({"error": body}, status)
    assert failure.kind is FailureKind.HTTP
    advice = advise(failure.model_copy(update={"sent": Sent(endpoint="responses")}))
    assert advice.meaning == "state lost"
    assert advice.actions[0] == SEND_ALL


@each_case(
    ("status", "body"),
    [
        (400, {"message": "The encrypted content for item rs_1 could not be verified. Reason: unknown key."}),
        (400, {"message": "Refused.", "code": "invalid_encrypted_content"}),
        (400, {"message": "Item 'rs_1' of type 'reasoning' was provided without its required following item."}),
        (404, {"message": "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."}),
    ],
)
def test_reasoning_of_another_model_offers_to_drop_it(status: int, body: dict[str, object]) -> None:
    failure = read_error({"error": body}, status)
    advice = advise(failure.model_copy(update={"sent": Sent(endpoint="responses")}))
    assert advice.meaning == "sealed reasoning"
    assert advice.actions[0] == DROP_REASONING
