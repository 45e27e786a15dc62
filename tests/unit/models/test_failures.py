"""What vendors say when they refuse, and what it means."""

import time

import pytest

from girdlebook.errors import ContextOverflow, ModelError, ModelTimeout, ModelUnavailable
from girdlebook.models.failures import parse_limit, translate

OVERFLOWS = {
    "OpenAI": (
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 150123 tokens. "
        "Please reduce the length of the messages.",
        128_000,
    ),
    "OpenAI, with commas": (
        400,
        "This model's maximum context length is 8,192 tokens, however you requested 10,346 tokens",
        8_192,
    ),
    "OpenAI, code alone": (400, "{'error': {'message': 'no', 'code': 'context_length_exceeded'}}", None),
    "OpenAI, without figures": (400, "Your input exceeds the context window of this model.", None),
    "OpenAI, input limit": (
        400,
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.",
        272_000,
    ),
    "Anthropic": (400, "prompt is too long: 215000 tokens > 200000 maximum", 200_000),
    "Anthropic, with the answer": (
        400,
        "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length",
        200_000,
    ),
    "Anthropic, bytes": (413, "{'type': 'request_too_large', 'message': 'Request exceeds the maximum size'}", None),
    "Anthropic, in a stream": (200, "{'message': 'prompt is too long: 215000 tokens > 200000 maximum'}", 200_000),
    "a proxy": (413, "<html>413 Request Entity Too Large</html>", None),
    "a proxy that counts bytes": (413, "Request exceeds the limit of 33554432 bytes", None),
    "vLLM": (
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 "
        "tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
        4_096,
    ),
    "vLLM, older": (
        400,
        "The decoder prompt (length 5951) is longer than the maximum model length of 4096. Make sure that "
        "`max_model_len` is no smaller than the number of text tokens.",
        4_096,
    ),
    "vLLM, engine": (
        400,
        "The engine prompt length 16673 exceeds the max_model_len 8192. Please reduce prompt.",
        8_192,
    ),
    "vLLM, newer": (
        400,
        "You passed 4097 input tokens and requested 1 output tokens. However, the model's context length is only 4096 "
        "tokens, resulting in a maximum input length of 4095 tokens.",
        4_096,
    ),
    "SGLang": (400, "The input (40000 tokens) is longer than the model's context length (32768 tokens).", 32_768),
    "TGI": (
        422,
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
        8_193,
    ),
    "llama.cpp": (
        400,
        "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        4_096,
    ),
    "llama.cpp, fields": (400, "{'type': 'exceed_context_size_error', 'n_prompt_tokens': 5000, 'n_ctx': 4096}", 4_096),
    "LM Studio": (
        400,
        "The number of tokens to keep from the initial prompt is greater than the context length "
        "(n_keep: 5000>= n_ctx: 4096).",
        4_096,
    ),
    "Ollama": (400, "the input length exceeds the context length", None),
    "Ollama, by how much": (400, "prompt too long; exceeded max context length by 1234 tokens", None),
    "Gemini": (
        400,
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        1_048_575,
    ),
    "OpenRouter": (
        400,
        "This endpoint's maximum context length is 1048576 tokens. However, you requested about 1293741 tokens",
        1_048_576,
    ),
    "xAI": (
        400,
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        131_072,
    ),
    "Mistral": (
        400,
        "Prompt contains 65000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        32_768,
    ),
    "Copilot": (400, "prompt token count of 140000 exceeds the limit of 128000", 128_000),
    "Bedrock": (400, "Input is too long for requested model.", None),
    "Groq": (400, "Please reduce the length of the messages or completion.", None),
    "Moonshot": (
        400,
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)",
        262_144,
    ),
    "DashScope": (
        400,
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
        129_024,
    ),
    "MiniMax, whose figure is a code": (400, "invalid params, context window exceeds limit (2013)", None),
    "Zhipu": (400, "{'error': {'code': '1261', 'message': 'Prompt 超长'}}", None),
    "SiliconFlow": (400, "length of prompt_tokens (40000) must be less than max_seq_len (32768).", 32_768),
    "Doubao": (400, "Input length 131077 exceeds the maximum length 131072", 131_072),
    "a Chinese gateway": (400, "输入长度超过模型最大上下文长度 131072", 131_072),
    "a Chinese gateway, request first": (400, "请求的 tokens 数量 40000 超过了模型上限（32768）", 32_768),
    "a Chinese gateway, with k": (400, "上下文长度超过 128k，请压缩", 128_000),
    "a Chinese gateway, characters": (400, "输入超过上限 8000 个字", None),
    "a Chinese gateway, without figures": (400, "输入过长，请缩短后重试", None),
    "inside a stream": (None, "This model's maximum context length is 4096 tokens. (context_length_exceeded)", 4_096),
}

UNAVAILABLE = [
    *((status, "no") for status in (401, 402, 403, 429, 500, 502, 503, 529)),
    (429, "This model's maximum context length is 4096 tokens"),
    (400, "You exceeded your current quota (insufficient_quota)"),
    (400, "Your credit balance is too low to access the Anthropic API"),
    (400, "API key not valid. Please pass a valid API key."),
    (413, "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 8000"),
    (400, "Access denied, please make sure your account is in good standing."),
    (400, "请求频率超过限制，请稍后再试"),
    (400, "账户余额不足"),
    (200, "{'type': 'overloaded_error', 'message': 'Overloaded'}"),
    (200, "{'type': 'api_error', 'message': 'Internal server error'}"),
    (None, "Could not resolve authentication method."),
]

OTHERS = [
    (404, "model 'x' not found, type: api_error"),
    (404, "prompt is too long"),
    (400, "temperature must be <= 2"),
    (400, "400 status code (no body)"),
    (400, "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40"),
    (400, "max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens"),
    (400, "max_tokens is too large: 50000. This model supports at most 16384 completion tokens"),
    (400, "Range of max_tokens should be [1, 8192]"),
    (400, "max_tokens exceeds the limit of 8192"),
    (400, "max_tokens 参数超出限制"),
    (400, "输入图片数量超过限制 10"),
    (400, "messages.1.content.0.image.source: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"),
    (400, "Invalid schema for function 'authentication': context must be object"),
    (400, "x" * 3_000 + " prompt is too long"),
]


@pytest.mark.parametrize(("status", "text", "limit"), OVERFLOWS.values(), ids=OVERFLOWS.keys())
def test_a_too_long_request_is_told_in_many_words(status, text, limit):
    error = translate("m at u", status, text)
    assert (type(error), getattr(error, "limit", "no such field")) == (ContextOverflow, limit)


@pytest.mark.parametrize(("status", "text"), UNAVAILABLE)
def test_a_key_a_quota_a_limit_and_an_overload_make_a_model_unavailable(status, text):
    assert type(translate("m at u", status, text)) is ModelUnavailable


@pytest.mark.parametrize(("status", "text"), [(408, ""), (504, ""), (524, ""), (None, "Request timed out.")])
def test_a_late_answer_is_a_timeout(status, text):
    assert type(translate("m at u", status, text)) is ModelTimeout


@pytest.mark.parametrize(("status", "text"), OTHERS)
def test_anything_else_is_a_plain_error(status, text):
    assert type(translate("m at u", status, text)) is ModelError


def test_the_message_names_the_model_and_stays_short_and_on_one_line():
    message = str(translate("m at u", 400, "bad\n  request " + "x" * 5_000))
    assert message.startswith("m at u: bad request xxx")
    assert len(message) < 400


@pytest.mark.parametrize(
    "text", ["", "no figure", "maximum context length is 0 tokens", "context size of 12", "n_ctx: " + "9" * 9_000]
)
def test_no_limit_is_made_up(text):
    assert parse_limit(text) is None


@pytest.mark.parametrize("piece", ["input ", "input exceed ", "exceed", "上下文", "上下文超过", "1,111", "9"])
def test_a_hostile_message_costs_no_time(piece):
    started = time.process_time()
    translate("m at u", 400, piece * 20_000)
    assert time.process_time() - started < 1
