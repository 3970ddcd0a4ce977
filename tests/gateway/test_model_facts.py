"""What entries of model lists say, in the shapes that gateways send, and in shapes that nobody should."""

from __future__ import annotations

from typing import Any

from playground.domain.model_facts import KINDS, NOTHING_TOLD, ModelFacts, agreed, joined
from playground.domain.prices import Price
from playground.gateway.model_facts import facts_of
from playground.gateway.models import ModelList, read_models
from playground.jsonkit import foreign
from tests.support.each_case import each_case


def price(input: float | None, output: float | None, cached: float | None = None, currency: str = "$") -> Price:
    return Price(input=input, output=output, cached=cached, currency=currency, told=True)


#: An entry of each shape: (entry, for how many tokens the service prices, what is told). Where each is from:
SHAPES: list[tuple[str, dict[str, Any], int, dict[str, Any]]] = [
    (
        "openrouter.ai/docs/models",
        {
            "id": "google/gemini-2.5-pro-preview",
            "created": 1746000000,
            "description": "A model.",
            "context_length": 1048576,
            "architecture": {
                "modality": "text+image->text",
                "input_modalities": ["file", "image", "text"],
                "output_modalities": ["text"],
                "tokenizer": "Gemini",
            },
            "pricing": {
                "prompt": "0.00000125",
                "completion": "0.00001",
                "input_cache_read": "0.00000031",
                "image": "0",
            },
            "top_provider": {"context_length": 1048576, "max_completion_tokens": 65536, "is_moderated": False},
            "supported_parameters": ["max_tokens", "tools", "reasoning"],
        },
        0,
        {
            "context": 1048576,
            "output": 65536,
            "price": price(1.25, 10, 0.31),
            "inputs": frozenset({"file", "image", "text"}),
            "refused": frozenset({"audio", "video"}),
            "outputs": frozenset({"text"}),
            "parameters": frozenset({"max_tokens", "tools", "reasoning"}),
            "tools": True,
            "reasoning": True,
            "created": 1746000000.0,
            "about": "A model.",
        },
    ),
    (
        "a price that varies (openrouter's routers), and a model that is free",
        {"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}},
        0,
        {},
    ),
    ("free", {"id": "f", "pricing": {"prompt": "0", "completion": "0"}}, 0, {"price": price(0, 0)}),
    (
        "litellm 1.106, /model/info",
        {
            "model_name": "gpt",
            "litellm_params": {"model": "openai/gpt-4o"},
            "model_info": {
                "id": "1a2b",
                "max_tokens": 16384,
                "max_input_tokens": 128000,
                "max_output_tokens": 16384,
                "input_cost_per_token": 2.5e-06,
                "cache_read_input_token_cost": 1.25e-06,
                "output_cost_per_token": 1e-05,
                "litellm_provider": "openai",
                "mode": "chat",
                "supports_vision": True,
                "supports_function_calling": True,
                "supports_reasoning": None,
                "supports_audio_input": False,
                "supported_openai_params": ["n", "tools"],
            },
        },
        0,
        {
            "context": 128000,
            "output": 16384,
            "price": price(2.5, 10, 1.25),
            "inputs": frozenset({"text", "image"}),
            "refused": frozenset({"audio"}),
            "parameters": frozenset({"n", "tools"}),
            "tools": True,
            "owner": "openai",
        },
    ),
    (
        "litellm writes 0 for what it does not know",
        {"model_info": {"input_cost_per_token": 0, "output_cost_per_token": 0, "mode": "image_generation"}},
        0,
        {"mode": "image_generation"},
    ),
    ("vllm, sglang", {"id": "m", "max_model_len": 32768, "owned_by": "vllm"}, 0, {"context": 32768, "owner": "vllm"}),
    ("llama.cpp", {"id": "m.gguf", "meta": {"n_ctx_train": 131072, "n_params": 3}}, 0, {"context": 131072}),
    (
        "llama.cpp, with what it was started with",
        {"meta": {"n_ctx_train": 131072, "n_ctx": 4096}},
        0,
        {"context": 4096},
    ),
    (
        "llama.cpp, /props",
        {"default_generation_settings": {"n_ctx": 2048}, "modalities": {"vision": True, "audio": False}},
        0,
        {"context": 2048, "inputs": frozenset({"text", "image"})},
    ),
    (
        "lm studio, /api/v0/models",
        {
            "id": "qwen2-vl",
            "type": "vlm",
            "publisher": "community",
            "max_context_length": 32768,
            "loaded_context_length": 4096,
            "capabilities": ["tool_use"],
        },
        0,
        {
            "context": 4096,
            "inputs": frozenset({"text", "image"}),
            "tools": True,
            "owner": "community",
        },
    ),
    (
        "lm studio, /api/v1/models",
        {
            "type": "llm",
            "publisher": "google",
            "key": "google/gemma-3-4b",
            "max_context_length": 131072,
            "capabilities": {"vision": True, "trained_for_tool_use": False},
            "description": None,
        },
        0,
        {"context": 131072, "inputs": frozenset({"text", "image"}), "tools": False, "owner": "google"},
    ),
    ("lm studio's other kind", {"id": "e", "type": "embeddings"}, 0, {"mode": "embeddings"}),
    (
        "ollama, /api/show",
        {
            "model_info": {"general.architecture": "llama", "llama.context_length": 131072},
            "capabilities": ["completion", "tools"],
        },
        0,
        {
            "context": 131072,
            "inputs": frozenset({"text"}),
            "refused": frozenset({"image"}),
            "tools": True,
            "reasoning": False,
        },
    ),
    ("ollama's other kind", {"capabilities": ["embedding"]}, 0, {"mode": "embedding"}),
    (
        "mistral",
        {
            "id": "m",
            "max_context_length": 131072,
            "capabilities": {"completion_chat": True, "function_calling": False, "vision": False},
            "type": "base",
        },
        0,
        {"context": 131072, "tools": False, "inputs": frozenset({"text"}), "refused": frozenset({"image"})},
    ),
    ("mistral's other kind", {"id": "m", "capabilities": {"completion_chat": False}}, 0, {"mode": "other"}),
    (
        "the public messages protocol",
        {
            "id": "m",
            "type": "model",
            "created_at": "2026-02-04T00:00:00Z",
            "max_input_tokens": 200000,
            "max_tokens": 64000,
            "capabilities": {
                "image_input": {"supported": True},
                "pdf_input": {"supported": False},
                "structured_outputs": {"supported": True},
                "thinking": {"supported": True, "types": {}},
            },
        },
        0,
        {
            "context": 200000,
            "output": 64000,
            "inputs": frozenset({"text", "image"}),
            "refused": frozenset({"file"}),
            "reasoning": True,
            "schema_kept": True,
            "created": 1770163200.0,
        },
    ),
    (
        "together: the names do not say what the price is for, the service's documentation does",
        {"id": "m", "context_length": 8192, "type": "chat", "pricing": {"input": 0.88, "output": 0.9}},
        1_000_000,
        {"context": 8192, "price": price(0.88, 0.9)},
    ),
    ("the same where nobody says it", {"id": "m", "pricing": {"input": 0.88, "output": 0.9}}, 0, {}),
    (
        "vercel",
        {
            "id": "m",
            "type": "language",
            "context_window": 200000,
            "max_tokens": 8192,
            "tags": ["reasoning", "tool-use", "vision"],
            "pricing": {"input": "0.000003", "output": "0.000015", "input_cache_read": "0.0000003"},
        },
        1,
        {
            "context": 200000,
            "output": 8192,
            "price": price(3, 15, 0.3),
            "tools": True,
            "reasoning": True,
            "inputs": frozenset({"text", "image"}),
        },
    ),
    ("groq", {"context_window": 131072, "max_completion_tokens": 8192}, 0, {"context": 131072, "output": 8192}),
    (
        "requesty",
        {
            "context_window": 1,
            "max_output_tokens": 2,
            "input_price": 3e-06,
            "output_price": 1.5e-05,
            "cached_price": 3e-07,
        },
        1,
        {"context": 1, "output": 2, "price": price(3, 15, 0.3)},
    ),
    (
        "github's catalogue",
        {
            "id": "openai/gpt-4.1",
            "publisher": "OpenAI",
            "summary": "Good.",
            "capabilities": ["streaming", "tool-calling"],
            "limits": {"max_input_tokens": 1048576, "max_output_tokens": 32768},
            "supported_input_modalities": ["text", "image", "audio"],
            "supported_output_modalities": ["text"],
        },
        0,
        {
            "context": 1048576,
            "output": 32768,
            "inputs": frozenset({"text", "image", "audio"}),
            "refused": frozenset({"video", "file"}),
            "outputs": frozenset({"text"}),
            "tools": True,
            "owner": "OpenAI",
            "about": "Good.",
        },
    ),
    (
        "hugging face's router: only what all that stand behind the name say",
        {
            "id": "m",
            "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
            "providers": [
                {
                    "provider": "a",
                    "context_length": 131072,
                    "supports_tools": True,
                    "pricing": {"input": 1, "output": 2},
                },
                {"provider": "b", "context_length": 8192, "supports_tools": True, "pricing": {"input": 1, "output": 3}},
                {"provider": "c", "status": "error"},
            ],
        },
        1_000_000,
        {
            "inputs": frozenset({"text"}),
            "refused": KINDS - {"text"},
            "outputs": frozenset({"text"}),
            "tools": True,
        },
    ),
    ("a unit in the name", {"input_cost_per_million_tokens": "0.5"}, 0, {"price": price(0.5, None)}),
    (
        "another currency",
        {"pricing": {"prompt": 1e-6, "completion": 0, "currency": "CNY"}},
        0,
        {"price": price(1, 0, None, "CNY")},
    ),
    ("a currency that is none", {"pricing": {"prompt": 1e-6, "currency": "gold"}}, 0, {}),
    (
        "what makes pictures",
        {"architecture": {"output_modalities": ["image"]}},
        0,
        {"outputs": frozenset({"image"}), "mode": "image"},
    ),
    (
        "an older way to say kinds",
        {"architecture": {"modality": "text+image->text"}},
        0,
        {"inputs": frozenset({"text", "image"}), "refused": KINDS - {"text", "image"}, "outputs": frozenset({"text"})},
    ),
    (
        "yes as a text",
        {"supports_vision": "true", "supports_tools": "False"},
        0,
        {"inputs": frozenset({"text", "image"}), "tools": False},
    ),
    ("limits as texts", {"context_length": "4096", "max_tokens": " 100 "}, 0, {"context": 4096, "output": 100}),
]


@each_case(("entry", "tokens", "told"), [shape[1:] for shape in SHAPES])
def test_what_an_entry_says(entry: dict[str, Any], tokens: int, told: dict[str, Any]) -> None:
    assert facts_of(entry, tokens) == ModelFacts(**told)


@each_case(
    "said",
    [
        "1e400", "-1", "NaN", "Infinity", "-5.5", "true", "null", "[]", "{}", '"many"', '""', '"-1"', "1.5", "0",
        "9" * 400, '"' + "9" * 5000 + '"', '"1e400"', '"nan"', '"inf"', "[" * 90 + "]" * 90, '{"supported": {"a": 1}}',
    ],
)  # fmt: skip
def test_what_is_none_of_it_is_not_told(said: str) -> None:
    names = ("context_length", "max_tokens", "created", "created_at", "description", "pricing",
             "providers", "architecture", "model_info", "capabilities", "supported_parameters", "meta", "limits",
             "top_provider", "tags", "mode", "type")  # fmt: skip
    text = "{" + ",".join(f'"{name}": {said}' for name in names) + "}"
    found = facts_of(foreign.parse(text), 1_000_000)
    assert (found.context, found.output, found.price, found.inputs, found.mode) == (None, None, None, None, "")
    amounts = facts_of(foreign.parse(f'{{"pricing": {{"prompt": {said}, "completion": {said}}}}}'))
    assert amounts.price is None or said == "0"


@each_case("entry", ["text", None, 7, [], [1], {}, {"id": "m"}, {"id": "m", "object": "model"}])
def test_a_bare_name_tells_nothing(entry: Any) -> None:
    found = facts_of(entry)
    assert not found.told
    assert found is NOTHING_TOLD
    assert found.takes("image") is None


def test_a_price_that_cannot_be_meant_for_a_token_is_none() -> None:
    """Whoever writes dollars for a million where a price for one token stands: thousands of dollars are not shown."""
    assert facts_of({"pricing": {"prompt": 0.15, "completion": 0.6}}).price is None
    assert facts_of({"pricing": {"prompt": "0.0006"}}).price == price(600, None)


def test_a_list_that_names_all_kinds_leaves_none_open() -> None:
    listed = facts_of({"input_modalities": ["text", "image", "smell"]})
    assert [listed.takes(kind) for kind in ("text", "image", "audio")] == [True, True, False]
    flagged = facts_of({"supports_vision": False})
    assert [flagged.takes(kind) for kind in ("text", "image", "audio")] == [True, False, None]


def test_texts_are_cut() -> None:
    found = facts_of(
        {"description": "a" * 10**6, "owned_by": "b" * 10**6, "supported_parameters": ["c" * 10**6] + ["d"] * 10**6}
    )
    assert len(found.about) == 2000
    assert len(found.owner) == 100
    assert found.parameters == frozenset({"d"})


def test_more_is_joined_and_believed() -> None:
    listed, asked = ModelFacts(owner="library", context=1), ModelFacts(context=4096, tools=False)
    assert joined(listed, asked) == ModelFacts(owner="library", context=4096, tools=False)
    assert joined(listed, NOTHING_TOLD) is listed
    assert joined(NOTHING_TOLD, asked) is asked


def test_those_behind_one_name_are_believed_where_they_agree() -> None:
    first, second = ModelFacts(context=1, tools=True), ModelFacts(context=2, tools=True, owner="a")
    assert agreed([first, second]) == ModelFacts(tools=True, owner="a")
    assert agreed([first, second, ModelFacts(context=1)]).context is None
    assert agreed([]) is NOTHING_TOLD


def test_the_list_knows_its_models() -> None:
    found = ModelList(tuple(read_models({"data": [{"id": "m", "context_length": 8}, "bare"]}) or ()))
    assert found.facts("m").context == 8
    assert found.facts("bare") is found.facts("not there") is NOTHING_TOLD
