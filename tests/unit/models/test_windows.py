"""How long a request may be: the table, and what endpoints tell."""

import pytest

from girdlebook.models.windows import known_window, window_listed, window_told


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("claude-sonnet-5", 200_000),
        ("us.anthropic.claude-haiku-4-5-v1:0", 200_000),
        ("anthropic/claude-opus-4", 200_000),
        ("gpt-5", 400_000),
        ("gpt-5.1-codex", 400_000),
        ("gpt-5-chat-latest", 128_000),
        ("gpt-4.1-mini", 1_047_576),
        ("openai/gpt-4o-mini", 128_000),
        ("gpt-4-turbo", 128_000),
        ("gpt-4", 8_192),
        ("gpt-3.5-turbo", 16_385),
        ("o3-mini", 200_000),
        ("o4-mini", 200_000),
        ("models/gemini-2.5-flash", 1_048_576),
        ("kimi-k2-thinking", 262_144),
        ("Qwen/Qwen3-8B", 32_768),
        ("qwen3:8b", 32_768),
        ("qwen3-coder-plus", 262_144),
        ("Qwen3-30B-A3B-Instruct-2507", 262_144),
        ("deepseek-chat", 128_000),
        ("deepseek-r1-distill-llama-70b", 128_000),
        ("llama3.1:8b", 128_000),
        ("llama-3.3-70b-versatile", 128_000),
        ("llama-3", 128_000),
        ("Meta-Llama-3-8B-Instruct", 8_192),
        ("llama3:latest", 8_192),
        ("glm-4.6", 200_000),
    ],
)
def test_families_are_known_by_their_names(name, window):
    assert known_window(name) == window


@pytest.mark.parametrize("name", ["", "m-1", "my-own-model", "gpt-50", "foo3", "extractive", "llama-30b"])
def test_an_unknown_name_has_no_window(name):
    assert known_window(name) is None


@pytest.mark.parametrize(
    "entry",
    [
        {"context_length": 4_096},
        {"context_window": 4_096},
        {"max_model_len": 4_096},
        {"max_context_length": 4_096},
        {"max_input_tokens": 4_096},
        {"meta": {"n_ctx_train": 4_096}},
        {"top_provider": {"context_length": 4_096}},
        {"context_length": 131_072, "top_provider": {"context_length": 4_096}},
        {"meta": {"n_ctx_train": 40_960, "n_ctx": 4_096}},
    ],
)
def test_an_entry_tells_its_window_in_one_of_several_fields_and_the_smallest_counts(entry):
    assert window_told(entry) == 4_096


@pytest.mark.parametrize("value", [None, 0, -1, True, "4096", 4_096.5, [4_096], {}])
def test_what_is_no_size_is_left_out(value):
    assert window_told({"context_length": value, "meta": value, "top_provider": value}) is None


def test_the_entry_of_the_model_is_found_by_its_id():
    listing = {"data": [{"id": "a", "context_length": 1_000}, {"id": "b", "context_length": 2_000}, {"id": "c"}]}
    assert [window_listed(listing, name) for name in ("a", "b", "c", "d")] == [1_000, 2_000, None, None]


def test_a_server_with_one_model_takes_any_name_for_it():
    assert window_listed({"data": [{"id": "/models/x.gguf", "meta": {"n_ctx_train": 4_096}}]}, "x") == 4_096


@pytest.mark.parametrize("listing", [None, [], "<html>", 3, {}, {"data": None}, {"data": [None, "x"]}, {"data": {}}])
def test_an_answer_in_no_known_form_tells_nothing(listing):
    assert window_listed(listing, "a") is None
